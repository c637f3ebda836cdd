"""Poles of an instant decide nothing where a motion changes M, D or K: verdicts say so, and only there."""

import numpy as np
import pytest

import kronbot
from kronbot.plots.modes import of_an_instant
from kronbot.questions.verdict import AN_INSTANT

RATE = 30.0
ROTOR = """kronbot: 1
name: rotor
gravity: [0, 0, 0]
parameters: {THIN: 2.0, WIDE: 2.0}
links:
  - name: shaft
    joint: {type: fixed}
    pose: {}
    flexible: {length: 1, mass: 0.5, EI: {y: 3000, z: 2000}, modes: {v: 1, w: 1}, shape: craig-bampton,
               damping: {ratio: 0.005}}
  - name: disc
    joint: {type: revolute, name: spin}
    pose: {rpy: [0, pi/2, 0]}
    rigid: {mass: 10, inertia: {Ixx: THIN, Iyy: WIDE, Izz: 2.0}}
motion: {spin: {type: table, file: turn.csv, periodic: true}}
"""


@pytest.fixture(scope="module")
def rotor(tmp_path_factory):
    """A disc, or a bar, on a shaft that is not as stiff in both directions; it turns at an even rate."""
    folder = tmp_path_factory.mktemp("rotor")
    turns = np.linspace(0, 2 * np.pi, 9)
    rows = "\n".join(f"{angle / RATE!r},{angle!r}" for angle in turns.tolist())
    (folder / "turn.csv").write_text(f"t,spin\n{rows}\n", encoding="utf-8")
    (folder / "rotor.yaml").write_text(ROTOR, encoding="utf-8")
    return kronbot.load(folder / "rotor.yaml")


KINDS = pytest.mark.parametrize(("thin", "along"), [(0.05, "unstable"), (2.0, "asymptotically stable")])


@KINDS
def test_a_rotor_with_unlike_inertias_is_not_judged_by_its_poles(rotor, thin, along):
    """A bar on a shaft is undecided, by modes and by linearize; a round disc is right to be judged."""
    robot = rotor.with_parameters(THIN=thin)
    spinning, at_once = robot.modes(qd={"spin": RATE}), robot.linearize(qd={"spin": RATE}, lock="spin")
    assert (spinning["poles_locked"].real < 0).all()
    said = [spinning.summary[f"verdict_{case}"] for case in ("locked", "free")] + [at_once.summary["verdict"]]
    word, frozen = (along, False) if thin == 2.0 else ("undecided, coefficients change with time", True)
    assert all(each.startswith(word) and (AN_INSTANT in each) == frozen for each in said)
    assert [bool(of_an_instant(each)) for each in (spinning, at_once)] == [frozen, frozen]
    rows = robot.modes(q=[[0.0], [0.3]], qd=[[RATE], [0.0]]).summary
    assert rows.get("undecided_cases_locked", 0) == frozen  # where it stands still poles decide


@pytest.mark.slow
@KINDS
def test_its_multipliers_judge_it(rotor, thin, along):
    """In resonance with its shaft the bar grows, though its poles decay at every instant."""
    assert rotor.with_parameters(THIN=thin).linearize_along().summary["verdict"].startswith(along)


@pytest.mark.parametrize("gravity", ["[0, 0, -9.81]", "[0, -9.81, 0]"])
def test_a_slow_change_is_seen_beside_stiff_beams(gravity):
    """A pendulum that an arm carries round an axis along gravity, or across it; beams are 1e6 times as fast."""
    robot = kronbot.loads(f"""kronbot: 1
name: carried
convention: standard
gravity: {gravity}
links:
  - {{name: arm, joint: {{type: revolute, name: q1}}, dh: {{a: 0.5, d: 0, alpha: 0, theta: -pi/2}}, rigid: {{mass: 1}}}}
  - {{name: bob, joint: {{type: revolute, name: q2}}, dh: {{a: 0.5, d: 0, alpha: 0, theta: 0}}, rigid: {{mass: 1}}}}
  - name: spike
    joint: {{type: fixed}}
    pose: {{}}
    flexible: {{length: 0.1, mass: 1e-3, EI: {{z: 1e8}}, modes: {{v: 1}}}}
""")
    verdict = robot.linearize(qd={"q1": 0.1}, lock="q1").summary["verdict"]
    assert verdict.startswith("undecided") == (gravity == "[0, -9.81, 0]"), verdict
