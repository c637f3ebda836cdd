"""Elements that go over points of other frames: against closed forms, and by the energy and the reactions of a run."""

import math

import mpmath
import numpy as np
import pytest
from robots_in_tests import loaded, model
from thinned import rare

import kronbot
from kronbot.errors import ComputationError, DescriptionError
from kronbot.mechanics.linear.modal import stiffness
from kronbot.mechanics.multibody import drawing
from kronbot.plots.page.robot import Shown

pytestmark = pytest.mark.usefixtures("interpreted")

# A hook that hangs from two ropes side by side, one rope that goes down over the hook and up again.
TACKLE = """
kronbot: 1
name: tackle
gravity: [0, 0, -9.81]
parameters: {k: 4000, c: 30, a: 0.3}
links:
  - name: hook
    joint: {type: prismatic, name: d}
    pose: {rpy: [pi, 0, 0]}
    rigid: {mass: 20}
elements:
  - {name: rope, type: spring, between: [world, world], points: [[-a, 0, 0], [a, 0, 0]], via: [{frame: hook}],
     stiffness: k, rest: 2, damping: c}
"""
K, C, A, M, G = 4000.0, 30.0, 0.3, 20.0, 9.81


@pytest.fixture(scope="module")
def tackle():
    return loaded(TACKLE)


def test_a_rope_over_a_hook_bears_it_twice(tackle):
    """l = 2 sqrt(a^2 + d^2); both pieces have the tension, and the rope's stiffness counts by (dl/dd)^2."""
    d, rate, change = 1.1, 0.4, 0.7
    tau = tackle.dynamics(q=[d], qd=[rate], qdd=[change])["tau"]
    half = math.hypot(A, d)
    slope = 2 * d / half
    tension = K * (2 * half - 2) + C * slope * rate
    assert tau == pytest.approx([M * change - M * G + slope * tension], rel=1e-12)
    linear = tackle.linearize(q=[d])
    curved = 2 * A**2 / half**3
    assert linear["K_L"][0, 0] == pytest.approx(K * slope**2 + K * (2 * half - 2) * curved, rel=1e-11)
    assert linear["D_L"][0, 0] == pytest.approx(C * slope**2, rel=1e-12)


def test_statics_and_reactions_bear_it(tackle):
    hung = tackle.statics(q=[1.0], tau={"d": 0}, outputs=["reaction:d"]).series
    d = hung["d"][0] if "d" in hung else hung["angle.d"][0]
    half = math.hypot(A, d)
    assert hung["tension.rope"] * 2 * d / half == pytest.approx([M * G], rel=1e-10)
    assert hung["length.rope"] == pytest.approx([2 * half], rel=1e-12)
    # The rope holds all of it, and its ends on the ground count among what the ground bears.
    assert abs(hung["reaction.d.fz"][0]) < 1e-9 * M * G
    assert hung["reaction.fz"] == pytest.approx([M * G], rel=1e-10)


BOOM = """
kronbot: 1
name: crane
convention: standard
gravity: [0, -9.81, 0]
links:
  - name: boom
    joint: {type: revolute, name: luff, damping: 0.5}
    dh: {a: 3, d: 0, alpha: 0, theta: 0}
    flexible: {mass: 12, EI: {z: 9000}, modes: {v: 1}, damping: {ratio: 0.01}}
  - name: jib
    joint: {type: revolute, name: tilt, spring: {stiffness: 300}}
    dh: {a: 1, d: 0, alpha: 0, theta: 0}
    rigid: {mass: 5, com: [-0.4, 0, 0], inertia: {Izz: 0.5}}
elements:
  - {name: hoist, type: spring, between: [world, jib], points: [[-1, 2, 0], [0, -0.1, 0]],
     via: [{frame: boom, point: [-0.6, 0.3, 0]}, {frame: boom, point: [-0.1, 0.25, 0]}, {frame: "jib:root"}],
     stiffness: 700, rest: 4, damping: 20, force: 15}
  - {name: stay, type: spring, between: [world, jib], points: [[-1, 2, 0], [0, 0.2, 0]],
     via: [{frame: boom, point: [0, 0.3, 0]}], stiffness: 60}
simulate: {duration: 0.3, step: 0.05}
"""


