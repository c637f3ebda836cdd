"""What rows of ``statics`` say: gauges, reactions, displacements, compliance, stability, each by another road."""

import json

import casadi
import numpy as np
import pytest
import rods
import yaml
from oracles import Lagrangian
from robots_in_tests import loaded, turning
from scipy.integrate import solve_ivp
from scipy.optimize import brentq
from thinned import rare

from kronbot import load, loads
from kronbot.cli.main import run as kronbot
from kronbot.errors import UsageError
from kronbot.mechanics.static.compliance import yielding

LENGTH, ROOT, EI_Y, EI_Z, GJ = 1.3, 0.2, 2.0, 0.7, 1.1
CLAMPED = f"""
kronbot: 1
name: clamped
convention: standard
gravity: [0, 0, 0]
links:
  - name: b
    joint: {{type: fixed}}
    dh: {{a: {LENGTH + ROOT}, d: 0, alpha: 0, theta: 0}}
    flexible: {{mass: 1, EI: {{y: {EI_Y}, z: {EI_Z}}}, GJ: {GJ}, modes: {{v: 8, w: 8, torsion: 8}},
               shape: legendre, root: {ROOT}}}
statics: {{gauges: [{{name: low, link: b, x: 0.1}}, {{name: high, link: b, x: 0.9}}]}}
"""


def clamped(order, **replaced):
    text = CLAMPED
    for old, new in replaced.items():
        text = text.replace(f"{old}: 8", f"{old}: {new}")
    return loaded(text, order)


def row(answer, *columns):
    """The one row of an answer."""
    return np.array([answer.series[name][0] for name in columns])


# ------------------------------------------------------------------------------------------------------ gauges


@pytest.mark.parametrize("order", ["1", "2", rare("exact")])
def test_gauges_of_a_small_load_are_moments_over_stiffness(order):
    """m(s) = M + (l - s) e1 x F: kappa = (m_x/GJ, m_y/EI_y, m_z/EI_z), whose signs are those of alpha', -w'', v''."""
    small = 1e-6
    F, M = small * np.array([0.0, 1.0, -2.0]), small * np.array([0.5, 0.3, -0.8])
    answer = clamped(order, v=2, w=2, torsion=1).statics(forces=[F], moments=[M])
    for gauge, s in (("low", 0.1), ("high", 0.9)):
        m = M + np.cross([LENGTH - s, 0, 0], F)
        found = row(answer, f"twist.{gauge}", f"curvature_y.{gauge}", f"curvature.{gauge}")
        # The shapes hold these curvatures exactly; what is left of the second order is 1e-6 of it.
        assert found == pytest.approx(m / [GJ, EI_Y, EI_Z], rel=1e-5)
    tip = row(answer, "tip.b.rx", "tip.b.ry", "tip.b.rz")
    total = M * LENGTH + np.cross([LENGTH**2 / 2, 0, 0], F)
    assert tip == pytest.approx(total / [GJ, EI_Y, EI_Z], rel=1e-5)


@pytest.mark.slow
def test_gauges_of_a_large_load_are_those_of_kirchhoffs_rod():
    """A dead force and moment in space that bend by more than half a radian and twist."""
    force, moment = (-0.3, 0.6, -0.9), (0.3, -0.2, 0.25)
    answer = clamped("exact", v=4, w=4, torsion=4).statics(forces=[force], moments=[moment])
    rod = rods.kirchhoff_rod(LENGTH, EI_Y, EI_Z, GJ, force, moment)
    for gauge, s in (("low", 0.1), ("high", 0.9)):
        found = row(answer, f"twist.{gauge}", f"curvature_y.{gauge}", f"curvature.{gauge}")
        # Four shapes a direction: 1e-5 in the tip, two derivatives more in a curvature.
        assert found == pytest.approx(rod.at(s)[2], abs=5e-3)
        assert np.abs(rod.at(s)[2]).min() > 1e-2
    assert row(answer, "tip.b.x", "tip.b.y", "tip.b.z") == pytest.approx(rod.r - [LENGTH, 0, 0], abs=1e-4)
    assert row(answer, "reaction.mx", "reaction.my", "reaction.mz") == pytest.approx(
        -rod.root_moment - np.cross([ROOT, 0, 0], force), abs=1e-4
    )


