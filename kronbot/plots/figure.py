"""Figures that notebooks show by themselves; imported only where one is drawn, since matplotlib takes its time."""

from __future__ import annotations

from collections.abc import Callable

from matplotlib import figure


class Figure(figure.Figure):
    """A figure of matplotlib that a notebook shows at the end of a cell, whether pyplot is there or not.

    Whoever draws it says its ``content`` by the suffix of a file.
    """

    content: Callable[[str], bytes]

    def _repr_png_(self) -> bytes:
        return self.content(".png")