def test_energy_is_balanced_in_a_run():
    answer = loaded(BOOM).simulate(q=[0.4, -0.3], rtol=1e-11, atol=1e-12, outputs=["reaction:tilt", "spring:tilt"])
    assert answer.summary["energy_drift"] < 1e-8
    series = answer.series
    borne = series["torque.tilt"] + series["spring.tilt.spring"]
    assert series["reaction.tilt.mz"] == pytest.approx(borne, abs=1e-9 * series["tension.hoist"].max())


@pytest.mark.parametrize("order", [rare("1"), "2", rare("exact")])
def test_lengths_are_those_of_the_way(order):
    """Between frames as `kinematics` has them; a piece within one body counts, and never changes."""
    robot = loaded(BOOM, order)
    q = {"luff": 0.4, "boom.v1": -0.02, "tilt": -0.3}
    frames = robot.kinematics(q=q, frame=["boom", "jib:root", "jib"])["T"].reshape(3, 4, 4)
    boom, root, jib = ((lambda point, T=T: T[:3, :3] @ point + T[:3, 3]) for T in frames)
    way = [np.array([-1, 2, 0]), boom([-0.6, 0.3, 0]), boom([-0.1, 0.25, 0]), root([0, 0, 0]), jib([0, -0.1, 0])]
    length = np.linalg.norm(np.diff(way, axis=0), axis=1).sum()
    start = robot.simulate(q=q, duration=0.05, step=0.05).series
    assert start["length.hoist"][0] == pytest.approx(length, rel=1e-12)
    assert start["tension.hoist"][0] == pytest.approx(700 * (length - 4) - 15, rel=1e-12)


def test_a_force_shortens_the_whole_way():
    """An input of linear models: B has dl/dq."""
    robot = loaded(BOOM)
    q, step = np.array([0.4, 0.01, -0.3]), 1e-6
    B = robot.linearize(q=q.tolist(), inputs=["elements"])["B"]
    M = robot.dynamics(q=q.tolist())["M"]

    def length(q):
        return robot.simulate(q=q.tolist(), duration=0.05, step=0.05).series["length.hoist"][0]

    slope = [(length(q + step * each) - length(q - step * each)) / (2 * step) for each in np.eye(3)]
    assert M @ B[3:, 0] == pytest.approx(slope, abs=1e-8)


def test_pieces_are_drawn():
    robot = loaded(BOOM).model
    pieces = drawing.elements(robot, np.array([0.4, 0.0, -0.3]))
    assert pieces.shape == (4 + 2, 2, 3)
    assert np.array_equal(pieces[:3, 1], pieces[1:4, 0]) and np.array_equal(pieces[4, 1], pieces[5, 0])
    assert pieces[0, 0] == pytest.approx([-1, 2, 0])
    shown = Shown(robot, ["jib"])
    data = shown.data(np.array([[0.4, 0.0, -0.3]]))
    assert len(data["elements"]) == 6 and shown.place(0) == data["elements"][-1] + 6
    first = 1 + 4 * len(robot.links)
    assert np.array_equal(shown.at(np.array([0.4, 0.0, -0.3]))[first : first + 12].reshape(6, 2, 3), pieces)


def test_a_piece_without_a_length_is_named():
    text = TACKLE.replace("points: [[-a, 0, 0], [a, 0, 0]]", "points: [[0, 0, 0], [a, 0, 0]]")
    with pytest.raises(ComputationError, match="the ends of a piece of element 'rope' meet"):
        kronbot.loads(text).dynamics(q=[0.0])


# A weight that falls into a rope, and is thrown up by it.
FALLING = """
kronbot: 1
name: falling
gravity: [0, 0, -10]
parameters: {k: 810, c: 0}
links:
  - name: weight
    joint: {type: prismatic, name: d}
    pose: {rpy: [pi, 0, 0]}
    rigid: {mass: 10}
elements:
  - {name: rope, type: tendon, between: [world, weight], stiffness: k, rest: 2, damping: c}
"""


