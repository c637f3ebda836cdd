"""Controllers of joints: in simulations and linear models, against matrix exponentials, recursions and statics."""

import numpy as np
import pytest
from robots_in_tests import boom_and_arm, model
from scipy.integrate import solve_ivp
from scipy.linalg import expm
from thinned import rare

import kronbot
from kronbot.compute.trace import Traced
from kronbot.description import choices
from kronbot.errors import DescriptionError, UsageError
from kronbot.library.robot import Robot
from kronbot.questions.linearize import outline

BLOCK = """
kronbot: 1
name: block
gravity: [0, 0, 0]
parameters: {kp: 8}
links:
  - name: block
    joint: {type: prismatic, name: q1}
    pose: {}
    rigid: {mass: 2}
simulate: {duration: 6, step: 0.5}
control:
  q1: {pid: {kp: kp, ki: 2, kd: 1.6}, target: 0.5MORE}
"""
SHAFT = ", rotor_inertia: 2e-4, gear: 20, elastic: {stiffness: 90, damping: 0.2}"
ARM = (
    boom_and_arm(joint=SHAFT)
    + """\
simulate: {duration: 0.3, step: 0.3}
control:
  q1: {pid: {kp: 30, ki: 20, kd: 6}, target: 0.4, gravity: rigid}
  q2: {pid: {kp: 25, ki: 4, kd: 3, side: SIDE}, target: -0.3, gravity: GRAVITY}
"""
)


def block(more="", sample=""):
    return Robot(model(BLOCK.replace("MORE", more) + sample))


def arm(gravity="none", side="motor"):
    return Robot(model(ARM.replace("GRAVITY", gravity).replace("SIDE", side)))


@pytest.mark.parametrize("solver", ["dop853", rare("cvodes"), rare("rodas")])
def test_an_integral_and_its_limits_by_another_integrator(solver):
    """Back-calculation: I' = ki e + (tau - asked) sqrt(ki/kd)."""
    low, high = -2.0, 1.5

    def rate(t, x):
        q, v, integral = x
        asked = 8 * (0.5 - q) + integral - 1.6 * v
        tau = min(max(asked, low), high)
        return [v, tau / 2, 2 * (0.5 - q) + (tau - asked) * np.sqrt(2 / 1.6)]

    wanted = solve_ivp(rate, (0, 6), [0, 0, 0], "LSODA", np.linspace(0, 6, 13), rtol=1e-10, atol=1e-12).y
    found = block(f", effort: [{low}, {high}]").simulate(solver=solver)
    for name, values in zip(("q1", "q1_dot", "integral.q1"), wanted, strict=True):
        assert found[name] == pytest.approx(values, abs=2e-7)
    assert found["torque.q1"].max() <= high and found.summary["energy_drift"] < 1e-6
    wound = block(f", effort: [{low}, {high}], anti_windup: none").simulate(solver=solver)
    assert wound.summary["overshoot.q1"] > found.summary["overshoot.q1"]


def test_sampled_control_is_the_recursion_of_its_instants():
    """Between instants k T the torque is held: exact for a mass. Rows at them hold what they find, and from what."""
    T, robot = 0.1, block(sample="  sample_time: 0.1\n")
    x, integral, rows, held = np.array([0.0, 0.0]), 0.0, [[0.0, 0.0]], []
    for _ in range(60):
        tau = 8 * (0.5 - x[0]) + integral - 1.6 * x[1]
        held.append([tau, integral])
        integral += T * 2 * (0.5 - x[0])
        held.append([tau, integral])
        x = np.array([x[0] + T * x[1] + T**2 * tau / 4, x[1] + T * tau / 2])
        rows.append(x)
    for solver in choices.INTEGRATORS:
        found = robot.simulate(solver=solver)
        assert np.column_stack([found["q1"], found["q1_dot"]]) == pytest.approx(np.array(rows)[::5], abs=1e-7)
        short = robot.simulate(duration=1, step=0.05, solver=solver)
        told = np.column_stack([short["torque.q1"], short["integral.q1"]])
        assert told == pytest.approx(np.array(held)[: len(told)], abs=8e-7)  # 8 times what q1 is off
    assert robot.simulate(solver=solver, step=0.1)["q1"][-1] == found["q1"][-1]


