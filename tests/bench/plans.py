"""What motions of 10 s leave of the Canadarm's vibration: a cycloidal one, the same shaped, and a plan's.

    python tests/bench/plans.py

From straight at rest to (0.5, 0.5, 1), motors following the motion; the largest distance of the endpoint from its
static place in the 20 s after, by six Craig-Bampton shapes a link, order 2. The plan is made with two, within the
largest torques of the cycloidal motion; the shaper is zv for the lowest locked frequency at the end.
"""

import tempfile
from pathlib import Path

import numpy as np

import kronbot
from kronbot import description

ARM = "canadarm-craig-bampton"
GOAL = {"q1": 0.5, "q2": 0.5, "q3": 1.0}
DURATION = 10.0


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


if __name__ == "__main__":
    main()
