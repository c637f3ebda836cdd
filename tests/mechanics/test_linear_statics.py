"""The linear solver of statics on robots that have everything: what it leaves out is of the order that is told."""

import casadi
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_robots import coordinates, robots, to_yaml
from robots_in_tests import loaded, moving
from scipy.spatial.transform import Rotation
from thinned import rare

import kronbot
from kronbot.errors import ComputationError
from kronbot.mechanics.multibody.elements import lengths_and_tensions


def undeformed(model, posture):
    """Coordinates at joint values by name, where nothing is deformed."""
    return model.undeformed(np.array([posture.get(name.removesuffix(".motor"), 0.0) for name in model.coordinates]))


def slack(robot, order, rng):
    """The robot with all springs slack at some posture, and weight in proportion to e; the posture, of a base too."""
    if "base" in robot:
        stay = {"type": "spring", "between": ["world", "base"], "stiffness": 60.0}
        for i in range(6):
            points = [rng.uniform(1, 3, 3) * rng.choice([-1, 1], 3), rng.uniform(-0.5, 0.5, 3)]
            robot["elements"].append({"name": f"stay{i}", "points": [each.tolist() for each in points], **stay})
    for each in robot["elements"]:
        each.pop("force", None)
        each |= {"type": "spring", "rest": 1.0, "stiffness": each.get("stiffness", 30.0)}
    joints = {link["joint"]["name"]: link["joint"] for link in robot["links"] if link["joint"]["type"] != "fixed"}
    posture = {
        name: rng.uniform(0.3, 1) * scale * (0.3 if name.startswith("base") else 1)
        for name, _, scale in coordinates(robot, order)
        if name.startswith("base") or name in joints and "follows" not in joints[name]
    }
    for name, joint in joints.items():
        if "spring" in joint:
            joint["spring"]["rest"] = posture.get(name, 0.0)
            if "follows" in joint:
                del joint["spring"]
    robot |= {"parameters": {"e": 1}, "gravity": [f"{float(each)}*e" for each in robot["gravity"]]}
    model = kronbot.loads(to_yaml(robot), order=order).model
    q = undeformed(model, posture)
    words = [f"element {each['name']}" for each in robot["elements"]]

    def stretched(state, _):
        found = lengths_and_tensions(state)
        return casadi.vertcat(*(found[word][0] for word in words))

    for each, length in zip(
        robot["elements"], np.ravel(moving(model, lengths=stretched)(q, q, q)["lengths"]), strict=True
    ):
        each["rest"] = float(length)
    return kronbot.loads(to_yaml(robot), order=order), posture


@pytest.mark.slow
@settings(max_examples=2)
@given(
    robots(max_links=2, max_coordinates=2, joined=True, yielding=True)
    | robots(max_links=1, max_coordinates=1, joined=True, yielding=True, floating=True),
    st.sampled_from(["1", "2"]),
    st.integers(0, 10**6),
)
def test_torques_are_of_first_and_of_second_order(robot, order, seed):
    """Half of the load leaves a quarter of the error of torques and an eighth of that of torque_quadratic, or less."""
    rng = np.random.default_rng(seed)
    robot, posture = slack(robot, order, rng)
    wrench = rng.normal(size=6)
    names = [joint.name for joint in robot.model.joints]
    still = dict(zip(robot.coordinates, undeformed(robot.model, posture), strict=True))

    def answer(load, solver):
        on = {"endpoint": (load * wrench).tolist()}
        return robot.with_parameters(e=load).statics(q=posture, loads=on, solver=solver)

    load, newton = 1.0, None
    while (
        newton is None
        or max((abs(newton[name][0] - still[name]) for name in newton if name in still), default=0) > 0.003
    ):
        load /= 4
        assert load > 1e-7
        try:
            newton = answer(load, "newton")
        except ComputationError:
            newton = None
    errors = []
    for share in (1, 0.5):
        newton, linear = (answer(share * load, solver) for solver in ("newton", "linear"))
        size = max(abs(newton[f"torque.{name}"][0]) for name in names)
        errors.append(
            [
                max(abs(linear[f"{word}.{name}"][0] - newton[f"torque.{name}"][0]) for name in names)
                for word in ("torque", "torque_quadratic")
            ]
        )
    (first, second), (first_half, second_half) = errors
    rounding = 1e-11 * (size + 100.0)  # of stiffnesses of so many N/m
    assert first_half < max(first / 3.5, rounding)
    assert second_half < max(second / 6.5, rounding)


