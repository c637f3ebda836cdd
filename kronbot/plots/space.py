"""Panels in space, laid out by what is drawn in them: matplotlib keeps no room for their labels, nor parts them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import chain, combinations
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.text import Text
    from matplotlib.transforms import Bbox

# Points between labels, and around all that is drawn.
GAP, RIM = 1.5, 3.0
# Points by which a label steps back from those of ticks, and how often.
STEP, STEPS = 2.5, 6
# How often a panel is measured again while it is made to fit; how far one grows.
ROUNDS, LARGER = 2, 1.5

Measured = Callable[[], None]


@contextmanager
def settled(axis: Any, title: Text) -> Iterator[None]:
    """A panel whose labels lie apart and all of which is in its place, beneath its title, until it is drawn."""
    from matplotlib.backends.backend_agg import RendererAgg
    from matplotlib.transforms import Bbox

    figure = axis.get_figure()
    to_figure = figure.transSubfigure.inverted()
    point = figure.dpi / 72
    renderer: Any = RendererAgg(1, 1, figure.dpi)
    for drawing in ("draw_text", "draw_path", "draw_markers"):  # which take most of the time
        setattr(renderer, drawing, lambda *what, **how: None)

    def measured() -> None:
        """Have labels where they would be drawn."""
        axis.apply_aspect(place.transformed(to_figure))
        axis.M = axis.get_proj()
        for scale in _scales(axis):
            scale.draw(renderer)

    with ExitStack() as undone:
        for scale in _scales(axis):
            undone.callback(scale.set_major_locator, scale.get_major_locator())
            undone.callback(setattr, scale, "labelpad", scale.labelpad)
            undone.callback(scale.set_tick_params, pad=scale.get_tick_params()["pad"])
        room = axis.get_position(original=True).transformed(figure.transSubfigure)
        side = min(room.width, room.height)
        place = Bbox.from_bounds(room.x0, room.y0, side, side)
        # The title and the legend stay where they are, whatever moves below them.
        if (legend := axis.get_legend()) is not None:
            undone.callback(legend.set_bbox_to_anchor, (0, 1), axis.transAxes)
            legend.set_bbox_to_anchor(to_figure.transform((room.x0, room.y1)), figure.transSubfigure)
        left, below = to_figure.transform(title.get_window_extent(renderer).min)
        words = figure.text(left, below, title.get_text(), fontsize=title.get_fontsize(), va="bottom", parse_math=False)
        undone.callback(words.remove)
        undone.callback(title.set_visible, True)
        title.set_visible(False)
        undone.callback(axis.set_axes_locator, axis.get_axes_locator())
        axis.set_axes_locator(lambda *asked: place.transformed(to_figure))
        undone.callback(axis.patch.set_visible, True)
        axis.patch.set_visible(False)  # it would lie over labels of panels above
        room = room.padded(-RIM * point)
        measured()
        _part_ticks(axis, measured, GAP * point)
        for _ in range(ROUNDS):
            _part_labels(axis, measured, GAP * point)
            drawn = _drawn(axis, renderer)
            share = min(room.width / drawn.width, room.height / drawn.height, LARGER * side / place.width)
            place = Bbox.from_bounds(place.x0, place.y0, share * place.width, share * place.height)
            measured()
            drawn = _drawn(axis, renderer)
            up = room.y0 - drawn.y0 + (room.height - drawn.height) / 2
            place = place.translated(room.x0 - drawn.x0, up)
            measured()
        yield


def _scales(axis: Any) -> tuple[Any, Any, Any]:
    return axis.xaxis, axis.yaxis, axis.zaxis


def _ticks(scale: Any) -> list[Any]:
    """Ticks that are drawn with a label."""
    low, high = sorted(scale.get_view_interval())
    return [each for each in scale.get_major_ticks() if low <= each.get_loc() <= high and each.label1.get_text()]


def _near(one: Bbox, other: Bbox, gap: float) -> bool:
    return bool(one.padded(gap).overlaps(other))


def _part_ticks(axis: Any, measured: Measured, gap: float) -> None:
    """Fewer ticks until no labels meet: every second one of a scale whose own do, none where two scales meet."""
    while True:
        there = [(scale, tick, tick.label1.get_window_extent()) for scale in _scales(axis) for tick in _ticks(scale)]
        meeting = [(one, two) for one, two in combinations(there, 2) if _near(one[2], two[2], gap)]
        if not meeting:
            return
        own = [one[0] for one, two in meeting if one[0] is two[0]]
        if own:
            scale = own[0]
            left = [tick.get_loc() for tick in _ticks(scale)][::2]
        else:
            # The second one, in every panel alike, but for the last number of a scale.
            scale, last, _ = max(reversed(meeting[0]), key=lambda each: len(_ticks(each[0])) > 1)
            left = [tick.get_loc() for tick in _ticks(scale) if tick is not last]
        scale.set_ticks(left)
        measured()


def _part_labels(axis: Any, measured: Measured, gap: float) -> None:
    """Numbers step back from the line of their scale, and names from all numbers."""
    for _ in range(STEPS):
        numbers = {scale: [tick.label1.get_window_extent() for tick in _ticks(scale)] for scale in _scales(axis)}
        lines = {scale: scale.line.get_path().transformed(scale.line.get_transform()) for scale in numbers}
        struck = [scale for scale, boxes in numbers.items() if any(map(lines[scale].intersects_bbox, boxes))]
        met = [
            scale
            for scale in numbers
            if any(_near(scale.label.get_window_extent(), box, gap) for box in chain.from_iterable(numbers.values()))
        ]
        if not struck and not met:
            return
        for scale in struck:
            scale.set_tick_params(pad=scale.get_tick_params()["pad"] + STEP)
        for scale in met:
            scale.labelpad += STEP
        measured()


def _drawn(axis: Any, renderer: Any) -> Bbox:
    """All that is drawn of a panel but its title (pixels): the box with its numbers and names."""
    from matplotlib.transforms import Bbox
    from mpl_toolkits.mplot3d.proj3d import proj_transform

    limits = [axis.get_xlim3d(), axis.get_ylim3d(), axis.get_zlim3d()]
    corners = np.array(np.meshgrid(*limits)).reshape(3, -1)
    x, y, _ = proj_transform(*corners, axis.get_proj())
    box = Bbox.null()
    box.update_from_data_xy(axis.transData.transform(np.column_stack([x, y])))
    words = [scale.label for scale in _scales(axis)]
    words += [tick.label1 for scale in _scales(axis) for tick in _ticks(scale)]
    return Bbox.union([box, *(each.get_window_extent(renderer) for each in words)])
