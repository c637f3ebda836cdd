"""Folders and files that nobody but the user and root can have changed: what is read from them may be run.

Access lists need no look of their own on Linux: what they allow shows in the bits of the group.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress
from pathlib import Path

from kronbot.errors import KronbotError

WRITABLE_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH
OWN_FOLDER = "set KRONBOT_CACHE to a folder of your own"
# Symbolic links that one path may follow.
LINKS = 40


class NotPrivate(KronbotError):
    """Code from this place would not be safe to run; the message names the place and the cure."""


def opened(path: Path, create: bool) -> int:
    """Descriptor of a folder of the user's that nobody else can write into, rename or replace.

    Opened from the root on, component by component: each belongs to root or to the user, and nobody else can write to
    it, but for a sticky folder of root's (/tmp); symbolic links above the last component are followed where they
    belong to root or the user, too. ``create`` makes what is missing, for the user alone. Raises NotPrivate, and
    FileNotFoundError where there is no folder.
    """
    if os.name != "posix":
        raise NotPrivate("compiled functions are kept on POSIX systems only")
    # Searching a folder takes no right to read it.
    flags = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC | getattr(os, "O_PATH", os.O_RDONLY)
    here, place, links = os.open(os.sep, flags), Path(os.sep), 0
    ahead = [*reversed(path.parts[1:])]
    try:
        while ahead:
            _demand_above(os.fstat(here), place)
            name = ahead.pop()
            if create:
                _make(name, here)
            try:
                inner = os.open(name, flags, dir_fd=here)
            except OSError:
                found = os.stat(name, dir_fd=here, follow_symlinks=False)
                if not (stat.S_ISLNK(found.st_mode) and ahead):
                    _demand_folder(found, place / name)
                    raise
                _demand_owner(found, place / name)
                links += 1
                if links > LINKS:
                    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path)) from None
                target = Path(os.readlink(name, dir_fd=here))
                ahead += [*reversed(target.parts)][: -1 if target.is_absolute() else None]
                if not target.is_absolute():
                    continue
                name, inner, place = "", os.open(os.sep, flags), Path(os.sep)
            os.close(here)
            here, place = inner, place / name
        found = os.fstat(here)
        if found.st_uid != os.geteuid():
            raise NotPrivate(f"{path} belongs to somebody else; {OWN_FOLDER}")
        if found.st_mode & WRITABLE_BY_OTHERS:
            raise NotPrivate(f"{path} can be written by others; chmod go-w it")
        return os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=here)
    finally:
        os.close(here)


def _make(name: str, folder: int) -> None:
    try:
        os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        with suppress(FileExistsError):
            os.mkdir(name, 0o700, dir_fd=folder)


def _demand_folder(found: os.stat_result, place: Path) -> None:
    if not stat.S_ISDIR(found.st_mode):
        raise NotPrivate(f"{place} is a link or a file; {OWN_FOLDER}")


def _demand_owner(found: os.stat_result, place: Path) -> None:
    if found.st_uid not in (0, os.geteuid()):
        raise NotPrivate(f"{place} belongs to somebody else, who can change what is in it; {OWN_FOLDER}")


def _demand_above(found: os.stat_result, place: Path) -> None:
    """Only root and the user can replace what root or the user has put there."""
    _demand_owner(found, place)
    if found.st_mode & WRITABLE_BY_OTHERS and not (found.st_mode & stat.S_ISVTX and found.st_uid == 0):
        raise NotPrivate(f"others can rename what is in {place}; chmod go-w it, or {OWN_FOLDER}")


def content(name: str, folder: int, most: int) -> bytes:
    """Bytes of a regular file of the user's that has no other name and that nobody else can write.

    Raises NotPrivate for anything else, for more than ``most`` bytes too, and OSError.
    """
    # Neither a symbolic link nor a pipe without a writer gets past the opening.
    handle = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    try:
        found = os.fstat(handle)
        own = found.st_uid == os.geteuid() and found.st_nlink <= 1 and not found.st_mode & WRITABLE_BY_OTHERS
        if not stat.S_ISREG(found.st_mode) or not own:
            raise NotPrivate(f"{name} is not a file that only its owner, the user, can write")
        if found.st_size > most:
            raise NotPrivate(f"{name} has more than {most} bytes")
        with open(handle, "rb", closefd=False) as file:
            return file.read(most)
    finally:
        os.close(handle)