@pytest.mark.parametrize("T", [0.1, 0.28, 0.3, 4.0])
def test_loops_are_told_to_grow_where_their_samples_do(T):
    """The recursion above, as a matrix of [q, q', I]."""
    tau = np.array([-8, -1.6, 1])
    onward = np.array([[1, T, 0], [0, 1, 0], [-2 * T, 0, 1]]) + np.outer([T**2 / 4, T / 2, 0], tau)
    growth = np.abs(np.linalg.eigvals(onward)).max()
    answer = block(sample=f"  sample_time: {T}\n").linearize(closed_loop=True)
    assert "asymptotically stable" in answer.summary["verdict"]
    (told,) = (each for each in answer.warnings if f"sampled every {T:g} s" in each)
    unstable = growth > 1
    assert told.endswith(f"grow by a factor of {growth:.4g} from sample to sample" if unstable else "do not grow")
    assert unstable == (T > 0.29)


@pytest.mark.slow
def test_sampled_control_converges_with_first_order(unmeasured):
    """To the continuous one, by its sample time."""
    ends = [block(sample=f"  sample_time: {0.04 / 2**k}\n").simulate(duration=1)["q1"][-1] for k in range(3)]
    errors = np.array(ends) - block().simulate(duration=1, rtol=1e-11)["q1"][-1]
    assert errors[:-1] / errors[1:] == pytest.approx([2, 2], rel=0.03)


@pytest.mark.parametrize(("gravity", "side"), [("rigid", "link"), ("flexible", "link"), rare("rigid", "motor")])
def test_weight_is_held_at_the_joint_values_that_are_measured(gravity, side):
    """A pendulum's, m g l cos q, behind its shaft or at its motor; a joint that is measured behind it comes to stand at
    its target."""
    pendulum = Robot(
        model(f"""
        kronbot: 1
        name: pendulum
        gravity: [0, -9.81, 0]
        links:
          - name: a
            joint: {{type: revolute, name: q1, damping: 3, rotor_inertia: 1, elastic: {{stiffness: 40, damping: 3}}}}
            pose: {{}}
            rigid: {{mass: 2, com: [0.5, 0, 0]}}
        control: {{q1: {{pid: {{kp: 20, kd: 2, side: {side}}}, target: 0.3, gravity: {gravity}}}}}
        """)
    )
    q = {"q1": 0.2, "q1.motor": 0.5}
    measured = q["q1.motor" if side == "motor" else "q1"]
    found = pendulum.simulate(q=q, duration=40, step=40, solver="rodas", rtol=1e-6)
    assert found["torque.q1"][0] == pytest.approx(20 * (0.3 - measured) + 9.81 * np.cos(measured), rel=1e-9)
    assert (abs(found["q1"][-1] - 0.3) < 1e-6) == (side == "link")


