"""Where answers go: files whole or not at all, full disks, closed pipes, streams that are not there."""

import errno
import fcntl
import json
import math
import os
import re
import resource
import shutil
import signal
import stat
import struct
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

import click
import pytest
from thinned import rare, thinned
from waiting import PATIENCE

import kronbot
from kronbot.__main__ import _spare_threads
from kronbot.cli.main import run
from kronbot.cli.output import answers
from kronbot.cli.output.files import check_place, check_target, demand_own_names, save
from kronbot.errors import ComputationError, Interrupted, KronbotError, UsageError
from kronbot.library.robot import Robot
from kronbot.library.sweep import Sweep
from kronbot.plots.style import Picture
from kronbot.system import interruption, saving
from kronbot.system.platform import host

ROBOT = "kronbot: 1\nname: r\nconvention: standard\ngravity: [0, 0, 0]\n"
LINK = "{name: l, joint: {type: fixed}, pose: {}}"


# Modules that Python keeps compiled would be cut off by limits of files.
UNCOMPILED = {"PYTHONDONTWRITEBYTECODE": "1"}


def shell(line, **environment):
    """A line of bash in which $K is the command."""
    script = f"set -o pipefail; K='{sys.executable} -m kronbot'; {line}"
    return subprocess.run(
        ["bash", "-c", script],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
        env=os.environ | UNCOMPILED | environment,
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
    ends = os.pipe()
    (tmp_path / "stream.json").symlink_to(f"/dev/fd/{ends[1]}")
    for name, words in (
        ("folder.json", "a folder, not a file"),
        ("pipe.json", "a device or a pipe, not a file"),
        ("device.json", "a device or a pipe, not a file"),
        ("stream.json", "a device or a pipe, not a file"),
        ("no/run.json", "there is no folder"),
        ("run.json/run.json", "there is no folder"),
        ("run.json/", "there is no folder .*run.json"),
        ("a" * 300 + ".json", "File name too long"),
        ("a\0.json", "null byte"),
        ("\ud800.json", "surrogates not allowed"),
    ):
        with pytest.raises(UsageError, match=words) as caught:
            check_target(f"{tmp_path}/{name}", overwrite)  # a Path drops a slash at the end
        assert str(caught.value).isprintable()
        assert len(str(caught.value)) < 500  # with two paths of at most 200
    with pytest.raises(UsageError, match="suffix"):
        check_target("/dev/stdout", overwrite)
    for end in ends:
        os.close(end)


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
    monkeypatch.setattr(os, "access", lambda path, mode, **_: False)  # root may write everywhere
    with pytest.raises(UsageError, match="--plot .*run.png: the folder .* is read-only"):
        check_place("--plot", str(tmp_path / "run.png"), False)


def test_links_that_lead_nowhere(tmp_path, monkeypatch, capsys):
    """Found at once, not at the end of an hour."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "loop.csv").symlink_to("loop.csv")
    (tmp_path / "far.csv").symlink_to("no/far.csv")
    monkeypatch.setattr("kronbot.library.robot.Robot.simulate", lambda *_, **__: pytest.fail("computed"))
    for name, words in (("loop.csv", "Too many levels"), ("far.csv", "there is no folder"), ("x/", "suffix")):
        assert run(["simulate", "khang", "-o", name, "--overwrite"]) == 2
        assert words in capsys.readouterr().err


def test_two_answers_in_one_file(tmp_path, monkeypatch, capsys):
    """Under two names of one place."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run.png").symlink_to("run.csv")
    assert run(["simulate", "khang", "-o", "run.csv", "--plot", "run.png"]) == 2
    assert capsys.readouterr().err == "Error: --plot run.png: that is what -o run.csv writes\n"


# ----------------------------------------------------------------------------------------------------------------------
# Writing


@pytest.fixture
def saved(tmp_path):
    """Save as a command does that was asked before whether it may."""

    def save_as(name, content, overwrite=False, meanwhile=lambda: None):
        with click.Context(click.Command("x")):
            check_place("-o", str(tmp_path / name), overwrite)
            meanwhile()
            save(str(tmp_path / name), content)
            demand_own_names()

    return save_as


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_whole_or_not_at_all(tmp_path, monkeypatch, saved):
    """What goes wrong at any step leaves the old file as it was, and nothing beside it."""
    target = tmp_path / "run.json"
    target.write_bytes(b"old")
    for step in ("write", "fsync", "fchmod", "replace"):
        for error, caught in ((OSError(28, "No space left on device"), KronbotError), (KeyboardInterrupt(), None)):
            with monkeypatch.context() as patch:
                patch.setattr(saving.os, step, lambda *_, error=error, **__: (_ for _ in ()).throw(error))
                with pytest.raises(caught or type(error)):
                    saved("run.json", b"new", overwrite=True)
            assert names(tmp_path) == ["run.json"]
            assert target.read_bytes() == b"old"
            assert not saving.UNFINISHED
    saved("run.json", b"new", overwrite=True)
    assert target.read_bytes() == b"new"


