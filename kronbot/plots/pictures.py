"""Pictures of answers: the questions that have one, and files of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from kronbot.description import Description
from kronbot.errors import Argument, UsageError
from kronbot.plots import (
    design,
    files,
    fit,
    jacobian,
    kinematics,
    linearize,
    modes,
    panels,
    plan,
    simulate,
    statics,
    sweep,
)
from kronbot.plots.frequency_response import pair_named
from kronbot.plots.style import Picture, demand_matplotlib, demand_suffix
from kronbot.questions.result import Result

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Pair = tuple[str, str]
DRAWN: dict[str, Callable[[Result], Picture]] = {
    "design": design.draw,
    "fit": fit.draw,
    "kinematics": kinematics.draw,
    "jacobian": jacobian.draw,
    "linearize": linearize.draw,
    "modes": modes.draw,
    "plan": plan.draw,
    "simulate": simulate.draw,
    "statics": statics.draw,
    "sweep": sweep.draw,
}


def draw(result: Result, pair: Pair | None = None, chosen: str | Sequence[str] | None = None) -> Picture:
    """The picture of an answer, or the panels of it that are ``chosen`` by their words; "all": all modes.

    Raises UsageError where there is none: of formulas, of rows of points, of words that no panel has.
    """
    demand_matplotlib()
    words = [] if chosen is None else panels.words_of(chosen)
    pair = None if pair is None else pair_named(pair)
    picture = _drawn(result, pair, panels.ALL in words)
    words = [word for word in words if word != panels.ALL]
    if words:
        panels.keep(picture, words)
    return picture


def _drawn(result: Result, pair: Pair | None, whole: bool) -> Picture:
    if result.command not in DRAWN:
        raise UsageError(f"{result.command} has no picture; {', '.join(DRAWN)} have one")
    if any(array.symbolic for array in result.arrays.values()):
        raise UsageError("pictures draw numbers, not formulas")
    if result.command != "statics" and any(array.axis and array.axis[0] == "case" for array in result.arrays.values()):
        raise UsageError("pictures draw one point, not rows")
    if result.command == "linearize":
        return linearize.draw(result, pair, whole)
    if pair is not None:
        raise UsageError(Argument("pair"), " is for the frequency response of linearize: leave it out")
    return modes.draw(result, whole) if result.command == "modes" else DRAWN[result.command](result)


def plot(
    asked: Callable[[], Result],
    about: Description | None,
    file: str | os.PathLike[str] | None,
    overwrite: bool,
    pair: Pair | None,
    chosen: str | Sequence[str] | None,
) -> Figure:
    """The picture of an answer, ``about`` a robot, written to a file where one is named, which is looked at before.

    Raises UsageError, KronbotError.
    """
    overwrite = files.flag(overwrite, "overwrite")
    if file is None:
        return draw(asked(), pair, chosen).figure
    name = files.name_of(file, ".png, .svg or .pdf")
    demand_suffix(name)
    files.demand_place(name, overwrite, about)
    picture = draw(asked(), pair, chosen)
    files.write(name, lambda: picture.content(Path(name).suffix), overwrite, about, "the picture")
    return picture.figure
