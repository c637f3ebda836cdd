"""Vibrations that rows do not show are told, once, and with a step that shows them."""

import math
import re

import numpy as np
import pytest

import kronbot

ARM = """
kronbot: 1
name: arm
convention: standard
gravity: [0, 0, 0]
links:
  - name: arm
    joint: {type: revolute, name: q1, rotor_inertia: 0.1}
    dh: {a: 1, d: 0, alpha: 0, theta: 0}
    flexible: {mass: 1, EI: {z: 200}, modes: {v: 2}}
simulate: {duration: 0.4, step: 0.001, drive: DRIVE}
"""
HELD, FREE = "{q1: {motion: {type: cycloidal, from: 0, to: 0.001, duration: 0.4}}}", "{q1: {torque: 0}}"


def arm(drive):
    return kronbot.loads(ARM.replace("DRIVE", drive), order="1")


@pytest.mark.slow
@pytest.mark.parametrize(("drive", "which"), [(HELD, "locked"), (FREE, "free")])
def test_a_mode_faster_than_rows_is_told_with_its_frequency(drive, which):
    robot = arm(drive)
    modes = robot.modes()
    shapes, frequencies = modes[f"shapes_{which}"].real, modes[f"frequencies_{which}"]
    joint = int(which == "free")
    period = 2 * math.pi / frequencies[joint + 1]
    names = ["arm.v1", "arm.v2"]

    def run(periods, share):
        M = robot.dynamics()["M"]
        first, second = (shapes[-2:, joint + k] for k in (0, 1))
        first, second = (each / math.sqrt(each @ M[1:, 1:] @ each) for each in (first, second))
        start = 1e-3 * (first + share * second)
        q = dict(zip(names, start.tolist(), strict=True))
        found = robot.simulate(q=q, step=periods * period, duration=0.4)
        return [each for each in found.warnings if "too fast for rows" in each]

    assert run(0.4, 0.3) == run(0.6, 0.001) == []
    (hint,) = run(0.6, 0.3)
    assert float(re.search(r"about (\S+) Hz", hint)[1]) == pytest.approx(1 / period, rel=5e-3)
    step = float(re.search(r"a step of (\S+) s", hint)[1])
    assert not np.any([run(step / period, 0.3)])
    (hint,) = run(0.6 * frequencies[joint + 1] / frequencies[joint], 0.001)
    assert float(re.search(r"about (\S+) Hz", hint)[1]) == pytest.approx(frequencies[joint] / 2 / math.pi, rel=5e-3)
