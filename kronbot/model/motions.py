"""Prescribed motions of a joint as traced functions of time."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import casadi
import numpy as np
from casadi import SX

from kronbot.cached import cached_property
from kronbot.description import schema
from kronbot.description.table import Table
from kronbot.description.wording import quote
from kronbot.errors import UsageError
from kronbot.model.parameters import Parameters

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

    ``times`` (s) are the rows of the table in ``file``, empty for a formula. ``period`` (1 x 1, s) is that of its rate,
    None where it has none, and ``travel`` (1 x 1, rad or m) how far it goes in one; ``joint`` (1 x 1, s) is where two
    pieces of a formula meet.
    """

    value: Callable[[SX], SX]
    times: tuple[float, ...] = ()
    period: SX | None = None
    travel: SX = field(default_factory=lambda: SX(0))
    joint: SX | None = None
    file: str = ""

    @property
    def ends(self) -> tuple[float, float] | None:
        """Between which times (s) it is known; None of what goes on for ever."""
        return (self.times[0], self.times[-1]) if self.times and self.period is None else None

    def span(self, parameters: Parameters, wanted_for: str) -> float:
        """How long it takes, s: up to the last row of a table, the end of the last piece, or for a period.

        0 of what stands still. Raises FreeParameters where that has no value.
        """
        if self.ends:
            return self.ends[1]
        length = self.period if self.joint is None else self.joint
        found = 0.0 if length is None else abs(parameters.evaluate(length, wanted_for))
        return found if math.isfinite(found) else 0.0

    def meetings(self, parameters: Parameters, end: float, wanted_for: str) -> tuple[float, ...]:
        """Times (s) from 0 to an end at which pieces meet: all rows of a table. Raises FreeParameters."""
        if self.joint is not None:
            return (parameters.evaluate(self.joint, wanted_for),)
        return self._up_to(end, self.times)

    def corners(self, parameters: Parameters, end: float, wanted_for: str) -> tuple[float, ...]:
        """Those of them at which some derivative jumps by more than a little: of a table the rows of a coarse one.

        Accelerations of a spline are straight from row to row. Rows at which they hardly turn are none: to start afresh
        at each of many would cost more than it gains.
        """
        return self._up_to(end, self._turns) if self.times else self.meetings(parameters, end, wanted_for)

    def _up_to(self, end: float, rows: Sequence[float]) -> tuple[float, ...]:
        """Rows of a table from 0 to an end; of one that repeats in all its periods. Raises UsageError beyond MOST."""
        if not rows or self.ends:
            return tuple(row for row in rows if 0 <= row <= end)
        first, period = self.times[0], self.times[-1] - self.times[0]
        periods = range(math.floor(-first / period), math.ceil((end - first) / period))
        if len(periods) * len(rows) > MOST:
            raise UsageError(f"{quote(self.file)} repeats {len(periods)} times up to t = {end:g} s: too many rows")
        return tuple(t for k in periods for row in rows if 0 <= (t := row + k * period) <= end)

    @cached_property
    def _turns(self) -> tuple[float, ...]:
        """Of a table: where the accelerations turn by more than a little."""
        t = SX.sym("t")
        rows = np.array(self.times)
        accelerations = casadi.Function("accelerations", [t], [self.derivatives(t)[2]])
        a, steps = np.asarray(accelerations(rows[None, :])).ravel(), np.diff(rows)
        slopes = np.diff(a) / steps
        if self.period is not None:  # the last row but one comes before the first, and is a row as any other
            rows, slopes, steps = rows[1:], np.append(slopes, slopes[0]), np.append(steps, steps[0])
        else:
            rows = rows[1:-1]
        turns = np.abs(np.diff(slopes)) * np.minimum(steps[1:], steps[:-1])
        return tuple(rows[turns > TURN * np.abs(a).max()].tolist())

    def derivatives(self, t: SX) -> tuple[SX, SX, SX]:
        """q, qd and qdd at the time symbol t."""
        q = self.value(t)
        qd = casadi.jacobian(q, t)
        return q, qd, casadi.jacobian(qd, t)