def fallen(t):
    """Where the weight is that starts at 1 m: it falls for sqrt(0.2) s, swings with 9 rad/s about 2 + 10/81 m, and
    flies."""
    begin, omega, sag = math.sqrt(0.2), 9.0, 10 / 81
    if t <= begin:
        return 1 + 5 * t**2
    speed = 10 * begin
    size, phase = math.hypot(sag, speed / omega), math.atan2(-sag, speed / omega)
    back = begin + (math.pi - 2 * phase) / omega
    if t <= back:
        return 2 + sag + size * math.sin(omega * (t - begin) + phase)
    return 2 - speed * (t - back) + 5 * (t - back) ** 2


@pytest.mark.parametrize("solver", [rare("cvodes"), "rodas", "dop853"])
def test_a_rope_is_slack_or_taut_and_never_pushes(solver):
    """From event to event in closed form."""
    tight = 1e-9 if solver != "rodas" else 1e-6
    answer = loaded(FALLING).simulate(q=[1.0], duration=1.2, step=0.1, solver=solver, rtol=tight, atol=1e-2 * tight)
    series = answer.series
    assert series["d"] == pytest.approx([fallen(t) for t in series["t"]], abs=300 * tight)
    assert answer.summary["stop_events"] == 2
    assert answer.summary["energy_drift"] < 100 * tight
    pulls = np.maximum(0, 810 * (series["length.rope"] - 2))
    assert series["tension.rope"] == pytest.approx(pulls, rel=1e-12) and (pulls == 0).any() and pulls.max() > 300


@pytest.mark.slow
def test_the_damper_of_a_rope_never_pushes():
    """It comes back by itself where it is let go, and what it held then is lost."""
    answer = loaded(FALLING).with_parameters(c=120).simulate(q=[1.0], duration=2, step=0.01, rtol=1e-10, atol=1e-12)
    series, summary = answer.series, answer.summary
    pulls = 810 * (series["length.rope"] - 2) + 120 * series["d_dot"]
    wanted = np.where(series["length.rope"] > 2, np.maximum(0, pulls), 0)
    assert series["tension.rope"] == pytest.approx(wanted, abs=1e-9)
    assert summary["energy_drift"] < 1e-8 and series["energy.dissipated"][-1] > 50
    assert series["tension.rope"].min() == 0 and (np.diff(series["energy.dissipated"]) > -1e-9).all()


def test_statics_finds_where_a_rope_holds():
    robot = loaded(FALLING)
    with pytest.raises(ComputationError, match="nothing holds d"):
        robot.statics(q=[1.0], tau={"d": 0})
    hung = robot.statics(q=[2.5], tau={"d": 0}).series
    assert hung["length.rope"] == pytest.approx([2 + 10 / 81], rel=1e-10)
    assert hung["reaction.fz"] == pytest.approx([100], rel=1e-10)
    taut, slack = (robot.linearize(q=[d]) for d in (2.1, 1.9))
    assert taut["K_L"][0, 0] == pytest.approx(810, rel=1e-12) and not slack["K_L"].any()
    assert slack.warnings[0] == "tendon rope is slack by 0.1 m: it holds nothing in this model"
    assert not [told for told in taut.warnings if "tendon" in told]
    assert robot.linearize(q=[2.0]).warnings[0] == "tendon rope is exactly at its rest: it holds nothing in this model"
    sprung = loaded(FALLING.replace("name: d}", "name: d, spring: {stiffness: 5, rest: 2}}"))
    borne = sprung.statics(q=[2.5], tau={"d": -100})  # all of its weight: the rope is at its rest
    assert borne["length.rope"] == pytest.approx([2], rel=1e-12)
    assert any("tendon rope is exactly at its rest" in told for told in borne.warnings)
    assert not robot.statics(q=[2.0]).warnings  # d is held, whatever the rope does
    assert [str(each) for each in robot.modes(q=[1.5]).warnings] == [
        "tendon rope is slack by 0.5 m: it holds nothing in this model"
    ]