def test_gauges_relative_to_a_calibration():
    """Each relative column is its gauge less the gauge under gravity alone at the angles of the calibration."""
    text = CLAMPED.replace("joint: {type: fixed}", "joint: {type: revolute, name: q}").replace(
        "[0, 0, 0]", "[1, -2, 3]"
    )
    robot = loads(text.replace("v: 8, w: 8, torsion: 8", "v: 3, w: 3, torsion: 2"))
    more = {"loads": {"b": [0, 0.1, 0]}, "distributed": {"b": [0, 0, 0.1]}}
    answer = robot.statics({"q": 0.4}, forces=[[0.1, 0.2, 0.3]], moments=[[0.1, 0, 0]], calibration={"q": -0.3}, **more)
    zero = robot.statics({"q": -0.3}, forces=[[0, 0, 0]])
    for word in ("twist", "curvature_y", "curvature"):
        name, relative = f"{word}.high", f"{word}_relative.high"
        assert row(answer, relative) == pytest.approx(row(answer, name) - row(zero, name), abs=1e-12)
        assert abs(row(answer, relative)[0]) > 1e-4


# ------------------------------------------------------------------------------------- resultants, displacements

ARM = """
kronbot: 1
name: arm
convention: standard
gravity: [0.7, -9.81, 1.3]
links:
  - name: upper
    joint: {type: revolute, name: q1}
    dh: {a: 1.3, d: 0.1, alpha: pi/2, theta: 0.2}
    flexible: {mass: 2, EI: {y: 90, z: 70}, GJ: 50, modes: {v: 2, w: 2, torsion: 1}, root: 0.1, shape: legendre}
    hub: {mass: 0.5, com: [0.03, 0.02, -0.04]}
    payload: {mass: 0.4, com: [0.02, 0.01, 0.05]}
  - name: fore
    joint: {type: revolute, name: q2}
    dh: {a: 0.8, d: 0.05, alpha: -pi/2, theta: 0.4}
    flexible: {mass: 0.7, EI: {y: 40, z: 50}, GJ: 20, modes: {v: 2, w: 2}, shape: legendre}
    payload: {mass: 0.3}
  - name: side
    parent: upper
    joint: {type: fixed}
    dh: {a: 0.3, d: 0, alpha: 0, theta: 1}
    rigid: {mass: 0.9, com: [0.1, 0, 0.2]}
endpoint: {link: fore, position: [0.05, 0.1, -0.03]}
"""
PLACE = {"q1": 0.7, "q2": -1.1}
MODAL = ("upper.v1", "upper.v2", "upper.w1", "upper.w2", "upper.t1", "fore.v1", "fore.v2", "fore.w1", "fore.w2")


def first_moment(text, q, **masses):
    """sum m r (3,) of the oracle's particles at q; ``masses`` of beams in place of the file's, nothing else weighs."""
    entry = yaml.safe_load(text)
    if masses:
        for link in entry["links"]:
            for body in ("hub", "payload", "rigid"):
                link.pop(body, None)
            if "flexible" in link:
                link["flexible"]["mass"] = masses.get(link["name"], 0)
    oracle = Lagrangian(entry, 2)
    total = sum((mass * r for mass, r in oracle.particles), casadi.SX.zeros(3))
    return np.array(casadi.Function("first", [oracle.q], [total])(q)).ravel()


