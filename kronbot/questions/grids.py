"""Times of a run in rows: those that are shown, and those at which it is watched besides for its summary."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt
from casadi import SX

from kronbot.errors import Argument, UsageError
from kronbot.floats import Array, ascending, decimals
from kronbot.mechanics.motion.integration import stops
from kronbot.model.parameters import Parameters
from kronbot.model.robot import Robot
from kronbot.questions.measures import times_of_rest
from kronbot.records import dataclass

Mask = npt.NDArray[np.bool_]

ROWS = 200
ROW_LIMIT = 1_000_000
# Times by which a stop is followed the closer the nearer, each so many times as far behind it, the last one where they
# are as far apart as even ones.
FOLLOWED, FURTHER = 50, 2**0.25
# Even parts of a stretch between stops in which there are fewer even times, and the most such times of a run.
PARTS, CLOSER = 24, 2000
# Numbers of the answer, 8 bytes each and several times that while they are written.
NUMBER_LIMIT = 50_000_000
SHORTEST_STEP = 1e-8
# Each stops the integrator.
SAMPLE_LIMIT = 200_000


def horizon(robot: Robot, duration: float | None, step: float | None) -> tuple[float, float]:
    """Duration and step (s): as given, else as the file's ``simulate`` says, a step by default so that 200 rows follow.

    Raises UsageError where there is no duration, or more rows than ROW_LIMIT.
    """
    settings = robot.file.simulate
    if duration is None:
        if settings.duration is None:
            raise UsageError("how long? give ", Argument("duration"), ", or simulate: {duration: ...} in the file")
        duration = robot.parameters.value(settings.duration, "simulate.duration")
    if step is None:
        given = settings.step
        step = duration / ROWS if given is None else robot.parameters.value(given, "simulate.step")
    demand_rows(duration, step, 2 * robot.n)
    return duration, step


def demand_rows(duration: float, step: float, size: int) -> None:
    """Raise UsageError for steps (s) that are too short, and for too many rows of ``size`` numbers."""
    if min(step, duration) < SHORTEST_STEP:
        raise UsageError(
            f"steps under {SHORTEST_STEP:g} s are too short for the integrators, not {min(step, duration):g}"
        )
    if duration / step > ROW_LIMIT:
        raise UsageError(
            f"a step of {step:g} s makes {duration / step:.3g} rows in {duration:g} s; {ROW_LIMIT} is the limit"
        )
    if size * duration / step > NUMBER_LIMIT:
        raise UsageError(
            f"{duration / step:.3g} rows of {size} numbers are too many; "
            f"{NUMBER_LIMIT // size} rows are the limit: take a longer step"
        )


def grid(duration: float, step: float) -> Array:
    """Times of the output (s): multiples of the step, and the duration itself."""
    count = int(np.ceil(duration / step * (1 - 1e-12)))
    (each,), whole = decimals(step)  # 3 x 0.05 is 0.15 for the reader, not 0.15000000000000002
    times: Array = np.array([k * each / whole for k in range(count + 1)])
    times[-1] = duration
    return times


def sampled(stops: tuple[float, ...]) -> Array:
    """Times (s) at which a run is watched for its summary, whatever its rows: even ones, stops, and halfway between."""
    at = np.array(stops)
    even = grid(stops[-1], stops[-1] / ROWS)
    return ascending(np.concatenate([even, at, (at[1:] + at[:-1]) / 2]))


def followed(stops: tuple[float, ...]) -> Array:
    """The same behind stops, where what begins there may be over before the next even time, ROWS of them at most; and
    between stops that are near each other, where half a way tells nothing: accelerations from rest to rest are 0 there.
    These are even parts of each such stretch, PARTS or fewer, so that they are CLOSER at most.
    """
    at, step = np.array(stops), stops[-1] / ROWS
    lengths = np.diff(at)
    long, short = at[:-1][lengths > step], lengths < PARTS * step
    count = min(FOLLOWED, ROWS // max(1, len(long)))
    behind = long[:, None] + step / (FURTHER - 1) * FURTHER ** -np.arange(count)
    parts = min(PARTS, CLOSER // max(1, short.sum()))
    between = at[:-1][short, None] + lengths[short, None] * (np.arange(1, parts) / parts)
    times = np.concatenate([behind.ravel(), between.ravel()])
    inside: Array = times[times < at[-1]]
    return inside


@dataclass(frozen=True)
class Times:
    """``every`` time (N,) at which the state of a run is wanted, ascending; which of them are ``in_rows``, and which at
    ``rest``; of those in rows (n,) which are ``shown`` and which are :func:`sampled`, ``watched`` whatever the rows."""

    every: Array
    in_rows: Mask
    resting: Mask
    shown: Mask
    watched: Mask

    @property
    def told(self) -> Array:
        """Those in rows."""
        return self.every[self.in_rows]

    @property
    def rest(self) -> Array:
        """Those at rest."""
        return self.every[self.resting]

    def of(self, count: int) -> Times:
        """The first of them."""
        if count == len(self.every):
            return self
        in_rows = self.in_rows[:count]
        among = int(in_rows.sum())
        return Times(self.every[:count], in_rows, self.resting[:count], self.shown[:among], self.watched[:among])


def _among(every: Array, some: Array) -> npt.NDArray[np.bool_]:
    """Which of ascending numbers are those that are some of them."""
    found = np.zeros(len(every), dtype=bool)
    found[np.searchsorted(every, some)] = True
    return found


@lru_cache(maxsize=2)
def times(duration: float, step: float, stops: tuple[float, ...], motion_end: float | None, samples: int) -> Times:
    """Those of a run whose motion ends at a time (s), if any, so many of them behind it: made once for many alike."""
    shown, watched, rest = grid(duration, step), sampled(stops), times_of_rest(motion_end, duration, samples)
    told = ascending(np.concatenate([shown, watched, followed(stops)]))
    every = ascending(np.concatenate([told, rest]))
    parts = every, _among(every, told), _among(every, rest), _among(told, shown), _among(told, watched)
    for each in parts:
        each.setflags(write=False)
    return Times(*parts)


def sampling(parameters: Parameters, sample_time: SX | None, at: tuple[float, ...]) -> tuple[tuple[float, ...], Array]:
    """Stops of a run (s) with the instants of sampled controllers among them, and these.

    Raises UsageError for more than SAMPLE_LIMIT, FreeParameters where the sample time has no value.
    """
    if sample_time is None:
        return at, np.zeros(0)
    step, end = parameters.evaluate(sample_time, "control.sample_time"), at[-1]
    if end / step > SAMPLE_LIMIT:
        raise UsageError(f"a sample time of {step:g} s makes {end / step:.3g} samples; {SAMPLE_LIMIT} is the limit")
    instants = grid(end + step, step)[:-1]
    instants = instants[instants <= end * (1 + 1e-12)]
    every = stops(end, [*at[1:-1], *instants[1:]])
    places = np.array(every)
    # Those that rounding cannot tell from a corner are one.
    after = np.searchsorted(places, instants).clip(1, len(places) - 1)
    before = instants - places[after - 1] < places[after] - instants
    return every, places[after - before]
