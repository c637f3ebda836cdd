"""Where pictures are written."""

from __future__ import annotations

from pathlib import Path

from kronbot.cli.output.files import check_place, save, shown
from kronbot.errors import UsageError
from kronbot.plots.style import SUFFIXES, Picture


def check_picture(name: str | None, overwrite: bool) -> None:
    """Raise UsageError, before anything is computed, where ``--plot`` names what cannot be drawn or written."""
    if name is None:
        return
    if Path(name).suffix not in SUFFIXES:
        raise UsageError(
            f"--plot {shown(name)}: the suffix decides the format; it must be one of {', '.join(SUFFIXES)}"
        )
    check_place("--plot", name, overwrite)
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise UsageError("--plot needs matplotlib: pip install 'kronbot[plot]'") from None


def write(name: str, picture: Picture) -> None:
    """Write a picture whose place has been checked."""
    save(name, picture.content(Path(name).suffix))