@pytest.mark.parametrize("links", [True, False])
def test_a_file_that_appears_meanwhile(tmp_path, monkeypatch, saved, links):
    """Stays; the answer is not lost. File systems without links are no exception."""

    def refuse(*_, **__):
        raise PermissionError(1, "Operation not permitted")

    if not links:
        monkeypatch.setattr(saving.os, "link", refuse)
    saved("new.csv", b"new")
    assert names(tmp_path) == ["new.csv"]
    appear = (tmp_path / "run.csv").write_text
    for number in (2, 3):
        (tmp_path / "run.csv").unlink(missing_ok=True)
        words = f"run.csv has appeared meanwhile and stays; the answer is in .*run-{number}.csv"
        with pytest.raises(KronbotError, match=words):
            saved("run.csv", b"mine", meanwhile=lambda: appear("theirs"))
        assert (tmp_path / "run.csv").read_text() == "theirs"
        assert (tmp_path / f"run-{number}.csv").read_text() == "mine"
    # A link to nowhere is not followed at the end, nor a device replaced.
    with pytest.raises(KronbotError, match="the answer is in .*odd-2.csv"):
        saved("odd.csv", b"mine", meanwhile=lambda: (tmp_path / "odd.csv").symlink_to("elsewhere"))
    (tmp_path / "far").mkdir()
    (tmp_path / "near.csv").symlink_to("far/run.csv")
    with pytest.raises(KronbotError, match="the answer is in .*/far/run-2.csv"):
        saved("near.csv", b"mine", meanwhile=lambda: (tmp_path / "far" / "run.csv").write_text("theirs"))
    assert names(tmp_path / "far") == ["run-2.csv", "run.csv"]
    (tmp_path / "near.csv").unlink()
    shutil.rmtree(tmp_path / "far")
    with pytest.raises(KronbotError, match="pipe.csv has appeared meanwhile and stays; the answer is in .*pipe-2.csv"):
        saved("pipe.csv", b"mine", True, lambda: os.mkfifo(tmp_path / "pipe.csv"))
    told = ["new.csv", "odd-2.csv", "odd.csv", "pipe-2.csv", "pipe.csv", "run-2.csv", "run-3.csv", "run.csv"]
    assert names(tmp_path) == told and stat.S_ISFIFO((tmp_path / "pipe.csv").stat().st_mode)
    # What may be replaced may not where it has become something else, nor may what has another number.
    (tmp_path / "pipe-2.csv").write_text("theirs")
    (tmp_path / "pipe.csv").unlink()
    (tmp_path / "pipe.csv").write_text("old")

    def exchange():
        (tmp_path / "pipe.csv").unlink()
        (tmp_path / "pipe.csv").symlink_to("new.csv")

    with pytest.raises(KronbotError, match="the answer is in .*pipe-3.csv"):
        saved("pipe.csv", b"mine", True, exchange)
    assert [(tmp_path / name).read_text() for name in ("new.csv", "pipe-2.csv", "pipe-3.csv")] == [
        "new",
        "theirs",
        "mine",
    ]


def test_a_picture_is_not_lost_with_the_name_of_its_answer(tmp_path, monkeypatch, capsys, unsettled):
    """Every file of a command is written, and then those are named that have another name."""
    asked = Robot.jacobian
    both = [tmp_path / "a.json", tmp_path / "a.svg"]

    def appear(*given, **named):
        for path in both:
            path.write_text("theirs")
        return asked(*given, **named)

    monkeypatch.setattr(Robot, "jacobian", appear)
    assert run(["jacobian", "khang", "-o", str(both[0]), "--plot", str(both[1])]) == 1
    assert names(tmp_path) == ["a-2.json", "a-2.svg", "a.json", "a.svg"]
    *told, last = capsys.readouterr().err.splitlines()
    # Of words that are longer than anybody reads, ends are kept.
    assert all(f"/{name}" in last or len(last) > 500 for name in ("a-2.json", "a-2.svg"))
    assert last.startswith("Error") and "the answer is in /" in last and "/a-2." in last
    assert all(any(re.fullmatch(f"wrote .*/{name}", line) for line in told) for name in ("a-2.json", "a-2.svg"))


def test_a_picture_of_the_library_that_appears_meanwhile(tmp_path, monkeypatch):
    """Stays, and it is said where the other one is."""
    content = Picture.content
    monkeypatch.setattr(
        Picture, "content", lambda *given: (tmp_path / "a.svg").write_text("theirs") and content(*given)
    )
    with pytest.raises(KronbotError, match=r"appeared meanwhile and stays; the picture is .*a-2.svg$"):
        kronbot.load("khang").jacobian([0.1, 0]).plot(tmp_path / "a.svg")
    assert names(tmp_path) == ["a-2.svg", "a.svg"]


def test_a_folder_that_is_exchanged_meanwhile(tmp_path, saved):
    """The answer goes to the folder that was there when it was asked for."""
    (tmp_path / "mine").mkdir()
    (tmp_path / "theirs").mkdir()

    def exchange():
        (tmp_path / "mine").rename(tmp_path / "moved")
        (tmp_path / "mine").symlink_to("theirs")

    saved("mine/run.csv", b"new", meanwhile=exchange)
    assert (names(tmp_path / "moved"), names(tmp_path / "theirs")) == (["run.csv"], [])


