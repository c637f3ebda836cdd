"""Vibrations that rows do not show are told, once, and with a step that shows them."""

import math
import re

import numpy as np
import pytest
from thinned import rare

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


def test_errors_of_the_solver_are_no_vibration():
    """Of a beam that bends in a plane: its torsion, of 220 Hz, is what the solver's tolerances leave of nothing."""
    bar = (
        "kronbot: 1\nname: bar\ngravity: [0, 0, 0]\nlinks:\n  - name: rod\n"
        "    joint: {type: revolute, name: a, damping: 0.05}\n    pose: {}\n"
        "    flexible: {mass: 0.1, length: 0.9, EI: {z: 2, y: 2}, GJ: 1.5, polar_inertia: 2.4e-6, "
        "modes: {v: 2, w: 2, torsion: 1}, damping: {ratio: 0.02}}\n    payload: {mass: 0.02}\n"
        "simulate: {duration: 1.2, step: 0.01, drive: {a: {motion: "
        "{type: cycloidal, from: 0, to: pi/2, duration: 1}}}}\n"
    )
    run = kronbot.loads(bar).simulate()
    assert np.abs(run["rod.t1"]).max() < 1e-9
    assert not [each for each in run.warnings if each.startswith("a vibration of")]


ROD = """
kronbot: 1
name: rod
gravity: [0, 0, 0]
links:
  - name: rod
    joint: {type: revolute, name: q1}
    pose: {}
    flexible: {mass: 0.1, length: 0.5, EI: {z: 2}, GJ: 1.5, polar_inertia: 2e-5, modes: {v: 1, torsion: 1}}
simulate: {duration: 0.4, drive: {q1: {motion: {type: cycloidal, from: 0, to: 1e-9, duration: 0.4}}}}
"""


@pytest.mark.parametrize(("bent", "told"), [(0, True), (5e-3, True), (5, False)])
def test_torsion_counts_beside_bending_as_at_a_lever_of_the_beams_length(bent, told):
    """1e-3 rad of torsion move 0.5 mm there: no word on it where the tip moves by more than 50 mm."""
    robot = kronbot.loads(ROD, order="1")
    frequencies = np.sort(robot.modes()["frequencies_locked"]) / 2 / math.pi
    tip = robot.simulate(q={"rod.v1": bent}, step=1e-3)["tip.rod.y"]
    assert (np.abs(tip).max() > 0.05) == (not told)
    run = robot.simulate(q={"rod.v1": bent, "rod.t1": 1e-3}, step=0.7 / frequencies[1])
    found = [re.search(r"about (\S+) Hz is too fast", each) for each in run.warnings]
    assert [float(each[1]) for each in found if each] == pytest.approx([frequencies[1]] * told, rel=5e-3)


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


BOOM = """
kronbot: 1
name: boom
gravity: [0, 0, 0]
links:
  - name: boom
    joint: {type: revolute, name: el, damping: 1, rotor_inertia: 0.2, elastic: {stiffness: 600, damping: 0.3}}
    pose: {}
    flexible: {mass: 0.5, length: 1.5, EI: {z: 60}, modes: {v: 2}, shape: craig-bampton, damping: {ratio: 0.005}}
    payload: {mass: 1, inertia: {Ixx: 0.02, Iyy: 0.01, Izz: 0.01}}
simulate: {duration: 2, step: 0.02}
"""
RINGS = """
motion: {el: {type: cycloidal, from: 0, to: 30*deg, duration: 1}}
control: {el: {pid: {kp: 80, ki: 10, kd: 40, side: link}, effort: [-20, 20]}}
"""
MAINS = "drive: {el: {torque: {type: sinusoid, amplitude: 25, frequency: 100*pi, phase: PHASE}}}"
SLOW = "drive: {el: {motion: {type: cycloidal, from: 0, to: 3, duration: 2}}}"


def within(drive):
    return BOOM.replace("step: 0.02", f"step: 0.02, {drive}")


