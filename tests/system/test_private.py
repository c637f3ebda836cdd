"""Folders that somebody else could have changed are refused, with the place and the cure."""

import os
import shutil
import stat
import tempfile
from contextlib import closing, suppress
from pathlib import Path

import pytest

from kronbot.system import private
from kronbot.system.posix import Folder
from kronbot.system.private import NotPrivate

# Folders in one another, more than calls may be and more than a path has room for.
DEEP = 3000
USER, OTHER = 54321, 54322
foreign = pytest.mark.skipif(os.geteuid() != 0, reason="only root can act as two other users: NOT TESTED here")


@pytest.fixture
def ground():
    """A folder of root's that everybody can enter; pytest's own can be entered by nobody else."""
    place = Path(tempfile.mkdtemp())
    place.chmod(0o755)
    yield place
    shutil.rmtree(place)


def folder(path, owner=0, mode=0o755):
    path.mkdir()
    os.chown(path, owner, owner)
    path.chmod(mode)
    return path


def as_user(user, work):
    """What a function returns or raises as another user, as text; in a process of its own."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setgroups([])
            os.setgid(user)
            os.setuid(user)
            answer = str(work())
        except BaseException as error:
            answer = f"{type(error).__name__}: {error}"
        os.write(writing, answer.encode())
        os._exit(0)
    os.close(writing)
    with open(reading) as said:
        answer = said.read()
    os.waitpid(child, 0)
    return answer


def opened(path, create=True):
    with closing(private.opened(path, create)) as folder:
        return folder.status().st_ino


def deepened(path):
    """A folder with a file and folders in one another in it."""
    path.mkdir()
    (path / "file").touch()
    here = os.open(path, os.O_RDONLY)
    for _ in range(DEEP):
        os.mkdir("folder", dir_fd=here)
        inner = os.open("folder", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = inner
    os.close(here)


def descriptors():
    """What this process holds open, where the system tells: others of its tests may let go of theirs at any time."""
    for link in Path("/proc/self/fd").glob("*"):
        with suppress(FileNotFoundError):
            yield os.readlink(link)


def held(path):
    return closing(Folder(os.open(path, os.O_RDONLY)))


def test_folders_of_any_depth_are_removed(tmp_path):
    """And what links lead to is not."""
    deepened(tmp_path / "deep")
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "file").touch()
    for name in ("link", "deep/link"):
        (tmp_path / name).symlink_to(tmp_path / "kept")
    with held(tmp_path) as here:
        for name in ("deep", "link", "none", "kept/file"):
            here.remove_tree(name)
    assert sorted(os.listdir(tmp_path)) == ["kept", "link"] and os.listdir(tmp_path / "kept") == ["file"]
    assert not [place for place in descriptors() if place.startswith(str(tmp_path))]


def test_a_folder_that_is_moved_while_it_is_removed_leads_nowhere_else(tmp_path, monkeypatch):
    (tmp_path / "left" / "inner" / "innermost").mkdir(parents=True)
    (tmp_path / "other" / "inner").mkdir(parents=True)
    unlink = os.unlink

    def moved(name, **given):
        unlink(name, **given)
        (tmp_path / "left" / "inner").rename(tmp_path / "other" / "moved")

    (tmp_path / "left" / "inner" / "innermost" / "file").touch()
    monkeypatch.setattr(os, "unlink", moved)
    with held(tmp_path) as here:
        here.remove_tree("left")
    assert sorted(os.listdir(tmp_path / "other")) == ["inner", "moved"]


@foreign
def test_folders_of_somebody_else_are_not_entered(tmp_path):
    for name in ("theirs", "mine/theirs"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "file").touch()
        os.chown(tmp_path / name, OTHER, OTHER)
    (tmp_path / "mine" / "file").touch()
    with held(tmp_path) as here:
        here.remove_tree("theirs")
        here.remove_tree("mine")
    assert sorted(map(str, tmp_path.rglob("*"))) == [
        f"{tmp_path}/{name}" for name in ("mine", "mine/theirs", "mine/theirs/file", "theirs", "theirs/file")
    ]


def test_what_is_missing_is_made_for_the_user_alone(tmp_path):
    """Whatever the umask, with what is above it."""
    before = os.umask(0)
    try:
        assert opened(tmp_path / "a" / "b") == (tmp_path / "a" / "b").stat().st_ino
    finally:
        os.umask(before)
    assert [stat.S_IMODE((tmp_path / each).stat().st_mode) for each in ("a", "a/b")] == [0o700, 0o700]
    with pytest.raises(FileNotFoundError):
        opened(tmp_path / "none", create=False)


@pytest.mark.parametrize("mode", [0o770, 0o777, 0o1770, 0o1777, 0o2775])
def test_ancestors_that_others_can_write(tmp_path, mode):
    """A group is enough; sticky counts where root owns it."""
    above = tmp_path / "above"
    (above / "deep" / "cache").mkdir(parents=True)
    above.chmod(mode)
    if mode & stat.S_ISVTX and os.geteuid() == 0:
        opened(above / "deep" / "cache")
    else:
        with pytest.raises(NotPrivate, match=r"rename what is in .*above; chmod go-w"):
            opened(above / "deep" / "cache")


def test_links_are_followed_above_only(tmp_path):
    """Absolute, relative, upwards; the last component must be the folder; circles end."""
    (tmp_path / "real" / "cache").mkdir(parents=True, mode=0o700)
    inode = (tmp_path / "real" / "cache").stat().st_ino
    (tmp_path / "absolute").symlink_to(tmp_path / "real")
    (tmp_path / "relative").symlink_to("real")
    (tmp_path / "upward").symlink_to("real/../real/.")
    for name in ("absolute", "relative", "upward"):
        assert opened(tmp_path / name / "cache") == inode
    assert opened(tmp_path / "real" / ".." / "real" / "cache") == inode
    (tmp_path / "circle").symlink_to("circle")
    with pytest.raises(OSError, match="symbolic"):
        opened(tmp_path / "circle" / "cache")
    (tmp_path / "last").symlink_to("real/cache")
    with pytest.raises(NotPrivate, match="is a link or a file"):
        opened(tmp_path / "last")
    (tmp_path / "file").touch()
    with pytest.raises(NotPrivate, match="is a link or a file"):
        opened(tmp_path / "file" / "cache")


def test_what_links_lead_through_is_judged(tmp_path):
    """A sound link into a folder of everybody's."""
    (tmp_path / "open" / "cache").mkdir(parents=True)
    (tmp_path / "open").chmod(0o777)
    (tmp_path / "link").symlink_to("open")
    with pytest.raises(NotPrivate, match="rename"):
        opened(tmp_path / "link" / "cache")