@pytest.mark.slow
def test_the_base_bears_the_resultant_of_weight_loads_and_distributed_loads():
    """Force and moment about the origin in space: every particle's weight, and a force along a beam as its weight."""
    force, moment, along = np.array([3.0, -2.0, 4.0]), np.array([0.4, -0.6, 0.3]), np.array([2.0, -3.0, 5.0])
    on_side = np.array([1.0, 2.0, -1.5, 0.2, 0.3, -0.4])
    answer = loaded(ARM).statics(
        PLACE, forces=[force], moments=[moment], distributed={"upper": along}, loads={"side": on_side}
    )
    q = row(answer, "angle.q1", *MODAL[:5], "angle.q2", *MODAL[5:])
    oracle = Lagrangian(yaml.safe_load(ARM), 2)
    end, side = (oracle.frame(q, *frame)[0] for frame in (("fore", "tip", (0.05, 0.1, -0.03)), ("side",)))
    g, mass, length = np.array([0.7, -9.81, 1.3]), 2 + 0.5 + 0.4 + 0.7 + 0.3 + 0.9, 1.2
    total = mass * g + force + length * along + on_side[:3]
    about = np.cross(first_moment(ARM, q), g) + np.cross(end, force) + moment
    about += np.cross(first_moment(ARM, q, upper=length), along) + np.cross(side, on_side[:3]) + on_side[3:]
    assert row(answer, "reaction.fx", "reaction.fy", "reaction.fz") == pytest.approx(-total, rel=1e-12)
    assert row(answer, "reaction.mx", "reaction.my", "reaction.mz") == pytest.approx(-about, rel=1e-11)


def test_displacements_of_a_two_link_arm():
    """From the rigid arm's endpoint to the flexible one's, in the base and in the frame that the first joint turns."""
    answer = loaded(ARM).statics(PLACE, forces=[[3, -5, 8]])
    q = row(answer, "angle.q1", *MODAL[:5], "angle.q2", *MODAL[5:])
    oracle, rigid = Lagrangian(yaml.safe_load(ARM), 2), Lagrangian(yaml.safe_load(ARM), 0)
    point = ("fore", "tip", (0.05, 0.1, -0.03))
    moved = oracle.frame(q, *point)[0] - rigid.frame([PLACE["q1"], PLACE["q2"]], *point)[0]
    assert np.abs(moved).min() > 5e-3
    assert row(answer, *(f"displacement.{axis}" for axis in "xyz")) == pytest.approx(moved, abs=1e-12)
    # The root frame of the link on the base stands right after q1: turned by theta + q1 about z.
    c, s = np.cos(0.2 + PLACE["q1"]), np.sin(0.2 + PLACE["q1"])
    seen = np.array([[c, s, 0], [-s, c, 0], [0, 0, 1]]) @ moved
    assert row(answer, *(f"displacement_hub.{axis}" for axis in "xyz")) == pytest.approx(seen, abs=1e-12)


@pytest.mark.parametrize("order", ["1", "2"])
def test_the_tip_of_a_beam_with_a_root_is_measured_from_where_it_is_straight(order):
    """tip.x is the foreshortening alone, -1/2 int v'^2 dx to second order, in statics and in a simulation."""
    robot = clamped(order, v=2, w=0, torsion=0)
    assert row(robot.statics(forces=[[0, 0, 0]]), "tip.b.x", "tip.b.y", "tip.b.z") == pytest.approx(
        [0, 0, 0], abs=1e-15
    )
    P = 1e-2
    answer = robot.statics(forces=[[0, P, 0]])
    shortening = 0 if order == "1" else P**2 * LENGTH**5 / (15 * EI_Z**2)
    assert row(answer, "tip.b.x")[0] == pytest.approx(-shortening, rel=1e-3, abs=1e-15)
    assert row(answer, "endpoint.x")[0] == pytest.approx(LENGTH + ROOT - shortening, abs=1e-3 * P**2)
    series = robot.simulate(duration=0.2, step=0.1, q={"b.v1": 0.05}).series
    assert series["tip.b.x"] == pytest.approx(series["endpoint.x"] - (LENGTH + ROOT), abs=1e-14)
    assert series["tip.b.y"] == pytest.approx(series["endpoint.y"], abs=1e-14)


# -------------------------------------------------------------------------------------------------- compliance


