"""Poles beside shafts so stiff that floats lose what is beside 1/c: each within its error of those in 60 digits."""

import itertools

import mpmath as mp
import numpy as np
import pytest
from exact_poles import poles
from scipy.integrate import solve_ivp
from thinned import rare

import kronbot

ARM = """
kronbot: 1
name: arm
gravity: [0, G, 0]
links:
  - name: arm
    joint: {type: revolute, name: q1, damping: 1, rotor_inertia: 0.1, elastic: {SHAFT, damping: DAMPING}}
    pose: {}
    rigid: {mass: 5, com: [0.5, 0, 0], inertia: {Izz: 0.1}}
LOOP
"""
PD, GAINS = (1000.0, 50.0), [0.305096, 0.694904, 0.907611, 0.0672305]
FORMS = {"compliance": lambda power: f"compliance: 1e-{power}", "stiffness": lambda power: f"stiffness: 1e{power}"}
# Powers of ten of the stiffness: hardly, a little, and all of what is beside it is lost.
POWERS = [rare(8), 12, 14, rare(16), 17, 20]
# Every loop, form and power with every other, but not all three.
HELD = [
    *itertools.product(["open", "pd"], FORMS, [12, 14, 17, 20]),
    *(rare(loop, "stiffness", power) for loop, power in (("open", 8), ("pd", 16), ("gains", 14), ("gains", 20))),
    *(rare(loop, "compliance", power) for loop, power in (("open", 16), ("pd", 8), ("gains", 8), ("gains", 17))),
]


def robot(folder, shaft, loop="", gravity=-9.81, damping=1.0):
    """The arm, its motor under a loop."""
    text = ARM.replace("SHAFT", shaft).replace("G,", f"{gravity},").replace("DAMPING", repr(damping))
    (folder / "gains.csv").write_text(
        f",torque,q1,q1.motor,q1_dot,q1.motor_dot\nat,0,0,0,0,0\ntorque.q1,0,{','.join(map(repr, GAINS))}\n"
    )
    (folder / "arm.yaml").write_text(text.replace("LOOP", loop))
    return kronbot.load(str(folder / "arm.yaml"))


def matrices(answer, shaft, gains, gravity=-9.81, damping=1.0):
    """M, D, K by hand, of the link that a motor turns through a shaft; gains by link, motor, and their rates."""
    word, number = shaft.split(": ")
    k = mp.mpf(float(number)) if word == "stiffness" else 1 / mp.mpf(float(number))
    m, com, izz, rotor, d = (mp.mpf(float(each)) for each in (5, 0.5, 0.1, 0.1, damping))
    weight = m * com * mp.mpf(gravity) * mp.sin(mp.mpf(answer.at["q"]["q1"]))
    K, D = mp.matrix([[k + weight, -k], [-k, k]]), mp.matrix([[d, -d], [-d, 1 + d]])
    for j in range(2):
        K[1, j] += mp.mpf(gains[j])
        D[1, j] += mp.mpf(gains[2 + j])
    return mp.diag([izz + m * com**2, rotor]), D, K


def demand_within_errors(answer, exact, word=""):
    """Every pole within its error of one of its own."""
    accuracy = answer.arrays[f"{word}accuracy"]
    errors, counts = (np.asarray(accuracy.values)[:, list(accuracy.columns).index(name)] for name in ("error", "count"))
    told = [
        (each, error)
        for s, error, count in zip(answer[f"{word}poles"], errors, counts, strict=True)
        for each in ([s, s.conjugate()] if count == 2 else [s])
    ]
    left = list(exact)
    assert len(told) == len(left)
    for s, error in sorted(told, key=lambda pair: pair[1]):
        nearest = min(left, key=lambda z: abs(z - complex(s)))
        left.remove(nearest)
        assert abs(nearest - complex(s)) <= error + 1e-15 * abs(nearest), (s, error, nearest)


