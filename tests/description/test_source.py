"""Reading a robot file from wherever it comes, without hanging and without a traceback."""

import io
import os
import re
import sys
import threading

import pytest

from kronbot.description import limits
from kronbot.description.shipped import shipped_robots
from kronbot.description.yaml import source
from kronbot.description.yaml.source import read
from kronbot.errors import DescriptionError, UsageError


class Input:
    def __init__(self, content, terminal=False):
        self.buffer = io.BytesIO(content)
        self.closed = False
        self._terminal = terminal

    def isatty(self):
        return self._terminal


def refused(argument, pattern):
    """Reading ends soon, with one line that matches."""
    result = []

    def run():
        try:
            read(argument)
        except DescriptionError as error:
            result.append(str(error))

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(5)
    assert not thread.is_alive(), "reading hangs"
    assert len(result) == 1
    assert "\n" not in result[0]
    assert re.fullmatch(re.escape(argument) + pattern, result[0])


def write(folder, content):
    path = folder / "r.yaml"
    path.write_bytes(content)
    return str(path)


def test_a_file(tmp_path):
    path = write(tmp_path, "kronbot: 1\nname: Änderung\n".encode())
    got = read(path)
    assert (got.name, got.text, got.folder) == (path, "kronbot: 1\nname: Änderung\n", tmp_path)


def test_a_byte_order_mark_is_accepted(tmp_path):
    assert read(write(tmp_path, b"\xef\xbb\xbfa: 1")).text == "a: 1"


@pytest.mark.parametrize("argument", ["-", "/dev/stdin"])
def test_standard_input(monkeypatch, argument):
    monkeypatch.setattr(sys, "stdin", Input(b"a: 1"))
    got = read(argument)
    assert (got.name, got.text, got.folder) == ("<stdin>", "a: 1", None)


def test_a_terminal_is_no_file(monkeypatch):
    monkeypatch.setattr(sys, "stdin", Input(b"", terminal=True))
    with pytest.raises(UsageError, match="terminal"):
        read("-")


def test_endless_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", Input(b"x" * (limits.TEXT_BYTES + 10)))
    with pytest.raises(DescriptionError, match="<stdin>:1:1: larger than 256 kB"):
        read("-")


def test_no_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(UsageError, match="closed"):
        read("-")


def test_standard_input_that_fails(monkeypatch):
    """A disk that went away; a pipe that its owner has told not to wait."""
    broken = Input(b"")
    for broken.buffer.read in (lambda _: (_ for _ in ()).throw(OSError(5, "Input/output error")), lambda _: None):
        monkeypatch.setattr(sys, "stdin", broken)
        with pytest.raises(
            DescriptionError, match="<stdin>:1:1: cannot be read: (Input/output error|it does not wait)"
        ):
            read("-")


def test_a_directory(tmp_path):
    refused(str(tmp_path), ":1:1: a directory, not a file")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no FIFO here")
def test_a_fifo_does_not_hang(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    refused(str(tmp_path / "fifo"), r":1:1: not a regular file \(a pipe\); pipe it in and name it -")


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="no devices here")
@pytest.mark.parametrize("device", ["/dev/zero", "/dev/null"])
def test_a_device(device):
    refused(device, r":1:1: not a regular file \(a device or a socket\); pipe it in and name it -")


