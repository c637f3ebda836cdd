"""Poles of designed loops: which are told, with what is known of them, and what is said where they are not as asked."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence

import numpy as np

from kronbot.compute.arrays import NamedArray
from kronbot.errors import ComputationError
from kronbot.floats import Array
from kronbot.mechanics.control.feedback import Complex
from kronbot.mechanics.linear.deflation import SecondOrder
from kronbot.mechanics.linear.modal import Modes
from kronbot.mechanics.linear.modal import arrays as named_modes
from kronbot.mechanics.linear.pole import Pole
from kronbot.mechanics.linear.refinement import TINY
from kronbot.mechanics.linear.stability import judge
from kronbot.mechanics.motion.drives import drives
from kronbot.model.robot import Robot
from kronbot.questions.outline import numbered

# Entries of a direction of length 1 that are told.
SHARE = 1e-6
# Shares of a pole: one that was asked for is missed by more, and one is unsure whose error is more.
MISSED, UNSURE = 1e-6, 1e-3
# A joint that is so near to its equilibrium, rad or m, is there.
HELD = 1e-6


def in_words(lost: Sequence[Pole], idle: Array, names: Sequence[str]) -> list[str]:
    """Modes by the coordinate that moves most in them, and their frequency; free directions by their coordinates."""
    moving: list[int] = np.flatnonzero((np.abs(idle) > SHARE).any(axis=1)).tolist()
    told = [f"momentum of {names[place]}" for place in moving]
    told += [f"{names[int(np.abs(p.right).argmax())]} ({abs(p.value):.4g} rad/s)" for p in lost]
    return list(dict.fromkeys(told))


def reached_of(found: Sequence[Pole], lost: Sequence[Pole], states: int) -> list[Pole]:
    """The poles of a loop, so many states, without those that no input reaches and every feedback leaves alone."""
    left = list(found)
    for pole in lost:
        left.remove(min(left, key=lambda each: abs(each.value - pole.value)))
    while sum(each.count for each in left) > states:
        left.pop(0)  # momenta that stay
    return left


def told_of_passive(robot: Robot, effort: Container[str], tau: Array, K: Array, free: Sequence[int]) -> Iterator[str]:
    """Joints that the file does not drive beside others that it does, in words; those with an effort are meant.

    And of all of them those that are in no equilibrium without their torques tau (joints,), by the stiffness K (m, m)
    of the coordinates that are free.
    """
    passive = drives(robot).passive
    for joint, torque in zip(robot.joints, tau.tolist(), strict=True):
        if joint.name not in passive or joint.driven not in free:
            continue
        if joint.name not in effort:
            yield (
                f"{joint.name} has no drive in the file, where others have one: gains are for a motor there, too; with "
                "a large effort, 1e9 say, they leave it alone"
            )
        if abs(torque) > HELD * np.abs(K[free.index(joint.driven)]).max():
            held = f"{torque:.4g} {'N m' if joint.revolute else 'N'}"
            yield (
                f"{joint.name} has no drive in the file, but is held here with {held}: design about its equilibrium, "
                "which statics finds with no torque there"
            )


def told_poles(closed: Modes, prefix: str = "") -> dict[str, NamedArray]:
    """Poles and what is known of them, as arrays."""
    found = named_modes(closed, numbered(closed.coordinates))
    return {f"{prefix}{word}": found[word] for word in ("poles", "accuracy")}


def both(poles: Complex) -> Complex:
    """Poles of the upper half plane with the others of their pairs."""
    return np.concatenate([poles, poles[poles.imag > 0].conj()])


def told_of_poles(loop: SecondOrder, closed: Modes, best: bool, asked: Sequence[complex]) -> list[str]:
    """Where the loop is not what was asked for, or rounding of gains makes it another one.

    Raises ComputationError where the best feedback has no stable loop.
    """
    from scipy.optimize import linear_sum_assignment

    told, poles, errors = list[str](), closed.poles, closed.accuracy[:, 0]
    slowest = max(asked, key=lambda each: each.real, default=-1.0 + 0j)
    if slowest.real >= 0:
        how = "grows" if slowest.real else "does not die out"
        told.append(f"the loop does not come to rest: what has the pole {slowest:.6g} rad/s, as asked for, {how}")
    elif (judgement := judge(loop, closed.found)).word == "unstable":
        pole = max(poles, key=lambda each: float(each.real))
        if best:
            raise ComputationError(f"rounding leaves no best feedback: {pole:.6g} rad/s would be a pole of its loop")
        told.append(f"rounding makes the loop unstable: {pole:.6g} rad/s is a pole of it")
    elif judgement.word == "undecided":
        told.append(f"rounding leaves open whether the loop is stable, whatever its margins say: {judgement.doubt}")
    if asked:
        wanted, every = both(np.array(asked, dtype=complex)), both(poles)
        off = np.abs(wanted[:, None] - every)
        rows, columns = linear_sum_assignment(off)
        missed = (off[rows, columns] - np.append(errors, errors[poles.imag > 0])[columns]) / np.abs(wanted[rows])
        i = int(missed.argmax())
        if missed[i] > MISSED:
            there, missing = every[columns[i]], wanted[rows[i]]
            told.append(f"not all poles are where they were asked for: {there:.6g} in place of {missing:.6g} rad/s")
    if (errors > UNSURE * np.abs(poles)).any():
        i = int((errors / np.maximum(np.abs(poles), TINY)).argmax())
        told.append(f"a rounding of gains or model moves poles, {poles[i]:.6g} by up to {errors[i]:.2g} rad/s")
    return told