@pytest.mark.parametrize(("loop", "form", "power"), HELD)
def test_poles_of_a_stiff_shaft_are_within_their_errors(tmp_path, loop, form, power):
    """Where rounding leaves nothing of a pole it says so: no free coordinate, no verdict that is wrong."""
    shaft = FORMS[form](power)
    said, gains = {
        "open": ("", [0, 0, 0, 0]),
        "pd": (f"simulate: {{drive: {{q1: {{pd: {{kp: {PD[0]}, kd: {PD[1]}}}}}}}}}", [0, PD[0], 0, PD[1]]),
        "gains": ("control: {state_feedback: {K: gains.csv}}", GAINS),
    }[loop]
    gravity = 0 if loop == "pd" else -9.81  # for which a pd drive makes up
    arm = robot(tmp_path, shaft, said, gravity)
    for q in (-1.3, 0.7):
        answer = arm.linearize(q={"q1": q}, equilibrium=True, closed_loop=loop != "open")
        with mp.workdps(60):
            exact = poles(*matrices(answer, shaft, gains, gravity))
            demand_within_errors(answer, exact)
            growth = max(s.real for s in exact)
        verdict = answer.summary["verdict"]
        assert answer.summary["free_coordinates"] == 0
        assert ("unstable" if growth < 0 else "asymptotically") not in verdict
        assert "undecided" in verdict or power < 17 + 2 * (loop == "pd")
        assert "undecided" not in verdict or any("no digit" in each for each in answer.warnings)


@pytest.mark.parametrize(("q", "power"), [*((0.0, power) for power in (12, 14, 17, 20)), rare(0.7, 22)])
def test_designed_loops_and_filters_of_a_stiff_shaft_are_within_their_errors(tmp_path, q, power, unpaid):
    shaft = FORMS["compliance"](power)
    answer = robot(tmp_path, shaft).design(q={"q1": q}, lqr=True, noise={"q1.motor": 1e-3, "torque.q1": 0.1})
    with mp.workdps(60):
        M, D, K = matrices(answer, shaft, np.asarray(answer["K"])[0].tolist())
        demand_within_errors(answer, poles(M, D, K))
        M, D, K = matrices(answer, shaft, [0, 0, 0, 0])
        A = mp.zeros(4)
        A[:2, 2:] = mp.eye(2)
        A[2:, :2], A[2:, 2:] = -mp.inverse(M) * K, -mp.inverse(M) * D
        for i, gain in enumerate(np.asarray(answer["L"])[:, 0].tolist()):
            A[i, 1] -= mp.mpf(gain)
        demand_within_errors(answer, mp.eig(A, left=False, right=False), "observer_")
    open_ = [each for each in answer.warnings if "leaves open whether the loop is stable, whatever its margins" in each]
    assert not open_ if power < 14 else open_ or power < 16


@pytest.mark.parametrize("power", POWERS)
@pytest.mark.parametrize("form", FORMS)
def test_an_arm_that_nothing_holds_is_free_however_stiff_its_shaft_is(tmp_path, form, power):
    answer = robot(tmp_path, FORMS[form](power), gravity=0).linearize(q={"q1": 0.7}, equilibrium=True)
    assert answer.summary["free_coordinates"] == 1
    assert answer["poles"][0] == 0 and answer["accuracy"][0, 0] == 0
    assert answer["poles"][1].real == pytest.approx(-1 / 1.45, rel=max(1e-12, 10.0**-power))
    assert answer.summary["verdict"].startswith("asymptotically stable")


@pytest.mark.parametrize(
    ("gravity", "damping"),
    [
        *itertools.product([0, -9.81], [1e14, 1e18]),
        *(rare(0, damping) for damping in (1e6, 1e20)),
        *(rare(-9.81, damping) for damping in (1e10, 1e16)),
    ],
)
def test_poles_of_a_damped_shaft_are_within_their_errors(tmp_path, gravity, damping):
    """What damps a joint is lost beside what damps its shaft as stiffness is."""
    shaft = "compliance: 1e-4"
    arm = robot(tmp_path, shaft, gravity=gravity, damping=damping)
    answer = arm.linearize(q={"q1": -1.2}, equilibrium=True)
    with mp.workdps(60):
        exact = poles(*matrices(answer, shaft, [0, 0, 0, 0], gravity, damping))
        if not gravity:  # one is 0 but for the digits
            exact = [mp.mpf(0) if abs(s) < mp.mpf(10) ** -45 else s for s in exact]
        demand_within_errors(answer, exact)
        assert answer.summary["free_coordinates"] == (not gravity)


@pytest.mark.parametrize(
    ("power", "damping"), [(7, 1e5), (10, 1.0), rare(4, 1e10), (16, 1e4), rare(20, 1.0), (4, 1e20)]
)
def test_margins_of_a_brake_are_those_of_what_is_passive(tmp_path, power, damping):
    """A brake takes energy from an arm that nothing holds, whatever that is: |S - 1/2| <= 1/2."""
    loop = "simulate: {drive: {q1: {pd: {kp: 0, kd: 50}}}}"
    arm = robot(tmp_path, FORMS["compliance"](power), loop, gravity=0, damping=damping)
    answer = arm.linearize(q={"q1": -1.2}, equilibrium=True, closed_loop=True)
    assert answer.summary["free_coordinates"] == 1
    if damping < 1e16:
        assert answer.summary["disk_margin"] == pytest.approx(2, rel=1e-9)
        assert answer.summary["sensitivity_peak"] == pytest.approx(1, rel=1e-9)
    else:
        assert "disk_margin" not in answer.summary
        assert any("no margins: rounding" in each and "leave out shafts" in each for each in answer.warnings)