STAYED = BOOM.replace("name: hoist, type: spring", "name: hoist, type: tendon").replace(
    "damping: 20, force: 15", "damping: 20"
)


@pytest.mark.slow
def test_a_boom_that_a_rope_catches():
    """Energy and reactions of a flexible one that falls into its hoist over three points."""
    robot = loaded(STAYED.replace("rest: 4,", "rest: 4.9,"), "exact")
    answer = robot.simulate(
        q=[0.4, -0.3], duration=0.3, step=0.025, rtol=1e-10, atol=1e-11, outputs=["reaction:tilt", "spring:tilt"]
    )
    series = answer.series
    assert answer.summary["energy_drift"] < 1e-8 and answer.summary["stop_events"] >= 1
    assert series["tension.hoist"].min() == 0 and series["tension.hoist"].max() > 50
    borne = series["torque.tilt"] + series["spring.tilt.spring"]
    assert series["reaction.tilt.mz"] == pytest.approx(borne, abs=1e-8 * series["tension.hoist"].max())


def test_formulas_and_rows_know_one_side():
    robot = kronbot.loads(FALLING)
    written = robot.symbolic("text").dynamics()["g"][0]

    def chosen(*pairs):
        return next(value for value, holds in pairs if holds)

    for d in (1.5, 2.5):
        names = {"d": d, "k": 810, "c": 0, "Max": max, "sqrt": math.sqrt, "Abs": abs, "Piecewise": chosen}
        value = eval(written, {}, names)  # noqa: S307 - text of a robot of this test
        assert value == pytest.approx(robot.dynamics(q=[d])["g"][0], rel=1e-12)
    rows = robot.dynamics(q=[[1.5], [2.5]])["g"]
    assert rows.ravel() == pytest.approx([-100, -100 + 405])


@pytest.mark.parametrize(
    ("was", "new", "said"),
    [
        ("damping: c}", "damping: c, force: 3}", "a tendon has no 'force': it pulls as far as it is longer"),
        ("stiffness: k, ", "", "a tendon needs 'stiffness'"),
    ],
)
def test_mistakes_of_tendons_are_named(was, new, said):
    with pytest.raises(DescriptionError, match=said):
        kronbot.loads(FALLING.replace(was, new))


@pytest.mark.parametrize(
    ("was", "new", "said"),
    [
        ("{frame: hook}", "{frame: hok}", "unknown frame 'hok'; did you mean 'hook'"),
        ("{frame: hook}", "{frame: world}", "all points are on the frame 'world': their distance never changes"),
        ("{frame: hook}", "{point: [0, 0, 0]}", "frame"),
        ("[{frame: hook}]", f"[{', '.join(['{frame: hook}'] * 33)}]", "33 points on the way, at most 32 are allowed"),
        ("{frame: hook}", "{frame: hook, point: [x, 0, 0]}", "unknown name 'x'"),
        ("via: [{frame: hook}]", "over: [{frame: hook}]", "unknown key 'over'"),
    ],
)
def test_mistakes_are_named(was, new, said):
    with pytest.raises(DescriptionError, match=said):
        kronbot.loads(TACKLE.replace(was, new))


def test_tensions_and_lengths_that_were_measured_are_fitted():
    """Of ropes at rest, taut in some rows and slack in others."""
    robot = loaded(
        STAYED.replace("stiffness: 700, rest: 4,", "stiffness: k, rest: r,").replace(
            "convention: standard", "convention: standard\nparameters: {k: 700, r: 4.6}"
        )
    )
    postures = {"luff": [0.1, 0.2, 0.3, 0.4, 1.2], "tilt": [-0.3, -0.5, -0.2, -0.1, -0.4]}
    rows = robot.statics(q=postures).series
    assert (rows["tension.hoist"] == 0).any() and (rows["tension.hoist"] > 1).sum() >= 3
    data = postures | {name: rows[name].tolist() for name in ("tension.hoist", "length.stay", "torque.luff")}
    start = robot.with_parameters(k=500, r=4.5)
    found = start.fit(data=data, estimate={"k": [100, 2000], "r": [4, 5]}, only=["tension", "torque"])
    table = found.arrays["estimates"]
    estimates = dict(zip(table.rows, table.values[:, table.columns.index("estimate")], strict=True))
    assert estimates == pytest.approx({"k": 700, "r": 4.6}, rel=1e-6)


