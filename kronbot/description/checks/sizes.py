"""Signs and sizes of numbers: what each of them must be, wherever it stands."""

from __future__ import annotations

from collections.abc import Iterable

from kronbot.description.checks.judgements import part
from kronbot.description.checks.report import View, called
from kronbot.description.degrees import doubt_of
from kronbot.description.wording import written


@part
def not_negative(*views: View) -> None:
    """Refuse numbers below 0."""
    for view in views:
        value = view.number()
        if value is not None and value < 0:
            view.refuse(f"'{view.path[-1]}' must be at least 0, it is {written(value)}")


@part
def positive(view: View) -> None:
    """Refuse a number that is not above 0, or not there."""
    value = view.number()
    if value is None or value > 0:
        return
    if view.node is None:
        view.refuse(f"missing key '{view.path[-1]}' in {called(view.path[:-1])}, which must be greater than 0")
    else:
        view.refuse(f"'{view.path[-1]}' must be greater than 0, it is {written(value)}")


@part
def below_one(view: View) -> None:
    """Refuse a share that is none, or all of it."""
    value = view.number()
    if value is not None and not 0 <= value < 1:
        view.refuse(f"'{view.path[-1]}' must be at least 0 and less than 1, it is {written(value)}")


def turned_angles(views: Iterable[View]) -> None:
    """Warn of angles beyond whole turns, unless somebody wrote pi or deg."""
    told = set()
    for view in views:
        value, key = view.number(), next(step for step in reversed(view.path) if isinstance(step, str))
        doubt = None if value is None or key in told else doubt_of("", value, view.text or "")
        if doubt is not None:  # of a list in degrees once
            told.add(key)
            view.warn(doubt)