def test_what_killed_runs_have_left(tmp_path, saved):
    """Goes with the next file in that folder; what a run is writing stays, and what is somebody else's, or is called
    alike: an input, perhaps."""
    left, held, other, link, pipe = (tmp_path / saving.temporary(sign * 16) for sign in "abcde")
    alike = [tmp_path / f".kronbot-{'f' * count}" for count in (16, 24)]
    for path in (left, held, other, *alike, tmp_path / ".kronbot-notes"):
        path.write_text("")
    link.symlink_to(".kronbot-notes")
    os.mkfifo(pipe)
    if os.geteuid() == 0:
        os.chown(other, 12345, 12345)
    with held.open("r+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        saved("run.csv", b"new")
    there = {".kronbot-notes", "run.csv", *(path.name for path in (held, link, pipe, *alike))}
    assert set(names(tmp_path)) == there | ({other.name} if os.geteuid() == 0 else set())


def test_a_kill_leaves_nothing_for_good(tmp_path):
    """kill -9 while a file is written."""
    script = """
import os, sys
from kronbot.cli.output.files import save
def pieces():
    yield b"half"
    os.kill(os.getpid(), 9)
    yield b"half"
save(sys.argv[1], pieces())
"""
    subprocess.run([sys.executable, "-c", script, str(tmp_path / "run.csv")], check=False)
    (name,) = names(tmp_path)
    assert name.startswith(".kronbot-")
    assert run(["init", "-q", str(tmp_path / "arm.yaml")]) == 0
    assert names(tmp_path) == ["arm.yaml"]


def test_permissions(tmp_path, saved):
    """Of a new file by the umask, of a replaced one as they were, and meanwhile no wider."""
    before = os.umask(0o027)
    path = tmp_path / "new.json"

    def mode():
        return stat.S_IMODE(path.stat().st_mode)

    def meanwhile():
        yield b"half"
        (growing,) = tmp_path.glob(".kronbot-*")
        assert stat.S_IMODE(growing.stat().st_mode) == 0o600

    try:
        saved("new.json", b"")
        assert mode() == 0o640
        for wanted in (0o600, 0o664, 0o400):
            path.chmod(wanted)
            saved("new.json", meanwhile(), overwrite=True)
            assert mode() == wanted
    finally:
        os.umask(before)


# (tag, permissions, user): owner, user 1003, group, mask, others.
LISTED = [(1, 6, 0xFFFFFFFF), (2, 6, 1003), (4, 0, 0xFFFFFFFF), (16, 6, 0xFFFFFFFF), (32, 0, 0xFFFFFFFF)]
ACCESS, TO_COME = "system.posix_acl_access", "system.posix_acl_default"


def give_list(path, name=ACCESS):
    """A list of access in which the group has nothing, though the mode's group bits are rw."""
    content = struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in LISTED)
    try:
        os.setxattr(path, name, content)
    except (AttributeError, OSError):
        pytest.skip("no lists of access here")
    return content


def mode_of(path):
    return stat.S_IMODE(os.stat(path).st_mode)


def test_lists_of_access_stay(tmp_path, saved):
    path = tmp_path / "new.json"
    path.touch()
    content = give_list(path)
    for new in (b"new", b"newer"):
        saved("new.json", new, overwrite=True)
        assert path.read_bytes() == new and os.getxattr(path, ACCESS) == content and mode_of(path) == 0o660


def test_a_folder_gives_nobody_more_than_the_file_that_is_replaced(tmp_path, saved):
    path = tmp_path / "new.json"
    path.touch()
    path.chmod(0o640)
    give_list(tmp_path, TO_COME)
    saved("new.json", b"new", overwrite=True)
    assert os.listxattr(path) == [] and mode_of(path) == 0o640


@pytest.mark.parametrize("call", ["getxattr", "setxattr"])
def test_a_list_of_access_that_cannot_be_kept_leaves_its_owner_alone(tmp_path, saved, monkeypatch, call):
    """Its mask is not for the group."""

    def refused(*given):
        raise PermissionError(1, "Operation not permitted")

    path = tmp_path / "new.json"
    path.touch()
    give_list(path)
    monkeypatch.setattr(os, call, refused)
    saved("new.json", b"new", overwrite=True)
    assert path.read_bytes() == b"new" and mode_of(path) == 0o600


def test_links_are_followed(tmp_path, saved):
    """The link stays, its target is written, the temporary file is on the target's file system."""
    (tmp_path / "far").mkdir()
    (tmp_path / "link.json").symlink_to("far/run.json")
    (tmp_path / "by").symlink_to(tmp_path / "far")
    saved("link.json", b"new")
    saved("by/../by/other.json", b"new")
    assert (tmp_path / "link.json").is_symlink()
    assert names(tmp_path / "far") == ["other.json", "run.json"]


def test_pieces(tmp_path, saved):
    """What stops them leaves those before; a mistake of the question leaves nothing, nor does a first piece."""

    def pieces(*some):
        for each in some:
            if isinstance(each, BaseException):
                raise each
            yield each

    for number, error in enumerate((OSError(28, "Full"), ComputationError("singular"), KeyboardInterrupt())):
        with pytest.raises((KronbotError, KeyboardInterrupt)) as caught:
            saved(f"{number}.csv", pieces(b"a\n", b"b\n", error))
        assert (tmp_path / f"{number}.csv").read_bytes() == b"a\nb\n"
        if isinstance(error, OSError):
            assert str(caught.value) == f"cannot write all of {tmp_path / '0.csv'}: Full"
        with pytest.raises((KronbotError, KeyboardInterrupt)):
            saved("none.csv", pieces(error))
    with pytest.raises(UsageError):
        saved("none.csv", pieces(b"a\n", UsageError("row 2")))
    assert names(tmp_path) == ["0.csv", "1.csv", "2.csv"]


# ----------------------------------------------------------------------------------------------------------------------
# Other users


@pytest.mark.parametrize("overwrite", [False, True])
@pytest.mark.parametrize("other", [lambda path: path.write_text("evil"), os.mkfifo, lambda path: path.symlink_to("x")])
def test_a_draft_that_somebody_exchanges(tmp_path, monkeypatch, capsys, overwrite, other):
    """In a folder where others may, at the last moment: what they have put there is not the answer."""
    tmp_path.chmod(0o777)
    sync = os.fsync

    def exchange(descriptor):
        sync(descriptor)
        (draft,) = tmp_path.glob(".kronbot-*")
        draft.unlink()
        other(draft)

    monkeypatch.setattr(os, "fsync", exchange)
    place = tmp_path / "a.json"
    assert run(["jacobian", "khang", "-o", str(place), *["--overwrite"] * overwrite]) == 1
    told = capsys.readouterr().err
    assert "a.json: somebody who can write to the folder has put another file in its place" in told
    assert "wrote" not in told


