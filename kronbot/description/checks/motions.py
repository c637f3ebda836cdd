"""What numbers of the motion of a joint, and of other functions of time, must satisfy."""

from __future__ import annotations

from itertools import pairwise

from kronbot.description import limits
from kronbot.description.checks.judgements import part
from kronbot.description.checks.report import View
from kronbot.description.checks.sizes import below_one, positive
from kronbot.description.wording import written

# Forms of motions that go by one name: the keys that tell them apart.
_FORMS = {
    "cycloidal": (("rate", "half_period"), ("from", "to", "duration")),
    "trapezoid": (("duration",), ("duration", "rate"), ("duration", "acceleration"), ("rate", "acceleration")),
}
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
    if "periodic" in motion and "held" in motion:
        motion["held"].refuse("a motion that is periodic goes on and is not held: one of 'held' and 'periodic'")
    times = [point[0] for point in motion["through"].items]
    for before, after in pairwise(times):
        first, second = before.number(None), after.number(None)
        if first is not None and second is not None and not second > first:
            after.refuse(f"the times must grow from point to point: {written(second)} after {written(first)}")


def check_in_time(given: View) -> None:
    """Report a step that ends before it begins."""
    start, end = given["start"].number(None), given["end"].number(None)
    if end is not None and not end > (start or 0.0):
        given["end"].refuse(f"'end' must come after {written(start or 0.0)}, when it begins; it is {written(end)}")


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
            f"'rate' must be greater than the mean rate {written(mean)} and at most twice that, it is {written(rate)}"
        )
    least = 4 * mean / duration
    if acceleration is not None and 0 < acceleration < least * (1 - _ROUNDING):
        motion["acceleration"].refuse(
            f"'acceleration' must be at least {written(least)} to arrive in time, it is {written(acceleration)}"
        )


def _shaper(shaper: View) -> None:
    """A frequency, the damping ratio of a mode that vibrates, and a share of vibration."""
    positive(shaper["frequency"])
    below_one(shaper["damping"])
    if "tolerance" in shaper:
        positive(shaper["tolerance"])
        below_one(shaper["tolerance"])


def check_forms(root: View) -> None:
    """Report forms that are none: cycloidal is Mohan and Saha's, which goes on, or from one value to another, and
    trapezoids are told in four ways.
    """
    drives = root["simulate"]["drive"].entries
    for motion in (*root["motion"].entries, *(drive["motion"] for drive in drives)):
        kind = motion["type"].text
        if kind in _FORMS:
            given = {key for form in _FORMS[kind] for key in form if key in motion}
            if given not in map(set, _FORMS[kind]):
                forms = " or ".join(f"{{{', '.join(form)}}}" for form in _FORMS[kind])
                found = ", ".join(key for key in motion.keys if key in given) or "nothing of it"
                motion["type"].refuse(f"a {kind} motion takes {forms}; here is {found}")
        points = len(motion["through"].items)
        if kind == "via-points" and motion["through"].is_list and not 2 <= points <= limits.VIA_POINTS:
            cure = "; a table takes more" if points > 2 else ""
            motion["through"].refuse(f"2 to {limits.VIA_POINTS} points are wanted here, not {points}{cure}")
        _shapers(motion)


def _shapers(motion: View) -> None:
    """Only what comes to rest is shaped, by a few shapers."""
    shaper, count = motion["shaper"], len(motion["shaper"].items)
    if shaper.is_list and not 1 <= count <= limits.SHAPERS:
        shaper.refuse(f"1 to {limits.SHAPERS} input shapers are wanted here, not {count}")
    if "shaper" in motion and "half_period" in motion:
        shaper.refuse_key("an input shaper is for a motion that comes to rest: take from, to, duration")
