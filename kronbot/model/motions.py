"""Prescribed motions of a joint as traced functions of time."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

import casadi
import numpy as np
from casadi import SX

from kronbot.cached import cached_property
from kronbot.description import in_time, moving
from kronbot.description.entries import ZERO
from kronbot.description.expressions.expression import Expression
from kronbot.description.wording import quote
from kronbot.errors import UsageError
from kronbot.model.parameters import Parameters
from kronbot.model.shapers import impulses
from kronbot.model.spline import not_a_knot, slopes
from kronbot.records import dataclass

if TYPE_CHECKING:
    from kronbot.description.table import Table

Before: TypeAlias = Callable[[SX | float], SX]  # whether it is before a time of the motion's own
# Change of the slope of accelerations at a row of a table, over a step, as a share of the largest acceleration: a
# smaller one is no corner to an integrator.
TURN = 1e-2
# Rows beyond the ends of a period that make a spline repeat: what its ends do decays by 2 from row to row, or more.
BESIDE = 60
# Rows of all periods of a run.
MOST = 1_000_000


@dataclass(frozen=True)
class Motion:
    """A joint coordinate as a function of time, q(t) in rad or m; rates are its derivatives.

    ``form`` is that from its own time 0 on, in pieces by :data:`Before`: rounding may part own times from corners.
    ``times`` (s) are the rows of the table in ``file``, empty for a formula. ``period`` (1 x 1, s) is that of its rate,
    None where it has none, ``travel`` (1 x 1, rad or m) how far it goes in one; ``joints`` (k x 1, s) is where pieces
    of a formula meet, the last where it ends. A table that is ``held`` stands outside its rows. It begins at ``start``
    (1 x 1, s) and stands still before; where that is None it has always been under way.
    """

    form: Callable[[SX, Before], SX]
    times: tuple[float, ...] = ()
    period: SX | None = None
    travel: SX = field(default_factory=lambda: SX(0))
    joints: SX = field(default_factory=lambda: SX(0, 1))
    start: SX | None = None
    file: str = ""
    held: bool = False

    def delayed(self, start: SX) -> Motion:
        """The same, beginning at a time (1 x 1, s); at a structural 0 it has always been under way."""
        return self if start.is_zero() else replace(self, start=start)

    def shaped(self, times: SX, amplitudes: SX) -> Motion:
        """The same convolved with impulses (k x 1 both, times in s, the last one last): sum A_i q(t - t_i).

        Of one that rests before and after.
        """
        delays, shares = casadi.vertsplit(times), casadi.vertsplit(amplitudes)

        def form(t: SX, before: Before) -> SX:
            return sum((A * self._later(delay, t, before) for delay, A in zip(delays, shares, strict=True)), SX(0))

        joints = [delay + casadi.vertcat(0, self.joints) for delay in delays]
        return replace(self, form=form, joints=casadi.vertcat(*joints))

    def value(self, t: SX) -> SX:
        """q at the time t."""
        form = self.form if self.start is None else partial(self._later, self.start)
        return form(t, lambda joint: t < joint)

    def _later(self, start: SX, t: SX, before: Before) -> SX:
        rest = self.form(SX(0), lambda joint: SX(0) < joint)
        return casadi.if_else(before(start), rest, self.form(t - start, lambda joint: before(start + joint)))

    @property
    def ends(self) -> bool:
        """Whether it is known up to a time only: that of the last row of a table that neither repeats nor is held."""
        return bool(self.times) and self.period is None and not self.held

    def begins(self, parameters: Parameters, wanted_for: str) -> float:
        """The time (s) before which it stands still, -inf where there is none. Raises FreeParameters."""
        return -math.inf if self.start is None else parameters.evaluate(self.start, wanted_for)

    def known(self, parameters: Parameters, wanted_for: str) -> tuple[float, float]:
        """Between which times (s) it is known. Raises FreeParameters."""
        if not self.ends:
            return -math.inf, math.inf
        if self.start is None:
            return self.times[0], self.times[-1]
        start = self.begins(parameters, wanted_for)
        # Before it begins it stands where its own time is 0.
        return -math.inf if self.times[0] <= 0 else start + self.times[0], start + self.times[-1]

    def span(self, parameters: Parameters, wanted_for: str) -> float:
        """How long it takes, s: up to the last row of a table, the end of the last piece, or for a period.

        0 of what stands still. Raises FreeParameters where that has no value.
        """
        waiting = max(0.0, self.begins(parameters, wanted_for))
        if self.times and self.period is None:
            return waiting + self.times[-1]
        length = self.joints[-1] if self.joints.numel() else self.period
        found = 0.0 if length is None else abs(parameters.evaluate(length, wanted_for))
        return waiting + found if math.isfinite(found) else 0.0

    def meetings(self, parameters: Parameters, end: float, wanted_for: str) -> tuple[float, ...]:
        """Times (s) up to an end at which it begins and pieces meet: all rows of a table. Raises FreeParameters."""
        return self._meetings(self.times, parameters, end, wanted_for)

    def corners(self, parameters: Parameters, end: float, wanted_for: str) -> tuple[float, ...]:
        """Those of them at which some derivative jumps by more than a little: of a table the rows of a coarse one.

        Accelerations of a spline are straight from row to row. Rows at which they hardly turn are none: to start afresh
        at each of many would cost more than it gains.
        """
        return self._meetings(self._turns if self.times else (), parameters, end, wanted_for)

    def _meetings(
        self, rows: Sequence[float], parameters: Parameters, end: float, wanted_for: str
    ) -> tuple[float, ...]:
        start = 0.0 if self.start is None else self.begins(parameters, wanted_for)
        own = self._between(max(0.0, -start), end - start, rows)
        if self.joints.numel():
            own = tuple(parameters.evaluate_all(self.joints, wanted_for))
        return own if self.start is None else (start, *(start + t for t in own))

    def _between(self, begin: float, end: float, rows: Sequence[float]) -> tuple[float, ...]:
        """Rows of a table in its own time; of one that repeats in all its periods. Raises UsageError beyond MOST."""
        if not rows or self.period is None:
            return tuple(row for row in rows if begin <= row <= end)
        first, period = self.times[0], self.times[-1] - self.times[0]
        periods = range(math.floor((begin - first) / period), math.ceil((end - first) / period))
        if len(periods) * len(rows) > MOST:
            raise UsageError(f"{quote(self.file)} repeats {len(periods)} times up to t = {end:g} s: too many rows")
        return tuple(t for k in periods for row in rows if begin <= (t := row + k * period) <= end)

    @cached_property
    def _turns(self) -> tuple[float, ...]:
        """Of a table: where the accelerations turn by more than a little, and jump at the ends of one that is held."""
        t = SX.sym("t")
        rows = np.array(self.times)
        accelerations = casadi.Function("accelerations", [t], [replace(self, start=None).derivatives(t)[2]])
        inside = np.append(rows[:-1], np.nextafter(rows[-1], -math.inf))
        a, steps = np.asarray(accelerations(inside[None, :])).ravel(), np.diff(rows)
        slopes = np.diff(a) / steps
        if self.period is not None:  # the last row but one comes before the first, and is a row as any other
            rows, slopes, steps = rows[1:], np.append(slopes, slopes[0]), np.append(steps, steps[0])
        else:
            rows = rows[1:-1]
        turns = np.abs(np.diff(slopes)) * np.minimum(steps[1:], steps[:-1])
        if self.held:
            rows, turns = np.array(self.times), np.hstack([abs(a[0]), turns, abs(a[-1])])
        return tuple(rows[turns > TURN * np.abs(a).max()].tolist())

    def derivatives(self, t: SX) -> tuple[SX, SX, SX]:
        """q, qd and qdd at the time symbol t."""
        q = self.value(t)
        qd = casadi.jacobian(q, t)
        return q, qd, casadi.jacobian(qd, t)


def motion(
    entry: moving.Motion, parameters: Parameters, tables: Mapping[str, Table], joint: str, turning: bool
) -> Motion:
    """The motion that a file describes, which may name one of the tables, of a joint that is ``turning`` or slides."""
    own = _own_motion(entry, parameters, tables, joint, turning)
    shaper = getattr(entry, "shaper", None)
    if shaper is not None:
        own = own.shaped(*impulses(shaper if isinstance(shaper, tuple) else (shaper,), parameters))
    return own if isinstance(entry, Expression) else own.delayed(parameters.number(entry.begin))


def _own_motion(
    entry: moving.Motion, parameters: Parameters, tables: Mapping[str, Table], joint: str, turning: bool
) -> Motion:
    """The same in its own time."""
    match entry:
        case Expression():
            return constant(parameters.number(entry))
        case moving.Cycloidal():
            form = (entry.rate, entry.half_period, entry.start, entry.end, entry.duration)
            given = [parameters.number(value) for value in form if value is not None]
            return cycloidal(*given) if entry.rate is not None else cycloidal_rise(*given)
        case moving.SpinUp():
            return spin_up(parameters.number(entry.rate), parameters.number(entry.duration))
        case moving.PolynomialMotion():
            ends = parameters.number(entry.start), parameters.number(entry.end)
            return polynomial(*ends, parameters.number(entry.duration), entry.degree)
        case moving.Trapezoid():
            ends = parameters.number(entry.start), parameters.number(entry.end)
            told = (entry.duration, entry.rate, entry.acceleration)
            limits = (None if value is None else parameters.number(value) for value in told)
            return trapezoid(*ends, *ramp(casadi.fabs(ends[1] - ends[0]), *limits))
        case moving.ViaPoints():
            times, values = zip(*entry.through, strict=True)
            return through([parameters.number(t) for t in times], [parameters.number(value) for value in values])
        case in_time.Sinusoid():
            numbers = (entry.amplitude, entry.frequency, entry.phase, entry.offset or ZERO)
            return sinusoid(*(parameters.number(number) for number in numbers))
        case moving.TableMotion():
            rows = tables[entry.file].of_joint(entry, joint, turning)
            made = periodic_spline(*rows) if entry.periodic else held(*rows) if entry.held else spline(*rows)
            return replace(made, file=entry.file)


def constant(value: SX) -> Motion:
    """At rest in one place."""
    return Motion(lambda t, _: value)


def cycloidal(k: SX, T: SX) -> Motion:
    """Mohan-Saha (44): k (t - T/pi sin(pi t/T)) for all t; the rate is 2 k at T and repeats after 2 T."""
    return Motion(lambda t, _: k * (t - T / np.pi * casadi.sin(np.pi * t / T)), period=2 * T, travel=2 * k * T)


def cycloidal_rise(start: SX, end: SX, T: SX) -> Motion:
    """The cycloidal rise of cam design, start + (end - start) (t/T - sin(2 pi t/T)/(2 pi)) within T, held outside.

    At rest and without acceleration at both ends. It is (44) of Mohan and Saha with half its T and k = (end - start)/T.
    """

    def value(t: SX, before: Before) -> SX:
        rise = t / T - casadi.sin(2 * np.pi / T * t) / (2 * np.pi)
        return casadi.if_else(before(SX(0)), start, casadi.if_else(before(T), start + (end - start) * rise, end))

    return Motion(value, joints=T)


def spin_up(Omega: SX, T: SX) -> Motion:
    """A *rate* that rises as Omega (t/T - sin(2 pi t/T)/(2 pi)) up to T and stays at Omega."""

    def value(t: SX, before: Before) -> SX:
        turn = 2 * np.pi / T
        rising = Omega * (t**2 / (2 * T) + (casadi.cos(turn * t) - 1) / (T * turn**2))
        return casadi.if_else(before(T), rising, Omega * (t - T / 2))

    return Motion(value, joints=T)


def polynomial(start: SX, end: SX, T: SX, degree: int) -> Motion:
    """From start to end within T, at rest at both (degree 5: also without acceleration), held afterwards."""

    def value(t: SX, before: Before) -> SX:
        s = t / T
        rise = s**2 * (3 - 2 * s) if degree == 3 else s**3 * (10 - 15 * s + 6 * s**2)
        return casadi.if_else(before(T), start + (end - start) * rise, end)

    return Motion(value, joints=T)


def ramp(way: SX, duration: SX | None = None, rate: SX | None = None, acceleration: SX | None = None) -> tuple[SX, SX]:
    """Duration T of a trapezoid over a ``way`` >= 0, and of each of its ramps, tau: way = rate (T - tau), rate = a tau.

    Two of duration, rate and acceleration are given, or the duration, of which the ramps take a third each. Without it
    the motion is as fast as the rate and the acceleration allow: over a short way it does not reach the rate.
    """
    if duration is None:
        assert rate is not None and acceleration is not None, "a rule of files"
        shortest = casadi.sqrt(way / acceleration)
        tau = casadi.fmin(rate / acceleration, shortest)
        return tau + casadi.fmax(way / rate, shortest), tau
    if rate is not None:
        return duration, duration - way / rate
    if acceleration is None:
        return duration, duration / 3
    root = casadi.sqrt(casadi.fmax(duration**2 - 4 * way / acceleration, 0))
    return duration, 2 * way / (acceleration * (duration + root))


def trapezoid(start: SX, end: SX, T: SX, tau: SX) -> Motion:
    """From start to end within T, the rate growing evenly over tau, constant, and falling evenly; held outside."""
    rate = (end - start) / (T - tau)

    def value(t: SX, before: Before) -> SX:
        falling = end - rate / (2 * tau) * (T - t) ** 2
        cruising = casadi.if_else(before(T - tau), start + rate * (t - tau / 2), falling)
        moving = casadi.if_else(before(tau), start + rate / (2 * tau) * t**2, cruising)
        return casadi.if_else(before(SX(0)), start, casadi.if_else(before(T), moving, end))

    return Motion(value, joints=casadi.vertcat(0, tau, T - tau, T))


def through(times: Sequence[SX], values: Sequence[SX]) -> Motion:
    """The C2 cubic spline through ascending times and values, at rest at the first and the last, held outside."""
    h = [after - before for before, after in pairwise(times)]
    d = [(after - before) / length for (before, after), length in zip(pairwise(values), h, strict=True)]
    s = slopes(h, d, SX(0), SX(0))

    def value(t: SX, before: Before) -> SX:
        found = values[-1]
        for i in reversed(range(len(h))):
            u = t - times[i]
            bend, jerk = (3 * d[i] - 2 * s[i] - s[i + 1]) / h[i], (s[i] + s[i + 1] - 2 * d[i]) / h[i] ** 2
            found = casadi.if_else(before(times[i + 1]), values[i] + u * (s[i] + u * (bend + u * jerk)), found)
        return casadi.if_else(before(times[0]), values[0], found)

    return Motion(value, joints=casadi.vertcat(*times))


def sinusoid(amplitude: SX, frequency: SX, phase: SX, offset: SX) -> Motion:
    """offset + amplitude sin(frequency t + phase), frequency in rad/s."""
    return Motion(lambda t, _: offset + amplitude * casadi.sin(frequency * t + phase), period=2 * np.pi / frequency)


def spline(times: tuple[float, ...], values: tuple[float, ...]) -> Motion:
    """The C2 cubic spline through a table (not-a-knot at both ends), known up to its last time."""
    curve = not_a_knot(times, values)
    return Motion(lambda t, _: curve(t), times=times)


def held(times: tuple[float, ...], values: tuple[float, ...]) -> Motion:
    """The clamped C2 cubic spline, at rest at both ends and outside: half a period of the one that goes to and fro."""
    back = tuple(2 * times[-1] - t for t in times[-2::-1])
    curve = _repeated((*times, *back), (*values, *values[-2::-1]), len(times) - 1)

    def value(t: SX, before: Before) -> SX:
        found = casadi.if_else(before(times[-1]), curve.value(t), values[-1])
        return casadi.if_else(before(times[0]), values[0], found)

    return Motion(value, times=times, held=True)


def periodic_spline(times: tuple[float, ...], values: tuple[float, ...]) -> Motion:
    """The C2 cubic spline that repeats from row to row for ever; its value goes on where the last is not the first."""
    period, travel = times[-1] - times[0], values[-1] - values[0]
    curve = _repeated(times, values, len(times) - 1)

    def value(t: SX, _: Before) -> SX:
        periods = casadi.floor((t - times[0]) / period)
        return curve.value(t - periods * period) + periods * travel

    return Motion(value, times=times, period=SX(period), travel=SX(travel))


def _repeated(times: tuple[float, ...], values: tuple[float, ...], last: int) -> Motion:
    """The spline through the rows 0 ... ``last`` of a period, the same as if it had rows without end."""
    count, period, travel = len(times) - 1, times[-1] - times[0], values[-1] - values[0]
    rows = [(i % count, i // count) for i in range(-BESIDE, last + BESIDE + 1)]
    return spline(tuple(times[i] + k * period for i, k in rows), tuple(values[i] + k * travel for i, k in rows))