@pytest.mark.parametrize(
    ("power", "damping"), [(14, 1.0), (16, 1.0), rare(16, 1e10), (20, 1.0), (4, 1e14), rare(4, 1e20)]
)
def test_margins_beside_a_stiff_shaft_are_those_of_a_rigid_one_or_none(tmp_path, power, damping):
    loop = f"simulate: {{drive: {{q1: {{pd: {{kp: {PD[0]}, kd: {PD[1]}}}}}}}}}"
    arm = robot(tmp_path, FORMS["compliance"](power), loop, damping=damping)
    answer = arm.linearize(q={"q1": -1.2}, equilibrium=True, closed_loop=True)
    inertia, weight = 1.45, -5 * 0.5 * 9.81 * np.sin(answer.at["q"]["q1"])
    s = 1j * np.geomspace(1e-2, 1e4, 200_001)
    passive = inertia * s**2 + s + weight
    S = passive / (passive + PD[1] * s + PD[0])
    if "disk_margin" in answer.summary:
        assert answer.summary["disk_margin"] == pytest.approx(1 / np.abs(S - 0.5).max(), rel=1e-2)
    else:
        assert power >= 16 or damping > 1
        assert any("no margins: rounding" in each for each in answer.warnings)


def along(folder, power, damping, gravity=-9.81, frequency=1e3, offset=-1.5):
    motion = f"motion: {{q1: {{type: sinusoid, amplitude: 0.5, offset: {offset}, frequency: {frequency}}}}}"
    arm = robot(folder, FORMS["compliance"](power), motion, gravity, damping)
    return arm.linearize_along(lock=[], period=2 * np.pi / frequency)


@pytest.mark.parametrize(
    ("power", "frequency", "offset"),
    [(8, 1e3, -1.5), rare(14, 1e3, 1.5), (16, 1e3, -1.5), rare(18, 1e6, 1.5), (20, 1.0, -1.5)],
)
def test_multipliers_beside_a_stiff_shaft_are_those_of_a_rigid_one(tmp_path, offset, frequency, power):
    """None is taken for that of a free joint, and each is within its error of what an integrator finds, apart."""
    answer = along(tmp_path, power, 1e8 if power == 16 else 1.0, frequency=frequency, offset=offset)

    def rate(t, y):
        weight = -5 * 0.5 * 9.81 * np.sin(offset + 0.5 * np.sin(frequency * t))
        return [*y[2:], *(-(y[2:] + weight * y[:2]) / 1.45)]

    done = solve_ivp(rate, (0, 2 * np.pi / frequency), np.eye(2).ravel(), method="DOP853", rtol=1e-12, atol=1e-14)
    exact = np.linalg.eigvals(done.y[:, -1].reshape(2, 2))
    assert answer.summary["multipliers_at_one"] == 0
    found, errors = np.asarray(answer["multipliers"]), np.asarray(answer["multiplier_errors"])
    for z in exact:
        assert (np.abs(found - z) <= errors + 10.0 ** (4 - power)).any()
    word = answer.summary["verdict"].split(":")[0].split(" (")[0]
    assert word in ("undecided", "unstable" if np.abs(exact).max() > 1 else "asymptotically stable")
    assert word != "undecided" or power > 14


@pytest.mark.parametrize(("power", "damping"), [(4, 1.0), (18, 1.0), (4, 1e14), rare(4, 1e18), (18, 1e16)])
def test_multipliers_of_an_arm_that_nothing_holds(tmp_path, power, damping):
    """One at +1 and, its friction lost beside the shaft's or not, none more without an error: exp(-T/inertia)."""
    answer = along(tmp_path, power, damping, gravity=0)
    assert answer.summary["multipliers_at_one"] == 1
    found, errors = np.asarray(answer["multipliers"]), np.asarray(answer["multiplier_errors"])
    assert np.count_nonzero(errors == 0) == 1
    assert found[errors == 0] == 1
    slow = np.exp(-2e-3 * np.pi / 1.45)
    assert (np.abs(found - slow) <= errors + (1e-6 if power == 4 else 1e-12))[errors > 0].any()
