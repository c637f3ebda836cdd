"""The question ``modes``: moving joints stay locked, convergence is that of robots with so many modes."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from robots_in_tests import shipped_robot, turning
from thinned import rare

from kronbot import loads
from kronbot.errors import ComputationError, UsageError
from kronbot.mechanics.linear.deflation import SecondOrder
from kronbot.mechanics.linear.rounding import BY_ENTRIES
from kronbot.questions.modes import Vibrations
from kronbot.questions.verdict import told_of_rounding

ARM = """
kronbot: 1
name: arm
convention: standard
gravity: [0, 0, -9.81]
links:
  - name: upper
    joint: {type: revolute, name: q1}
    dh: {a: 1.1, d: 0, alpha: pi/2, theta: 0}
    flexible: {mass: 2, EI: {y: 90, z: 70}, modes: {v: V, w: W}}
    payload: {mass: 0.5}
  - name: fore
    joint: {type: revolute, name: q2}
    dh: {a: 0.8, d: 0, alpha: 0, theta: 0}
    flexible: {mass: 0.7, EI: {y: 30, z: 40}, modes: {v: V}}
"""


def arm(v=2, w=1):
    return loads(ARM.replace("V", str(v)).replace("W", str(w)))


def test_joints_that_move_stay_locked_where_others_are_free():
    """q1 spins: its coordinate is in neither table; frequencies are those of linearize with the same joints locked."""
    robot = arm()
    q, qd = {"q2": 0.7}, {"q1": 3.0}
    answer = robot.modes(q, qd)
    beams = [name for name in robot.coordinates if "." in name]
    assert list(answer.arrays["shapes_locked"].rows) == beams
    assert sorted(answer.arrays["shapes_free"].rows) == sorted(["q2", *beams])
    assert "locked q1" in answer.summary["model_free"] and "free q2" in answer.summary["model_free"]
    for case, lock in (("free", ["q1"]), ("locked", "all")):
        wanted = robot.linearize(q, qd, lock=lock)["frequencies"]
        assert answer[f"frequencies_{case}"] == pytest.approx(wanted, rel=1e-6, abs=1e-6)
    assert sorted(robot.modes(q).arrays["shapes_free"].rows) == sorted(robot.coordinates)


def test_parts_of_systems_are_what_they_are_alone():
    """What is known of the whole is not looked for again: at rest, spinning, and with joints locked."""
    model = Vibrations(arm().model)
    q, qd = np.zeros((2, model.robot.n)), np.zeros((2, model.robot.n))
    q[:, model.robot.rigid[1]], qd[1, model.robot.rigid[0]] = 0.7, 3.0
    kept = model.robot.others(model.robot.rigid)
    entries = model.entries(q, qd)
    wholes = entries.systems(range(model.robot.n))
    parts = entries.systems(kept, wholes)
    for part, alone in zip(parts, model.entries(q, qd).systems(kept), strict=True):
        assert all((getattr(part, word) == getattr(alone, word)).all() for word in ("M", "D", "K", "dM", "dD", "dK"))
        assert part.free.shape == alone.free.shape == (len(kept), 0)
        assert all(getattr(part, word) == getattr(alone, word) for word in BY_ENTRIES)
    assert [whole.undamped for whole in wholes] == [True, False]


def test_rows_of_convergence_are_modes_of_robots_with_so_many():
    q, qd = {"q2": 0.7}, {"q1": 3.0}
    answer = arm().modes(q, qd, convergence=2)
    fewer, more = arm(1, 1).modes(q, qd), arm(2, 2).modes(q, qd)
    for case in ("locked", "free"):
        table = answer.arrays[f"convergence_{case}"]
        assert list(table.rows) == ["1", "2"]
        wanted = fewer[f"frequencies_{case}"]
        assert table.values[0] == pytest.approx(wanted, rel=1e-9, abs=1e-6)
        assert table.values[1] == pytest.approx(more[f"frequencies_{case}"][: len(wanted)], rel=1e-9, abs=1e-6)
        assert np.abs(table.values[1] - table.values[0]).max() > 1


def test_the_first_free_frequency_of_check_is_one_that_swings():
    """Rigid motions are zeros, which are counted in the array and not told as a frequency."""
    answer = shipped_robot("canadarm").check()
    swinging = shipped_robot("canadarm").modes()["frequencies_free"]
    assert answer.summary["first_frequency_free"] == pytest.approx(swinging[swinging > 1e-3][0], rel=1e-6)


@pytest.mark.parametrize(
    ("mass", "inertia", "published"),
    [rare(0.1, 5e-4, (2.18, 15.91)), (1.2, 0.1 + 0.1 * 0.5**2 / 3 + 5e-4 + 0.1 * 0.5**2, (0.48, 1.80))],
)
@pytest.mark.parametrize("shape", ["clamped-mass, tip: {mass: M, inertia: I}", rare("legendre")])
def test_links_of_a_published_two_link_arm(mass, inertia, published, shape):
    """Frequencies (Hz) of De Luca and Siciliano's planar arm (1991), of each link with all that hangs on its tip."""
    text = """
kronbot: 1
name: link
gravity: [0, 0, 0]
links:
  - name: arm
    joint: {type: revolute, name: q}
    pose: {}
    flexible: {length: 0.5, mass: 0.1, EI: {z: 1}, modes: {v: 8}, shape: SHAPE}
    payload: {mass: M, inertia: {Izz: I}}
"""
    for word, value in (("SHAPE", shape), ("M,", f"{mass},"), ("I}", f"{inertia}}}")):
        text = text.replace(word, str(value))
    found = loads(text).modes()["frequencies_locked"][:2] / (2 * np.pi)
    assert np.round(found, 2).tolist() == list(published)