def test_contents(tmp_path):
    """Regular files of one name, of the user's alone, not too long."""
    with closing(Folder(os.open(tmp_path, os.O_RDONLY))) as handle:
        (tmp_path / "good").write_bytes(b"code")
        assert private.content("good", handle, 4) == b"code"
        with pytest.raises(NotPrivate, match="more than 3"):
            private.content("good", handle, 3)
        os.mkfifo(tmp_path / "pipe")
        (tmp_path / "folder").mkdir()
        (tmp_path / "link").symlink_to("good")
        (tmp_path / "open").write_bytes(b"code")
        (tmp_path / "open").chmod(0o620)
        for name in ("pipe", "folder", "link", "open"):
            with pytest.raises((NotPrivate, OSError)):
                private.content(name, handle, 4)
        os.link(tmp_path / "good", tmp_path / "second")
        with pytest.raises(NotPrivate, match="only its owner"):
            private.content("good", handle, 4)


@foreign
def test_a_home_of_somebody_else(ground):
    """sudo that keeps HOME, and a folder inside that belongs to nobody but root."""
    home = folder(ground / "home", OTHER, 0o700)
    folder(home / "cache", 0, 0o700)
    with pytest.raises(NotPrivate, match="home belongs to somebody else"):
        opened(home / "cache" / "kronbot")
    assert not (home / "cache" / "kronbot").exists()
    place = folder(ground / "cache", OTHER)
    assert "belongs to somebody else" in as_user(USER, lambda: opened(place))


@foreign
def test_a_users_own_folder(ground):
    """Below root's and its own folders, also one that it may search but not list."""
    home = folder(folder(ground / "users", 0, 0o711) / "home", USER, 0o700)
    assert as_user(USER, lambda: opened(home / ".cache" / "kronbot")).isdigit()
    place = folder(ground / "mine", USER)
    assert as_user(USER, lambda: opened(place)).isdigit()
    assert "somebody else" in as_user(OTHER, lambda: opened(place))


@foreign
def test_sticky_folders(ground):
    """In root's nobody moves what another owns; in the other user's its owner does."""
    for owner, name in ((0, "root"), (OTHER, "others")):
        folder(folder(ground / name, owner, 0o1777) / "mine", USER, 0o700)
    assert as_user(USER, lambda: opened(ground / "root" / "mine" / "kronbot")).isdigit()
    assert "belongs to somebody else" in as_user(USER, lambda: opened(ground / "others" / "mine" / "kronbot"))


@foreign
def test_links_of_somebody_else(ground):
    """Placed into a sticky folder, to a folder of the user's own."""
    folder(folder(ground / "home", USER, 0o700) / "kronbot", USER, 0o700)
    shared = folder(ground / "shared", 0, 0o1777)
    for owner, name in ((USER, "mine"), (OTHER, "others")):
        (shared / name).symlink_to(ground / "home")
        os.lchown(shared / name, owner, owner)
    assert as_user(USER, lambda: opened(shared / "mine" / "kronbot")).isdigit()
    assert "others belongs to somebody else" in as_user(USER, lambda: opened(shared / "others" / "kronbot"))


@foreign
def test_files_of_somebody_else(ground):
    """Left in a folder that was open once."""
    place = folder(ground / "cache", USER, 0o700)
    (place / "code.so").write_bytes(b"code")
    os.chown(place / "code.so", OTHER, OTHER)
    (place / "code.so").chmod(0o644)

    def read():
        return private.content("code.so", private.opened(place, False), 10)

    assert "only its owner" in as_user(USER, read)
    os.chown(place / "code.so", USER, USER)
    assert as_user(USER, read) == "b'code'"
