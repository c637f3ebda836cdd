"""Where answers go: files whole or not at all, full disks, closed pipes, streams that are not there."""

import json
import os
import resource
import stat
import subprocess
import sys

import pytest

from kronbot.cli import files
from kronbot.cli.files import check_place, check_target, write_atomically
from kronbot.cli.main import run
from kronbot.errors import KronbotError, UsageError

ROBOT = "kronbot: 1\nname: r\nconvention: standard\ngravity: [0, 0, 0]\n"
LINK = "{name: l, joint: {type: fixed}, pose: {}}"


def shell(line, **environment):
    """A line of bash in which $K is the command."""
    script = f"set -o pipefail; K='{sys.executable} -m kronbot'; {line}"
    return subprocess.run(
        ["bash", "-c", script],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env=os.environ | environment,
    )


# ----------------------------------------------------------------------------------------------------------------------
# Before anything is computed


@pytest.mark.parametrize("overwrite", [False, True])
def test_what_is_no_file_is_never_replaced(tmp_path, overwrite):
    """Folders, pipes, devices, links to them; names that no file can have; folders that are not there."""
    (tmp_path / "folder.json").mkdir()
    os.mkfifo(tmp_path / "pipe.json")
    (tmp_path / "device.json").symlink_to("/dev/full")
    (tmp_path / "loop.json").symlink_to("loop.json")
    for name, words in (
        ("folder.json", "a folder, not a file"),
        ("pipe.json", "a device or a pipe, not a file"),
        ("device.json", "a device or a pipe, not a file"),
        ("no/run.json", "there is no folder"),
        ("run.json/run.json", "there is no folder"),
        ("a" * 300 + ".json", "File name too long"),
        ("a\0.json", "null byte"),
        ("\ud800.json", "surrogates not allowed"),
    ):
        with pytest.raises(UsageError, match=words) as caught:
            check_target(str(tmp_path / name), overwrite)
        assert str(caught.value).isprintable()
        assert len(str(caught.value)) < 400
    with pytest.raises(UsageError, match="suffix"):
        check_target("/dev/stdout", overwrite)


def test_a_file_that_is_there(tmp_path):
    """Also at the other end of a link."""
    (tmp_path / "there.json").write_text("mine")
    (tmp_path / "link.json").symlink_to("there.json")
    (tmp_path / "dangling.json").symlink_to("new.json")
    for name in ("there.json", "link.json"):
        with pytest.raises(UsageError, match="--overwrite replaces it"):
            check_target(str(tmp_path / name), False)
        check_target(str(tmp_path / name), True)
    check_target(str(tmp_path / "dangling.json"), False)
    check_target("-", False)
    check_target(None, False)


def test_the_robot_file_is_not_replaced(tmp_path, monkeypatch, capsys):
    """YAML may stand in a .json file; not even with --overwrite, by another path."""
    path = tmp_path / "r.json"
    path.write_text(text := ROBOT + f"links: [{LINK}]\n")
    monkeypatch.chdir(tmp_path)
    assert run(["check", str(path), "-o", "./r.json", "--overwrite"]) == 2
    assert "that is the robot file itself" in capsys.readouterr().err
    assert path.read_text() == text


def test_a_read_only_folder(tmp_path, monkeypatch):
    """Refused before the work; the option is named."""
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # root may write everywhere
    with pytest.raises(UsageError, match="--plot .*run.png: the folder .* is read-only"):
        check_place("--plot", str(tmp_path / "run.png"), False)


# ----------------------------------------------------------------------------------------------------------------------
# Writing


def test_whole_or_not_at_all(tmp_path, monkeypatch):
    """What goes wrong at any step leaves the old file as it was, and nothing beside it."""
    target = tmp_path / "run.json"
    target.write_bytes(b"old")
    for step in ("chmod", "replace"):
        for error, caught in ((OSError(28, "No space left on device"), KronbotError), (KeyboardInterrupt(), None)):
            with monkeypatch.context() as patch:
                patch.setattr(files.os, step, lambda *_, error=error: (_ for _ in ()).throw(error))
                with pytest.raises(caught or type(error)):
                    write_atomically(target, b"new")
            assert [path.name for path in tmp_path.iterdir()] == ["run.json"]
            assert target.read_bytes() == b"old"
            assert not files.UNFINISHED
    write_atomically(target, b"new")
    assert target.read_bytes() == b"new"


def test_permissions(tmp_path):
    """Of a new file by the umask, of a replaced one as they were."""
    before = os.umask(0o027)
    try:
        write_atomically(tmp_path / "new.json", b"")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "new.json").stat().st_mode) == 0o640
    (tmp_path / "new.json").chmod(0o600)
    write_atomically(tmp_path / "new.json", b"")
    assert stat.S_IMODE((tmp_path / "new.json").stat().st_mode) == 0o600


def test_links_are_followed(tmp_path):
    """The link stays, its target is written, the temporary file is on the target's file system."""
    (tmp_path / "far").mkdir()
    (tmp_path / "link.json").symlink_to("far/run.json")
    write_atomically(tmp_path / "link.json", b"new")
    assert (tmp_path / "link.json").is_symlink()
    assert (tmp_path / "far" / "run.json").read_bytes() == b"new"