@pytest.mark.parametrize(
    ("text", "fast"),
    [
        (BOOM + RINGS, True),
        rare(within(MAINS.replace("PHASE", "0")), True),
        (within(MAINS.replace("PHASE", "pi/2")), True),
        (within(SLOW), False),
        rare(within(SLOW).replace("stiffness: 600", "stiffness: 4e4"), False),
    ],
)
def test_what_drives_make_swing_is_told_too(text, fast):
    """As a spectrum of the second half of close rows has it: of tips, beyond half a swing in a coarse row."""
    robot = kronbot.loads(text, order="1")
    tip = robot.simulate(step=1 / 1024)["tip.boom.y"][1024:-1]
    size = np.abs(np.fft.rfft(tip * np.hanning(len(tip)))) * 4 / len(tip)
    share = size[int(0.5 / 0.02) + 2 :].max() / np.abs(tip).max()
    assert share > 0.05 if fast else share < 1e-5
    for step in (0.02, 0.045):
        told = [each for each in robot.simulate(step=step).warnings if "too fast for rows" in each]
        assert len(told) == fast
        assert all(50 < float(re.search(r"about (\S+) Hz", each)[1]) < 58 for each in told)


SHAFTS = """
kronbot: 1
name: shafts
gravity: [0, 0, 0]
links:
  - name: near
    joint: {type: prismatic, name: q1, rotor_inertia: ROTOR, elastic: {stiffness: 4e4, damping: NEAR}}
    pose: {}
    rigid: {mass: 1}
  - name: far
    joint: {type: prismatic, name: q2, rotor_inertia: 100, elastic: {stiffness: 4e4, damping: FAR}}
    pose: {}
    rigid: {mass: 1}
simulate: {duration: 1, drive: {q1: DRIVE, q2: {motion: {type: cycloidal, from: 0, to: 1e-9, duration: 1}}}}
"""
STANDS = "{motion: {type: cycloidal, from: 0, to: 1e-9, duration: 1}}"


def shafts(near, far=4e3, rotor=0.1, drive=STANDS):
    words = {"NEAR": near, "FAR": far, "ROTOR": rotor, "DRIVE": drive}
    return re.sub("NEAR|FAR|ROTOR|DRIVE", lambda found: str(words[found[0]]), SHAFTS)


def creeping(ratio):
    told = f"modes: {{v: 2}}, damping: {{ratio: {ratio}}}"
    return ARM.replace("DRIVE", HELD).replace("modes: {v: 2}", told)


@pytest.mark.parametrize(
    ("text", "moved"),
    [
        (shafts(20), "q1"),
        rare(shafts(120), "q1"),
        (shafts(450), "q1"),
        rare(shafts(1000), "q1"),
        # A motor that gives way takes what the shaft would swing with: its controller damps.
        (shafts(0, rotor=1e-3, drive="{pd: {kp: 10, kd: 40, target: 0}}"), "q1"),
        (shafts(0, rotor=1e-3, drive="{pd: {kp: 10, kd: 4000, target: 0}}"), "q1"),
        rare(creeping(0.3), "arm.v1"),
        (creeping(0.65), "arm.v1"),
        rare(creeping(0.75), "arm.v1"),
        (creeping(1.3), "arm.v1"),
    ],
)
def test_what_does_not_swing_is_no_vibration(text, moved):
    """Let go of, its fine rows come back on the other side by more than a twentieth, half a period later, or not."""
    robot = kronbot.loads(text, order="1")
    q = {moved: 1e-3} | ({"q1.motor": 0} if "pd" in text else {})
    fine = robot.simulate(q=q, step=1e-4, duration=0.4)
    away = fine[moved] - (fine["q1.motor"] if moved == "q1" else 0)
    lowest = int(np.argmin(away))
    told = [each for each in robot.simulate(q=q, step=0.5, duration=5).warnings if "too fast for rows" in each]
    assert bool(told) == (away[lowest] < -0.05 * away[0]), away[lowest] / away[0]
    for each in told:
        assert float(re.search(r"about (\S+) Hz", each)[1]) == pytest.approx(0.5 / fine["t"][lowest], rel=0.05)