# A beam hangs down onto a rope that is 2 cm too long, with as much weight as bends it by 11 cm.
SAG = """
kronbot: 1
name: sag
convention: standard
gravity: [0, -9.81, 0]
parameters: {k: 1e3, rest: 1.02}
links:
  - name: b
    joint: {type: revolute, name: q}
    dh: {a: 1, d: 0, alpha: 0, theta: 0}
    flexible: {mass: 0.5, EI: {z: 20}, modes: {v: 3}, shape: craig-bampton}
    payload: {mass: 0.5}
elements:
  - {name: rope, type: tendon, between: [world, b], points: [[1, 1, 0], [0, 0, 0]], stiffness: k, rest: rest}
"""


def test_linear_statics_tells_of_a_rope_that_it_does_not_see():
    """A cantilever's tip has the stiffness 3 EI/l^3 and sags by w l^4/8EI, the rope takes the rest."""
    robot, hung = loaded(SAG), 0.5 * G / 60 + 0.5 * G / 160
    newton, linear = (robot.statics(q=[0], solver=solver) for solver in ("newton", "linear"))
    assert newton["tip.b.y"] == pytest.approx([-(60 * hung + 1e3 * 0.02) / (60 + 1e3)], rel=2e-3)
    assert linear["tip.b.y"] == pytest.approx([-hung], rel=1e-12)
    assert not newton.warnings
    assert any("tendon rope becomes taut: linear statics does not see" in told for told in linear.warnings)
    (told,) = robot.statics(q=[[math.pi / 2], [0]], solver="linear").warnings
    assert told.startswith("tendon rope becomes taut in 1 of 2 cases, first in case 2: linear statics does not see")
    short = robot.with_parameters(rest=0.99).statics(q=[0], solver="linear")
    assert short["tip.b.y"] == pytest.approx([-(60 * hung - 10) / (60 + 1e3)], rel=1e-6) and not short.warnings


@pytest.mark.parametrize(
    ("kind", "cured"),
    [("spring, stiffness: 9, rest: 1", True), ("tendon, stiffness: 9", False), ("actuator, force: 1", False)],
)
def test_ends_that_meet_have_cures_that_cure(kind, cured):
    text = TACKLE[: TACKLE.index("elements:")] + f"elements: [{{name: e, type: {kind}, between: [world, hook]}}]"
    with pytest.raises(ComputationError, match="ends of element 'e' meet") as met:
        loaded(text).dynamics(q=[0])
    assert ("take rest: 0" in str(met.value)) == cured


def test_rows_in_which_ends_meet_are_numbered():
    tackle = loaded(TACKLE.replace("[[-a, 0, 0], [a, 0, 0]]", "[[0, 0, 0], [a, 0, 0]]"))
    for question in (tackle.dynamics, tackle.statics):
        with pytest.raises(ComputationError, match="a piece of element 'rope' meet in row 2 of 3: at length zero"):
            question(q=[[0.5], [0.0], [1.2]])


# A strap over a joint, whose last piece has a length of rounding: 0.05 less the sum of 0.01 and 0.04.
STRAP = """
kronbot: 1
name: strap
gravity: [0, -9.81, 0]
links:
  - name: shank
    joint: {type: revolute, name: knee}
    pose: {}
    flexible: {mass: 1, length: 0.4, EI: {z: 60}, modes: {v: 1}}
  - name: foot
    joint: {type: revolute, name: ankle, rotor_inertia: 0.1, elastic: {stiffness: 180}}
    pose: {xyz: [0, -0.01, 0]}
    rigid: {mass: 0.7, com: [0.1, 0, 0]}
elements:
  - {name: strap, type: tendon, between: ["shank:root", foot], via: [{frame: shank, point: [0, -0.05, 0]}],
     points: [[0.1, -0.04, 0], [0, -0.04, 0]], stiffness: 4000, rest: 0.3}
"""