def test_compliance_and_stiffness_of_a_cantilever():
    """l^3/3EI, l^2/2EI, l/EI, l/GJ, and 12EI/l^3, 6EI/l^2, 4EI/l; it does not yield along its axis."""
    answer = clamped("1", v=2, w=2, torsion=1).statics(forces=[[0, 0, 0]])
    C, S = np.zeros((6, 6)), np.zeros((6, 6))
    for EI, i, j, sign in ((EI_Z, 1, 5, 1), (EI_Y, 2, 4, -1)):
        C[i, i], C[j, j], C[i, j] = LENGTH**3 / (3 * EI), LENGTH / EI, sign * LENGTH**2 / (2 * EI)
        S[i, i], S[j, j], S[i, j] = 12 * EI / LENGTH**3, 4 * EI / LENGTH, -sign * 6 * EI / LENGTH**2
        C[j, i], S[j, i] = C[i, j], S[i, j]
    C[3, 3], S[3, 3] = LENGTH / GJ, GJ / LENGTH
    assert answer["compliance"] == pytest.approx(C, rel=1e-12, abs=1e-14)
    assert answer["stiffness"] == pytest.approx(S, rel=1e-10, abs=1e-10)
    assert answer.summary["yielding_directions"] == 5


@pytest.mark.parametrize("scale", [1e-6, rare(1.0), rare(1e3)])
def test_stiffness_is_the_pseudo_inverse_of_the_compliance_in_any_units(scale):
    """C S C = C and S C S = S of a bent arm in space, a metre, a kilometre or a micrometre long."""
    text = ARM.replace("gravity: [0.7, -9.81, 1.3]", "gravity: [0, 0, 0]")
    entry = yaml.safe_load(text)
    for link in entry["links"]:
        link["dh"] |= {"a": scale * link["dh"]["a"], "d": scale * link["dh"]["d"]}
        if "flexible" in link:
            link["flexible"]["root"] = scale * link["flexible"].get("root", 0)
    entry["endpoint"]["position"] = [scale * value for value in entry["endpoint"]["position"]]
    force = 4 / scale**2
    answer = loads(json.dumps(entry)).statics(PLACE, forces=[[force, force, -force]])
    C, S = answer["compliance"], answer["stiffness"]
    unit = np.outer(*[np.sqrt(np.diag(C))] * 2)  # metres and radians weighed by what each yields
    assert np.abs((C @ S @ C - C) / unit).max() < 1e-9
    assert np.abs((S @ C @ S - S) * unit).max() < 1e-9 * np.abs(S * unit).max()
    assert answer.summary["yielding_directions"] == 6


def test_a_plane_of_symmetry_has_nothing_to_do_with_what_lies_across_it():
    """S = J^-T K J^-1 of soft and stiff springs, some in the plane x-z, others across: 0 between them, not rounding."""
    K, J = np.diag([1.0, 3e4, 2e6, 5.0, 1e4, 7e6]), np.zeros((6, 6))
    J[np.ix_([0, 2, 4], [0, 1, 2])] = [[1.0, 0.3, -0.2], [0.5, 1.0, 0.7], [-0.4, 0.2, 1.0]]
    J[np.ix_([1, 3, 5], [3, 4, 5])] = [[1.0, -0.6, 0.1], [0.2, 1.0, 0.8], [0.9, -0.3, 1.0]]
    found = yielding(K, J)
    inverse, across = np.linalg.inv(J), np.ix_([0, 2, 4], [1, 3, 5])
    expected, S = inverse.T @ K @ inverse, found.stiffness
    assert np.abs(S - expected).max() < 1e-8 * np.abs(expected).max()
    assert not S[across].any() and not S.T[across].any()
    assert found.directions == 6


