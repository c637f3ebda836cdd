"""Buckling and stability of equilibria: closed forms, loads beyond the critical one, and moments in space."""

import mpmath as mp
import numpy as np
import pytest
import rods
from robots_in_tests import loaded
from scipy.spatial.transform import Rotation
from thinned import rare, thinned

from kronbot import loads
from kronbot.errors import ComputationError
from kronbot.mechanics.static.critical import at_end, of_pencil
from kronbot.mechanics.static.equilibrium import Lost, Path
from kronbot.mechanics.static.tangent import Tangent, to_unit

COLUMN = """
kronbot: 1
name: column
convention: standard
gravity: [g, 0, 0]
parameters: {g: 0}
links:
  - name: b
    joint: {type: fixed}
    dh: {a: 0.9, d: 0, alpha: 0, theta: 0}
    flexible: {mass: 1, EI: {y: 6, z: 9}, GJ: 4, polar_inertia: 0.01, modes: {v: MODES, w: 4, torsion: 1},
               shape: legendre}
"""
EULER = rods.euler_column(0.9, 6)


def column(gravity=0.0, modes=2):
    return loaded(COLUMN.replace("MODES", str(modes))).with_parameters(g=gravity)


@pytest.mark.parametrize(
    ("solver", "share"),
    thinned(
        [(solver, share) for solver in ("newton", "linear") for share in (0.5, 0.99, 1.01, 3.0)],
        [("newton", 1.01), ("linear", 0.99)],
    ),
)
def test_a_column_loaded_beyond_its_critical_load_answers_with_the_factor(share, solver):
    """Euler's load over the load, below one where nothing holds the load; without --buckling that is an error."""
    answer = column().statics(forces=[[-share * EULER, 0, 0]], solver=solver, buckling=True)
    assert answer.summary["buckling_factor"] == pytest.approx(1 / share, rel=1e-5)
    assert answer.summary["complete"] is True
    if share < 1 or solver == "linear":
        assert answer.summary["stable"] is (share < 1)
        return
    assert answer.summary["cases"] == 0
    assert answer.summary["equilibrium"].startswith("none under the whole load")
    with pytest.raises(ComputationError, match="no stable path of equilibria"):
        column().statics(forces=[[-share * EULER, 0, 0]])


@pytest.mark.parametrize("solver", ["newton", "linear"])
def test_in_tension_nothing_buckles(solver):
    summary = column().statics(forces=[[EULER, 0, 0]], solver=solver, buckling=True).summary
    assert summary["buckling"].startswith("none")
    assert "buckling_factor" not in summary
    assert summary["stable"] is True


@pytest.mark.parametrize("solver", ["newton", "linear"])
def test_weight_beside_a_load_is_not_multiplied(solver):
    """A heavy column bears less at its tip: w'' EI + (P + q (l - x)) w' = 0 by Rayleigh's quotient of many powers."""
    weight = 8.0
    powers = np.arange(1, 9)  # of x/l in w', which vanishes at the root
    i, j = np.meshgrid(powers, powers)
    bending = 6 / 0.9**2 * i * j / (i + j - 1)
    load, own = 1 / (i + j + 1), weight * (1 / (i + j + 1) - 1 / (i + j + 2))
    critical = np.linalg.eigvals(np.linalg.solve(load, bending - own)).real.min()
    assert critical < 0.9 * EULER
    summary = column(gravity=-weight).statics(forces=[[-2.0, 0, 0]], solver=solver, buckling=True).summary
    assert summary["buckling_factor"] == pytest.approx(critical / 2, rel=1e-5)
    hanging = column(gravity=weight).statics(forces=[[-2.0, 0, 0]], solver=solver, buckling=True).summary
    assert hanging["buckling_factor"] > EULER / 2


def test_unstable_equilibria_are_counted():
    """Of straight columns under 0.5, 1.5, 2 times Euler's load two stay upright only in theory."""
    forces = [[-share * EULER, 0, 0] for share in (0.5, 1.5, 2.0)]
    assert "unstable_cases" not in column().statics(forces=forces[:1] * 2).summary
    pendulum = """
kronbot: 1
name: pendulum
convention: standard
gravity: [0, -9.81, 0]
links:
  - name: rod
    joint: {type: revolute, name: q1}
    dh: {a: 1, d: 0, alpha: 0, theta: 0}
    rigid: {mass: 1}
"""
    robot = loads(pendulum)
    standing = robot.statics(angles={"q1": [1.2]}, tau={"q1": 0}, forces=[[0, 30, 0]]).summary
    assert standing["stable"] is True
    both = robot.statics(q={"q1": np.pi / 2}, tau={"q1": 0}, forces=[[0, 0, 0], [0, 30, 0]]).summary
    assert both["unstable_cases"] == 1
    alone = robot.statics(q={"q1": np.pi / 2}, tau={"q1": 0}, forces=[[0, 0, 0]]).summary
    assert alone["stable"] is False


