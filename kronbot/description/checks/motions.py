"""What numbers of the motion of a joint must satisfy."""

from __future__ import annotations

from itertools import pairwise

from kronbot.description.checks.judgements import part
from kronbot.description.checks.report import View
from kronbot.description.checks.sizes import below_one, positive

# What rounding may add to a rate or an acceleration that just arrives in time.
_ROUNDING = 1e-12


@part
def check_motion(motion: View) -> None:
    """Report numbers of a motion that no motion has."""
    kind = motion["type"].text
    for key in ("half_period", "duration", *(("rate", "acceleration") if kind == "trapezoid" else ())):
        if key in motion:
            positive(motion[key])
    if kind == "trapezoid":
        _trapezoid(motion)
    if "shaper" in motion:
        for shaper in motion["shaper"].items or (motion["shaper"],):
            _shaper(shaper)
    times = [point[0] for point in motion["through"].items]
    for before, after in pairwise(times):
        first, second = before.number(None), after.number(None)
        if first is not None and second is not None and not second > first:
            after.refuse(f"the times must grow from point to point: {second!r} after {first!r}")


def _trapezoid(motion: View) -> None:
    """A rate or an acceleration that lets it arrive in time, and leaves ramps."""
    ends, duration = (motion["from"].number(None), motion["to"].number(None)), motion["duration"].number(None)
    if None in ends or duration is None or duration <= 0:
        return
    way = abs(float(ends[1] or 0.0) - float(ends[0] or 0.0))
    rate, acceleration = motion["rate"].number(None), motion["acceleration"].number(None)
    mean = way / duration
    if rate is not None and rate > 0 and not mean < rate <= 2 * mean * (1 + _ROUNDING):
        motion["rate"].refuse(
            f"'rate' must be greater than the mean rate {mean!r} and at most twice that, it is {rate!r}"
        )
    least = 4 * mean / duration
    if acceleration is not None and 0 < acceleration < least * (1 - _ROUNDING):
        motion["acceleration"].refuse(
            f"'acceleration' must be at least {least!r} to arrive in time, it is {acceleration!r}"
        )


def _shaper(shaper: View) -> None:
    """A frequency, the damping ratio of a mode that vibrates, and a share of vibration."""
    positive(shaper["frequency"])
    below_one(shaper["damping"])
    if "tolerance" in shaper:
        positive(shaper["tolerance"])
        below_one(shaper["tolerance"])
