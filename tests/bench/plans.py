"""What motions of 10 s leave of the Canadarm's vibration: a cycloidal one, the same shaped, and a plan's.

    python tests/bench/plans.py [spatial]

From straight at rest to (0.5, 0.5, 1), motors following the motion; the largest distance of the endpoint from its
static place in the 20 s after, by six Craig-Bampton shapes a link, order 2. The plan is made with two, within the
largest torques of the cycloidal motion; the shaper is zv for the lowest locked frequency at the end.

With "spatial" how long (s of the processor) the plan of an arm in space takes, of six joints and two flexible links: a
motion of 3 s that motors follow, judged by a finer model.
"""

import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import kronbot
from kronbot import description

ARM = "canadarm-craig-bampton"
GOAL = {"q1": 0.5, "q2": 0.5, "q3": 1.0}
DURATION = 10.0

TUBE = "A: pi/4*(0.06**2 - 0.054**2), I: pi/64*(0.06**4 - 0.054**4), B: pi/4*(0.04**2 - 0.036**2)"
BEAM = "modes: {v: 1, w: 1}, shape: craig-bampton, damping: {ratio: 0.005}"
SPATIAL = f"""
kronbot: 1
name: six
convention: standard
gravity: [0, 0, 0]
parameters: {{E: 7e10, G: 2.6e10, rho: 2700, {TUBE}, J: pi/64*(0.04**4 - 0.036**4)}}
links:
  - name: turret
    joint: {{type: revolute, name: q1}}
    dh: {{a: 0, d: 0.4, alpha: pi/2, theta: 0}}
    rigid: {{mass: 12, com: [0, -0.1, 0], inertia: {{Ixx: 0.2, Iyy: 0.15, Izz: 0.2}}}}
  - name: boom
    joint: {{type: revolute, name: q2}}
    dh: {{a: 2.1, d: 0, alpha: 0, theta: 0}}
    flexible: {{root: 0.1, mass: rho*A*2, EI: {{y: E*I, z: E*I}}, GJ: 2*G*I, polar_inertia: 2*rho*I, {BEAM}}}
  - name: forearm
    joint: {{type: revolute, name: q3}}
    dh: {{a: 1.2, d: 0, alpha: pi/2, theta: 0}}
    flexible: {{mass: rho*B*1.2, EI: {{y: E*J, z: E*J}}, GJ: 2*G*J, polar_inertia: 2*rho*J, {BEAM}}}
""" + "".join(
    f"""  - name: {name}
    joint: {{type: revolute, name: {joint}}}
    dh: {{a: 0, d: 0.1, alpha: {alpha}, theta: 0}}
    rigid: {{mass: 1, inertia: {{Ixx: 0.002, Iyy: 0.003, Izz: 0.004}}}}
"""
    for name, joint, alpha in (("roll", "q4", "-pi/2"), ("pitch", "q5", "pi/2"), ("hand", "q6", "0"))
)


def left(folder, motions, shapes=6, end=30, rtol=1e-8):
    """What is left (m) after motions by joint, and the largest torques; tables are in the folder."""
    text = description.read(ARM).text
    drive = ", ".join(f"{joint}: {{motion: {motion}}}" for joint, motion in motions.items())
    text = text[: text.index("motion:")].replace("v: 2", f"v: {shapes}")
    file = folder / "judge.yaml"
    file.write_text(f"{text}simulate: {{duration: {end}, step: 0.02, drive: {{{drive}}}}}\n")
    judge = kronbot.load(file)
    run = judge.simulate(rtol=rtol)
    stands = np.array([run["endpoint.x"], run["endpoint.y"]]).T[run["t"] >= DURATION]
    place = judge.kinematics(q=GOAL)["pose"][0, :2]
    torques = {joint: float(np.abs(run[f"torque.{joint}"]).max()) for joint in GOAL}
    return float(np.linalg.norm(stands - place, axis=1).max()), torques


def rise(value, duration, shaper=""):
    """A cycloidal motion in a robot file."""
    return f"{{type: cycloidal, from: 0, to: {value}, duration: {duration!r}{shaper}}}"


def main():
    """The three, and what they leave."""
    robot = kronbot.load(ARM)
    lowest = float(robot.modes(q=GOAL)["frequencies_locked"][0])
    shaper = f", shaper: {{type: zv, frequency: {lowest!r}}}"
    shorter = DURATION - float(np.pi) / lowest
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        plain, peaks = left(folder, {joint: rise(value, DURATION) for joint, value in GOAL.items()})
        print(f"cycloidal  {plain:.4g} m, torques to {peaks}")
        shaped, _ = left(folder, {joint: rise(value, shorter, shaper) for joint, value in GOAL.items()})
        print(f"shaped     {shaped:.4g} m")
        plan = robot.plan(GOAL, duration=DURATION, drive="motion", effort_limits=peaks)
        rows = zip(*(column.tolist() for column in plan.series.values()), strict=True)
        (folder / "plan.csv").write_text("\n".join(",".join(map(str, row)) for row in ([*plan.series], *rows)))
        planned, torques = left(folder, dict.fromkeys(GOAL, "{type: table, file: plan.csv, held: true}"))
        shares = f"{planned / plain:.2%} and {planned / shaped:.2%} of these"
        print(f"planned    {planned:.4g} m, {shares}; torques to {torques}")


def spatial():
    """How long the plan of an arm in space takes."""
    robot, begin = kronbot.loads(SPATIAL), time.process_time()
    goal = {"q1": 0.8, "q2": 0.5, "q3": -0.7, "q4": 0.4, "q5": 0.6, "q6": 0.5}
    plan = robot.plan(goal, q={"q5": 0.3}, duration=3, drive="motion")
    taken, told = time.process_time() - begin, plan.summary
    print(f"spatial    {taken:.1f} s, {told['intervals']} intervals, end error {told['end_error']:.1e}", end="")
    print(f", {told['residual_amplitude']:.2g} m left by a finer model")


if __name__ == "__main__":
    spatial() if "spatial" in sys.argv else main()