SPRINGS = """
kronbot: 1
name: springs
gravity: [0, 0, 0]
links:
  - name: lower
    joint: {type: revolute, name: q1, spring: {stiffness: 50, rest: -0.2}}
    pose: {xyz: [0, 0, 0]}
    rigid: {mass: 1}
  - {name: upper, joint: {type: revolute, name: q2, spring: {stiffness: 50}}, pose: {xyz: [2, 0, 0]}, rigid: {mass: 1}}
endpoint: {link: upper, position: [2, 0, 0]}
"""


@pytest.mark.parametrize(
    ("tau", "factor"),
    [rare({"q1": 10}, 50 / 4), rare({"q2": 0}, 50 / 2), ({"q1": 10, "q2": 0}, (3 - np.sqrt(5)) / 2 * 50 / 2)],
)
def test_joints_with_torques_are_free_to_buckle(tau, factor):
    """Bars of 2 m between springs of 50 N m/rad: K = diag(50, 50) - 2 P [[2, 1], [1, 1]] of the joints let go."""
    summary = loaded(SPRINGS).statics(q={"q1": 0}, tau=tau, forces=[[-1, 0, 0]], buckling=True).summary
    assert summary["buckling_factor"] == pytest.approx(factor, rel=1e-12)
    assert summary["stable"] is True
    beyond = loaded(SPRINGS).statics(q={"q1": 0}, tau=tau, forces=[[-1.1 * factor, 0, 0]], buckling=True).summary
    assert beyond["buckling_factor"] == pytest.approx(1 / 1.1, rel=1e-12)
    assert beyond["stable"] is False


def test_what_no_torque_holds_bears_no_load():
    loose = loads(SPRINGS.replace(", spring: {stiffness: 50}", ""))
    with pytest.raises(ComputationError, match="nothing holds the torques of q2 in balance before any load"):
        loose.statics(tau={"q2": 0}, forces=[[-1, 0, 0]], buckling=True)


STAYED = """
kronbot: 1
name: stayed
gravity: [g, 0, 0]
parameters: {g: -9.81}
links:
  - {name: bar, joint: {type: revolute, name: q1, spring: {stiffness: 20}}, pose: {xyz: [0, 0, 0]}}
  - {name: top, joint: {type: fixed}, pose: {xyz: [1, 0, 0]}, rigid: {mass: 10}}
elements:
  - {name: left, type: spring, between: [world, top], points: [[0.5, 0.2, 0], [0, 0, 0]], stiffness: 300, rest: 0.4}
  - {name: right, type: spring, between: [world, top], points: [[0.5, -0.2, 0], [0, 0, 0]], stiffness: 300, rest: 0.4}
"""


def test_one_kind_of_load_is_multiplied():
    """What pushes a mast, else its weight, while springs of stays are there all the way: the multiple where V'' = 0."""

    def energy(q):
        lengths = [mp.hypot(mp.cos(q) - 0.5, mp.sin(q) - side) for side in (0.2, -0.2)]
        return sum(150 * (length - 0.4) ** 2 for length in lengths) + 10 * q**2

    def factor(mast, force):
        return mast.statics(tau={"q1": 0}, forces=[[force, 0, 0]], buckling=True).summary["buckling_factor"]

    mast, held, weight = loaded(STAYED), float(mp.diff(energy, 0, 2)), 10 * 9.81
    assert factor(mast, 0) == pytest.approx(held / weight, rel=1e-11)
    assert factor(mast, -2) == pytest.approx((held - weight) / 2, rel=1e-11)
    with pytest.raises(ComputationError, match="nothing loads the robot"):
        factor(mast.with_parameters(g=0), 0)


def test_a_dead_moment_in_space_leaves_stability_open():
    """Nikolai's column flutters under any axial moment, though its stiffness stays regular: no verdict from statics."""
    single = column().statics(moments=[[0.1, 0, 0]]).summary
    assert "stable" not in single
    assert single["stability"].startswith("undecided: moments in space")
    several = column().statics(moments=[[0.1, 0, 0], [0.2, 0, 0]], forces=[[0, 0, 0], [0, 0, 0]]).summary
    assert several["undecided_cases"] == 2
    assert "unstable_cases" not in several


def test_a_moment_about_the_normal_of_a_plane_has_a_potential():
    flat = loads(COLUMN.replace("MODES", "4").replace("w: 4, torsion: 1", "w: 0, torsion: 0"))
    assert flat.statics(moments=[[0, 0, 0.5]]).summary["stable"] is True