@pytest.mark.slow
def test_poles_of_the_closed_loop_are_differences_of_simulations(unmeasured):
    """exp(A t) in some directions by central differences of runs near the rest; poles are the eigenvalues of A."""
    robot = arm("flexible", "link")
    rest = robot.simulate(duration=60, step=60, solver="rodas")
    names = list(robot.coordinates)
    here = {name: float(rest[name][-1]) for name in names}
    assert max(abs(rest[f"{name}_dot"][-1]) for name in names) < 1e-4
    found = robot.linearize(q=here, closed_loop=True)
    A = found["A"]
    poles = np.concatenate([found["poles"], found["poles"][found["poles"].imag > 0].conj()])
    assert np.sort_complex(poles) == pytest.approx(np.sort_complex(np.linalg.eigvals(A)), abs=1e-6)
    states = [*names, *(f"{name}_dot" for name in names), "integral.q1", "integral.q2"]
    assert list(found.arrays["A"].rows) == states
    found, h, t = [], 1e-3, 0.3
    directions = np.random.default_rng(1).uniform(-1, 1, (3, 2, len(names)))
    for places, rates in directions:
        ends = []
        for step in (h, -h):
            q = {name: here[name] + step * place for name, place in zip(names, places, strict=True)}
            qd = {name: step * rate for name, rate in zip(names, rates, strict=True)}
            run = robot.simulate(duration=t, step=t, q=q, qd=qd, rtol=1e-10, atol=1e-12)
            ends.append(np.array([run[state][-1] for state in states]))
        found.append((ends[0] - ends[1]) / (2 * h))
    # Runs begin without integrals: what that moves is the same on both sides, to second order.
    wanted = directions.reshape(3, -1) @ expm(A * t)[:, : 2 * len(names)].T
    assert pytest.approx(wanted, abs=0.02 * np.abs(wanted).max()) == np.array(found)


@pytest.mark.slow
def test_an_arm_with_the_weight_of_its_sag_stands_at_its_target(unmeasured):
    """Without an integral: the beam bends, the joints do not give way."""
    text = ARM.replace("ki: 20, ", "").replace("ki: 4, ", "").replace("gravity: rigid", "gravity: GRAVITY")
    errors = {}
    for gravity in ("none", "rigid", "flexible"):
        robot = Robot(model(text.replace("GRAVITY", gravity).replace("SIDE", "motor")))
        rest = robot.simulate(duration=20, step=20, solver="rodas")
        errors[gravity] = abs(rest["q1"][-1] - 0.4)
    assert errors["none"] > 10 * errors["rigid"] > 100 * errors["flexible"] > 0


def test_gains_are_values_that_nothing_is_traced_for(monkeypatch):
    robot = block()
    first = robot.simulate()
    robot.linearize(equilibrium=True, closed_loop=True)
    monkeypatch.setattr(Traced, "__init__", lambda *given: pytest.fail("traced anew"))
    stiff = robot.with_parameters(kp=20)
    second = stiff.simulate()
    poles = [np.roots([2, 1.6, kp, 2]) for kp in (8, 20)]
    for each, wanted in zip((robot, stiff), poles, strict=True):
        found = each.linearize(equilibrium=True, closed_loop=True)
        every = np.concatenate([found["poles"], found["poles"][found["poles"].imag > 0].conj()])
        assert np.sort_complex(every) == pytest.approx(np.sort_complex(wanted), rel=1e-9)
        assert found.summary["verdict"].startswith("closed loop: asymptotically stable")
    assert second["q1"][1] > first["q1"][1]


def test_locked_joints_take_their_integrals_along_and_nothing_else_is_told():
    robot = arm()
    locked = robot.linearize(equilibrium=True, closed_loop=True, lock="q1")
    assert list(locked.arrays["A"].rows)[-1] == "integral.q2" and len(locked["A"]) == 2 * 3 + 1
    told = outline(robot.model, {"closed_loop": (True,)})
    assert set(robot.linearize(closed_loop=True).arrays["A"].rows) <= set(told.arrays["A"][0])
    plain = robot.linearize(equilibrium=True)
    assert not np.allclose(plain["K_L"], robot.linearize(equilibrium=True, closed_loop=True)["K_L"])