def test_units_of_compliance_and_stiffness_cancel():
    """Entry (i, j) of C times entry (j, i) of S has no unit; N m of a moment belongs to rad."""
    arrays = clamped("2", v=2, w=2, torsion=1).statics(forces=[[0, 1, 0]]).arrays
    C, S = arrays["compliance"], arrays["stiffness"]
    assert C.rows == C.columns == S.rows == S.columns == ("x", "y", "z", "rx", "ry", "rz")
    assert C.plain_units == {"rows": ["m"] * 3 + ["rad"] * 3, "columns": ["1/N"] * 3 + ["1/(N m)"] * 3}
    assert S.plain_units == {"rows": ["N"] * 3 + ["N m"] * 3, "columns": ["1/m"] * 3 + ["1/rad"] * 3}


# --------------------------------------------------------------------------------------------------- stability

PENDULUM = turning("rigid: {mass: 2}", length=0.5, joint="q", gravity=9.81)


def test_an_inverted_pendulum_without_torque_is_not_stable():
    """Its stiffness about the upper equilibrium is -m g l, about the lower one m g l."""
    robot = loaded(PENDULUM)
    for q, stable in ((1.5, False), (-1.5, True)):
        answer = robot.statics({"q": q}, forces=[[0, 0, 0]], tau={"q": 0.0})
        assert answer.summary["stable"] is stable
        assert row(answer, "angle.q")[0] == pytest.approx(np.copysign(np.pi / 2, q), abs=1e-9)
        # What yields is x of the endpoint, by l^2/(-+m g l).
        assert answer["compliance"][0, 0] == pytest.approx(np.copysign(0.25 / (2 * 9.81 * 0.5), -q), rel=1e-9)
        assert "unstable_cases" not in answer.summary


def test_one_soft_direction_among_stiff_ones_is_not_stable():
    """A straight column between its first and second critical load, which a start of order 2 leads to."""
    robot = clamped("2", v=3, w=0, torsion=0)
    for push, stable in ((0.8, True), (1.2, False)):
        answer = robot.statics({"b.v1": 0.01}, forces=[[-push * rods.euler_column(LENGTH, EI_Z), 0, 0]])
        assert row(answer, "tip.b.y")[0] == pytest.approx(0, abs=1e-12)
        assert answer.summary["stable"] is stable


def test_equilibria_that_a_disturbance_leaves_are_counted():
    """Of three upward pulls on an inverted pendulum of 19.62 N, two are too weak to hold it."""
    pulls = [[0, 5, 0], [0, 15, 0], [0, 25, 0]]
    robot = loaded(PENDULUM)
    up = robot.statics({"q": 1.5}, forces=pulls, tau={"q": 0.0})
    assert up.summary["unstable_cases"] == 2
    assert up["angle.q"] == pytest.approx([np.pi / 2] * 3, abs=1e-9)
    assert robot.statics({"q": -1.5}, forces=pulls, tau={"q": 0.0}).summary["unstable_cases"] == 1
    assert "unstable_cases" not in robot.statics({"q": -1.5}, forces=pulls[:2], tau={"q": 0.0}).summary


@pytest.mark.slow
@pytest.mark.parametrize(("push", "side"), [(1.1, 0.002), (1.3, -0.01), (2.5, 0.3)])
def test_newton_stays_on_the_branch_of_the_growing_load(push, side):
    """Beyond Euler's load a column has three equilibria; a small side force decides where the path leads.

    Newton's method jumps where it starts beyond the singular stiffness of the straight column: its first correction has
    the sign of the stiffness, the wrong one.
    """
    load = push * rods.euler_column(LENGTH, EI_Z)
    answer = clamped("exact", v=5, w=0, torsion=0).statics(forces=[[-load, side, 0]])
    rod = rods.planar_elastica(LENGTH, EI_Z, (-load, side))
    assert np.sign(rod.y) == np.sign(side) and abs(rod.y) > 0.3
    # Five shapes: 1e-6 of the load, which so close to the critical one is some 1e-5 of the deflection.
    assert row(answer, "tip.b.x", "tip.b.y", "tip.b.rz") == pytest.approx([rod.x - LENGTH, rod.y, rod.psi], abs=1e-3)
    assert answer.summary["stable"] is True


# ---------------------------------------------------------------------------------------------------- buckling