def test_an_unreadable_file(tmp_path, monkeypatch):
    path = write(tmp_path, b"a: 1")

    def denied(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(source.os, "open", denied)  # chmod does not stop root
    refused(path, ":1:1: cannot be read: Permission denied")


def test_size(tmp_path):
    assert len(read(write(tmp_path, b"#" * limits.TEXT_BYTES)).text) == limits.TEXT_BYTES
    refused(write(tmp_path, b"#" * (limits.TEXT_BYTES + 1)), ":1:1: larger than 256 kB")


@pytest.mark.parametrize("content", [b"", b"\n \n", b"\xef\xbb\xbf"])
def test_an_empty_file(tmp_path, content):
    refused(write(tmp_path, content), ":1:1: empty.*")


@pytest.mark.parametrize(
    ("content", "place"),
    [
        (b"a: 1\nb: \xff\n", "2:4: not UTF-8.*"),
        ("a: ä\n".encode("utf-16"), "1:1: not UTF-8.*"),
        ("a: ä".encode("latin-1"), "1:4: not UTF-8.*"),
        (b"a: ok\r\nb: x\0y\n", r"2:5: the character U\+0000 .*"),
        (b"\x7fELF\x01", r"1:1: the character U\+007F .*"),
        (b"a: \x1b[31m", r"1:4: the character U\+001B .*"),
    ],
)
def test_what_is_no_text(tmp_path, content, place):
    refused(write(tmp_path, content), f":{place}")


@pytest.fixture
def robots(tmp_path, monkeypatch):
    folder = tmp_path / "robots"
    folder.mkdir()
    for name in ("stacker", "canadarm"):
        (folder / f"{name}.yaml").write_text(f"name: {name}\n")
    monkeypatch.setattr(source, "shipped_robots", lambda: shipped_robots(tmp_path / "kronbot"))
    monkeypatch.chdir(tmp_path)
    return folder


@pytest.mark.parametrize("argument", ["canadarm", "canadarm.yaml"])
def test_a_shipped_robot(robots, argument):
    got = read(argument)
    assert (got.name, got.text, got.folder) == ("canadarm.yaml", "name: canadarm\n", robots)


def test_a_file_goes_before_a_shipped_robot(robots, tmp_path):
    (tmp_path / "canadarm").write_text("mine")
    assert read("canadarm").text == "mine"


def test_robots_inside_the_package_go_before_those_beside_it(robots, tmp_path):
    inside = tmp_path / "kronbot" / "robots"
    inside.mkdir(parents=True)
    (inside / "arm.yaml").write_text("name: arm\n")
    assert shipped_robots(tmp_path / "kronbot") == {"arm": inside / "arm.yaml"}


def test_no_robots_at_all(tmp_path):
    assert shipped_robots(tmp_path / "kronbot") == {}


def test_nothing_found(robots):
    with pytest.raises(UsageError) as caught:
        read("canadarn")
    assert "did you mean 'canadarm'?" in str(caught.value)
    assert "canadarm, stacker" in str(caught.value)


@pytest.mark.parametrize("argument", ["", "nonsense/../x", "a\0b", "x" * 300, "x" * 9000, "../etc/passwd\x1b[31m"])
def test_odd_names_end_without_a_traceback(robots, argument):
    with pytest.raises((UsageError, DescriptionError)) as caught:
        read(argument)
    assert "\x1b" not in str(caught.value)


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("crane", "crane.yaml"),
        ("cran.yaml", "crane.yaml"),
        ("Crane.yml", "crane.yaml"),
        ("sub/r.v2", os.path.join("sub", "r.v2.yml")),
        ("canadrm.yaml", "canadarm"),
    ],
)
def test_files_beside_the_one_that_is_not_there(tmp_path, monkeypatch, wrong, right):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sub").mkdir()
    for name in ("crane.yaml", "crane.csv", "other.yaml", "sub/r.v2.yml"):
        (tmp_path / name).write_text("x")
    with pytest.raises(UsageError) as caught:
        read(wrong)
    assert f"no file and no shipped robot '{wrong}'; did you mean '{right}'?" in str(caught.value)


def test_very_many_files_are_not_all_looked_at(tmp_path, monkeypatch):
    monkeypatch.setattr(limits, "FILES", 3)
    for i in range(50):
        (tmp_path / f"crane{i:02}.yaml").write_text("x")
    seen = []
    monkeypatch.setattr(source, "did_you_mean", lambda word, options, shown: seen.append(len(options)) or "")
    with pytest.raises(UsageError):
        read(str(tmp_path / "crane"))
    assert max(seen) <= 3 + len(shipped_robots())
