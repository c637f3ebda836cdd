"""Matplotlib's settings and list of fonts, where somebody else could have laid them."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, nullcontext, suppress
from pathlib import Path
from types import ModuleType

from kronbot.errors import LIMITS, Failure, UsageError, not_loaded, said
from kronbot.system import environment, private
from kronbot.system.importing import whole_imports
from kronbot.system.platform import host
from kronbot.system.silence import unlogged

FOLDERS = (("XDG_CONFIG_HOME", ".config"), ("XDG_CACHE_HOME", ".cache"))
# Where fonts are looked for, by matplotlib itself and by fontconfig, which it asks for them.
FONTS = ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME")
# Bytes of settings.
MOST = 1 << 20
# What a folder for now begins with, the lock in it, and the time (s) in which its owner may not have locked it yet.
LEFT, LOCK, YOUNG = "kronbot-matplotlib-", "in-use", 60.0


def import_matplotlib() -> None:
    """Import it, with its fonts, in a folder for now where its own are not the user's alone.

    It would write its list of fonts through links of others, and read fonts that others name (HOME kept by sudo).
    Raises UsageError for a pipe, a device, a huge file or one of others where it looks for settings first, KronbotError
    where the process may open no more files or take no more memory.
    """
    settings = Path("matplotlibrc")
    if settings.exists() and not settings.is_file() and not settings.is_dir():
        raise UsageError("matplotlibrc in the current folder is a pipe or a device: remove it")
    if settings.is_file() and host.OWNERS and not host.own(settings.stat(), host.ROOT):
        raise UsageError("matplotlibrc in the current folder is somebody else's: remove it")
    if settings.is_file() and settings.stat().st_size > MOST:
        raise UsageError(
            "matplotlibrc in the current folder has more than a megabyte, which no settings have: remove it"
        )
    # What it says, in its own words, of settings, which pictures do not use, and of a list that it cannot write.
    silent = unlogged("matplotlib", "matplotlib.font_manager")
    # Fontconfig's program is asked for fonts.
    safe = environment.for_now({"PATH": environment.search_path()})
    try:
        with whole_imports(), silent, _elsewhere() if host.OWNERS and not _own() else nullcontext(), safe:
            import matplotlib.backends.backend_agg
            import matplotlib.figure
            import matplotlib.font_manager  # noqa: F401
    except (ImportError, OSError) as error:
        limit = not_loaded(error) or (said(error) if isinstance(error, OSError) and error.errno in LIMITS else "")
        if limit:
            raise Failure(f"cannot load matplotlib: {limit}") from None
        raise


def with_fonts() -> ModuleType:
    """Matplotlib, which has a font at least. Raises OSError where none can be read."""
    import matplotlib as mpl
    from matplotlib.font_manager import fontManager

    if not fontManager.ttflist:  # no file could be opened when they were listed: this one tells why
        fontManager.addfont(Path(mpl.get_data_path(), "fonts", "ttf", "DejaVuSans.ttf"))
    return mpl


def _own() -> bool:
    """Nobody else can lay anything into matplotlib's folders, or fonts into those at home."""
    chosen = os.environ.get("MPLCONFIGDIR")
    try:
        folders = (
            [Path(chosen)]
            if chosen
            else [Path(os.environ.get(name) or Path.home() / usual, "matplotlib") for name, usual in FOLDERS]
        )
        for folder in folders:
            private.opened(folder.absolute(), create=True).close()
        for folder in (Path.home(), *(Path(os.environ[name]) for name in FONTS if os.environ.get(name))):
            if folder.exists():
                private.opened(folder.absolute(), create=False).close()
    except (Failure, OSError, RuntimeError):
        return False
    return True


@contextmanager
def _elsewhere() -> Iterator[None]:
    """A folder for matplotlib, and a home without fonts, that go when these are known, with an interruption, too.

    Those that killed processes have left beside it go as well: nobody holds their locks.
    """
    from tempfile import TemporaryDirectory, gettempdir  # here, since every command imports this module

    _remove_left(Path(gettempdir()))
    with (
        TemporaryDirectory(prefix=LEFT, ignore_cleanup_errors=True) as for_now,
        open(Path(for_now, LOCK), "xb") as held,
        environment.for_now(dict.fromkeys(("MPLCONFIGDIR", "HOME", *FONTS), for_now)),
    ):
        with suppress(OSError):  # of a file system without locks, where nothing is removed
            host.lock(held.fileno())
        yield


def _remove_left(place: Path) -> None:
    """Only the user's own, in a place where nobody else can have given them their names."""
    import shutil  # here, as above

    for left in place.glob(f"{LEFT}{'[a-z0-9_]' * 8}"):
        with suppress(Failure, OSError), closing(private.opened(left, create=False)) as folder:
            status = folder.status()
            if stat.S_IMODE(status.st_mode) != 0o700 or status.st_mtime > time.time() - YOUNG:
                continue
            handle = folder.open(LOCK, os.O_RDWR)  # without one it is somebody's own
            try:
                host.lock(handle)
                shutil.rmtree(left, ignore_errors=True)
            finally:
                os.close(handle)