def critical(weight):
    """Smallest p of psi'' + (p + weight (1 - s)) psi = 0, psi(0) = 0, psi'(1) = 0."""

    def slope(p):
        def rate(s, y):
            return [y[1], -(p + weight * (1 - s)) * y[0]]

        return solve_ivp(rate, (0, 1), [0, 1], method="DOP853", rtol=1e-12, atol=1e-13).y[1, -1]

    return brentq(slope, -10.0 if weight > 0 else 0.1, 8.0, xtol=1e-12)


@pytest.mark.parametrize(
    ("share", "solver"), [(-1.5, "newton"), (0.6, "newton"), rare(-1.5, "linear"), rare(0.6, "linear")]
)
def test_a_column_that_bears_its_weight_beside_a_load(share, solver):
    """The load is multiplied, the weight is not: a share of what would buckle it alone, or hanging (negative)."""
    weight = share * rods.heavy_column(LENGTH, EI_Z)
    text = CLAMPED.replace("gravity: [0, 0, 0]", f"gravity: [{-weight * LENGTH}, 0, 0]")
    robot = loads(text.replace("v: 8, w: 8, torsion: 8", "v: 7"), order="2")
    wanted = critical(weight * LENGTH**3 / EI_Z) * EI_Z / LENGTH**2
    found = robot.statics(forces=[[-0.3, 0, 0]], buckling=True, solver=solver).summary
    assert found["buckling_factor"] == pytest.approx(wanted / 0.3, rel=1e-6)


@pytest.mark.parametrize("solver", ["newton", "linear"])
def test_a_beam_in_tension_has_no_factor(solver):
    summary = clamped("2", v=3, w=0, torsion=0).statics(forces=[[5, 0, 0]], buckling=True, solver=solver).summary
    assert summary["buckling"].startswith("none")
    assert "buckling_factor" not in summary


# ------------------------------------------------------------------------------------------------------ orders

TWO = """
kronbot: 1
name: two
convention: standard
gravity: [0.7, -9.81, 1.3]
links:
  - name: upper
    joint: {type: revolute, name: q1}
    dh: {a: 1.1, d: 0.1, alpha: pi/2, theta: 0.2}
    flexible: {mass: 2, EI: {z: 70}, modes: {v: 1}, shape: legendre}
  - name: fore
    joint: {type: revolute, name: q2}
    dh: {a: 0.8, d: 0.05, alpha: 0, theta: 0.4}
    rigid: {mass: 0.7, com: [-0.3, 0, 0]}
"""


def ask(capsys, file, *arguments):
    assert kronbot(["statics", str(file), *arguments, "--format", "json"]) == 0
    return json.loads(capsys.readouterr().out, parse_constant=pytest.fail)


def test_all_orders_are_the_orders_one_by_one(tmp_path, capsys):
    """A torque finds its joint although coordinates of the orders have other places; rows and columns are theirs."""
    file = tmp_path / "two.yaml"
    file.write_text(TWO)
    asked = ["--q", "q1=0.7,q2=-1.1", "--tau", "q2=0.5", "--forces", "1,2,0;2,1,3"]
    answer = ask(capsys, file, *asked, "--order", "all")
    assert answer["summary"]["complete"] is True and answer["summary"]["cases"] == 8
    given = {"q": {"q1": 0.7, "q2": -1.1}, "tau": {"q2": 0.5}, "forces": [[1, 2, 0], [2, 1, 3]]}
    robot = load(file)
    of_library = robot.statics(order="all", **given)
    assert json.loads(json.dumps(of_library.to_dict())) == answer
    with pytest.raises(UsageError, match="one order"):
        robot.statics(order="all", buckling=True)
    together = answer["series"]
    for order in ("0", "1", "2", "exact"):
        rows = [i for i, each in enumerate(together["order"]) if each == order]
        series = robot.statics(order=order, **given).series
        assert series["torque.q2"] == pytest.approx([0.5, 0.5], abs=1e-8)
        for name, column in together.items():
            if name != "order":
                wanted = series.get(name, [0.0, 0.0])
                assert [column[i] for i in rows] == pytest.approx(wanted, abs=1e-9), (order, name)


