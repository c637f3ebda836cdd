"""How pictures look, and how they are written: the same bytes for the same answer."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kronbot.cli.files import write_atomically
from kronbot.errors import UsageError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SUFFIXES = (".png", ".svg", ".pdf")
# Okabe and Ito's colours, told apart by the colour-blind; line styles tell them apart in grey.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
STROKES = ("-", "--", "-.", ":")
LOOK: dict[str, Any] = {
    "figure.dpi": 150,
    "font.size": 8,
    "axes.grid": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 8.5,
    "axes.titlelocation": "left",
    "grid.color": "#dddddd",
    "grid.linewidth": 0.5,
    "lines.linewidth": 1.3,
    "legend.frameon": False,
    "legend.fontsize": 7,
    "svg.hashsalt": "kronbot",
    "svg.fonttype": "none",
}
# Writers put the time of day into files unless told not to.
TIMELESS = {".png": {"Software": None}, ".svg": {"Date": None}, ".pdf": {"CreationDate": None}}


def check_picture(name: str | None, overwrite: bool) -> None:
    """Raise UsageError, before anything is computed, where ``--plot`` names what cannot be drawn or written."""
    if name is None:
        return
    path = Path(name)
    if path.suffix not in SUFFIXES:
        raise UsageError(f"--plot {name}: the suffix decides the format; it must be one of {', '.join(SUFFIXES)}")
    if path.exists() and not overwrite:
        raise UsageError(f"--plot {name}: the file is there already; --overwrite replaces it")
    if not path.parent.is_dir():
        raise UsageError(f"--plot {name}: there is no folder {str(path.parent)!r}")
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise UsageError("--plot needs matplotlib: pip install 'kronbot[plot]'") from None


@contextmanager
def picture(name: str, rows: int, columns: int, title: str) -> Iterator[tuple[Figure, Sequence[Axes]]]:
    """A figure with a grid of axes in the common look, written to a file at the end."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context(LOOK):
        figure = Figure(figsize=(3.6 * columns, 2.5 * rows + 0.4), layout="constrained")
        axes = figure.subplots(rows, columns, squeeze=False)
        figure.suptitle(title, fontsize=10, x=0.01, ha="left")
        yield figure, list(axes.ravel())
        content = io.BytesIO()
        suffix = Path(name).suffix
        figure.savefig(content, format=suffix[1:], metadata=TIMELESS[suffix])
        write_atomically(Path(name), content.getvalue())


def stroke(i: int) -> dict[str, Any]:
    """Colour and line style of curve i."""
    return {"color": COLOURS[i % len(COLOURS)], "linestyle": STROKES[i % len(STROKES)]}
