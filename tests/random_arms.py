"""Arms drawn at random to be calibrated without priors, before a camera nobody knows; many axes are nearly parallel."""

import numpy as np

import kronbot
from kronbot.model.build import compliant
from kronbot.model.variation import Variation
from kronbot.questions.fitting.data import Columns, Named
from kronbot.questions.fitting.statics import StaticAnswers

NOISE, POSES = 1e-4, 60
# Of lengths (m) and angles (rad): what a file is off by is a share of these, and of stiffnesses a factor.
SIZE, FACTOR = 0.3, 3.0
CAMERA = ("x", "y", "z", "roll", "pitch", "yaw")


def drawn(rng, soft):
    """A file, and its parameters."""
    values = dict(
        zip((f"c{word}" for word in CAMERA), [*rng.uniform(-1, 1, 3), *rng.uniform(-0.3, 0.3, 3)], strict=True)
    )
    links = ["{name: camera, joint: {type: fixed}, pose: {xyz: [cx, cy, cz], rpy: [croll, cpitch, cyaw]}}"]
    for i in range(1, int(rng.integers(4, 8)) + 1):
        row = rng.uniform(0, 0.5), rng.uniform(-0.3, 0.3), *rng.choice([0, np.pi / 2, -np.pi / 2], 2)
        values |= dict(zip((f"a{i}", f"d{i}", f"alpha{i}", f"theta{i}"), row, strict=True))
        yields = ""
        if soft:
            values[f"k{i}"], yields = 10 ** rng.uniform(3, 4.5), f", elastic: {{stiffness: k{i}}}"
        links.append(
            f"{{name: l{i}, joint: {{type: revolute, name: q{i}{yields}}}, rigid: {{mass: {rng.uniform(1, 8):.2f}, "
            f"com: [{-row[0] / 2:.3f}, 0, 0.05]}}, dh: {{a: a{i}, d: d{i}, alpha: alpha{i}, theta: theta{i}}}}}"
        )
    values |= {f"t{axis}": rng.uniform(-0.1, 0.1) for axis in "xyz"}
    links.append("{name: tool, joint: {type: fixed}, pose: {xyz: [tx, ty, tz]}}")
    gravity = rng.normal(size=3)
    values = {name: float(value) for name, value in values.items()}
    head = f"kronbot: 1\nname: drawn\nconvention: standard\ngravity: {(9.81 * gravity).tolist()}\n"
    named = ", ".join(f"{name}: {value!r}" for name, value in values.items())
    return head + f"parameters: {{{named}}}\nlinks:\n" + "".join(f"  - {each}\n" for each in links), values


def calibrated(seed, soft, off):
    """The answer of a fit that begins so far off."""
    rng = np.random.default_rng([seed, soft])
    text, values = drawn(rng, soft)
    robot, names = kronbot.loads(text), [*values]
    true = [
        value * np.exp(FACTOR * off * rng.normal()) if name[0] == "k" else value + SIZE * off * rng.normal()
        for name, value in values.items()
    ]
    joints = robot.joints
    angles = {f"angle.{name}": rng.uniform(-2, 2, POSES) for name in joints}
    columns = [f"position.tool.{axis}" for axis in "xyz"]
    named = Named(Columns({**angles, **dict.fromkeys(columns, np.zeros(POSES))}), {})
    answers, _ = StaticAnswers.read(Variation.of(compliant(robot.model), names), named, ())
    seen = answers.computed(np.array(true)) + NOISE * rng.normal(size=(POSES, 3))
    return robot.fit({**angles, **dict(zip(columns, seen.T, strict=True))}, sigma={"position": NOISE})