def test_a_start_is_that_of_every_order():
    """A column beyond its load, started bent to either side, stays bent at order exact: the buckled elastica."""
    text = CLAMPED.replace("joint: {type: fixed}", "joint: {type: revolute, name: q}")
    robot = loads(text.replace("v: 8, w: 8, torsion: 8", "v: 4"), order="exact")
    load = 1.2 * rods.euler_column(LENGTH, EI_Z)
    x, y, _ = rods.elastica_by_elliptic_integrals(LENGTH, EI_Z, load, np.pi)
    for side in (1, -1):
        near = robot.statics([0], forces=[[-load, side * 1e-4, 0]]).at["q"]
        answer = robot.statics(near, forces=[[-load, 0, 0]], order="all")
        together = answer.series
        assert answer.summary["start.2"].startswith("the modal coordinates given")
        assert together["tip.b.y"][:3] == pytest.approx([0, 0, 0], abs=1e-12)
        assert together["tip.b.y"][3] == pytest.approx(side * y, abs=1e-4)
        assert together["endpoint.x"][3] == pytest.approx(x + ROOT, abs=1e-4)


@pytest.mark.slow
def test_orders_of_which_one_has_no_equilibrium_are_not_complete(tmp_path, capsys):
    """Order 1 feels no axial load, orders 2 and exact buckle: exit 1, the rows that there are, not complete."""
    file, target = tmp_path / "column.yaml", tmp_path / "out.json"
    file.write_text(CLAMPED.replace("v: 8, w: 8, torsion: 8", "v: 1"))
    load = 1.5 * rods.euler_column(LENGTH, EI_Z)
    asked = ["statics", str(file), "--forces", f"0,0,0;{-load},0,0", "--order", "all"]
    assert kronbot([*asked, "-o", str(target)]) == 1
    answer = json.loads(target.read_text())
    assert answer["summary"]["complete"] is False
    assert answer["series"]["order"] == ["0", "0", "1", "1", "2", "exact"]
    assert answer["summary"]["cases.2"] == answer["summary"]["cases.exact"] == 1
    assert "\nError: order 2: case 2: " in capsys.readouterr().err
    assert kronbot([*asked[:3], f"{-load},0,0", *asked[4:], "--format", "json"]) == 1  # no case at all at order 2
    answer = json.loads(capsys.readouterr().out)
    assert answer["series"]["order"] == ["0", "1"] and answer["summary"]["cases.2"] == 0
    assert "arrays" not in answer
    assert kronbot(["statics", str(file), "--forces", "0,0.01,0", "--order", "all", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["summary"]["complete"] is True


@pytest.mark.parametrize("turn", ["pi/2", rare("pi"), rare("-pi/2"), "2*pi/3"])
def test_the_stiffness_turns_with_the_arm(turn):
    """A straight arm without gravity in two postures: one tensor, also where rounding leaves cos(pi/2) = 6e-17."""
    robot = load("canadarm")
    flat, turned = (robot.statics(q={"q1": angle}, forces=[[0, 0, 0]]) for angle in (0, turn))
    c, s = np.cos(turned["angle.q1"][0]), np.sin(turned["angle.q1"][0])
    R = np.kron(np.eye(2), [[c, -s, 0], [s, c, 0], [0, 0, 1]])
    assert flat.summary["yielding_directions"] == turned.summary["yielding_directions"] == 2
    for name in ("compliance", "stiffness"):
        assert turned[name] == pytest.approx(R @ flat[name] @ R.T, abs=1e-9 * np.abs(flat[name]).max())


def test_the_linear_solver_starts_from_straight_beams():
    """A modal coordinate would be forgotten without a word."""
    with pytest.raises(UsageError, match="give joints only"):
        load("piedboeuf").statics(q={"arm.v1": 0.1}, solver="linear")
