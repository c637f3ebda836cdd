"""Who may read and write what replaces something: whoever might before, on POSIX by mode and by lists of access."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable

# Lists of access (ACL) as Linux keeps them; the other one is a folder's, for files to come.
_LISTS = ("system.posix_acl_access", "system.posix_acl_default")
# There is none, or the file system knows none; FreeBSD has no such word for the first.
_NONE = (getattr(errno, "ENODATA", errno.ENOTSUP), errno.ENOTSUP)


def inherit(descriptor: int, found: os.stat_result, replaced: Callable[[], int], root: bool) -> None:
    """Give a file or folder owner, mode and lists of access of the one that it replaces, and nobody more than those.

    That one was ``found``, and ``replaced`` opens it. With a list of access the mode's group bits are no group's but
    the most that anybody in the list has: where the list cannot be read or given, the owner alone has what he had.
    Who may write what was somebody else's was for that one to say: here nobody but the owner may. Raises OSError.
    """
    mode = stat.S_IMODE(found.st_mode) & 0o777
    lists = _lists(replaced)
    if not root and found.st_uid != os.geteuid():
        mode &= ~(stat.S_IWGRP | stat.S_IWOTH)
        lists = None if lists else lists
    try:
        os.fchown(descriptor, found.st_uid if root else -1, found.st_gid)
    except OSError:  # another group now: those of the one before are others
        mode &= stat.S_IRWXU | (mode >> 3 & stat.S_IRWXO)
        lists = None if lists else lists
    if lists is None or not _given(descriptor, lists):
        mode &= stat.S_IRWXU
    os.fchmod(descriptor, mode)


def _lists(replaced: Callable[[], int]) -> dict[str, bytes] | None:
    """Those of a file that is opened for it; None where they cannot be read."""
    lists: dict[str, bytes] = {}
    if not hasattr(os, "getxattr"):
        return lists
    try:
        descriptor = replaced()
    except OSError:
        return None
    try:
        for name in _LISTS:
            try:
                lists[name] = os.getxattr(descriptor, name)
            except OSError as error:
                if error.errno not in _NONE:
                    return None
    finally:
        os.close(descriptor)
    return lists


def _given(descriptor: int, lists: dict[str, bytes]) -> bool:
    """Whether an open file has these now, and none that its folder gave it."""
    if not hasattr(os, "getxattr"):
        return True
    for name in _LISTS:
        try:
            if name in lists:
                os.setxattr(descriptor, name, lists[name])
            else:
                os.removexattr(descriptor, name)
        except OSError as error:
            if name in lists or error.errno not in _NONE:
                return False
    return True
