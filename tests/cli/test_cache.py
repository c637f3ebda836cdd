"""``kronbot cache``, and the folder it is about."""

import errno
import fcntl
import json
import os
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest
from click.testing import CliRunner
from thinned import rare

from kronbot import __version__
from kronbot.cli.commands.cache import cache as command
from kronbot.cli.main import run as kronbot
from kronbot.compute.native import cache, policy
from kronbot.compute.native.cache import Cache
from kronbot.system.platform import host
from kronbot.system.private import NotPrivate


@pytest.fixture
def kept(tmp_path, monkeypatch):
    """A cache in a folder with two files that are not its own."""
    monkeypatch.setenv("KRONBOT_CACHE", str(tmp_path / "cache"))
    with Cache(tmp_path / "cache", create=True) as kept:
        (kept.path / "letter.txt").write_text("keep me")
        (kept.path / f"{'a' * 63}.so").write_text("too short a name")
        yield kept


def store(kept, digit, size=1000, used=None):
    """A library by the key of sixty-four equal digits."""
    with kept.build_folder(digit * 64) as place:
        path = kept.store(digit * 64, b"\0" * size, place)
    if used is not None:
        os.utime(path, (used, used))
    return path


def run(*arguments):
    return CliRunner().invoke(command, arguments, catch_exceptions=False)


def test_shows_folder_entries_and_size(kept):
    store(kept, "0")
    store(kept, "1", size=1_500_000)
    answer = run()
    assert answer.exit_code == 0
    assert answer.stdout.splitlines() == [
        f"folder   {kept.path}",
        "entries  2",
        "size     1.5 MB of at most 256 MB",
    ]


def test_json(kept):
    store(kept, "0")
    summary = {"folder": str(kept.path), "entries": 1, "bytes": 1000}
    answer = {"kronbot": __version__, "command": "cache", "summary": summary}
    assert json.loads(run("--format", "json").stdout) == answer


def test_clear_removes_its_own_files_only(kept):
    store(kept, "0")
    store(kept, "1")
    with kept.turn("0" * 64, 1.0):
        pass
    (kept.path / "build-00-0123456789abcdef").mkdir()
    answer = run("--clear")
    assert "removed 2 compiled functions" in answer.stderr
    assert "entries  0" in answer.stdout
    assert sorted(path.name for path in kept.path.iterdir()) == [f"{'a' * 63}.so", "letter.txt"]
    assert "removed 0 compiled functions" in run("--clear").stderr


def test_no_folder_yet(tmp_path, monkeypatch):
    """Nothing is made by looking."""
    monkeypatch.setenv("KRONBOT_CACHE", str(tmp_path / "none"))
    for arguments in ([], ["--clear"]):
        assert "entries  0" in run(*arguments).stdout
    assert not (tmp_path / "none").exists()


def test_a_folder_that_is_not_used_is_said_so(kept, tmp_path):
    """And not emptied."""
    store(kept, "0")
    kept.path.chmod(0o777)
    with pytest.raises(NotPrivate, match="chmod go-w"):
        run("--clear")
    kept.path.chmod(0o700)
    kept.path.rename(tmp_path / "moved")
    kept.path.symlink_to(tmp_path / "nowhere")
    with pytest.raises(NotPrivate, match="is a link"):
        run()
    with Cache(tmp_path / "moved") as moved:
        assert len(moved.entries()) == 1


def test_a_folder_that_may_not_be_entered_is_named(tmp_path, monkeypatch):
    """With what to do, by who looks and by who computes; so is one whose name the system does not take."""
    monkeypatch.setenv("KRONBOT_CACHE", str(tmp_path / ("long" * 100)))
    with pytest.raises(NotPrivate, match=r"longlong.*: File name too long; set KRONBOT_CACHE"):
        run()
    closed, locate = tmp_path / "closed", host.located
    monkeypatch.setenv("KRONBOT_CACHE", str(closed))
    for code in (errno.EACCES, errno.EPERM):
        refused = OSError(code, os.strerror(code), ".")
        monkeypatch.setattr(host, "located", lambda *given, refused=refused: (_ for _ in ()).throw(refused))
        with pytest.raises(NotPrivate, match=f"^{re.escape(str(closed))}: {os.strerror(code)}; set KRONBOT_CACHE"):
            run()
    monkeypatch.setattr(host, "located", locate)
    assert "entries  0" in run().stdout