@pytest.mark.parametrize(
    "ask",
    [
        lambda robot, q: robot.dynamics(q),
        lambda robot, q: robot.taylor("g", 1, q),
        lambda robot, q: robot.statics(q),
        lambda robot, q: robot.statics(q, buckling=True),
        lambda robot, q: robot.linearize(q),
        lambda robot, q: robot.linearize(q, equilibrium=True),
        lambda robot, q: robot.design(q, lqr=True),
        lambda robot, q: robot.modes(q),
        lambda robot, q: robot.simulate(0.1, q=q),
        lambda robot, q: robot.simulate(0.1, q=q, start="equilibrium"),
        lambda robot, q: robot.plan({"knee": 0.3}, q=q, duration=1.0),
        lambda robot, q: robot.plan(q | {"ankle": 0}, q={"knee": 0.3, "ankle": 0.2}, duration=1.0),
    ],
)
def test_pieces_as_long_as_rounding_are_named(ask):
    with pytest.raises(ComputationError, match="^the ends of a piece of element 'strap' meet.*at length zero"):
        ask(loaded(STRAP), {"knee": 0.2})


def test_elements_that_are_slack_where_they_are_stiffen_as_linearized():
    """Of a strap whose rest is the length that it has there, nothing but its stiffness is left in K_L."""
    q = {"knee": 0.2, "ankle": 0.3}
    bare = STRAP.replace("-9.81", "0").replace("type: tendon", "type: spring")
    length = float(loaded(bare).simulate(1e-3, q=q).series["length.strap"][0])
    robot = bare.replace("rest: 0.3", f"rest: {length!r}")
    slack = stiffness(model(robot), np.array([0.2, 0, 0.3, 0.3]))
    assert slack == pytest.approx(loaded(robot).linearize(q)["K_L"], abs=1e-9 * abs(slack).max())


def test_check_has_no_frequencies_of_what_has_no_direction():
    checked = loaded(STRAP).check()
    assert checked.summary["frequencies"].startswith("not known: the ends of elements meet")
    assert any("element 'strap' meet" in told for told in checked.warnings)
    longer = loaded(STRAP.replace("[0, -0.04, 0]", "[0, -0.0400001, 0]")).check()
    assert "frequencies" not in longer.summary


@pytest.mark.slow
def test_ropes_as_stiff_as_numbers_are_large_have_a_frequency():
    """Errors without a bound make no block, and none is sought for ever: the stiffest swings as in exact arithmetic."""
    inertia = "rigid: {mass: 1, com: [0.5, 0, 0], inertia: {Izz: 0.1}}"
    links = "".join(
        f"  - {{name: {name}, joint: {{type: revolute, name: q{name}, damping: 0.1}}, pose: {{xyz: [{x}, 0, 0]}}, "
        f"{inertia}}}\n"
        for name, x in (("a", 0), ("b", 1), ("c", 1))
    )
    rope = "{name: e, type: tendon, between: [world, c], points: [[2, 1, 0], [0, 0, 0]], stiffness: 1e150}"
    robot = kronbot.loads(f"kronbot: 1\nname: chain\ngravity: [0, 0, 0]\nlinks:\n{links}elements: [{rope}]\n")
    linear = robot.linearize()
    K, M = (mpmath.matrix(linear[name].tolist()) for name in ("K_L", "M_L"))
    with mpmath.workdps(400):
        exact = max(mpmath.eig(mpmath.inverse(M) * K)[0], key=lambda value: value.real)
        assert linear["frequencies"].max() == pytest.approx(float(mpmath.sqrt(exact.real)), rel=1e-9)