@pytest.fixture
def shared():
    """A folder for everybody, in which users may be played."""
    if os.geteuid() != 0:
        pytest.skip("ONLY ROOT CAN PLAY OTHER USERS: what they could do is not tested")
    with tempfile.TemporaryDirectory() as name:
        os.chmod(name, 0o1777)
        yield Path(name)


def by(user, action):
    """Do something as another user, in a process of its own: what it raises."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        said = "died"
        try:
            os.setgroups([GROUP])
            os.setresgid(user, user, user)
            os.setresuid(user, user, user)
            action()
            said = ""
        except BaseException as error:
            said = str(error)
        finally:
            os.write(writing, said.encode())
            os._exit(0)
    os.close(writing)
    os.waitpid(child, 0)
    with open(reading, encoding="utf-8") as file:
        return file.read()


MALLORY, ALICE, GROUP = 54321, 12345, 55555


@pytest.mark.parametrize(
    ("user", "owner", "mode"),
    [
        *((ALICE, owner, mode) for owner, mode in ((0, 0o1777), (MALLORY, 0o755))),
        (0, 0, 0o1777),
        *(rare(ALICE, owner, mode) for owner, mode in ((0, 0o777), (0, 0o775), (MALLORY, 0o711))),
        *(rare(0, owner, mode) for owner, mode in ((0, 0o777), (0, 0o775), (MALLORY, 0o755), (MALLORY, 0o711))),
    ],
)
def test_links_that_others_lay(shared, saved, user, owner, mode):
    """Would lead to a file of the user's own; in /tmp Linux follows them only where it is told to.

    Also in a folder that is closed to all but its owner, who lays them.
    """
    os.chmod(shared, mode)
    os.chown(shared, owner, GROUP)
    (shared / "precious").mkdir()
    os.chown(shared / "precious", user, user)
    by(MALLORY, lambda: (shared / "run.csv").symlink_to("precious/file.csv"))
    by(MALLORY, lambda: (shared / "runs").symlink_to("precious"))
    for name in ("run.csv", "runs/file.csv"):
        said = by(user, lambda name=name: saved(shared / name, b"new", overwrite=True))
        assert said == f"-o {shared / name}: a link that another user has laid; name the place that it leads to"
    assert names(shared / "precious") == []
    # One's own are followed, and root's.
    os.chmod(shared, mode | 0o777)
    by(user, lambda: (shared / "mine").symlink_to("precious"))
    os.chmod(shared, mode)
    os.symlink("precious", shared / "roots")
    for name in ("mine/a.csv", "roots/b.csv"):
        assert by(user, lambda name=name: saved(shared / name, b"new")) == ""
    assert names(shared / "precious") == ["a.csv", "b.csv"]


def test_files_of_others(shared, saved):
    """In a sticky folder nobody else may replace them, which is known before the work."""
    by(MALLORY, lambda: (shared / "theirs.csv").write_text("theirs"))
    said = by(ALICE, lambda: saved(shared / "theirs.csv", b"new", True, lambda: pytest.fail("computed")))
    assert "the file belongs to another user" in said
    # Root may, and it stays theirs.
    saved(shared / "theirs.csv", b"new", overwrite=True)
    assert (shared / "theirs.csv").stat().st_uid == MALLORY
    # A group that one does not belong to keeps nothing that one's own group would get.
    (shared / "open").mkdir()
    (shared / "open").chmod(0o777)
    (shared / "open" / "run.csv").touch()
    os.chown(shared / "open" / "run.csv", 0, MALLORY)
    (shared / "open" / "run.csv").chmod(0o664)
    assert by(ALICE, lambda: saved(shared / "open" / "run.csv", b"new", overwrite=True)) == ""
    status = (shared / "open" / "run.csv").stat()
    assert (status.st_uid, stat.S_IMODE(status.st_mode)) == (ALICE, 0o604)
    # What somebody else let everybody write is for its new owner alone to write.
    by(MALLORY, lambda: (shared / "open" / "forged.csv").write_text("x"))
    by(MALLORY, lambda: (shared / "open" / "forged.csv").chmod(0o666))
    assert by(ALICE, lambda: saved(shared / "open" / "forged.csv", b"new", overwrite=True)) == ""
    status = (shared / "open" / "forged.csv").stat()
    assert (status.st_uid, stat.S_IMODE(status.st_mode)) == (ALICE, 0o604)
    # Nor do those of the group before get more as others than they had.
    (shared / "open" / "denied.csv").touch()
    os.chown(shared / "open" / "denied.csv", 0, MALLORY)
    (shared / "open" / "denied.csv").chmod(0o604)
    assert by(ALICE, lambda: saved(shared / "open" / "denied.csv", b"new", overwrite=True)) == ""
    assert mode_of(shared / "open" / "denied.csv") == 0o600


# ----------------------------------------------------------------------------------------------------------------------
# Limits of the process


@pytest.mark.parametrize("most", [rare(5), 6, rare(7)])
def test_few_descriptors(most):
    """Too few for kronbot to begin (Python itself needs 4): one line that names the limit."""
    done = subprocess.run(
        [sys.executable, "-m", "kronbot", "jacobian", "khang", "-q"],
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (most, most)),
        check=False,
    )
    if done.returncode:
        assert (done.returncode, done.stdout) == (1, "")
        assert re.fullmatch(r"Error: .*Too many open files.* \(ulimit -n\)\n", done.stderr)
    assert most > 5 or done.returncode


def test_a_limit_of_the_process_is_no_wrong_usage(tmp_path, monkeypatch, capsys):
    """Where the place of an output cannot be looked at; a name that no file can have is."""

    def limited(name, overwrite):
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    monkeypatch.setattr(saving.Target, "at", limited)
    assert run(["modes", "khang", "-o", str(tmp_path / "m.json")]) == 1
    assert "Too many open files (ulimit -n)" in capsys.readouterr().err
    monkeypatch.undo()
    assert run(["modes", "khang", "-o", str(tmp_path / ("long" * 100 + ".json"))]) == 2


@pytest.mark.parametrize("most", [rare(9), 10, rare(11)])
def test_few_descriptors_to_compile_with(most, tmp_path, monkeypatch):
    """Where one is missing the answer is interpreted, and the reason told; whoever tells it needs none, either."""
    monkeypatch.setenv("KRONBOT_CACHE", str(tmp_path / "cache"))
    done = subprocess.run(
        [sys.executable, "-m", "kronbot", "jacobian", "khang", "--native", "on", "--format", "json"],
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (most, most)),
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["command"] == "jacobian"
    assert re.fullmatch(r"(warning: no native code, .*Too many open files.* \(ulimit -n\)\n)?", done.stderr)


@pytest.mark.parametrize("most", [rare(7), 8, rare(10)])
def test_few_descriptors_for_a_sweep(most, tmp_path):
    """Without one, no version of a library is found: the limit is told."""
    done = subprocess.run(
        [sys.executable, "-m", "kronbot", "sweep", "modes", "khang", "--over", "EI=1:2:3", "-o", f"{tmp_path}/runs/"],
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (most, most)),
        check=False,
    )
    assert done.returncode in (1, 2)
    assert done.stdout == ""
    assert re.fullmatch(r"Error: .*Too many open files.* \(ulimit -n\).*\n", done.stderr)


@pytest.mark.parametrize(
    "words",
    [
        "error return without exception set",
        "<function _find_and_load at 0x7fd622237ce0> returned NULL without setting an exception",
        "<class 'list'> returned a result with an exception set",
        "initialization of _casadi failed without raising an exception",
        "initialization of _casadi raised unreported exception",
    ],
)
@pytest.mark.parametrize("most", [2e8, math.inf])
def test_what_python_says_where_memory_is_out(words, most, monkeypatch, capsys):
    """Without a limit it stays what it is: a bug."""

    def refuse(context):
        raise SystemError(words)

    monkeypatch.setattr("kronbot.cli.main.kronbot.invoke", refuse)
    monkeypatch.setattr(host, "memory_limit", lambda: most)
    assert run(["jacobian", "khang"]) == 1
    told = capsys.readouterr().err
    assert ("more memory than" in told, "unexpected SystemError" in told) == (most < math.inf, most == math.inf)


LITTLE = [("-v", most) for most in (20, 25, 44, 50, 100, 150, 190)] + [("-d", most) for most in (60, 80)]


@pytest.mark.parametrize(("flag", "most"), thinned(LITTLE, [("-v", 25), ("-v", 150), ("-d", 80)]))
def test_little_memory(flag, most):
    """Where Python crashes or waits for ever, or OpenBLAS ends the process or sends it a Ctrl-C: the limit is told."""
    limit = {"-v": resource.RLIMIT_AS, "-d": resource.RLIMIT_DATA}[flag]
    done = subprocess.run(
        [sys.executable, "-m", "kronbot", "jacobian", "canadarm"],
        capture_output=True,
        text=True,
        env={name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")},
        preexec_fn=lambda: resource.setrlimit(limit, (most * 1024**2, most * 1024**2)),
        check=False,
    )
    assert (done.returncode, done.stdout) == (1, "")
    told = done.stderr.splitlines()[-1]
    assert told.startswith("Error: ")
    assert f"(ulimit {flag})" in told


def test_one_thread_for_matrices_unless_told_otherwise(monkeypatch):
    for name in ("OPENBLAS", "GOTO", "OMP"):
        monkeypatch.delenv(f"{name}_NUM_THREADS", raising=False)
    _spare_threads()
    assert os.environ["OPENBLAS_NUM_THREADS"] == "1"
    monkeypatch.delenv("OPENBLAS_NUM_THREADS")
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    _spare_threads()
    assert "OPENBLAS_NUM_THREADS" not in os.environ


@pytest.mark.parametrize(
    ("words", "limit"),
    [
        ("libcasadi.so.3.7: failed to map segment from shared object", "more memory than there is"),
        ("libm.so: cannot open shared object file: Too many open files", "Too many open files (ulimit -n)"),
    ],
)
def test_a_library_that_a_limit_keeps_out(monkeypatch, capsys, words, limit):
    def refuse(context):
        raise ImportError(words)

    monkeypatch.setattr("kronbot.cli.main.kronbot.invoke", refuse)
    assert run(["jacobian", "khang"]) == 1
    told = capsys.readouterr().err
    assert told.startswith("Error: cannot load a library: ")
    assert told.endswith(f"{limit}\n")


def test_no_thread_to_be_had(monkeypatch):
    """The command line goes on without the one that ends it in time."""
    refused = []

    def refuse(thread):
        refused.append(thread)
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr("threading.Thread.start", refuse)
    monkeypatch.setattr("sys.unraisablehook", sys.unraisablehook)
    monkeypatch.setattr(interruption.MET, "pipe", None)
    before = signal.set_wakeup_fd(-1)
    try:
        interruption.leave_in_time()
        assert len(refused) == 1
    finally:
        awake = signal.set_wakeup_fd(before)
    assert awake == interruption.MET.pipe.writing


# ----------------------------------------------------------------------------------------------------------------------
# Full disks


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
        env=os.environ | UNCOMPILED,
    )
    assert done.returncode == 1
    assert done.stderr == f"Error: cannot write {tmp_path / 's.json'}: File too large (ulimit -f)\n"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_rows_that_a_full_disk_takes(tmp_path):
    """Are kept, whole lines of them."""
    (tmp_path / "rows.csv").write_text("qa\n" + "".join(f"{i}e-4\n" for i in range(10_000)))
    done = shell(f"cd {tmp_path}; ulimit -f 200; $K jacobian khang -q --q @rows.csv --array J_T -o a.csv")
    assert (done.returncode, done.stderr) == (1, "Error: cannot write all of a.csv: File too large (ulimit -f)\n")
    text = (tmp_path / "a.csv").read_text()
    assert text.endswith("\n")
    assert 100_000 < len(text) <= 204_800
    assert names(tmp_path) == ["a.csv", "rows.csv"]


@pytest.mark.parametrize("unbuffered", [rare(""), "1"])
def test_a_full_disk_behind_stdout(tmp_path, unbuffered):
    """Exit 1 and one line, also where Python is told not to buffer and would not notice."""
    done = shell(f"ulimit -f 1; $K schema > {tmp_path / 's.json'}", PYTHONUNBUFFERED=unbuffered)
    assert (done.returncode, done.stderr) == (1, "Error: cannot write the answer: File too large (ulimit -f)\n")


@pytest.mark.parametrize(
    "command", ["--version", rare("--help"), rare("check khang"), rare("check khang --format json")]
)
def test_a_full_device(command):
    """The standard example."""
    done = shell(f"$K {command} > /dev/full")
    assert (done.returncode, done.stderr) == (1, "Error: cannot write the answer: No space left on device\n")


@pytest.mark.parametrize("command", ["--help", rare("schema"), rare("check khang"), rare("check khang --format json")])
def test_a_reader_that_has_gone(command):
    """Is no error."""
    done = shell(f"$K {command} | true")
    assert (done.returncode, done.stderr) == (0, "")


def test_what_goes_wrong_without_a_reader_still_does():
    """In every form: a pose out of reach ends with 1 where only its first lines are wanted, of tables too."""
    for form in ("table", "json"):
        done = shell(f"$K kinematics puma560 --inverse 600,3,0 --format {form} | true")
        assert done.returncode == 1
        assert done.stderr.startswith("Error: the pose is not reached")


def test_what_is_written_beside_an_answer_does_not_want_a_reader(tmp_path):
    """The fitted file, and the warnings."""
    (tmp_path / "a.csv").write_text("theta,endpoint.x\n0,0.9\n0.3,0.95\n0.8,0.85\n")
    done = shell(f"cd {tmp_path}; $K fit piedboeuf --data a.csv --estimate l=0.1:2 -o fitted.yaml | true")
    assert done.returncode == 0
    assert "wrote fitted.yaml" in done.stderr
    assert "times what sigma says" in done.stderr
    assert (tmp_path / "fitted.yaml").read_text().count("l: 0.7845") == 1
    done = shell(f"cd {tmp_path}; $K fit piedboeuf --data a.csv --estimate l=0.1:2 -o again.yaml > /dev/full")
    assert done.returncode == 1 and done.stderr.endswith("\nError: cannot write the answer: No space left on device\n")
    assert (tmp_path / "again.yaml").read_bytes() == (tmp_path / "fitted.yaml").read_bytes()
    assert "beside a copy belong" in shell("$K robots canadarm | true").stderr


# ----------------------------------------------------------------------------------------------------------------------
# Streams


@pytest.mark.parametrize(("stream", "lost"), [rare("2>&-", 0), rare("2>/dev/full", 0), ("2>&- >&- <&-", 1)])
def test_nobody_hears_errors(stream, lost):
    """The exit code still tells."""
    for command, code in (("explain nosuch", 2), ("--nosuch", 2), ("convert /dev/null", 3), ("--version", lost)):
        assert shell(f"$K {command} {stream}").returncode == code


@pytest.mark.slow
@pytest.mark.parametrize("stream", ["2>&-", "2>/dev/full"])
def test_nobody_hears_warnings(stream):
    """Of the file or of the answer, which is there all the same."""
    for command in ("check puma560", "simulate khang --duration 0.01"):
        done = shell(f"$K {command} --format json {stream}")
        assert done.returncode == 0
        assert json.loads(done.stdout)["command"] == command.split()[0]


@pytest.mark.slow
@pytest.mark.parametrize("stream", ["2>&-", "2>/dev/full"])
def test_nobody_hears_what_is_said_beside(stream, tmp_path):
    """By commands that write no answers: the work is done all the same."""
    arm = '<robot name="r"><link name="a"/><link name="b"/><joint name="j" type="continuous"><parent link="a"/>'
    (tmp_path / "r.urdf").write_text(f'{arm}<child link="b"/><limit effort="1" velocity="1"/></joint></robot>')
    for command, said in (
        ("robots canadarm", "kronbot: 1"),
        ("init a.yaml && cat a.yaml", "kronbot: 1"),
        ("convert r.urdf", "kronbot: 1"),
        ("cache --clear", "entries  0"),
    ):
        done = shell(f"cd {tmp_path}; $K {command} {stream}", KRONBOT_CACHE=str(tmp_path / "cache"))
        assert done.returncode == 0, command
        assert said in done.stdout, command


@pytest.mark.slow
def test_nobody_hears_that_there_is_no_script():
    """The exit code still tells."""
    assert shell("_KRONBOT_COMPLETE=csh_source $K 2>/dev/full").returncode == 2


@pytest.mark.parametrize(
    "command", ["simulate khang", "schema", *map(rare, ["check khang --format json", "init", "--help", "robots"])]
)
def test_an_answer_that_nobody_gets(command):
    """Is lost, which is told; of a long computation before it begins."""
    done = shell(f"$K {command} >&-")
    assert (done.returncode, done.stderr) == (1, "Error: cannot write the answer: stdout is closed\n")


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
    (tmp_path / "still.yaml").write_text(ROBOT + f"links: [{link}]\n")
    moving = ["linearize", "still.yaml", "--motion", "q1: {type: table, file: t.csv}", "--overwrite"]
    assert run([*moving, "-o", "link.csv"]) == 2
    assert "that is a table of the robot itself" in capsys.readouterr().err
    rows = ["jacobian", "r.yaml", "--q", "@rows.csv", "--array", "J_T", "--overwrite"]
    assert run([*rows, "-o", "rows.csv"]) == 2
    assert "that is the file of rows itself" in capsys.readouterr().err
    for option in (["--to", "q1=1", "--through", "t.csv"], ["--follow", "t.csv"]):
        assert run(["plan", "still.yaml", *option, "--duration", "1", "-o", "t.csv", "--overwrite"]) == 2
        assert "itself" in capsys.readouterr().err
    assert run([*rows, "-o", "other.csv"]) == 0
    assert (tmp_path / "rows.csv").read_text() == "q1\n0.1\n0.2\n"
    os.link("rows.csv", "r.png")
    assert run(["statics", "still.yaml", "--q", "@rows.csv", "--plot", "r.png", "--overwrite"]) == 2
    assert "--plot r.png: that is the file of rows itself" in capsys.readouterr().err


@pytest.mark.parametrize(
    "asked",
    [
        ["modes", "khang", "--q", "@-"],
        ["statics", "khang", "--q", "@/dev/stdin"],
        ["sweep", "modes", "khang", "--over", "qa=0,1", "--q", "@-"],
        ["fit", "piedboeuf", "--data", "-"],
        ["fit", "piedboeuf", "--plan", "3", "--candidates", "-"],
        ["plan", "canadarm", "--to", "q1=0.2", "--through", "/dev/stdin", "--duration", "8"],
        ["plan", "canadarm", "--follow", "-", "--duration", "8"],
    ],
)
def test_what_is_piped_from_a_file_is_not_replaced(asked, tmp_path, monkeypatch, capsys):
    """Whatever reads it: standard input is that file."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.csv").write_text("qa\n0.1\n")
    before = os.dup(0)
    try:
        with open("rows.csv", encoding="utf-8") as piped:
            os.dup2(piped.fileno(), 0)
            monkeypatch.setattr(sys, "stdin", piped)
            assert run([*asked, "-o", "rows.csv", "--overwrite"]) == 2
    finally:
        os.dup2(before, 0)
        os.close(before)
    assert " itself" in capsys.readouterr().err
    assert (tmp_path / "rows.csv").read_text() == "qa\n0.1\n"