def test_the_verdict_does_not_depend_on_coordinates():
    """K in other coordinates is J^T K J: whatever J is, the index, the sign of its change and the verdict are kept."""
    random = np.random.default_rng(3)
    for negative in range(4):
        for skew in (0.0, 3.0):
            Q = Rotation.random(random_state=random).as_matrix()
            part = random.normal(size=(3, 3))
            K = Q @ np.diag([-1.0] * negative + [2.0] * (3 - negative)) @ Q.T + skew * (part - part.T)
            plain = Tangent(K, np.eye(3))
            for _ in range(5):
                J = random.normal(size=(3, 3))
                G = J @ J.T
                other = Tangent(J.T @ K @ J, to_unit(G))
                assert other.index.tolist() == plain.index.tolist()
                assert other.stability == plain.stability
            if not skew:
                assert plain.index.tolist() == [True, negative]
                assert plain.stability == ("unstable" if negative else "stable")
            else:
                assert plain.stability != "stable"


def test_a_path_does_not_pass_a_critical_load_in_one_step():
    """Energy x^4/4 - (load - 1) x^2/2 in two directions: both lose their stiffness at 1, the determinant no sign."""

    def balance(q, share):
        K = np.diag(3 * q**2 - (3 * share - 1))
        return q**3 - (3 * share - 1) * q, K, K

    with pytest.raises(Lost) as lost:
        Path(balance, [0, 1], np.eye(2)).follow(np.zeros(2), 0.0, 1.0)
    assert lost.value.share == pytest.approx(1 / 3, abs=1e-7)


@pytest.mark.parametrize("share", [0.3, 1.01, 3.0])
def test_the_critical_load_is_known_to_its_error(share):
    """Of a straight column its stiffness is linear in the load: the eigenvalue of a pencil, to rounding."""
    forces = [[-share * EULER, 0, 0]]
    newton = column().statics(forces=forces, buckling=True).summary
    found = column().statics(forces=forces, solver="linear", buckling=True).summary
    linear = found["buckling_factor"]
    assert 0 < found["buckling_factor_error"] < 1e-12 * linear
    assert newton["buckling_factor"] == pytest.approx(linear, rel=2e-13)
    assert newton["buckling_factor_error"] < 1e-12 * linear


def test_a_critical_load_does_not_depend_on_how_much_of_it_is_asked():
    """A beam that bends before it yields: the load is the same, within the errors of its factors."""
    found = [column().statics(forces=[[0, load, 0]], buckling=True).summary for load in (3.5, 20.0)]
    (first, second), errors = zip(
        *(
            (each["buckling_factor"] * load, each["buckling_factor_error"] * load)
            for each, load in zip(found, (3.5, 20.0), strict=True)
        ),
        strict=True,
    )
    assert abs(first - second) <= sum(errors) < 1e-10 * first


@pytest.mark.parametrize("turns", [True, False])
def test_where_a_path_turns_and_where_others_branch_off(turns):
    """Energies x^3/3 - (1 - load) x, which has no minimum beyond load 1, and x^4/4 + (1 - load + load^2/7) x^2/2."""

    def balance(q, share):
        if turns:
            return q**2 - (1 - share), *2 * (np.diag(2 * q),)
        stiffness = 1 - share + share**2 / 7
        return q**3 + stiffness * q, *2 * (np.diag(3 * q**2 + stiffness),)

    path = Path(balance, [0], np.eye(1))
    start = np.array([1.0 * turns])
    with pytest.raises(Lost) as lost:
        path.follow(start, 0.0, 2.0)
    exact = 1.0 if turns else (7 - np.sqrt(21)) / 2
    found = at_end(path, start, lost.value)
    assert abs(found.share - exact) <= found.error < 1e-12


@pytest.mark.parametrize("seed", range(6))
def test_the_factor_of_a_pencil_is_within_its_error(seed):
    """Against 60 digits, entries moved by a rounding too; twice the same factor, stiff and soft coordinates."""
    rng = np.random.default_rng(seed)
    T, wide = rng.integers(-2, 3, (4, 4)) + 4 * np.eye(4), 10.0 ** rng.integers(-3, 4, 4)
    T = T * wide
    loads_of_it = [3, 3 if seed % 2 else 2, 1, -1]
    K, loaded = (T.T @ np.diag(sizes) @ T for sizes in ([6, 6, 9, 30], np.subtract([6, 6, 9, 30], loads_of_it)))
    found = of_pencil(K, loaded)
    with mp.workdps(60):
        for share in (0, 2.0**-52):
            A, B = (mp.matrix(M.tolist()) for M in (K, loaded))
            for M in (A, B):
                for i in range(4):
                    for j in range(i + 1):
                        M[i, j] = M[j, i] = M[i, j] * (1 + int(rng.choice([-1, 1])) * mp.mpf(share))
            values = mp.eig(mp.inverse(A) * (A - B), left=False, right=False)
            assert abs(1 / max(mp.re(value) for value in values) - found.share) <= found.error < 1e-11 * found.share
    assert found.share == pytest.approx(2, rel=1e-12)