STAYED = """
kronbot: 1
name: stayed
convention: standard
gravity: [0, 0, 0]
links:
  - name: a
    joint: {type: revolute, name: q}
    dh: {a: 1, d: 0, alpha: 0, theta: 0}
    flexible: {mass: 1, EI: {z: 50}, modes: {v: 2}, shape: polynomial}
elements:
  - {name: e, type: spring, between: [world, a], points: [[0, 1, 0], [0, 0, 0]], stiffness: 100, rest: sqrt(2)}
"""


@pytest.mark.slow
def test_an_oblique_spring_at_a_beams_tip_couples_torque_and_deflection():
    """The spring has a torque in the first order of the deflection, so that the second order of this counts."""
    robot, errors = kronbot.loads(STAYED), []
    for load in (0.1, 0.05):
        asked = {"q": [0], "loads": {"endpoint": [-20 * load, 30 * load, 0]}}
        torque = robot.statics(**asked)["torque.q"][0]
        linear = robot.statics(**asked, solver="linear")
        errors.append([linear[f"{word}.q"][0] - torque for word in ("torque", "torque_quadratic")])
    assert np.divide(*errors) == pytest.approx([4, 8], rel=0.1)


# On six springs, whose places and lengths are parameters.
HUNG = f"""
kronbot: 1
name: hung
gravity: [0, 0, 0]
parameters: {{{", ".join(f"{word}{i}: 1" for i in range(6) for word in [*"abcdef", "rest"])}}}
base: {{type: floating, rigid: {{mass: 3}}}}
links: [{{name: arm, joint: {{type: revolute, name: q1}}, pose: {{}}, rigid: {{mass: 1}}}}]
endpoint: {{position: [0.3, 0.1, 0]}}
elements:
""" + "\n".join(
    f"  - {{name: e{i}, type: spring, between: [world, base], points: [[a{i}, b{i}, c{i}], [d{i}, e{i}, f{i}]], "
    f"stiffness: {100 + i}, rest: rest{i}}}"
    for i in range(6)
)


@pytest.mark.parametrize("turned", [rare([0, 0, 0]), rare([0.3, -0.2, 0.5])])
def test_a_hung_base_moves_from_where_it_is_given(turned):
    """The same answer as of springs that are shifted back; and near Newton's where it is turned."""
    rng = np.random.default_rng(7)
    place, points = np.array([0.4, -0.3, 0.2]), rng.uniform(-1, 1, (6, 2, 3))
    about_x, about_y, about_z = (Rotation.from_rotvec(each) for each in np.diag(turned))
    turn = about_z * about_y * about_x

    def hung(place, turn):
        numbers = {}
        for i, (far, near) in enumerate((place + turn.apply(far + [0, 0, 2]), near) for far, near in points):
            numbers |= dict(zip((f"{word}{i}" for word in "abcdef"), [*far.tolist(), *near.tolist()], strict=True))
            numbers[f"rest{i}"] = float(np.linalg.norm(far - place - turn.apply(near)))
        return loaded(HUNG).with_parameters(**numbers)

    there, here = hung(place, turn), hung(np.zeros(3), Rotation.identity())
    at = {
        "q1": 0.3,
        **dict(zip([f"base.{word}" for word in ("x", "y", "z", "rx", "ry", "rz")], [*place, *turned], strict=True)),
    }
    force, apart = np.array([1.0, -2.0, 3.0]), []
    for load in (0.1, 0.05):
        found = there.statics(q=at, forces=[(load * turn.apply(force)).tolist()], solver="linear")
        if not any(turned):
            shifted = here.statics(q=[0.3], forces=[(load * force).tolist()], solver="linear")
            for word in ("torque.q1", "torque_quadratic.q1"):
                assert found[word] == pytest.approx(shifted[word], rel=1e-12)
            assert found["endpoint.x"] - place[0] == pytest.approx(shifted["endpoint.x"], rel=1e-12)
        newton = there.statics(q=at, forces=[(load * turn.apply(force)).tolist()])
        apart.append([found[word][0] - newton["torque.q1"][0] for word in ("torque.q1", "torque_quadratic.q1")])
    assert (np.divide(*apart) > [3.7, 7]).all()
