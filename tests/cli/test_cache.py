"""``kronbot cache``, and the folder it is about."""

import fcntl
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner
from thinned import rare

from kronbot import __version__
from kronbot.cli.commands.cache import cache as command
from kronbot.cli.main import run as kronbot
from kronbot.compute.native import cache
from kronbot.compute.native.cache import Cache
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


def test_abandoned_builds_go(kept, monkeypatch):
    """Those whose lock nobody holds; where the file system knows no locks, those of more than an hour ago."""
    for name in ("build-00-0123456789abcdef", "build-01-0123456789abcdef", "build-letters"):
        (kept.path / name).mkdir()
    with kept.turn("01", 0.0), Cache(kept.path):
        assert sorted(path.name for path in kept.path.glob("build-*")) == ["build-01-0123456789abcdef", "build-letters"]

    def refuse(handle, operation):
        raise OSError("no locks here")

    monkeypatch.setattr(fcntl, "flock", refuse)
    for age, left in ((10.0, 2), (2 * cache.ABANDONED, 1)):
        os.utime(kept.path / "build-01-0123456789abcdef", (time.time() - age, time.time() - age))
        with Cache(kept.path):
            assert len(list(kept.path.glob("build-*"))) == left


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