def test_the_loop_wants_controllers_and_pd_drives_are_such():
    text = BLOCK.replace("MORE", "")
    bare = text[: text.index("control:")]
    with pytest.raises(UsageError, match="closed_loop wants controllers"):
        Robot(model(bare)).linearize(closed_loop=True)
    drive = "simulate: {duration: 6, drive: {q1: {pd: {kp: 8, kd: 1.6}}}}\n"
    driven = Robot(model(bare.replace("simulate: {duration: 6, step: 0.5}\n", drive)))
    assert driven.linearize(closed_loop=True)["poles"] == pytest.approx([np.roots([2, 1.6, 8])[0]])
    with pytest.raises(UsageError, match="power"):
        driven.linearize(closed_loop=True, outputs="power:q1")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("q1: {pid", "q7: {pid", "13:3: unknown joint 'q7'"),
        ("kp: kp", "kp: -1", "'kp' must be at least 0"),
        ("target: 0.5", "target: 0.5, effort: [2, -2]", "the limits must ascend"),
        ("target: 0.5", "target: 0.5, anti_windup: back", "back-calculation"),
        ("kd: 1.6}", "kd: 1.6, side: link}", "'q1' is not elastic"),
        ("kp: kp, ki: 2, kd: 1.6", "kp: 0, ki: 2", "'ki' wants 'kp' or 'kd' beside it"),
        ("step: 0.5}", "step: 0.5, drive: {q1: {torque: 1}}}", "'q1' has a drive, too"),
        (
            "step: 0.5}\ncontrol:\n",
            "drive: rigid-inverse-dynamics}\ncontrol:\n  state_feedback: {K: k.csv}\n",
            "11:32: gains of a state_feedback have torques of their own, along motions, too: leave 'drive' out",
        ),
        ("  q1: {pid", "  sample_time: 0\n  q1: {pid", "must be greater than 0"),
    ],
)
def test_mistakes_are_told_with_their_places(old, new, said):
    text = BLOCK.replace("MORE", "")
    assert old in text
    with pytest.raises(DescriptionError) as caught:
        model(text.replace(old, new))
    assert said in str(caught.value)


def test_feedback_on_top_of_the_rigid_torques():
    """A block that the torques along its motion move exactly: feedback has nothing to add."""
    motion = "motion: {q1: {type: cycloidal, from: 0, to: 1, duration: 2}}\n"
    text = BLOCK.replace("MORE", "").replace("target: 0.5", "target: motion").replace("step: 0.5", "step: 0.5, DRIVE")
    with_it = model(text.replace("DRIVE", "drive: rigid-inverse-dynamics") + motion)
    found = Robot(with_it).simulate(duration=2.5)
    assert found.summary["peak_deviation.q1"] < 1e-7
    alone = Robot(model(text.replace(", DRIVE", "") + motion)).simulate(duration=2.5)
    assert alone.summary["peak_deviation.q1"] > 1e-2
    with pytest.raises(DescriptionError, match="have its weight"):
        model(
            text.replace("DRIVE", "drive: rigid-inverse-dynamics").replace("motion}", "motion, gravity: rigid}")
            + motion
        )


LOOP = """
kronbot: 1
name: loop
convention: standard
gravity: [0, 0, 0]
links:
  - {name: a, joint: {type: revolute, name: q1}, dh: {a: 1, d: 0, alpha: 0, theta: 0}, BEAM}
  - {name: b, joint: {type: revolute, name: q2, rotor_inertia: 0.1, elastic: {stiffness: 400, damping: 0.2}},
     dh: {a: 1, d: 0, alpha: 0, theta: 0}, rigid: {mass: 1, com: [-0.4, 0, 0], inertia: {Izz: 0.1}}}
control:
  q1: {pid: {kp: 30, ki: 20, kd: 6}, gravity: none}
  q2: {pid: {kp: 20, kd: 3}, gravity: none}
"""
FLAT, BOTH = (f"flexible: {{mass: 1, EI: {{y: 40, z: 50}}, modes: {{v: 2{more}}}}}" for more in ("", ", w: 1"))


