"""Folders and files that nobody but the user and root can have changed: what is read from them may be run.

Access lists need no look of their own on Linux: what they allow shows in the bits of the group.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

from kronbot.errors import Failure, said
from kronbot.system.platform import host

OWN_FOLDER = "set KRONBOT_CACHE to a folder of your own"


class NotPrivate(Failure):
    """Code from this place would not be safe to run; the message names the place and the cure."""


def opened(path: Path, create: bool) -> host.Folder:
    """A folder of the user's that nobody else can write into, rename or replace.

    Opened component by component: each belongs to root or to the user, and nobody else can write to it, but for a
    sticky folder of root's (/tmp); symbolic links above the last component are followed where they belong to root or
    the user, too. ``create`` makes what is missing, for the user alone. Raises NotPrivate, and FileNotFoundError where
    there is no folder.
    """
    if not host.OWNERS:
        raise NotPrivate("compiled functions are kept on POSIX systems only")
    no_folder = NotPrivate(f"{path} is a link or a file; {OWN_FOLDER}")
    try:
        if path.is_symlink():
            raise no_folder
        folder, _ = host.located(f"{path}/.", _judge, create)
    except NotADirectoryError:
        raise no_folder from None
    except OSError as error:
        if error.errno not in (errno.EACCES, errno.EPERM, errno.ENAMETOOLONG):
            raise
        raise NotPrivate(f"{path}: {said(error, place=False)}; {OWN_FOLDER}") from None
    if host.exposed(folder.status()):
        folder.close()
        raise NotPrivate(f"{path} can be written by others or belongs to somebody else; chmod go-w it, or {OWN_FOLDER}")
    return folder


def _judge(found: os.stat_result, place: str, above: os.stat_result | None) -> None:
    """Only root and the user can replace what root or the user has put there."""
    if not host.own(found, host.ROOT):
        raise NotPrivate(f"{place} belongs to somebody else, who can change what is in it; {OWN_FOLDER}")
    sticky = found.st_mode & stat.S_ISVTX and found.st_uid == host.ROOT
    if above is None and found.st_mode & host.WRITABLE_BY_OTHERS and not sticky:
        raise NotPrivate(f"others can rename what is in {place}; chmod go-w it, or {OWN_FOLDER}")


def content(name: str, folder: host.Folder, most: int) -> bytes:
    """Bytes of a regular file of the user's that has no other name and that nobody else can write.

    Raises NotPrivate for anything else, for more than ``most`` bytes too, and OSError.
    """
    descriptor = folder.open(name, os.O_RDONLY)
    try:  # a folder is looked at before it is a file: open tells it by a number alone
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode) or found.st_nlink > 1 or host.exposed(found):
            raise NotPrivate(f"{name} is not a file that only its owner, the user, can write")
        if found.st_size > most:
            raise NotPrivate(f"{name} has more than {most} bytes")
        with open(descriptor, "rb", closefd=False) as file:
            return file.read(most)
    finally:
        os.close(descriptor)
