"""How pictures look, and what their files hold: the same bytes for the same answer."""

from __future__ import annotations

import io
import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import wraps
from itertools import pairwise
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any, ParamSpec

from kronbot.description.wording import quote
from kronbot.errors import Argument, UsageError
from kronbot.plots.foreign import import_matplotlib, with_fonts
from kronbot.plots.lettering import in_lines, width
from kronbot.system.forking import AtWork
from kronbot.system.silence import unwarned

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

SUFFIXES = (".png", ".svg", ".pdf")
# Okabe and Ito's colours, told apart by the colour-blind; line styles tell them apart in grey.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
STROKES = ("-", "--", "-.", ":")
GREY = "#bbbbbb"
# Inches: the width of a picture, and the height of a diagram.
WIDTH, HEIGHT = 7.2, 2.3
HEAD, TITLE, ENTRY = 10, 8.5, 7
# Points that tick labels and the label of an ordinate take of the width of a panel, and what a legend's entry takes
# besides its words.
SIDE, SAMPLE = 60, 36
# A share of the width of its axes that a title takes at most: hinted type is not exactly to scale.
FULL = 0.97
# Titles of a picture are of one size, unless one of them would make all smaller than this share.
ALIKE = 0.75
# Points between neighbouring tick labels, beside and above each other.
GAPS = (5.0, 1.0)
# Signs of a name that a panel has room for.
LABEL = 24
# Of units, in the order of preference.
PREFIXES = (
    ("", 1.0), ("k", 1e3), ("M", 1e6), ("G", 1e9), ("T", 1e12), ("m", 1e-3), ("µ", 1e-6), ("n", 1e-9), ("p", 1e-12),
)  # fmt: skip
# Between these, numbers at ticks are written out.
SMALL, LARGE = 1e-3, 1e6
LOOK: dict[str, Any] = {
    "figure.dpi": 150,
    "font.size": 8,
    **dict.fromkeys(("axes.grid", "axes.axisbelow"), True),
    **dict.fromkeys(("axes.spines.top", "axes.spines.right"), False),
    "axes.titlesize": TITLE,
    "axes.titlelocation": "left",
    "axes.formatter.useoffset": False,
    "axes.formatter.limits": (-9, 9),
    "grid.color": "#dddddd",
    "grid.linewidth": 0.5,
    "lines.linewidth": 1.3,
    "legend.frameon": False,
    "legend.fontsize": ENTRY,
    "svg.hashsalt": "kronbot",
    "svg.fonttype": "none",
}
# Axes of matplotlib in space.
SPATIAL = "3d"
# Writers put the time of day into files unless told not to.
TIMELESS = {".png": {"Software": None}, ".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
# Rows of panels by name; a panel named in neighbouring cells covers them all.
Mosaic = Sequence[Sequence[str]]
Given = ParamSpec("Given")
_DRAWING = RLock()


def demand_suffix(file: str) -> None:
    """Raise UsageError where a file cannot hold a picture by its name."""
    if Path(file).suffix not in SUFFIXES:
        suffixes = ", ".join(SUFFIXES)
        raise UsageError(
            Argument("plot", quote(file)), f": the suffix decides the format; it must be one of {suffixes}"
        )


def demand_matplotlib() -> None:
    """Raise UsageError where it is not there, or cannot begin."""
    try:
        with _turn():
            if "matplotlib.backends.backend_agg" not in sys.modules:
                import_matplotlib()
    except ImportError:
        raise UsageError("pictures need matplotlib: pip install 'kronbot[plot]'") from None
    except (OSError, ValueError) as error:
        raise UsageError(f"matplotlib cannot read its settings (matplotlibrc): {quote(str(error))}") from None


class Picture(Mapping[str, "Axes"]):
    """The panels of a mosaic, by name, in the common look; a user's own matplotlib settings are left out of it.

    ``heights`` are those of the rows in inches, ``foot`` is left below them for a legend; ``spatial`` panels have three
    axes. The legend of the panel ``naming`` is for the others, too.
    """

    naming: str | None

    def __init__(
        self, title: str, mosaic: Mosaic, heights: Sequence[float], foot: float = 0.0, spatial: Sequence[str] = ()
    ) -> None:
        from kronbot.plots.figure import Figure

        with look():
            self.figure = Figure(layout="constrained")
            self.figure.content = self.content
            rows = [list(row) for row in mosaic]
            solid: dict[Any, dict[str, Any]] = {name: {"projection": SPATIAL} for name in spatial}
            self.panels: dict[str, Axes] = self.figure.subplot_mosaic(
                rows, height_ratios=list(heights), per_subplot_kw=solid
            )
            self.title, self.foot, self.naming = title, foot, None
            self.lay(mosaic, heights, 1.0)

    def lay(self, mosaic: Mosaic, heights: Sequence[float], share: float) -> None:
        """Give the figure the size of its rows and a share of the common width, and the title room in it."""
        self.mosaic, self.heights = mosaic, heights
        room = FULL * 72 * share * WIDTH
        lines = in_lines(self.title, room / HEAD)
        self.figure.set_size_inches(share * WIDTH, sum(heights) + 0.2 + 0.2 * len(lines) + self.foot)
        size = min(HEAD, room / max(map(width, lines)))
        self.figure.suptitle("\n".join(lines), fontsize=size, x=0.01, ha="left", parse_math=False)

    def __getitem__(self, name: str) -> Axes:
        return self.panels[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.panels)

    def __len__(self) -> int:
        return len(self.panels)

    def content(self, suffix: str) -> bytes:
        """What a file of that suffix holds, the same bytes for the same picture."""
        written = io.BytesIO()
        with look(), _settled(self.figure):
            self.figure.savefig(written, format=suffix[1:], metadata=TIMELESS[suffix])
        return written.getvalue()


@contextmanager
def _turn() -> Iterator[None]:
    """One thread at a time: matplotlib has one set of settings, of fonts, one parser of formulas. Forks wait for it."""
    with AtWork(), _DRAWING:
        yield


@contextmanager
def look() -> Iterator[None]:
    """Draw in the common look, and alone. Raises OSError where no font can be read."""
    with _turn():
        mpl = with_fonts()
        # Names may hold letters that no font at hand has: they become boxes, which needs no further words.
        with unwarned("Glyph|constrained_layout"), mpl.rc_context():  # signs and panels without room
            mpl.rcdefaults()
            mpl.rcParams.update(LOOK)
            yield


def drawn(draw: Callable[Given, Picture]) -> Callable[Given, Picture]:
    """A function that draws, in the common look. It raises ComputationError for numbers that no scale holds."""

    @wraps(draw)
    def drawing(*given: Given.args, **named: Given.kwargs) -> Picture:
        from kronbot.plots.reach import demand_drawable  # here, since NumPy is wanted by it

        with look():
            picture = draw(*given, **named)
            demand_drawable(picture.figure)
            return picture

    return drawing


def flow(names: Sequence[str]) -> list[list[str]]:
    """Two panels a row; a last one alone takes the whole row."""
    pairs = [list(names[i : i + 2]) for i in range(0, len(names), 2)]
    return [pair if len(pair) == 2 else pair * 2 for pair in pairs]


def stroke(i: int) -> dict[str, Any]:
    """Colour and line style of curve i."""
    return {"color": COLOURS[i % len(COLOURS)], "linestyle": STROKES[i % len(STROKES)]}


def short(name: str) -> str:
    """A name that titles and legends have room for."""
    return name if len(name) <= LABEL else f"{name[: LABEL // 2]}…{name[-LABEL // 2 :]}"


def entitle(axis: Axes, title: str) -> None:
    """The title of a panel, and between it and the axes the legend of the curves that have labels."""
    labels = axis.get_legend_handles_labels()[1]
    rows = 0
    if labels:
        rows = math.ceil(len(labels) / columns(labels, _room(axis)))
        legend = axis.legend(
            loc="lower left", bbox_to_anchor=(0, 1), ncols=math.ceil(len(labels) / rows), borderaxespad=0.1,
            borderpad=0.2, labelspacing=0.3, columnspacing=1.2, handlelength=3,
        )  # fmt: skip
        for line in legend.get_lines():  # marks of heavy bodies would reach into the title
            line.set_markersize(min(line.get_markersize(), ENTRY))
    head(axis, title, rows)


def head(axis: Axes, title: str, rows: int = 0) -> None:
    """The title of a panel above so many rows of a legend; a long one in some lines, or in smaller type."""
    room = _room(axis)
    lines = in_lines(title, room / TITLE)
    size = min(TITLE, room / max(map(width, lines)))
    axis.set_title("\n".join(lines), loc="left", pad=4 + 1.4 * ENTRY * rows, fontsize=size, parse_math=False)


def columns(labels: Sequence[str], room: float) -> int:
    """Columns of a legend that fit into a width (points), one at least."""
    widest = max(width(line) for label in labels for line in label.splitlines())
    return max(1, min(len(labels), int(room / (SAMPLE + ENTRY * widest))))


def wrapped(parts: Sequence[str], room: float) -> str:
    """Parts of a legend's label, with commas, in lines that fit into a width (points)."""
    lines = [parts[0]]
    for part in parts[1:]:
        longer = f"{lines[-1]}, {part}"
        if SAMPLE + ENTRY * width(longer) <= room:
            lines[-1] = longer
        else:
            lines[-1] += ","
            lines.append(part)
    return "\n".join(lines)


def _room(axis: Axes) -> float:
    """Width (points) of a panel from the left end of its axes, behind the tick labels, to the right."""
    place = axis.get_subplotspec()
    share = 1.0 if place is None else len(place.colspan) / place.get_gridspec().ncols
    return 72 * WIDTH * share - SIDE


@contextmanager
def _settled(figure: Figure) -> Iterator[None]:
    """Lay a figure out, and mend what only this tells: titles and labels wider than their axes, crowded ticks."""
    from matplotlib.text import Text

    layout = figure.get_layout_engine()
    assert layout is not None
    layout.execute(figure)
    if any(axis.child_axes for axis in figure.axes):  # which know their limits only then
        figure.draw_without_rendering()
    titles: dict[Text, float] = {}
    for axis in figure.axes:
        if axis.name != SPATIAL:
            # Equal scales have found their limits: from here on the panel gives way, and its ticks stay.
            axis.apply_aspect()
            if axis.get_aspect() != "auto":  # as of the bar beside a map
                axis.set_adjustable("box")
            label = axis.xaxis.label
            share = axis.get_window_extent().width / max(1.0, label.get_window_extent().width)
            label.set_fontsize(min(1.0, FULL * share) * float(label.get_fontsize()))
            for scale in (axis, *axis.child_axes):
                _thin(scale.xaxis, 0, GAPS[0] * figure.dpi / 72)
                _thin(scale.yaxis, 1, GAPS[1] * figure.dpi / 72)
        title = axis.get_title(loc="left")
        for text in axis.findobj(Text):
            if isinstance(text, Text) and title and text.get_text() == title:
                share = axis.get_window_extent().width / text.get_window_extent().width
                titles[text] = min(1.0, FULL * share) * float(text.get_fontsize())
    least = min(titles.values(), default=0.0)
    for text, size in titles.items():
        text.set_fontsize(least if least >= ALIKE * TITLE else size)
    # Ticks are others now, and their labels may be longer. Saving would do this once more.
    layout.execute(figure)
    figure.set_layout_engine(None)
    with ExitStack() as undone:
        undone.callback(figure.set_layout_engine, layout)
        for text in titles:
            if text.axes is not None and text.axes.name == SPATIAL:
                from kronbot.plots import space

                undone.enter_context(space.settled(text.axes, text))
        yield


def _thin(axis: Axis, along: int, gap: float) -> None:
    """Take ticks away until their labels stand apart by a gap (pixels) along the axis, 0 for x and 1 for y."""
    from matplotlib.ticker import LogLocator, MaxNLocator, SymmetricalLogLocator

    locator = axis.get_major_locator()
    for most in range(len(axis.get_majorticklocs()), 1, -1):
        if not _crowded(axis, along, gap):
            return
        if isinstance(locator, MaxNLocator):
            locator.set_params(nbins=most)
        elif isinstance(locator, (LogLocator, SymmetricalLogLocator)):
            locator.set_params(numticks=most)


def _crowded(axis: Axis, along: int, gap: float) -> bool:
    low, high = sorted(axis.get_view_interval())
    labels = [each for each in axis.get_majorticklabels() if low <= each.get_position()[along] <= high]
    boxes = [each.get_window_extent() for each in labels if each.get_text()]
    ends = sorted((box.min[along], box.max[along]) for box in boxes)
    return any(after[0] - before[1] < gap for before, after in pairwise(ends))


def number_ticks(axis: Axis, peak: float) -> None:
    """Write 5e+14 at a tick of a very large or small scale: a factor beside the axis would meet the legend."""
    if not SMALL <= peak < LARGE:
        axis.set_major_formatter("{x:g}")


def readable(peak: float, unit: str) -> tuple[float, str]:
    """Factor and unit in which a value of that size is read easily: degrees, mm, kN m, ..."""
    if unit == "rad" and peak >= math.radians(0.1):
        return 180 / math.pi, "deg"
    if unit not in ("rad", "m", "N", "N m", "J") or not 0 < peak < math.inf:
        return 1.0, unit
    # Up to some hundreds of a unit; 0.5 m and 1500 N m stay as they are.
    for prefix, size in PREFIXES:
        if 0.3 <= peak / size < 3e3 and not (unit == "rad" and size > 1):
            return 1 / size, prefix + unit
    return 1.0, unit
