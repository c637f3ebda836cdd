"""Random robots at postures where numbers cancel: quarter turns, folded arms, equal children, forces along an axis."""


def special(rng):
    """The YAML of a robot and the arguments of a linearization, by a ``random.Random``; angles are text."""
    some = rng.choice
    text = f"kronbot: 1\nname: special\nconvention: standard\ngravity: {some(GRAVITIES)}\n"
    floating = rng.random() < 0.15
    if floating:
        text += "base: {type: floating, rigid: {mass: 4, inertia: {Ixx: 2, Iyy: 2, Izz: 2}}}\n"
    text += "links:\n"
    count, alike = rng.randint(1, 2) if floating else rng.randint(1, 4), rng.random() < 0.5
    q, qd, first, follow = {}, {}, "", rng.random() < 0.1
    for i in range(count):
        parent = (
            ("base" if floating else "world")
            if not i
            else "l0"
            if alike
            else f"l{rng.choice([i - 1, rng.randrange(i)])}"
        )
        whole = _link(rng)
        if alike and i == 1:
            first = whole
        elif alike and i > 1:
            whole = first
        if follow and i == count - 1 > 0 and "revolute" in whole:
            whole = FOLLOWER.replace("RATIO", some(["2", "-1", "1"]))
        text += f"  - name: l{i}\n    parent: {parent}\n" + whole.replace("NAME", f"q{i}")
        if "follows" in whole:
            continue
        if rng.random() < 0.25 and "elastic" not in whole:
            q[f"q{i}"] = some(["pi/2", "pi", "-pi/2"]) if "revolute" in whole else "1"
        if rng.random() < 0.15 and "revolute" in whole:
            qd[f"q{i}"] = some(["1", "2", "-3"])
    if count > 1 and rng.random() < 0.2:
        one, other = rng.sample(range(count), 2)
        ends = some([f"[l{one}, l{other}]", f"[world, l{other}]"])
        text += SPRING.replace("ENDS", ends)
    return text, {
        "inputs": some([("torques",), ("force",), ("torques", "force")]),
        "outputs": some([("joints",), ("endpoint",), ("joints", "endpoint")]),
        "q": q,
        "qd": qd,
    }


GRAVITIES = ["[0, 0, 0]", "[0, -10, 0]", "[0, 0, -10]", "[-10, 0, 0]", "[10, 0, 0]", "[0, 10, 0]", "[0, 0, 9.81]"]
SPRING = """elements:
  - {name: e, type: spring, between: ENDS, stiffness: 7, rest: 0, points: [[0, 2, 0], [1, 0, 0]]}
"""
FOLLOWER = """    joint: {type: revolute, name: NAME, follows: RATIO*q0}
    dh: {a: 1, d: 0, alpha: 0, theta: 0}
    rigid: {mass: 1, inertia: {Ixx: 1, Iyy: 2, Izz: 1}}
"""


def _link(rng):
    some = rng.choice
    revolute = rng.random() < 0.75
    joint = f"type: {'revolute' if revolute else 'prismatic'}, name: NAME"
    joint += some(["", "", ", damping: 2", ", damping: 0.1"])
    if rng.random() < 0.35:
        joint += f", spring: {{stiffness: {some(['1', '3', '50', '1e5'])}, rest: 0}}"
    if rng.random() < 0.25:
        joint += f", rotor_inertia: 1, elastic: {{stiffness: {some(['5', '200', '1e6'])}{some(['', ', damping: 1'])}}}"
    elif rng.random() < 0.2:
        joint += ", rotor_inertia: 1, gear: 2"
    if revolute and rng.random() < 0.12:
        joint += f", bearing: {{stiffness: {{x: 100, y: {some(['100', '300'])}}}{some(['', ', damping: {x: 1}'])}}}"
    theta = some(["0", "0", "0", "pi/2", "pi", "-pi/2", "3.141592653589793", "1.5707963267948966"])
    long = some(["1", "1", "2", "0.3", "0"])
    up, alpha = some(["0", "0", "1"]), some(["0", "0", "0", "pi/2", "-pi/2"])
    text = f"    joint: {{{joint}}}\n    dh: {{a: {long}, d: {up}, alpha: {alpha}, theta: {theta}}}\n"
    if rng.random() < 0.25 and long != "0":
        modes = some(["{v: 1}", "{v: 2}", "{v: 1, w: 1}"])
        damping = some(["", ", damping: {beta: 0.01}", ", damping: {alpha: 1}"])
        beam = f"mass: 1, EI: {{z: {some(['10', '1000'])}, y: 10}}, modes: {modes}, shape: polynomial{damping}"
        text += f"    flexible: {{{beam}}}\n"
        return text + some(["", "    payload: {mass: 1}\n"])
    com = some(["[0, 0, 0]", "[0, 0, 0]", "[-0.5, 0, 0]", "[0, 1, 0]"])
    return (
        text
        + f"    rigid: {{mass: {some(['1', '2'])}, com: {com}, inertia: {{Ixx: 1, Iyy: {some(['1', '2'])}, Izz: 1}}}}\n"
    )
