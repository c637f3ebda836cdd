"""Pictures of ``linearize``: poles, the response of an output to an input and modes; stiffness along a motion."""

from __future__ import annotations

import math
from collections.abc import Container
from typing import TYPE_CHECKING

import numpy as np

from kronbot.compute.arrays import NamedArray
from kronbot.errors import ComputationError, UsageError
from kronbot.floats import rounded
from kronbot.mechanics.linear.deflation import SecondOrder
from kronbot.mechanics.linear.spectrum import poles as poles_of
from kronbot.mechanics.multibody import drawing
from kronbot.model.robot import Robot
from kronbot.plots import arms, curves, stills
from kronbot.plots.curves import Curve, Diagram
from kronbot.plots.frequency_response import Pair, pair_of, response
from kronbot.plots.modes import HIGHEST, MOST, SWINGING, draw_shape, of_an_instant, swinging, told
from kronbot.plots.poles import draw_poles, visible
from kronbot.plots.style import COLOURS, GREY, HEIGHT, Picture, drawn, entitle, flow, number_ticks, short
from kronbot.questions.linearize_along import Asked
from kronbot.questions.responses import unit_of_pair
from kronbot.questions.result import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Modes that are drawn on the arm.
SHOWN = 4
# Inches: the plane of poles where all of them are real.
STRIP = 1.5
# Degrees of which phases are ticked in multiples, and so many steps at most.
STEP, TICKS = 45, 6
# A share of the scale of phases that is left free above and below.
MARGIN = 0.06


@drawn
def draw(result: Result, pair: tuple[str, str] | None = None, whole: bool = False) -> Picture:
    """The picture of a linear model about a point, or along a motion, with the slowest modes or the ``whole`` of them.

    ``pair`` are the output and the input of the frequency response; by default the first input with the first output
    that answers to it. Raises UsageError for names that the state space has not.
    """
    if "poles" in result.arrays:
        if not result.arrays["poles"].values.size:
            raise UsageError("all coordinates are locked: the linear model has no poles to draw")
        return _about_a_point(result, pair, MOST if whole else SHOWN)
    if pair is not None:
        raise UsageError("a pair is for a model about a point, not for one along a motion")
    return _along_a_motion(result)


def _about_a_point(result: Result, wanted: tuple[str, str] | None, most: int) -> Picture:
    robot, arrays = result.model, result.arrays
    poles = np.asarray(arrays["poles"].values, dtype=complex)
    pair = pair_of(arrays, poles, wanted)
    lines = drawing.lines(robot)
    q = np.array([result.at["q"][coordinate] for coordinate in robot.coordinates])
    seen = arms.views(robot, q[None], most=3)
    every = swinging(result, "")
    shapes = {f"mode {i}": shape for i, shape in enumerate(every[:most])}
    swings = bool(visible(poles).imag.any())
    mosaic, heights = [["pole", "pole"]], [HEIGHT if swings else STRIP]
    if pair is not None and "t" in result.series:
        mosaic, heights = [["pole", "response"]], [HEIGHT]
    elif pair is not None and swings:
        mosaic, heights = [["pole", "magnitude"], ["pole", "phase"]], [HEIGHT, HEIGHT]
    elif pair is not None:
        mosaic, heights = [*mosaic, ["magnitude", "phase"]], [*heights, HEIGHT]
    rows = flow(list(shapes))
    spatial = list(shapes) if stills.wanted(robot, seen) else []
    heights += [stills.HEIGHT if spatial else min(HIGHEST, arms.height(seen, [lines(q)], 0.5))] * len(rows)
    loop = ", closed loop" * ("disk_margin" in result.summary)
    title = f"linear model of {robot.name}, order {result.order}{loop}"
    title += f", {told(len(shapes), len(every))} modes that swing" if every else ""
    title += ", all responses are 0" if result.series and pair is None else ""
    title += of_an_instant(result) + (SWINGING if shapes else "")
    axes = Picture(title, [*mosaic, *rows], heights, spatial=spatial)
    draw_poles(axes["pole"], poles, int(result.summary["free_coordinates"]))
    if "response" in mosaic[0]:
        _over_time(axes["response"], result, pair)
    elif pair is not None:
        _bode(axes["magnitude"], axes["phase"], result, poles, pair)
    for i, (key, shape) in enumerate(shapes.items()):
        draw_shape(axes[key], robot, lines, seen, q, shape, i == 0)
    return axes