def test_what_a_sweep_comes_from_is_never_replaced(tmp_path, monkeypatch, capsys):
    """By files or by folders that it is in; each is named before anything is computed."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("kronbot.sweeps.driver.Driver.chunks", lambda self: pytest.fail("computed"))
    (tmp_path / "in").mkdir()
    (tmp_path / "link").symlink_to("in")
    link = LINK.replace("{type: fixed}", "{type: revolute, name: q1}")
    moved = ROBOT + f"links: [{link}]\nmotion: {{q1: {{type: table, file: in/cases.csv}}}}\n"
    (tmp_path / "r.yaml").write_text(moved)
    (tmp_path / "in" / "1.json").write_text(ROBOT + f"links: [{link}]\n")
    (tmp_path / "in" / "cases.csv").write_text("t,q1\n0,0\n1,1\n2,0\n3,1\n")
    (tmp_path / "in" / "2.npz").write_text("q1\n0.1\n")
    before = {each.name: each.read_text() for each in (tmp_path / "in").iterdir()}
    for asked, output, words in (
        (["check", "in/1.json", "--over", "q1=0,1"], "in/.json", "the robot file is in that folder"),
        (["check", "r.yaml", "--over", "q1=0,1"], "in", "a table of the robot is in that folder"),
        (["check", "khang", "--cases", "in/2.npz"], "link/", "the file of cases is in that folder"),
        (["check", "khang", "--over", "EI=1,2", "--scheduler", "in/1.json"], "in", "file of the scheduler is in that"),
        (["jacobian", "r.yaml", "--q", "@link/2.npz", "--over", "order=0,1"], "in/", "is in that folder"),
        (["plan", "khang", "--follow", "in/2.npz", "--over", "mE=0,1"], "link", "path of the tip is in that folder"),
        (
            ["plan", "khang", "--follow", "in/cases.csv", "--over", "mE=0,1"],
            "in/cases.csv",
            "the path of the tip itself",
        ),
    ):
        assert run(["sweep", *asked, "-o", output, "--overwrite"]) == 2
        assert words in (told := capsys.readouterr().err) and told.startswith(f"Error: -o {output}: ")
    assert {each.name: each.read_text() for each in (tmp_path / "in").iterdir()} == before
    assert run(["sweep", "check", "khang", "--over", "EI=1,2", "-o", "p.svg/", "--plot", "p.svg"]) == 2
    assert capsys.readouterr().err == "Error: -o p.svg/: that is what --plot p.svg writes\n"


@pytest.mark.parametrize("more", [rare(">> rows.csv"), "1<> rows.csv"])
def test_an_answer_that_goes_to_what_it_comes_from_by_stdout(tmp_path, more):
    """Would never end, or spoil what is still to be read."""
    (tmp_path / "rows.csv").write_text(text := "qa\n0.1\n0.2\n")
    done = shell(f"cd {tmp_path}; $K jacobian khang --q @rows.csv --array J_T --format csv {more}")
    assert (done.returncode, (tmp_path / "rows.csv").read_text()) == (2, text)
    assert done.stderr == "Error: stdout is the file of rows itself: -o FILE writes the answer to another file\n"


@pytest.mark.parametrize("source", [rare("k.yaml"), rare("./k.yaml"), "- < k.yaml"])
def test_convert_does_not_replace_its_own_input(tmp_path, source):
    """A URDF may have any name."""
    (tmp_path / "k.yaml").write_text(text := '<robot name="r"><link name="l"/></robot>')
    done = shell(f"cd {tmp_path}; $K convert {source} -o k.yaml --overwrite")
    assert (done.returncode, done.stderr) == (2, "Error: -o k.yaml: that is the URDF itself\n")
    assert (tmp_path / "k.yaml").read_text() == text


@pytest.mark.slow
def test_gains_and_filters_that_an_answer_comes_from_are_never_replaced(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    links = LINK.replace("{type: fixed}", "{type: revolute, name: q1}, rigid: {mass: 1, com: [1, 0, 0]}")
    text = ROBOT.replace("0, 0, 0", "0, -9.81, 0") + f"links: [{links}]\n"
    (tmp_path / "r.yaml").write_text(text)
    design = ["design", "r.yaml", "--lqr", "--noise", "q1=1e-3", "--quiet"]
    assert run([*design, "-o", "gains.csv"]) == run([*design, "--array", "estimator", "-o", "filter.csv"]) == 0
    (tmp_path / "r.yaml").write_text(text + "control: {state_feedback: {K: gains.csv, estimator: filter.csv}}\n")
    for command in (["simulate", "--duration", "0.1"], ["linearize", "--closed-loop", "--array", "A"]):
        for file in ("gains.csv", "filter.csv"):
            assert run([command[0], "r.yaml", *command[1:], "-o", file, "--overwrite"]) == 2
            assert "that is a table of the robot itself" in capsys.readouterr().err


@pytest.mark.slow
def test_names_do_not_write_to_the_terminal(tmp_path, monkeypatch, capsys, unsettled):
    """Control characters, and those that turn the direction of a line."""
    monkeypatch.chdir(tmp_path)
    odd = "\x1b[31m\u202ea"
    assert run(["simulate", "khang", "--duration", "0.1", "-o", f"{odd}.csv", "--plot", f"{odd}.png"]) == 0
    assert run(["init", f"{odd}.yaml"]) == 0
    assert run(["export", "khang", "--of", "pose", "-o", f"{odd}.py"]) == 0
    (tmp_path / f"{odd}.urdf").write_text('<robot name="r"><link name="l"/><link name="m"/></robot>')
    run(["convert", f"{odd}.urdf", "-o", f"{odd}/x.yaml"])
    run(["convert", f"{odd}.urdf", "-o", f"{odd}.yml"])
    told = capsys.readouterr()
    assert "\x1b" not in told.err + told.out
    assert "\u202e" not in told.err + told.out
    assert told.err.count("wrote '\\x1b[31m\\u202ea.") == 4


def test_csv_has_no_place_for_the_summary(tmp_path, capsys):
    """It is told beside, unless one wants to hear nothing."""
    for more, told in (("run.csv", True), ("run.json", False), ("quiet.csv", False)):
        quiet = ["-q"] if more == "quiet.csv" else []
        line = ["simulate", "khang", "--order", "0", "--duration", "0.1", "--solver", "rodas"]
        assert run([*line, "-o", str(tmp_path / more), *quiet]) == 0
        assert ("energy_drift" in capsys.readouterr().err) == told
    assert run(["design", "khang", "--lqr", "-o", str(tmp_path / "gains.csv")]) == 0
    told = capsys.readouterr().err
    assert "disk_margin" in told  # of an array alone, too
    assert told.endswith("--array K, or -o with .json, .npz or .mat\n")


@pytest.mark.slow
def test_who_interrupts_is_told_what_is_not_drawn(capsys, monkeypatch, tmp_path):
    """Of a run the rows so far are written; of sweeps the table is whole or there is none."""

    def interrupted(*given, simulate=Robot.simulate, **named):
        error = Interrupted("interrupted at t = 0.02 s")
        error.partial = simulate(*given, **named)
        with suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        raise error

    monkeypatch.setattr(Robot, "simulate", interrupted)
    monkeypatch.chdir(tmp_path)
    line = ["simulate", "canadarm", "--duration", "0.02", "--step", "0.01", "-o", "a.csv", "--plot", "a.png"]
    assert run([*line, "--view", "a.html"]) == 130
    assert "interrupted: left out: a.png and a.html\n" in capsys.readouterr().err
    assert [file.name for file in tmp_path.iterdir()] == ["a.csv"]

    def stopped(sweep):
        raise Interrupted("interrupted")

    monkeypatch.setattr(Sweep, "chunks", stopped)
    assert run(["sweep", "modes", "canadarm", "--over", "q2=0:1:3", "--workers", "1", "--plot", "s.png"]) == 130
    assert "interrupted: left out: s.png\n" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize(("quiet", "most", "told"), [([], 3, True), ([], 4, False), (["--quiet"], 3, False)])
def test_who_interrupts_is_told_that_many_rows_are_being_written(capsys, monkeypatch, tmp_path, quiet, most, told):
    line, file = ["simulate", "canadarm", "--duration", "0.02", "--step", "0.01", *quiet], tmp_path / "out.csv"

    def interrupted(*given, simulate=Robot.simulate, **named):
        error = Interrupted("interrupted at t = 0.02 s")
        error.partial = simulate(*given, **named)
        raise error

    monkeypatch.setattr(Robot, "simulate", interrupted)
    monkeypatch.setattr(answers, "MANY_ROWS", most)
    assert run([*line, "-o", str(file)]) == 130
    assert len(file.read_text().splitlines()) == 4
    assert ("interrupted: writing 3 rows\n" in capsys.readouterr().err) == told