def test_imports_nothing_heavy():
    run = "from kronbot.cli.commands.cache import cache; cache([], standalone_mode=False)"
    code = f"import sys; {run}; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "kronbot.compute.native.cache" in loaded
    assert not {"numpy", "casadi", "sympy"} & set(loaded)


def test_where_the_folder_is(tmp_path, monkeypatch):
    """$KRONBOT_CACHE, $XDG_CACHE_HOME/kronbot, the home folder; empty and relative settings of XDG do not count."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("KRONBOT_CACHE", "~/own")
    assert cache.folder() == tmp_path / "own"
    monkeypatch.setenv("KRONBOT_CACHE", "here")
    assert cache.folder() == Path.cwd() / "here"
    monkeypatch.setenv("KRONBOT_CACHE", "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache.folder() == tmp_path / "xdg" / "kronbot"
    for void in ("", "relative"):
        monkeypatch.setenv("XDG_CACHE_HOME", void)
        assert cache.folder() == tmp_path / ".cache" / "kronbot"
    monkeypatch.setattr(sys, "platform", "darwin")
    assert cache.folder() == tmp_path / "Library" / "Caches" / "kronbot"


def test_least_recently_used_go_first(kept, monkeypatch):
    """Use counts, not age; digests go with their libraries."""
    now = time.time()
    for digit, used in (("0", now - 30), ("1", now - 20), ("2", now - 10)):
        store(kept, digit, used=used)
    assert kept.find("0" * 64) is not None  # used now
    monkeypatch.setattr(cache, "MAX_BYTES", 2500)
    kept.evict()
    assert [entry.path.name[0] for entry in kept.entries()] == ["2", "0"]
    assert not (kept.path / f"{'1' * 64}.sha256").exists()
    assert (kept.path / "letter.txt").exists()


def test_what_cannot_be_marked_as_used_is_used(kept, monkeypatch):
    """A cache that an image brings along, on a read-only file system."""
    path = store(kept, "0")

    def refuse(name, *place, **given):
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(os, "utime", refuse)
    assert kept.find("0" * 64) == path


def test_what_cannot_be_removed_is_named(kept, monkeypatch, capsys):
    """On a read-only file system; what was abandoned there stays, and is in nobody's way."""
    path = store(kept, "0")
    abandoned = kept.path / f"{'1' * 64}.sha256"
    abandoned.write_text("")
    os.utime(abandoned, (1, 1))

    def refuse(name, *place, **given):
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(os, "unlink", refuse)
    monkeypatch.setattr(os, "remove", refuse)
    assert kronbot(["cache"]) == 0
    assert kronbot(["cache", "--clear"]) == 1
    told = capsys.readouterr().err
    assert told.startswith(f"Error: cannot remove {kept.path}/") and told.endswith(": Read-only file system\n")
    assert path.exists() and abandoned.exists()


def test_abandoned_builds_go(kept, monkeypatch):
    """Those whose lock nobody holds; where the file system knows no locks, those of more than an hour ago."""
    builds = [f"build-{key}-0123456789abcdef" for key in ("0" * 64, "0" * 63 + "1", "00")]
    for name in (*builds, "build-letters"):
        (kept.path / name).mkdir()
    with kept.turn("0" * 63 + "1", 0.0), Cache(kept.path):
        assert sorted(path.name for path in kept.path.glob("build-*")) == [builds[1], "build-letters"]

    def refuse(handle, operation):
        raise OSError("no locks here")

    monkeypatch.setattr(fcntl, "flock", refuse)
    for age, left in ((10.0, 2), (2 * cache.ABANDONED, 1)):
        os.utime(kept.path / builds[1], (time.time() - age, time.time() - age))
        with Cache(kept.path):
            assert len(list(kept.path.glob("build-*"))) == left