def test_margins_of_a_loop_cut_at_its_torques(tmp_path):
    """By frequency responses of the open arm and of controllers by hand, D of two inputs by brute force."""
    robot = Robot(model(LOOP.replace("BEAM", FLAT)))
    at = {"q": {"q2": 0.8}, "inputs": "torques"}
    plant, found = robot.linearize(**at), robot.linearize(**at, closed_loop=True).summary
    A, B, states = plant["A"], plant["B"], list(plant.arrays["A"].rows)
    C = np.eye(len(A))[[states.index("q1"), states.index("q2.motor")]]
    frequencies = np.geomspace(0.1, 300, 800)
    G = C @ np.linalg.solve(1j * frequencies[:, None, None] * np.eye(len(A)) - A, B + 0j)
    s = 1j * frequencies
    law = np.zeros((len(s), 2, 2), dtype=complex)
    law[:, 0, 0], law[:, 1, 1] = 30 + 20 / s + 6 * s, 20 + 3 * s
    S = np.linalg.inv(np.eye(2) + law @ G)
    d = np.geomspace(1e-2, 1e2, 121)[:, None]
    for less, wanted in ((0.5, 1 / found["disk_margin"]), (0.0, found["sensitivity_peak"])):
        a, b, c, e = np.moveaxis(S - less * np.eye(2), 0, -1).reshape(4, -1)
        # The largest singular value of [a, b/d; d c, e], by the sum of squares of both and their product.
        squares = np.abs(a) ** 2 + np.abs(b / d) ** 2 + np.abs(c * d) ** 2 + np.abs(e) ** 2
        both = 2 * np.abs(a * e - b * c)
        gains = (np.sqrt(squares + both) + np.sqrt(squares - both)) / 2
        assert gains.min(axis=0).max() == pytest.approx(wanted, rel=2e-3)
    assert found["phase_margin"] == pytest.approx(2 * np.arctan(found["disk_margin"] / 2))
    assert set(found) <= set(outline(robot.model, {"closed_loop": [True]}).all)
    # Bending across the plane swings on, and is none of the loop.
    across = Robot(model(LOOP.replace("BEAM", BOTH))).linearize(**at, closed_loop=True).summary
    assert [across[name] for name in ("disk_margin", "sensitivity_peak")] == pytest.approx(
        [found[name] for name in ("disk_margin", "sensitivity_peak")], rel=1e-6
    )
    afloat = LOOP.replace("BEAM", FLAT).replace(
        "links:", "base: {type: floating, rigid: {mass: 9, inertia: {Ixx: 2, Iyy: 2, Izz: 2}}}\nlinks:"
    )
    assert "disk_margin" not in Robot(model(afloat)).linearize(closed_loop=True).summary


PAIR = """
kronbot: 1
name: pair
gravity: [0, 0, 0]
links:
  - name: a
    joint: {type: revolute, name: q1, spring: {stiffness: 1}}
    pose: {}
    rigid: {inertia: {Ixx: 1, Iyy: 1, Izz: 1}}
  - name: b
    parent: world
    joint: {type: revolute, name: q2, spring: {stiffness: 1}}
    pose: {}
    rigid: {inertia: {Ixx: 1, Iyy: 1, Izz: 1}}
control: {state_feedback: {K: gains.csv}}
"""


@pytest.mark.parametrize(
    ("stiff", "damped", "said"),
    [
        rare((3e-14, -3e-14), (0, 0), "unstable"),
        ((1e-14, -1e-14), (0, 0), "unstable"),
        ((1e-16, -1e-16), (0, 0), "undecided"),
        rare((1e-16, 1e-16), (0, 0), "stable, undamped"),
        rare((0, 0), (1e-17, 1e-17), "undecided"),
    ],
)
def test_gains_that_couple_equal_oscillators(tmp_path, stiff, damped, said):
    """By +e and -e they grow by e/2, however small: LAPACK finds no eigenvalues of some, and e beside 1 is no rounding.
    Rates crossed by e grow, too; equal stiffness is a spring's."""
    rows = [f"torque.q1,0,0,{stiff[0]},0,{damped[0]}", f"torque.q2,0,{stiff[1]},0,{damped[1]},0"]
    (tmp_path / "gains.csv").write_text("\n".join([",torque,q1,q2,q1_dot,q2_dot", "at,0,0,0,0,0", *rows]))
    (tmp_path / "pair.yaml").write_text(PAIR)
    found = kronbot.load(str(tmp_path / "pair.yaml")).linearize(equilibrium=True, closed_loop=True).summary
    assert found["verdict"].split(": ")[1].startswith(said)
    if said == "unstable":
        assert found["largest_growth_rate"] == pytest.approx(stiff[0] / 2, rel=0.01)


