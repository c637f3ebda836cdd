"""Parts of answers that few look at, computed when somebody does."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar, cast

import numpy as np
import numpy.typing as npt

from kronbot.compute.arrays import NamedArray, Scalar, Units
from kronbot.description.wording import Entries
from kronbot.errors import ComputationError, Starved, out_of_memory, said
from kronbot.floats import is_finite
from kronbot.system.forking import AtWork

Found = TypeVar("Found")
# Numbers in one piece of memory that are looked at together, though only some of them may be asked for.
PIECE = 10_000


def computed(find: Callable[[], Found]) -> Found:
    """What is found, in numbers: that some overflow is seen in what comes of them. Those without an answer, and want of
    memory, are ComputationErrors.

    What a handler of signals raises comes through as itself.
    """
    try:
        with AtWork(), np.errstate(all="ignore"):
            return find()
    except np.linalg.LinAlgError as error:
        why = "joints that move no mass, or numbers of the robot that are too large, too small or too far apart"
        raise ComputationError(f"there is no answer ({error}): {why}") from error
    except (MemoryError, RuntimeError) as error:
        if not out_of_memory(error):
            raise
        raise Starved(f"{said(error)}: ask for less at a time") from error


class Deferred:
    """A summary that few look at, computed by who is asked for it first."""

    def __init__(self, compute: Callable[[], Mapping[str, Scalar]]) -> None:
        self._compute = compute

    def found(self) -> Entries:
        """What is computed. Raises ComputationError like a Result."""
        found = Entries(computed(self._compute))
        demand_finite(found)
        return found


def summary_later(compute: Callable[[], Mapping[str, Scalar]]) -> Mapping[str, Scalar]:
    """A summary for an answer, which asks for it when somebody looks at it."""
    return cast("Mapping[str, Scalar]", Deferred(compute))


def later(
    name: str,
    compute: Callable[[], npt.NDArray[Any]],
    rows: Sequence[str],
    units: Units,
    columns: Sequence[str] | None = None,
) -> NamedArray:
    """An array of an answer that few look at, by its name; asking for its values raises ComputationError like a
    Result."""
    return NamedArray(cast("npt.NDArray[Any]", partial(settled, name, compute)), rows, units, columns)


def settled(name: str, compute: Callable[[], npt.NDArray[Any]]) -> npt.NDArray[Any]:
    """What is computed, an array of that name. Raises ComputationError like a Result."""
    found = computed(compute)
    demand_finite({name: found})
    return found


def demand_finite(numbers: Mapping[str, Scalar | npt.NDArray[Any]]) -> None:
    """Raise ComputationError, naming the first of ``numbers`` (or arrays) by name that is not finite."""
    seen, sound = None, False  # arrays of one trace are in one piece of memory
    for name, value in numbers.items():
        if isinstance(value, np.ndarray):
            if (whole := value.base) is not seen and isinstance(whole, np.ndarray):
                seen, sound = whole, whole.dtype.kind == "f" and whole.size <= PIECE and is_finite(whole)
            if sound and whole is seen:
                continue
            finite = value.dtype.kind not in "fc" or is_finite(value)
        else:
            finite = not isinstance(value, float | np.floating) or math.isfinite(value)
        if not finite:
            why = "numbers of the robot or of the question are too large, too small or too far apart"
            raise ComputationError(f"{name} is not finite: {why}")
