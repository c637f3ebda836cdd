"""What rounding leaves where an answer is zero: shown as 0 to people; files and JSON keep the numbers.

Not of plans, in whose search and simulations they are far below what tolerances tell: motions and torques begin at 0.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from kronbot.compute.arrays import Scalar
from kronbot.questions.momenta import MOMENTA

# A share of the largest number of the family.
ROUNDING: Final = 1e-14
# What was given, and what is itself a measure of errors.
_AS_THEY_ARE: Final = (
    "angle", "force", "moment", "t", "order", "row", "measured", "residual", "standardized", "leverage", "fitted",
)  # fmt: skip
# Frequency responses, which fall by decades and are 0 within their own errors.
_BY_THEMSELVES: Final = ("frequency", "magnitude", "phase")
_FORCES: Final = ("torque", "torque_quadratic", "integral", "reaction", "spring", "tension")
# Numbers of a summary that are one of the values of columns, or a mean of them, by what they begin with.
_OF_COLUMNS: Final = ("peak_", "rms_", "residual_amplitude")
_STRAINS: Final = ("curvature", "curvature_y", "twist")


def family(column: str, places: Collection[str] = ()) -> str:
    """The columns of a series that are computed from each other, and whose rounding is that of the largest of them.

    Metres and radians stand in one family, N and N m in another: between a robot of a millimetre and one of a kilometre
    that changes nothing. Empty for columns that are shown as they are. ``places`` are coordinates, and what else is a
    place or, with ``_dot``, its rate: links and joints may be called like any of the words that columns begin with.
    """
    if column in places:
        return "place"
    if column.removesuffix("_dot") in places:
        return "rate"
    head = column.partition(".")[0].removesuffix("_relative").removeprefix("peak_").removeprefix("rms_")
    if head in _AS_THEY_ARE or head in _BY_THEMSELVES or column == "energy.balance":
        return ""
    if "/" in column:  # responses to one input come from one another
        return column.rpartition("/")[2]
    if head in _FORCES:
        return "force"
    if head in _STRAINS:
        return "strain"
    if head in MOMENTA:
        return "momentum"
    if head in ("energy", "acceleration", "power"):
        return head
    return "rate" if column.endswith("_dot") or head in ("velocity", "rate") else "place"


def without_rounding(
    series: Mapping[str, npt.NDArray[Any]], share: float = ROUNDING, places: Collection[str] = ()
) -> dict[str, npt.NDArray[Any]]:
    """The columns, 0 in the place of numbers under that share of the largest one of their family.

    Angles are as they are given, but those that are among ``places`` (:func:`family`). Where a whole family is
    rounding, or squares of it, its numbers are nothing beside the largest of all.
    """
    families = {name: family(name, places) for name in series}
    numbers = {name: values for name, values in series.items() if values.dtype.kind == "f" and families[name]}
    largest: dict[str, float] = {}
    for name, values in numbers.items():
        largest[families[name]] = max(largest.get(families[name], 0.0), float(np.abs(values).max(initial=0.0)))
    nothing = squared(largest.values())
    least = {each: max(share * size, nothing) for each, size in largest.items()}
    clean = {name: np.where(np.abs(values) <= least[families[name]], 0.0, values) for name, values in numbers.items()}
    return {name: clean.get(name, values) for name, values in series.items()}


def squared(largest: Iterable[float]) -> float:
    """What squares of rounding reach, of energies for example, beside the largest numbers of an answer."""
    return ROUNDING**2 * max(largest, default=0.0)


def summary_without_rounding(
    summary: Mapping[str, Scalar], series: Mapping[str, npt.NDArray[Any]], places: Collection[str] = ()
) -> dict[str, Scalar]:
    """The summary of a series, 0 in the place of what is rounding beside the columns that it sums up."""
    numbers = {name: np.array([value]) for name, value in summary.items() if name.startswith(_OF_COLUMNS)}
    if not numbers:
        return dict(summary)
    clean = without_rounding({**series, **numbers}, places=places)
    return {name: float(clean[name][0]) if name in numbers else value for name, value in summary.items()}
