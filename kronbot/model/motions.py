"""Prescribed motions of a joint as traced functions of time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import casadi
import numpy as np
from casadi import SX

from kronbot.cached import cached_property
from kronbot.description import schema
from kronbot.description.table import Table
from kronbot.model.parameters import Parameters

# Change of the slope of accelerations at a row of a table, over a step, as a share of the largest acceleration: a
# smaller one is no corner to an integrator.
TURN = 1e-2


@dataclass(frozen=True)
class Motion:
    """A joint coordinate as a function of time, q(t) in rad or m; rates are its derivatives.

    ``times`` (s) are the rows of the table in ``file``, empty for a formula, which goes on for ever; ``period`` (1 x 1,
    s) is that of its rate, None where it has none; ``joint`` (1 x 1, s) is where two pieces of a formula meet.
    """

    value: Callable[[SX], SX]
    times: tuple[float, ...] = ()
    period: SX | None = None
    joint: SX | None = None
    file: str = ""

    def corners(self, parameters: Parameters, wanted_for: str) -> tuple[float, ...]:
        """Times (s) at which some derivative jumps by more than a little: where pieces meet, rows of a coarse table.

        Accelerations of a spline are straight from row to row. Rows at which they hardly turn are none: to start afresh
        at each of many would cost more than it gains. Raises FreeParameters where such a time has no value.
        """
        if self.joint is not None:
            return (parameters.evaluate(self.joint, wanted_for),)
        return self._turns if self.times else ()

    @cached_property
    def _turns(self) -> tuple[float, ...]:
        """Of a table: where the accelerations turn by more than a little."""
        t = SX.sym("t")
        rows = np.array(self.times)
        accelerations = casadi.Function("accelerations", [t], [self.derivatives(t)[2]])
        a, steps = np.asarray(accelerations(rows[None, :])).ravel(), np.diff(rows)
        turns = np.abs(np.diff(np.diff(a) / steps)) * np.minimum(steps[1:], steps[:-1])
        return tuple(rows[1:-1][turns > TURN * np.abs(a).max()].tolist())

    def derivatives(self, t: SX) -> tuple[SX, SX, SX]:
        """q, qd and qdd at the time symbol t."""
        q = self.value(t)
        qd = casadi.jacobian(q, t)
        return q, qd, casadi.jacobian(qd, t)


def motion(entry: schema.Motion, parameters: Parameters, tables: Mapping[str, Table]) -> Motion:
    """The motion that a file describes, which may name one of the tables."""
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
            return replace(spline(*tables[entry.file].motion()), file=entry.file)


def constant(value: SX) -> Motion:
    """At rest in one place."""
    return Motion(lambda t: value)


def cycloidal(k: SX, T: SX) -> Motion:
    """Mohan-Saha (44): k (t - T/pi sin(pi t/T)) for all t; the rate is 2 k at T and repeats after 2 T."""
    return Motion(lambda t: k * (t - T / np.pi * casadi.sin(np.pi * t / T)), period=2 * T)


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
