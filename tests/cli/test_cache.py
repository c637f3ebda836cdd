"""``kronbot cache``, and the folder it is about."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from kronbot import __version__
from kronbot.cli.cache import cache as command
from kronbot.compute import cache
from kronbot.compute.cache import Cache, CacheRefused


@pytest.fixture
def kept(tmp_path, monkeypatch):
    """A cache in a folder with two files that are not its own."""
    monkeypatch.setenv("KRONBOT_CACHE", str(tmp_path / "cache"))
    kept = Cache(tmp_path / "cache")
    kept.create()
    (kept.path / "letter.txt").write_text("keep me")
    (kept.path / f"{'a' * 63}.so").write_text("too short a name")
    return kept


def store(kept, digit, size=1000, used=None):
    """A library by the key of sixty-four equal digits."""
    with kept.build_folder() as place:
        (place / "x.so").write_bytes(b"\0" * size)
        path = kept.store(digit * 64, place / "x.so")
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
    (kept.path / "build-abandoned").mkdir()
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
    with pytest.raises(CacheRefused, match="chmod go-w"):
        run("--clear")
    kept.path.chmod(0o700)
    kept.path.rename(tmp_path / "moved")
    kept.path.symlink_to(tmp_path / "nowhere")
    with pytest.raises(CacheRefused, match="is a link"):
        run()
    assert len(Cache(tmp_path / "moved").entries()) == 1


def test_imports_nothing_heavy():
    code = "import sys; from kronbot.cli.cache import cache; cache([], standalone_mode=False); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "kronbot.compute.cache" in loaded
    assert not {"numpy", "casadi", "sympy"} & set(loaded)


def test_where_the_folder_is(tmp_path, monkeypatch):
    """$KRONBOT_CACHE, $XDG_CACHE_HOME/kronbot, the home folder; empty and relative settings of XDG do not count."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(sys, "platform", "linux")
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


def test_abandoned_builds_go(kept):
    """Those of today's compilers stay."""
    for name, age in (("build-old", 2 * cache.ABANDONED), ("build-new", 10.0)):
        (kept.path / name).mkdir()
        os.utime(kept.path / name, (time.time() - age, time.time() - age))
    kept.evict()
    assert [path.name for path in kept.path.glob("build-*")] == ["build-new"]


def test_pipes_do_not_block(kept):
    """A named pipe in place of a library is refused, not waited for."""
    path = store(kept, "0")
    path.unlink()
    os.mkfifo(path)
    assert kept.find("0" * 64) is None