def test_locks_are_for_one_key_each(kept):
    """Also of keys that begin alike; who asks for the same one waits, a thread, too. None leaves a file behind."""

    def again(key):
        with Cache(kept.path) as other, other.turn(key, 0.0):
            pass

    keys = ["a" * 64, "a" * 63 + "b"]
    with ThreadPoolExecutor(1) as thread, kept.turn(keys[0], 0.0):
        for ask in (again, lambda key: thread.submit(again, key).result()):
            ask(keys[1])
            with pytest.raises(TimeoutError):
                ask(keys[0])
    again(keys[0])
    assert list(kept.path.glob("*.lock")) == []


def test_a_lock_whose_file_goes_before_it_is_locked(kept, monkeypatch):
    """Its holder is done and another one comes in between: that one has it."""
    lock, held = host.lock, ExitStack()

    def late(handle):
        monkeypatch.undo()
        held.close()
        held.enter_context(kept.turn("d" * 64, 0.0))
        lock(handle)

    with held:
        held.enter_context(kept.turn("d" * 64, 0.0))
        monkeypatch.setattr(host, "lock", late)
        with Cache(kept.path) as other, pytest.raises(TimeoutError), other.turn("d" * 64, 0.0):
            pass


def test_locks_of_killed_processes_go(kept):
    """At the next turn; where nobody wants that, an hour later: a young one may not be locked yet by who has made it.

    One that somebody holds stays whatever its age, and with a cleared folder another one's is left alone.
    """
    left, held, young = (kept.path / f"{digit * 64}.lock" for digit in "abc")
    for lock, age in ((left, 2 * cache.ABANDONED), (held, 2 * cache.ABANDONED), (young, 0.0)):
        lock.touch(0o600)
        os.utime(lock, (time.time() - age, time.time() - age))
    with kept.turn("b" * 64, 0.0), Cache(kept.path) as other:
        assert sorted(kept.path.glob("*.lock")) == [held, young]
        with other.turn("c" * 64, 0.0):
            assert young.exists()
        assert not young.exists()
        kept.clear()
        held.touch()
    assert held.exists()


# Adds one to a number in a file as often as it is told, in turn: without locks some would be lost. The first of them
# says so and stays.
COUNTING = """
import sys
from pathlib import Path
from threading import Thread
from kronbot.compute.native.cache import Cache
path, times = Path(sys.argv[1]), int(sys.argv[2])
def count():
    for _ in range(times):
        with Cache(path.parent / "cache") as kept, kept.turn("e" * 64, 300.0):
            path.write_text(str(int(path.read_text()) + 1))
            if times == 1:
                print("held", flush=True)
                sys.stdin.read()
threads = [Thread(target=count) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""


@pytest.mark.slow
def test_one_at_a_time_of_many_processes_and_threads(kept, tmp_path):
    """Though the file of the lock goes each time; one that is killed holds up nobody."""
    number = tmp_path / "number"
    number.write_text("0")

    def begun(times):
        command = [sys.executable, "-c", COUNTING, number, str(times)]
        return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    first = begun(1)
    assert first.stdout.readline() == b"held\n"
    crowd = [begun(50) for _ in range(3)]
    first.kill()
    assert [each.wait() for each in crowd] == [0, 0, 0]
    assert int(number.read_text()) == 1 + 3 * 2 * 50
    with Cache(kept.path) as again, again.turn("e" * 64, 0.0):
        pass
    assert list(kept.path.glob("*.lock")) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can act as two users: NOT TESTED here")
def test_what_cannot_be_removed_is_told(kept, caplog):
    """Of a build folder in which somebody else's stands; nothing else minds."""
    build = kept.path / "build-00-0123456789abcdef"
    (build / "theirs" / "inner").mkdir(parents=True)
    os.chown(build / "theirs", 65534, 65534)
    with caplog.at_level("DEBUG", "kronbot"), Cache(kept.path) as again:
        assert again.clear() == 0
    assert build.exists() and "build-00-0123456789abcdef cannot be removed" in caplog.text