@pytest.mark.slow
def test_margins_of_a_filtered_loop_are_those_of_its_design(tmp_path, unpaid):
    text = LOOP.replace("BEAM", FLAT).partition("control:")[0]
    best = Robot(model(text)).design(lqr=True, noise={"q1": 1e-3, "q2": 1e-3})
    for name in ("gains", "estimator"):
        table = best.arrays[name]
        lines = [
            f"{row},{','.join(map(repr, values))}"
            for row, values in zip(table.rows, table.values.tolist(), strict=True)
        ]
        (tmp_path / f"{name}.csv").write_text("\n".join([f",{','.join(table.columns)}", *lines]))
    for estimator, wanted in (("", "disk_margin"), (", estimator: estimator.csv", "filtered_disk_margin")):
        (tmp_path / "arm.yaml").write_text(f"{text}control: {{state_feedback: {{K: gains.csv{estimator}}}}}\n")
        found = kronbot.load(tmp_path / "arm.yaml").linearize(closed_loop=True).summary
        assert found["disk_margin"] == pytest.approx(best.summary[wanted], rel=1e-6)
        assert found["sensitivity_peak"] >= 1 - 1e-9


UNITS = """
kronbot: 1
name: units
gravity: [0, 0, 0]
parameters: {s: 1}  # the unit of forces
links:
  - name: a
    joint: {type: revolute, name: q1, damping: 0.1*s}
    pose: {}
    rigid: {mass: s, com: [1, 0, 0], inertia: {Izz: 0.1*s}}
  - name: b
    joint: {type: revolute, name: q2, damping: 0.1*s, spring: {stiffness: 10*s}}
    pose: {xyz: [2, 0, 0]}
    rigid: {mass: s, com: [1, 0, 0], inertia: {Izz: 0.1*s}}
"""


def rows_of(array):
    return zip(array.rows, array.values.tolist(), strict=True)


@pytest.mark.slow
@pytest.mark.parametrize(
    "law", ["q1: {pid: {kp: 20*s, ki: 5*s, kd: 10*s}}", "state_feedback: {K: K.csv, estimator: L.csv}"]
)
def test_margins_of_loops_that_remember_do_not_depend_on_units(law, tmp_path, unpaid):
    """Integrals are in N m, estimates in rad and rad/s: a robot of micrograms is controllable as one of kilograms."""
    found = []
    for s in (1.0, 2.0**-60):
        bare = kronbot.loads(UNITS, parameters={"s": s})
        noise = {"q1": 1e-3, "q2": 1e-3, "torque.q1": s, "torque.q2": s}
        best = bare.design(lqr=True, effort={"q1": s**-2, "q2": s**-2}, noise=noise)
        for name, array in (("K.csv", best.arrays["gains"]), ("L.csv", best.arrays["estimator"])):
            rows = [["", *(array.columns or ())], *([row, *map(repr, each)] for row, each in rows_of(array))]
            (tmp_path / name).write_text("".join(",".join(row) + "\n" for row in rows))
        (tmp_path / "units.yaml").write_text(f"{UNITS}control: {{{law}}}\n")
        loop = kronbot.load(tmp_path / "units.yaml", parameters={"s": s}).linearize(equilibrium=True, closed_loop=True)
        assert loop.summary["controllable"] == loop.summary["observable"] == loop.summary["states"]
        found.append(loop["margins"][:, [0, 2]])
    assert found[1] == pytest.approx(found[0], rel=1e-9)


