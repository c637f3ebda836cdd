"""The period of several motions at once: their least common multiple, not the longest."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from kronbot import loads

G, LENGTH, MASS, INERTIA = 9.81, 0.7, 1.3, 0.08
LEVER = MASS * LENGTH / (INERTIA + MASS * LENGTH**2)  # 1/m: theta'' + LEVER (g + z'') theta = 0
HEAD = """
kronbot: 1
name: shaken
convention: standard
gravity: [0, 0, -9.81]
links:
"""
STAGE = """
  - name: stage{i}
    joint: {{type: prismatic, name: z{i}}}
    dh: {{a: 0, d: 0, alpha: {alpha}, theta: 0}}
    rigid: {{mass: 2}}
"""
ROD = """
  - name: rod
    joint: {type: revolute, name: swing, damping: 0.05}
    dh: {a: 0.7, d: 0, alpha: 0, theta: -pi/2}
    rigid: {mass: 1.3, inertia: {Izz: 0.08}}
motion:
"""


def shaken(*motions):
    """A pendulum below stages on top of each other that all move along the vertical."""
    count = len(motions)
    text = HEAD + "".join(STAGE.format(i=i, alpha="pi/2" if i == count - 1 else 0) for i in range(count)) + ROD
    return loads(text + "".join(f"  z{i}: {motion}\n" for i, motion in enumerate(motions)))


def sinusoid(amplitude, frequency):
    return f"{{type: sinusoid, amplitude: {amplitude}, frequency: {frequency}}}"


def multipliers(period, acceleration):
    """Of theta'' + c theta' + LEVER (g + z'') theta = 0 over a period."""
    damping = 0.05 / (INERTIA + MASS * LENGTH**2)

    def rate(t, y):
        y = y.reshape(2, 2)
        return np.array([y[1], -damping * y[1] - LEVER * (G + acceleration(t)) * y[0]]).ravel()

    done = solve_ivp(rate, (0, period), np.eye(2).ravel(), method="DOP853", rtol=1e-12, atol=1e-13)
    return np.linalg.eigvals(done.y[:, -1].reshape(2, 2)).astype(complex)


@pytest.mark.parametrize(
    ("frequencies", "turns"),
    [
        ((4, 6), 1 / 2),  # half a turn of 2 pi: 2 and 3 periods, neither is the longest
        ((2.5, 1.5), 2),
        ((4, 6, 10), 1 / 2),
        ((3, 4, 6), 1),  # the first and the second meet before the third does, or the other way round
        ((6, 3), 1 / 3),  # here the longest is the one
    ],
)
def test_the_period_of_sinusoids_is_where_all_of_them_meet(frequencies, turns):
    amplitudes = [0.05 / (i + 1) for i in range(len(frequencies))]
    found = shaken(*map(sinusoid, amplitudes, frequencies)).linearize_along()
    assert found.summary["period"] == pytest.approx(2 * np.pi * turns, rel=1e-12)

    def acceleration(t):
        return sum(-a * f**2 * np.sin(f * t) for a, f in zip(amplitudes, frequencies, strict=True))

    ours, theirs = found["multipliers"], multipliers(2 * np.pi * turns, acceleration)
    assert np.abs(np.subtract.outer(ours, theirs)).min(axis=0).max() < 1e-8
    assert found.summary["verdict"].split()[0] == ("asymptotically" if np.abs(theirs).max() < 1 else "unstable")


def test_a_cycloid_repeats_after_twice_its_half_period():
    """Its rate does, its place does not; with a sinusoid of two thirds of that they meet after 4 half periods."""
    cycloid = "{type: cycloidal, rate: 0.1, half_period: 0.6}"
    found = shaken(cycloid).linearize_along()
    assert found.summary["period"] == pytest.approx(1.2, rel=1e-12)
    both = shaken(cycloid, sinusoid(0.02, f"{2 * np.pi / 0.8!r}")).linearize_along()
    assert both.summary["period"] == pytest.approx(2.4, rel=1e-12)

    def acceleration(t):
        turn, other = np.pi / 0.6, 2 * np.pi / 0.8
        return 0.1 * turn * np.sin(turn * t) - 0.02 * other**2 * np.sin(other * t)

    ours, theirs = both["multipliers"], multipliers(2.4, acceleration)
    assert np.abs(np.subtract.outer(ours, theirs)).min(axis=0).max() < 1e-8


def test_motions_that_never_meet_have_no_multipliers():
    found = shaken(sinusoid(0.02, 3), sinusoid(0.02, "3*sqrt(2)")).linearize_along(duration=1)
    assert "period" not in found.summary and "multipliers" not in found
