"""Input shapers: what vibration they leave, of which frequencies, in an oscillator and in a simulated robot."""

import numpy as np
import pytest
from thinned import thinned

import kronbot
from kronbot.description.entries import ZERO
from kronbot.description.expressions.expression import parse
from kronbot.description.moving import Shaper
from kronbot.model.parameters import Parameters
from kronbot.model.shapers import STEPS, impulses

W, TOLERANCE = 3.2, 0.05


def sequence(*kinds, damping=0.0):
    """Times and amplitudes of shapers at W."""
    return impulses_of(*(Shaper(kind, parse(str(W)), parse(str(damping)), parse(str(TOLERANCE))) for kind in kinds))


def impulses_of(*shapers):
    parameters = Parameters({}, {})
    return [np.array(parameters.evaluate_all(each, "test")) for each in impulses(shapers, parameters)]


def left(times, amplitudes, frequency, damping=0.0):
    """Amplitude of an oscillator after the last impulse, by what one impulse of 1 at that time would give."""
    pole = frequency * complex(-damping, np.sqrt(1 - damping**2))
    return abs(np.sum(amplitudes * np.exp(pole * (times[-1] - times))))


@pytest.mark.parametrize("kind", STEPS)
def test_amplitudes_are_positive_of_sum_one_and_grow_in_time(kind):
    times, amplitudes = sequence(kind, damping=0.1)
    assert amplitudes.min() > 0 and abs(amplitudes.sum() - 1) < 1e-15
    assert times[0] == 0 and (np.diff(times) > 0).all()


@pytest.mark.parametrize("damping", [0.0, 0.01, 0.3, 0.8])
@pytest.mark.parametrize("kind", ["zv", "mzv", "zvd", "2hump_ei"])
def test_nothing_is_left_of_the_mode(kind, damping):
    assert left(*sequence(kind, damping=damping), W, damping) < 4e-16


def test_zvd_does_not_turn_with_the_frequency_and_zv_does():
    """Slopes of what is left beside the frequency: of zvd none."""
    step = 1e-4
    zv, zvd = (left(*sequence(kind), W * (1 + step)) for kind in ("zv", "zvd"))
    assert abs(zv / step - np.pi / 2) < 1e-3 and zvd < 3 * step**2


@pytest.mark.parametrize(("kind", "zeros"), [("ei", 2), ("2hump_ei", 3)])
def test_insensitive_shapers_leave_their_tolerance_at_most(kind, zeros):
    """Between the outer frequencies of which they leave nothing, humps are just as high as the tolerance."""
    frequencies = np.linspace(0.4, 1.6, 120_001) * W
    curve = np.abs(np.exp(-1j * np.outer(sequence(kind)[0], frequencies)).T @ sequence(kind)[1])
    inner = np.flatnonzero((curve[1:-1] < curve[:-2]) & (curve[1:-1] <= curve[2:])) + 1
    assert len(inner) == zeros and (curve[inner] < 1e-5).all()
    between = curve[inner[0] : inner[-1]]
    assert abs(between.max() - TOLERANCE) < 1e-8
    assert np.allclose(frequencies[inner].mean(), W, rtol=1e-4)  # as far below the frequency as above
    if kind == "ei":
        assert abs(left(*sequence("ei"), W) - TOLERANCE) < 1e-15


def test_damping_leaves_less_than_the_tolerance_of_ei():
    assert left(*sequence("ei", damping=0.1), W, 0.1) < TOLERANCE


def test_several_are_convolved():
    """Of two modes nothing is left; the last impulse is the last."""
    first = Shaper("zv", parse("3"), parse("0.02"))
    second = Shaper("mzv", parse("11"), ZERO)
    times, amplitudes = impulses_of(first, second)
    assert len(times) == 6 and times.argmax() == 5 and abs(amplitudes.sum() - 1) < 1e-15
    assert left(times, amplitudes, 3, 0.02) < 4e-16 and left(times, amplitudes, 11) < 4e-16


CART = """
kronbot: 1
name: cart
convention: standard
gravity: [0, 0, 0]
parameters: {w: 10, z: 0.05}
links:
  - name: cart
    joint: {type: prismatic, name: x, elastic: {stiffness: 2*w**2, damping: 4*z*w}}
    dh: {a: 0, d: 0, alpha: 0, theta: 0}
    rigid: {mass: 2}
simulate:
  duration: 2.5
  step: 0.01
  drive: {x: {motion: {MOTION}}}
"""
KINDS = {
    "cycloidal": "type: cycloidal, from: 0.1, to: 1, duration: 0.5",
    "polynomial": "type: polynomial, from: 0.1, to: 1, duration: 0.5, degree: 3",
    "trapezoid": "type: trapezoid, from: 0.1, to: 1, rate: 5, acceleration: 30, start: 0.2",
    "via-points": "type: via-points, through: [[0.1, 0.1], [0.3, 2], [0.6, 1]]",
}


def swung(motion, **changed):
    """How far a cart on a spring swings about the place where its motor, which follows a motion exactly, rests.

    From the state at the end as if nothing damped.
    """
    robot = kronbot.loads(CART.replace("MOTION", motion)).with_parameters(**changed)
    series = robot.simulate(rtol=1e-10, atol=1e-12).series
    off, rate = series["x"][-1] - 1, series["x_dot"][-1]
    assert series["x.motor"][-1] == pytest.approx(1, abs=1e-14)
    return np.hypot(off, rate / 10)


@pytest.mark.parametrize("kind", thinned([*KINDS], ["via-points"]))
def test_a_shaped_motion_ends_at_rest(kind):
    """Whatever the motion; with half the frequency of the file it does not, and the frequency is a value."""
    plain, shaped = KINDS[kind], f"{KINDS[kind]}, shaper: {{type: zv, frequency: w, damping: z}}"
    assert swung(shaped) < 1e-9 < 1e-3 < swung(plain)


def test_a_shaped_motion_stands_still_before_it_starts():
    """And is in time the sum of its base motion, delayed."""
    text = CART.replace("MOTION", f"{KINDS['trapezoid']}, shaper: {{type: zv, frequency: w}}")
    series = kronbot.loads(text).simulate().series
    early = series["t"] < 0.2
    assert early.sum() > 15 and (series["x.motor"][early] == 0.1).all()
    base = kronbot.loads(CART.replace("MOTION", KINDS["trapezoid"])).simulate().series
    delayed = np.interp(series["t"] - np.pi / 10, base["t"], base["x.motor"])
    assert np.allclose(series["x.motor"], (base["x.motor"] + delayed) / 2, atol=2e-3)