def _over_time(axis: Axes, result: Result, pair: Pair | None) -> None:
    """The response of an output to a step or an impulse."""
    assert pair is not None
    unit = unit_of_pair(result.model, pair.output, pair.input, str(result.summary["response"]))
    curve = Curve(pair.output, unit, result.series[f"{pair.output}/{pair.input}"])
    title = f"{result.summary['response']} response of {short(pair.output)} to {short(pair.input)}{_of_pairs(result)}"
    curves.draw(axis, Curve("t", "s", result.series["t"]), Diagram(title, [curve]))


def _of_pairs(result: Result) -> str:
    pairs = len(result.arrays["C"].rows) * len(result.arrays["B"].columns or ())
    return f", 1 of {pairs} pairs" if pairs > 1 else ""


def _bode(magnitude: Axes, phase: Axes, result: Result, poles: np.ndarray, pair: Pair) -> None:
    """Magnitude and phase of a pair over the frequency."""
    found = response(result.arrays, poles, pair)
    size = np.abs(found.values)
    magnitude.plot(found.frequencies, size, color=COLOURS[0])
    phase.plot(found.frequencies, found.phase, color=COLOURS[0])
    if (size > 0).any():
        curves.decades(magnitude, float(size[size > 0].min()), float(size.max()))
    low, high = STEP * math.floor(found.phase.min() / STEP), STEP * math.ceil(found.phase.max() / STEP)
    if low == high:
        low, high = low - STEP, high + STEP
    # 45, 90, 180, 360, ... apart, and of those that are wider from a multiple of them on.
    step = STEP * 2 ** max(0, math.ceil(math.log2((high - low) / STEP / TICKS)))
    ticks = np.arange(step * (low // step), high + step, step)
    phase.set_yticks(ticks)
    # A phase of -180 all along is no part of the frame.
    rim = MARGIN * (ticks[-1] - ticks[0])
    phase.set_ylim(ticks[0] - rim, ticks[-1] + rim)
    for axis in (magnitude, phase):
        axis.set_xscale("log")
        axis.set_xlim(found.frequencies[0], found.frequencies[-1])
        axis.set_xlabel("frequency [rad/s]")
    magnitude.set_ylabel(f"[{unit_of_pair(result.model, pair.output, pair.input)}]")
    phase.set_ylabel("[deg]")
    words = f"{short(pair.output)} by {short(pair.input)}{_of_pairs(result)}"
    entitle(magnitude, f"magnitude of {words}")
    entitle(phase, f"phase of {words}")


def _along_a_motion(result: Result) -> Picture:
    robot, K = result.model, result.arrays["K_L"]
    assert K.axis is not None
    time = Curve("t", "s", np.asarray(K.axis[1], dtype=float))
    panels = {f"stiffness {i}": each for i, each in enumerate(_stiffness(robot, K))}
    locked = result.asked.locked if isinstance(result.asked, Asked) else frozenset[int]()
    held = {robot.coordinates[place] for place in locked}
    free = [i for i, name in enumerate(K.rows) if name not in held]
    frozen = _frozen_frequencies(*(result.arrays[name].values[:, free][:, :, free] for name in ("M_L", "K_L")))
    multipliers = "multipliers" in result.arrays and result.arrays["multipliers"].values.size > 0
    keys = [*(["multiplier"] if multipliers else []), *panels, *(["frequency"] if frozen else [])]
    if not keys and not free:
        raise UsageError("all coordinates are locked: along the motion the linear model has nothing to draw")
    if not keys:
        raise ComputationError("K_L is zero all along the motion: there is nothing to draw")
    mosaic = flow(keys)
    heights = [HEIGHT + 0.9 if "multiplier" in row else HEIGHT for row in mosaic]
    axes = Picture(f"linear model along the motion of {robot.name}, order {result.order}", mosaic, heights)
    for key, diagram in panels.items():
        curves.draw(axes[key], time, diagram)
    if frozen:
        drawn = frozen[: curves.CURVES]
        title = f"frequencies, M_L and K_L frozen{_joints_locked(robot, locked)}"
        title += f", the slowest {len(drawn)} of {len(frozen)}" if len(drawn) < len(frozen) else ""
        if not all(np.isfinite(curve.values).all() for curve in drawn):
            title += "; none where K_L is not positive"
        curves.draw_logarithmic(axes["frequency"], time, Diagram(title, drawn))
    if multipliers:
        _multipliers(axes["multiplier"], result)
    return axes


def _joints_locked(robot: Robot, locked: Container[int]) -> str:
    """As the verdict says it."""
    names = [joint.name for joint in robot.joints if joint.driven in locked]
    if not names:
        return ""
    return f", joints locked {', '.join(names)}" if len(names) <= curves.NAMED else f", {len(names)} joints locked"


def _stiffness(robot: Robot, K: NamedArray) -> list[Diagram]:
    """The diagonal of K_L: of joints as it is, of modal coordinates its change, which is small beside it."""
    units = dict(zip(robot.coordinates, robot.units, strict=True))
    forces = dict(zip(robot.coordinates, robot.force_units(range(robot.n)), strict=True))
    modal = {robot.coordinates[i] for link in robot.links for i in range(link.modal.start, link.modal.stop)}
    own, changes = [], []
    for i, name in enumerate(K.rows):
        values = np.asarray(K.values[:, i, i], dtype=float)
        if name not in modal:
            beside = max(np.abs(K.values[:, i]).max(initial=0.0), np.abs(K.values[:, :, i]).max(initial=0.0))
            if np.abs(values).max(initial=0.0) <= curves.ROUNDING * beside:
                continue  # nothing, or what is left of terms that cancel
            own.append(Curve(name, f"{forces[name]}/{units[name]}", values))
        elif values.any():
            changes.append(Curve(name, "%", 100 * (values - values[0]) / np.abs(values).max()))
    there = len(changes)
    # Rounding of a stiffness is no change of it.
    changes = [curve for curve in changes if curve.peak > 100 * curves.LEVEL]
    of_modes = "K_L(i,i) of modes, change"
    if len(changes) < there:
        of_modes += f", {len(changes)} of {there} that change"
    return curves.diagrams("K_L(i,i) of joints", own) + curves.diagrams(of_modes, changes)


def _frozen_frequencies(M: np.ndarray, K: np.ndarray) -> list[Curve]:
    """Frequencies (rad/s) of M_L y'' + K_L y = 0 at every instant, ascending; the slowest ones beside the fastest."""
    n = M.shape[1]
    values = np.full((len(M), n), np.nan)
    for row, inertia, stiffness in zip(values, M, K, strict=True):
        found = poles_of(SecondOrder.exact(inertia, np.zeros((n, n)), stiffness))
        swinging = [pole.value.imag for pole in found if not pole.value.real and pole.value.imag > pole.error]
        # What swings fastest keeps its place where slower ones fall over.
        row[n - len(swinging) :] = swinging
    columns = [column for column in values.T if np.isfinite(column).any()]
    return [Curve(str(i + 1), "rad/s", column) for i, column in enumerate(columns)]


def _multipliers(axis: Axes, result: Result) -> None:
    """Floquet multipliers and the unit circle, which they leave where deviations grow."""
    values = np.asarray(result.arrays["multipliers"].values, dtype=complex)
    turn = np.linspace(0, 2 * np.pi, 181)
    axis.plot(np.cos(turn), np.sin(turn), color=GREY, label="unit circle")
    grow = np.abs(values) > 1 + np.asarray(result.arrays["multiplier_errors"].values)
    for chosen, mark, colour, label in (
        (~grow, "x", COLOURS[0], "of deviations that stay or fade"),
        (grow, "D", COLOURS[1], "of deviations that grow"),
    ):
        if chosen.any():
            points = values[chosen]
            axis.plot(points.real, points.imag, mark, color=colour, markersize=5, label=label)
    axis.set_aspect("equal", adjustable="datalim")
    for each in (axis.xaxis, axis.yaxis):
        number_ticks(each, max(1.0, float(np.abs(values).max())))
    axis.set_xlabel("real part [1]")
    axis.set_ylabel("imaginary part [1]")
    entitle(axis, f"Floquet multipliers, period {rounded(float(result.summary['period']), 4)} s")