IDLE = (
    ARM
    + """
  - name: hand
    joint: {type: revolute, name: q3, damping: 0.1}
    dh: {a: 0, d: 0, alpha: 0, theta: 0}
"""
)


@pytest.mark.slow
def test_a_joint_without_inertia_takes_no_frequencies():
    """Those of the others are what they are without it; it is named, and stays locked."""
    one, more = arm(), loads(IDLE.replace("V", "2").replace("W", "1"))
    without, answer = one.modes(convergence=1), more.modes(convergence=1)
    for name in ("frequencies_locked", "frequencies_free", "convergence_free"):
        assert answer[name] == pytest.approx(without[name], rel=1e-9, abs=1e-6)
    assert list(answer.warnings) == ["q3 moves no inertia of its own and stays locked"]
    assert "locked q3" in answer.summary["model_free"]
    rows, wanted = more.modes([[0, 0, 0], [0, 0.3, 0.1]]), one.modes([[0, 0], [0, 0.3]])
    assert rows["frequencies_free"] == pytest.approx(wanted["frequencies_free"], rel=1e-9, abs=1e-6)
    checked = more.check()
    assert checked.summary["joints_without_inertia"].startswith("q3 ")
    for name in ("frequency_locked", "frequency_free"):
        assert checked[name] == pytest.approx(one.check()[name], rel=1e-9)


SINGULAR = """
kronbot: 1
name: posture
convention: standard
gravity: [0, 9.81, 0]
links:
  - name: a
    joint: {type: revolute, name: q1}
    dh: {a: 1, d: 0, alpha: pi/2, theta: 0}
    flexible: {mass: 1, EI: {y: 10, z: 10}, modes: {v: 1}}
  - name: b
    joint: {type: revolute, name: q2}
    dh: {a: 0, d: 0, alpha: pi/2, theta: pi/2}
  - name: c
    joint: {type: revolute, name: q3}
    dh: {a: 0, d: 1, alpha: pi/2, theta: 0}
  - name: d
    joint: {type: revolute, name: q4}
    dh: {a: 1, d: 0, alpha: 0, theta: pi/2}
    payload: {mass: 1}
"""


def test_where_free_joints_have_no_modes_the_locked_ones_are_there():
    """The payload stands on the axis of q3, which moves nothing there, but its weight couples q3 to q4."""
    with pytest.raises(ComputationError, match="q2, q3 move no inertia") as failed:
        loads(SINGULAR).modes()
    there = failed.value.partial
    assert len(there["frequencies_locked"]) == 1 and "frequencies_free" not in there.arrays
    assert there.summary["complete"] is False
    q4 = {"q2": 0.5, "q4": 0.4}
    assert "frequencies_free" in loads(SINGULAR).modes(q4).arrays


def test_check_says_why_it_has_no_frequencies():
    text = (
        ARM.replace("V", "1")
        .replace("W", "0")
        .replace("z: 70", "z: EI")
        .replace("links:", "parameters: {EI: }\nlinks:")
    )
    assert "EI" in loads(text).check().summary["frequencies"]


def test_rows_keep_the_growth_of_those_that_are_unstable():
    """A point mass that hangs or stands: the one that stands falls at sqrt(g / l), which is told as for it alone."""
    text = "kronbot: 1\nname: p\ngravity: [0, -9.81, 0]\nlinks:\n- name: a\n  joint: {type: revolute, name: q}\n"
    robot = loads(text + "  pose: {}\n  rigid: {mass: 2, com: [0, -0.5, 0]}\n")
    found = robot.modes(q=[[0.0], [np.pi]]).summary
    assert found["unstable_cases_free"] == 1
    assert found["largest_growth_rate_free"] == pytest.approx(np.sqrt(9.81 / 0.5), rel=1e-12)
    assert robot.modes(q=[np.pi]).summary["largest_growth_rate_free"] == found["largest_growth_rate_free"]


def test_what_converges_swings():
    """Neither zeros of free coordinates nor poles of damped joints, which creep, are in the table."""
    damped = loads(SHOWN)
    answer = damped.modes(convergence=2)
    swings = answer["frequencies_free"][(answer["damping_free"] < 0.99) & (answer["frequencies_free"] > 0)]
    assert len(answer["frequencies_free"]) > len(swings) == 2
    assert answer["convergence_free"][1] == pytest.approx(swings[:1], rel=1e-9)


