"""Columns of statics that say what was given, which pictures are over, beside those that were found."""

from __future__ import annotations

from kronbot.questions.columns import WRENCH
from kronbot.questions.result import Result
from kronbot.questions.static_report import Inquiry
from kronbot.questions.swept import Swept


def given_columns(result: Result) -> list[str]:
    """Those of an answer of statics, or of a sweep that may be of statics.

    Joint angles are found where a torque is given in their place.
    """
    if result.about is None:
        return []
    given = {*(f"angle.{joint.name}" for joint in result.model.joints), *WRENCH} - found_angles(result)
    return [name for name in result.series if name in given]


def found_angles(result: Result) -> set[str]:
    """Angles among the columns that are none of these."""
    if isinstance(result.asked, Swept):
        return {*result.asked.found}
    if isinstance(result.asked, Inquiry):
        free = {place for case in result.asked.cases for place in case.torques}
        return {f"angle.{joint.name}" for joint in result.model.joints if joint.driven in free}
    return set()


def places(result: Result) -> set[str]:
    """Columns that are places, whatever they are called: coordinates, and angles that were found."""
    return found_angles(result) | {*(() if result.about is None else result.model.coordinates)}