SAGGING = """
kronbot: 1
name: sagging
convention: standard
gravity: [0, -g, 0]
parameters: {g: 9.81}
links:
  - name: boom
    joint: {type: revolute, name: q1}
    dh: {a: 0.8, d: 0, alpha: 0, theta: 0.1}
    flexible: {mass: 0.5, EI: {z: 20}, modes: {v: 2}, shape: craig-bampton}
  - name: hand
    joint: {type: revolute, name: q2}
    dh: {a: 0.3, d: 0, alpha: 0, theta: 0}
    rigid: {mass: 1, com: [-0.1, 0, 0]}
elements:
  - {name: s, type: spring, between: [world, hand], stiffness: 10*g, rest: 0.3, points: [[0.4, 0.9, 0], [0, 0, 0]]}
control:
  q1: {pid: {kp: 300, kd: 25}, target: 0.4, gravity: flexible}
  q2: {pid: {kp: 40, kd: 3}, target: -0.5, gravity: flexible}
simulate: {duration: 1e-3, step: 1e-3}
"""


def test_weight_in_the_sag_is_that_of_two_steps_of_newton():
    """They square the error twice: half of the load leaves a fortieth of it; a stiffness that stays leaves more."""
    robot, at = kronbot.loads(SAGGING), {"q1": 0.4, "q2": -0.5}
    errors = []
    for g in (4.9, 2.45):
        other = robot.with_parameters(g=g)
        run, held = other.simulate(q=at), other.statics(q=at)
        errors.append([abs(run[f"torque.{joint}"][0] - held[f"torque.{joint}"][0]) / g for joint in at])
    assert (np.array(errors[1]) < np.array(errors[0]) / 30).all() and max(errors[1]) < 1e-5


def test_a_loop_about_where_it_does_not_rest_is_doubted():
    """Targets elsewhere, and a joint that nothing holds against its weight; a torque of the file that does is fine."""
    text = SAGGING.replace("  q2: {pid: {kp: 40, kd: 3}, target: -0.5, gravity: flexible}\n", "")
    robot = kronbot.loads(text)

    def told(robot, q):
        return [each for each in robot.linearize(q=q, equilibrium=True, closed_loop=True).warnings if "here" in each]

    loose = told(robot, {"q1": 0.4})
    held = robot.statics(q={"q1": 0.4})["torque.q2"][0]
    assert loose == [
        f"nothing of the file gives what holds q2 ({held:.6g} N m) here: the robot moves away from this posture"
    ]
    (elsewhere,) = told(kronbot.loads(SAGGING), {"q1": 0.4})
    assert elsewhere == "the targets are q2 = -0.5: the loop rests there, and here it is held by other torques"
    assert not told(kronbot.loads(SAGGING), {"q1": 0.4, "q2": -0.5})
    driven = text.replace("step: 1e-3", "step: 1e-3, drive: {q2: {torque: 1}}")
    assert not told(kronbot.loads(driven), {"q1": 0.4})


def test_samples_at_an_end_of_a_motion_hold_nothing_of_it():
    """What a sample holds at 0.3 s is that of an end there, also if that is 0.1 s + 0.2 s, a rounding later."""
    text = """
kronbot: 1
name: slider
gravity: [0, 0, 0]
parameters: {T: 0.2}
links: [{name: a, joint: {type: prismatic, name: q1}, pose: {xyz: [0, 0, 0], rpy: [0, pi/2, 0]}, rigid: {mass: 1}}]
motion: {q1: {type: polynomial, degree: 3, from: 0, to: 1, duration: T, start: 0.1}}
control: {sample_time: 0.1, q1: {pid: {kp: 1, kd: 1}}}
simulate: {drive: rigid-inverse-dynamics, duration: 0.5, step: 0.1}
"""
    assert 0.1 + (0.3 - 0.1) == 0.3 < 0.1 + 0.2
    exact, late = (kronbot.loads(text, parameters={"T": T}).simulate()["torque.q1"] for T in (0.3 - 0.1, 0.2))
    np.testing.assert_allclose(late, exact, rtol=1e-6)