def test_pipes_do_not_block(kept):
    """A named pipe in place of a library is refused, not waited for."""
    path = store(kept, "0")
    path.unlink()
    os.mkfifo(path)
    assert kept.find("0" * 64) is None


@pytest.mark.parametrize(("quiet", "count"), [([], 1), rare(["-q"], 0)])
def test_who_waits_for_a_compiler_is_told(quiet, count, tmp_path, monkeypatch, capsys):
    """What for, and how long at most; a quiet command says nothing."""
    compiler = tmp_path / "compiler"
    compiler.write_text("#!/bin/sh\nsleep 0.2\nexit 1\n")
    compiler.chmod(0o700)
    monkeypatch.setenv("CC", str(compiler))
    monkeypatch.setenv("KRONBOT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(policy, "SILENT", 0.0)
    assert kronbot(["jacobian", "stacker-numeric", "--native", "on", *quiet]) == 0
    said = f"waiting for the compiler ({compiler}), 120 s at most; --native off goes on without\n"
    assert capsys.readouterr().err.count(said) == count


@pytest.mark.parametrize(
    "text", ["printf '\\033[31mred\\033]0;title\\007'; exit 1", rare("yes | head -c 9999; exit 1"), rare("exit 1")]
)
def test_what_compilers_say(text, tmp_path, monkeypatch, capfd):
    """Reasons neither write to the terminal nor flood it, and are never empty; --debug shows more of them."""
    compiler = tmp_path / "compiler"
    compiler.write_text(f"#!/bin/sh\n{text}\n")
    compiler.chmod(0o700)
    monkeypatch.setenv("CC", str(compiler))
    monkeypatch.setenv("KRONBOT_CACHE", str(tmp_path / "cache"))
    subprocess.run(
        [sys.executable, "-m", "kronbot", "jacobian", "stacker-numeric", "--native", "on", "--debug"], check=True
    )
    debug, note = [line for line in capfd.readouterr().err.splitlines() if "no native code" in line]
    assert debug.isprintable()
    assert note.isprintable()
    assert len(note) < 400 + len(str(compiler))
    assert len(debug) < 1000 + len(str(compiler))
    assert "ended with 1: " in debug or len(str(compiler)) > 70  # what follows a long name is cut


@pytest.mark.parametrize(
    ("asked", "count"),
    [(["--native", "on"], 1), rare(["--native", "on", "-q"], 0), ([], 0), rare(["--native", "off"], 0)],
)
def test_native_code_that_is_asked_for_and_not_to_be_had(asked, count, monkeypatch, capsys):
    """Is missed once, however many functions are interpreted, by who has asked for it."""
    monkeypatch.setenv("CC", "/nothing/cc")
    for question in (["statics", "piedboeuf"], ["simulate", "khang", "--duration", "0.1", "--step", "0.1"]):
        assert kronbot([*question, *asked]) == 0
        said = (
            "warning: no native code, interpreted instead, with the same answer: no C compiler: /nothing/cc not found"
        )
        assert capsys.readouterr().err.count(said) == count


def test_a_reason_is_told_once_and_names_the_place_as_it_is_called(tmp_path):
    """Not for each function that could have been native, and without the dot that leads the way from the root."""
    open_to_all = tmp_path / "open"
    open_to_all.mkdir()
    open_to_all.chmod(0o777)
    done = subprocess.run(
        [sys.executable, "-m", "kronbot", "simulate", "stacker-numeric", "--duration", "0.1", "--debug"],
        env={**os.environ, "KRONBOT_CACHE": str(open_to_all / "cache")},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    (reason,) = [line for line in done.stderr.splitlines() if "no native code" in line]
    assert f" {open_to_all};" in reason