def motion(entry: schema.Motion, parameters: Parameters, tables: Mapping[str, Table], turning: bool) -> Motion:
    """The motion that a file describes, which may name one of the tables, of a joint that is ``turning`` or slides."""
    match entry:
        case schema.Cycloidal():
            form = (entry.rate, entry.half_period, entry.start, entry.end, entry.duration)
            given = [parameters.number(value) for value in form if value is not None]
            return cycloidal(*given) if entry.rate is not None else cycloidal_rise(*given)
        case schema.SpinUp():
            return spin_up(parameters.number(entry.rate), parameters.number(entry.duration))
        case schema.PolynomialMotion():
            ends = parameters.number(entry.start), parameters.number(entry.end)
            return polynomial(*ends, parameters.number(entry.duration), entry.degree)
        case schema.Sinusoid():
            numbers = (entry.amplitude, entry.frequency, entry.phase, entry.offset)
            return sinusoid(*(parameters.number(number) for number in numbers))
        case schema.TableMotion():
            table = tables[entry.file]
            made = periodic_spline(*table.period(turning)) if entry.periodic else spline(*table.motion())
            return replace(made, file=entry.file)


def constant(value: SX) -> Motion:
    """At rest in one place."""
    return Motion(lambda t: value)


def cycloidal(k: SX, T: SX) -> Motion:
    """Mohan-Saha (44): k (t - T/pi sin(pi t/T)) for all t; the rate is 2 k at T and repeats after 2 T."""
    return Motion(lambda t: k * (t - T / np.pi * casadi.sin(np.pi * t / T)), period=2 * T, travel=2 * k * T)


def cycloidal_rise(start: SX, end: SX, T: SX) -> Motion:
    """The cycloidal rise of cam design, start + (end - start) (t/T - sin(2 pi t/T)/(2 pi)) within T, held outside.

    At rest and without acceleration at both ends. It is (44) of Mohan and Saha with half its T and k = (end - start)/T.
    """

    def value(t: SX) -> SX:
        rise = t / T - casadi.sin(2 * np.pi / T * t) / (2 * np.pi)
        return casadi.if_else(t < 0, start, casadi.if_else(t < T, start + (end - start) * rise, end))

    return Motion(value, joint=T)


def spin_up(Omega: SX, T: SX) -> Motion:
    """A *rate* that rises as Omega (t/T - sin(2 pi t/T)/(2 pi)) up to T and stays at Omega."""

    def value(t: SX) -> SX:
        turn = 2 * np.pi / T
        rising = Omega * (t**2 / (2 * T) + (casadi.cos(turn * t) - 1) / (T * turn**2))
        return casadi.if_else(t < T, rising, Omega * (t - T / 2))

    return Motion(value, joint=T)


def polynomial(start: SX, end: SX, T: SX, degree: int) -> Motion:
    """From start to end within T, at rest at both (degree 5: also without acceleration), held afterwards."""

    def value(t: SX) -> SX:
        s = t / T
        rise = s**2 * (3 - 2 * s) if degree == 3 else s**3 * (10 - 15 * s + 6 * s**2)
        return casadi.if_else(t < T, start + (end - start) * rise, end)

    return Motion(value, joint=T)


def sinusoid(amplitude: SX, frequency: SX, phase: SX, offset: SX) -> Motion:
    """offset + amplitude sin(frequency t + phase), frequency in rad/s."""
    period = 2 * np.pi / frequency
    return Motion(lambda t: offset + amplitude * casadi.sin(frequency * t + phase), period=period)


def spline(times: tuple[float, ...], values: tuple[float, ...]) -> Motion:
    """The C2 cubic spline through a table (not-a-knot at both ends), known up to its last time."""
    curve = casadi.interpolant("spline", "bspline", [times], values)
    return Motion(lambda t: curve(t), times=times)


def periodic_spline(times: tuple[float, ...], values: tuple[float, ...]) -> Motion:
    """The C2 cubic spline that repeats from row to row for ever; its value goes on where the last is not the first."""
    count, period, travel = len(times) - 1, times[-1] - times[0], values[-1] - values[0]
    rows = [(i % count, i // count) for i in range(-BESIDE, count + BESIDE + 1)]
    curve = spline(tuple(times[i] + k * period for i, k in rows), tuple(values[i] + k * travel for i, k in rows))

    def value(t: SX) -> SX:
        periods = casadi.floor((t - times[0]) / period)
        return curve.value(t - periods * period) + periods * travel

    return Motion(value, times=times, period=SX(period), travel=SX(travel))
