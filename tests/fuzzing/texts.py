"""Small robots as text, to be made worse."""

HEAD = "kronbot: 1\nname: r\nconvention: standard\ngravity: [0, 0, -9.81]\n"
ROW = "dh: {a: 1, d: 0, alpha: 0, theta: 0}"
GOOD = f"{HEAD}links:\n  - {{name: arm, joint: {{type: revolute, name: q1}}, {ROW}, rigid: {{mass: 1}}}}\n"


def chain(count, modes="", bodies="rigid: {mass: 1, inertia: {Ixx: 1, Iyy: 1, Izz: 1}}"):
    """A serial arm; with ``modes`` its links are beams."""
    beam = f"flexible: {{mass: 1, EI: {{y: 1, z: 1}}, GJ: 1, polar_inertia: 1, modes: {{{modes}}}}}"
    row = "dh: {a: 1, d: 0, alpha: pi/2, theta: 0}"
    links = (
        f"  - {{name: l{i}, joint: {{type: revolute, name: q{i}}}, {row}, {beam if modes else bodies}}}\n"
        for i in range(count)
    )
    return f"{HEAD}links:\n{''.join(links)}"


def with_motion(text):
    """The good robot with a motion of its joint."""
    return f"{GOOD}motion: {{q1: {text}}}\n"
