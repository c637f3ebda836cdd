"""Pages of answers: as HTML, in files, in notebooks."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from html import escape
from pathlib import Path
from typing import Any

from kronbot.description import Description
from kronbot.description.called import called_by_name
from kronbot.description.wording import quote, shown_path
from kronbot.errors import Argument, Failure, UsageError
from kronbot.floats import Array
from kronbot.model.build import at_order
from kronbot.plots import files
from kronbot.plots import loads as pictured
from kronbot.plots.modes import of_an_instant
from kronbot.plots.page import loads
from kronbot.plots.page.contents import CONTENTS, POSTURE
from kronbot.plots.page.document import Still, document
from kronbot.plots.page.robot import Shown
from kronbot.plots.statics import by_order
from kronbot.questions.result import Result
from kronbot.records import dataclass
from kronbot.system.environment import for_now, search_path
from kronbot.system.forking import AtWork

SUFFIX = ".html"
# Of a page in a notebook, pixels.
HEIGHT = 640


def page(result: Result) -> str:
    """The page of an answer. Raises UsageError where it has none, ComputationError where it would be too large."""
    if result.command == "fit":
        return _of_fit(result)
    if result.command not in CONTENTS:
        known = ", ".join(name for name in (*CONTENTS, "fit") if name != POSTURE)
        raise UsageError(f"{result.command} has no page; {known} have one")
    if any(array.symbolic for array in result.arrays.values()):
        raise UsageError("pages show numbers, not formulas")
    if result.command != "statics" and any(array.axis and array.axis[0] == "case" for array in result.arrays.values()):
        raise UsageError("pages show one point, not rows")
    others = " (of all orders this one is shown)" if result.order == "all" else ""
    if result.command == "statics" and result.order == "all":
        _, result = next(iter(by_order(result).items()))
    robot = at_order(result.model, result.order)
    acting = pictured.acting(result)
    shown = Shown(robot, [load.frame for load in acting if load.frame])
    states, content = CONTENTS[result.command](result)
    content = {**content, "arrows": [*content.get("arrows", ()), *loads.arrows(robot, shown, acting)]}
    return _moving(result, others, shown, states, content)


def _of_fit(result: Result) -> str:
    """What was found, above it the robot where points in space were measured."""
    from kronbot.plots.page import fitted, report  # here, since other pages do without the whole of fits

    robot = fitted.robot_of(result)
    if robot is None:
        return report.alone(result)
    scene = fitted.Scene(result, robot)
    acting = [load.frame for load in scene.acting if load.frame]
    shown = Shown(robot, [*acting, *scene.frames])
    content = scene.content(shown, len(acting))
    content["arrows"] += loads.arrows(robot, shown, scene.acting)
    return _moving(result, "", shown, scene.states, content, report.below(result))


def _moving(
    result: Result, others: str, shown: Shown, states: Array, content: Mapping[str, Any], below: Still | None = None
) -> str:
    """The page of a robot in states (N, n), with HTML ``below`` it."""
    title = f"{result.command} of {result.robot}, order {result.order}{others}{of_an_instant(result)}"
    shapes = [mode["direction"] for mode in content.get("modes", {}).get("list", ())]
    data = {
        "title": title,
        "model": shown.model,
        "warnings": [*dict.fromkeys((*map(str, shown.robot.description.warnings), *result.warnings))],
        "robot": shown.data(states),
        "q": states[0].tolist(),
        **shown.seen(states, shapes),
        **content,
    }
    return document(title, data, shown.scene, below)


@called_by_name
@dataclass(frozen=True)
class Page:
    """A page as HTML; a notebook shows it."""

    html: str

    def _repr_html_(self) -> str:
        """The page in a frame of its own, in which its scripts run and reach nothing outside."""
        return (
            f'<iframe srcdoc="{escape(self.html)}" sandbox="allow-scripts" width="100%" height="{HEIGHT}" '
            'style="border: 0"></iframe>'
        )

    def __repr__(self) -> str:
        return f"<page of {len(self.html.encode()) / 1e6:.2f} MB>"


def demand_suffix(file: str) -> None:
    """Raise UsageError where a file cannot hold a page by its name."""
    if Path(file).suffix != SUFFIX:
        raise UsageError(Argument("view", quote(file)), f": a page ends in {SUFFIX}")


def view(
    asked: Callable[[], Result],
    about: Description | None,
    file: str | os.PathLike[str] | None,
    overwrite: bool,
    opened: bool,
) -> Page:
    """The page of an answer, ``about`` a robot, written to a file where one is named, and shown there.

    Raises UsageError, KronbotError.
    """
    overwrite, opened = files.flag(overwrite, "overwrite"), files.flag(opened, "open")
    if file is None and opened:
        raise UsageError(Argument("open"), " shows a file: name one")
    name = None if file is None else files.name_of(file, SUFFIX)
    if name is not None:
        demand_suffix(name)
        files.demand_place(name, overwrite, about)
    with AtWork():
        made = Page(page(asked()))
    if name is not None:
        files.write(name, made.html.encode, overwrite, about, "the page")
        if opened:
            show(name)
    return made


def show(name: str) -> None:
    """Open a page that was written, in the browser. Raises KronbotError where none takes it."""
    import webbrowser

    with for_now({"PATH": search_path()}):
        shown = webbrowser.open(Path(name).resolve().as_uri())
    if not shown:
        raise Failure(f"no browser shows {shown_path(name)}: open it yourself, or name one in BROWSER")