@pytest.mark.slow
def test_ratios_of_single_modes_do_not_converge_and_say_what_does():
    listed = ARM.replace("modes: {v: V, w: W}", "modes: {v: 1, w: 1}, damping: {ratio: [0.01, 0.02]}").replace("V", "1")
    with pytest.raises(UsageError, match=r"'upper' lists .* write one for all modes, \{ratio: 0\.01\}"):
        loads(listed).modes(convergence=2)
    assert loads(listed.replace("[0.01, 0.02]", "0.01")).modes(convergence=2)["convergence_free"].shape[0] == 2


def test_free_frequencies_of_sweeps_hold_those_that_swing():
    """However many joints are free; none is kept that no answer can have."""
    damped = loads(SHOWN)
    header = damped.sweep("modes", {"order": ["1"]}).header
    assert [name for name in header if name.startswith("frequencies_free")][-1] == "frequencies_free[4]"
    assert header[-2:] == ["frequencies_free[4]", "error"]
    still = damped.sweep("linearize", {"order": ["1"]}, lock="all").header
    assert [name for name in still if name.startswith("frequencies")] == ["frequencies[1]", "frequencies[2]"]


SHOWN = turning("flexible: {mass: 1, EI: {z: 50}, modes: {v: 2}}", more=", damping: 1")


SHAPES = """
kronbot: 1
name: sprung
convention: standard
gravity: [0, 0, 0]
links:
  - name: a
    joint: {type: revolute, name: q, rotor_inertia: 1, elastic: {stiffness: 50}}
    dh: {a: 1, d: 0, alpha: 0, theta: 0}
    flexible: {mass: 0.5, EI: {z: 20}, modes: {v: COUNT}, shape: SHAPE}
    payload: {mass: 0.3}
"""


@pytest.mark.slow
def test_a_mode_that_rounding_loses_does_not_take_the_others_along():
    """Eight powers of x are all but dependent; Legendre's polynomials span the same, and are not."""
    powers, well = (
        loads(SHAPES.replace("COUNT", "8").replace("SHAPE", shape), order="1").modes()
        for shape in ("polynomial", "legendre")
    )
    found, error = powers["frequencies_locked"], powers["accuracy_locked"][:, 0]
    assert found[:3] == pytest.approx(well["frequencies_locked"][:3], rel=1e-10)
    assert (np.abs(found - well["frequencies_locked"]) <= error).all()
    assert not powers.warnings and error[-1] > 0.01 * found[-1]


@pytest.mark.parametrize("asked", [rare(lambda robot: robot.modes()), lambda robot: robot.linearize(lock=["q"])])
def test_frequencies_of_which_rounding_leaves_nothing_say_so(asked):
    """Whether M has a root still, and of how many poles a digit is left, is up to the processor's rounding."""
    robot = loads(SHAPES.replace("COUNT", "9").replace("SHAPE", "polynomial"), order="1")
    try:
        told = asked(robot).warnings
    except ComputationError as refused:
        told = [str(refused)]
    assert any(word in each for each in told for word in ("rounding leaves no digit of", "the mass matrix is singular"))


@pytest.mark.parametrize(("errors", "said"), [((2, 3), "any of the 2 poles"), ((0.1, 3), "1 of the 2 poles")])
def test_poles_within_their_errors_are_counted(errors, said):
    one = np.ones(1)
    found = [SimpleNamespace(value=complex(-1, 0.5), error=error, right=one, left=one) for error in errors]
    system = SecondOrder.exact(*np.ones((3, 1, 1)))
    assert f"no digit of {said} of it" in "".join(told_of_rounding(system, found, " of it"))


LEVEL = """
kronbot: 1
name: level
gravity: [0, -9.81, 0]
links:
  - name: level
    joint: {type: revolute, name: q1, damping: DAMPING}
    pose: {}
    rigid: {mass: 3, com: [0.5, 0, 0], inertia: {Izz: 0.02}}
  - name: hanging
    parent: base
    joint: {type: revolute, name: q2, damping: DAMPING}
    pose: {}
    rigid: {mass: 1, com: [0, -0.5, 0], inertia: {Izz: 0.02}}
  - name: slide
    joint: {type: prismatic, name: q3}
    pose: {}
    rigid: {mass: 1}
"""


@pytest.mark.parametrize(("q1", "damping", "told"), [(math.pi, 0, True), (math.pi, 1, False)])
def test_joints_without_stiffness_are_no_matter_of_the_mass_matrix(q1, damping, told):
    """A pole at zero, noise beside the largest or the root of a rounding; M is good."""
    robot = loads(LEVEL.replace("DAMPING", str(damping)))
    for answer in (robot.modes(q={"q1": q1}), robot.linearize(q={"q1": q1})):
        words = "".join(each for each in answer.warnings if "rounding" in each)
        assert "singular" not in words and ("2 of the 4 poles" in words and "0 within its error" in words) is told