def test_a_full_disk(tmp_path):
    """A file that may not grow: exit 1, one line, and neither a part of it nor a temporary file."""

    def small():
        resource.setrlimit(resource.RLIMIT_FSIZE, (200, 200))

    done = subprocess.run(
        [sys.executable, "-m", "kronbot", "schema", "-o", str(tmp_path / "s.json")],
        capture_output=True,
        text=True,
        preexec_fn=small,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr == f"Error: cannot write {tmp_path / 's.json'}: File too large\n"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_full_disk_behind_stdout(tmp_path, unbuffered):
    """Exit 1 and one line, also where Python is told not to buffer and would not notice."""
    done = shell(f"ulimit -f 1; $K schema > {tmp_path / 's.json'}", PYTHONUNBUFFERED=unbuffered)
    assert (done.returncode, done.stderr) == (1, "Error: cannot write the answer: File too large\n")


@pytest.mark.parametrize("command", ["--version", "--help", "check khang", "check khang --format json"])
def test_a_full_device(command):
    """The standard example."""
    done = shell(f"$K {command} > /dev/full")
    assert (done.returncode, done.stderr) == (1, "Error: cannot write the answer: No space left on device\n")


@pytest.mark.parametrize("command", ["--help", "schema", "check khang", "check khang --format json"])
def test_a_reader_that_has_gone(command):
    """Is no error."""
    done = shell(f"$K {command} | true")
    assert (done.returncode, done.stderr) == (0, "")


# ----------------------------------------------------------------------------------------------------------------------
# Streams


@pytest.mark.parametrize("stream", ["2>&-", "2>/dev/full", "2>&- >&- <&-"])
def test_nobody_hears_errors(stream):
    """The exit code still tells."""
    for command, code in (("check nosuch", 2), ("--nosuch", 2), ("check /dev/null", 3), ("--version", 0)):
        assert shell(f"$K {command} {stream}").returncode == code


def test_a_closed_stream_is_not_replaced_by_a_file(tmp_path):
    """The first files that are opened would get the numbers of stdout and stderr, and what is printed on them."""
    path = tmp_path / "r.json"
    done = shell(f"$K check canadarm --format json -o {path} >&- 2>&- <&-")
    assert done.returncode == 0
    assert json.loads(path.read_text())["robot"] == "canadarm"


def test_what_native_code_prints(tmp_path):
    """LAPACK complains on stdout where numbers overflow; that is not where an answer stands."""
    link = "joint: {type: revolute, name: q%d}, dh: {a: 1e308, d: 0, alpha: 0, theta: 0}"
    path = tmp_path / "r.yaml"
    path.write_text(ROBOT + "links:\n" + "".join(f"  - {{name: l{i}, {link % i}}}\n" for i in range(2)))
    done = shell(f"$K jacobian {path}")
    assert (done.returncode, done.stdout) == (1, "")


def test_standard_input_that_is_not_there():
    """Says so, and does not wait."""
    done = shell("$K check - <&-")
    assert (done.returncode, done.stderr) == (2, "Error: standard input is closed: name a robot file\n")


def test_an_encoding_without_the_letters_of_a_name(tmp_path):
    """Escaped where a terminal cannot show it."""
    path = tmp_path / "r.yaml"
    path.write_text(ROBOT.replace("r\n", "\u540d\n", 1) + f"links: [{LINK}]\n", encoding="utf-8")
    done = shell(f"$K check {path}", PYTHONIOENCODING="latin-1")
    assert (done.returncode, done.stderr) == (0, "")
    assert "\\u540d" in done.stdout


def test_messages_of_long_and_odd_names(capsys):
    """One line that can be read."""
    for name in ("a" * 5000 + ".json", "\x1b[31m.json/x.json", ""):
        assert run(["check", "khang", "-o", name]) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert line.isprintable()
        assert len(line) < 300


def test_what_an_answer_comes_from_is_never_replaced(tmp_path, monkeypatch, capsys):
    """Tables of the robot, and rows of coordinates, by whatever path."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("t,q1\n0,0\n1,1\n2,0\n3,1\n")
    (tmp_path / "rows.csv").write_text("q1\n0.1\n0.2\n")
    link = LINK.replace("{type: fixed}", "{type: revolute, name: q1}")
    (tmp_path / "r.yaml").write_text(ROBOT + f"links: [{link}]\nmotion: {{q1: {{type: table, file: t.csv}}}}\n")
    (tmp_path / "link.csv").symlink_to("t.csv")
    for output in ("t.csv", "link.csv", str(tmp_path / "t.csv")):
        assert run(["jacobian", "r.yaml", "--array", "J_T", "-o", output, "--overwrite"]) == 2
        assert "that is a table of the robot itself" in capsys.readouterr().err
    rows = ["jacobian", "r.yaml", "--q", "@rows.csv", "--array", "J_T", "--overwrite"]
    assert run([*rows, "-o", "rows.csv"]) == 2
    assert "that is the file of rows itself" in capsys.readouterr().err
    assert run([*rows, "-o", "other.csv"]) == 0
    assert (tmp_path / "rows.csv").read_text() == "q1\n0.1\n0.2\n"
