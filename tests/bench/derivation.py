"""Equations of motion as formulas: kronbot against SymPy's mechanics, on planar arms of rods with symbols throughout.

Both derive the inertia matrix and the generalized forces of velocity and gravity. SymPy's are what its methods of
Lagrange and Kane return, kronbot's are simplified. Both are compared in numbers at a random state.
"""

import numpy as np
from bench.timing import interleaved
from casadi import SX

from kronbot import description
from kronbot.compute.question import Quantity, Question
from kronbot.mechanics.multibody.recursion import inverse_dynamics
from kronbot.mechanics.multibody.state import generalized_inertia_matrix, propagate
from kronbot.model.build import build
from kronbot.questions.formulas import Writing, formulas

GRAVITY = 9.81
# Relative, of the largest entry: rounding of two ways to the same number.
EQUAL = 1e-12


def planar(n):
    """A planar arm of n rods, gravity along -y."""
    links = "".join(
        f"\n  - name: link{i}\n    joint: {{type: revolute, name: q{i}}}\n"
        f"    dh: {{a: a{i}, d: 0, alpha: 0, theta: 0}}\n"
        f"    rigid: {{mass: m{i}, com: [-a{i}/2, 0, 0], inertia: {{Izz: I{i}}}}}"
        for i in range(1, n + 1)
    )
    names = ", ".join(f"{letter}{i}: {value(letter, i)}" for letter in "amI" for i in range(1, n + 1))
    return (
        "kronbot: 1\nname: planar\nconvention: standard\n"
        f"gravity: [0, -{GRAVITY}, 0]\nparameters: {{{names}}}\nlinks:{links}\n"
    )


def value(letter, i):
    """Of a parameter, for the numbers."""
    return {"a": 0.8, "m": 2.5, "I": 0.3}[letter] + i / 10


def question(n):
    """kronbot's M and the forces h of velocity and gravity."""
    robot = build(description.load(description.Source("planar.yaml", planar(n), None)), "0")
    q, qd = SX.sym("q", n), SX.sym("qd", n)
    M = generalized_inertia_matrix(propagate(robot, q, SX(n, 1)))
    h = inverse_dynamics(propagate(robot, q, qd), SX(n, 1))
    names = robot.coordinates
    units = {"rows": robot.force_units(range(n))}
    quantities = {"M": Quantity(M, names, names, units), "h": Quantity(h, names, None, units)}
    words = ("q", "qd")
    return Question(robot.parameters, {"q": q, "qd": qd}, robot.derivative_names(words), quantities, "bench")


def kronbot(n):
    """M and h as text."""
    return formulas(question(n), Writing("text", short=False, shared=False, seconds=60.0)).arrays


def system(n):
    """Coordinates, bodies, frame and forces of the same arm for SymPy."""
    import sympy
    from sympy.physics import mechanics

    q = mechanics.dynamicsymbols(f"q1:{n + 1}")
    frame, origin = mechanics.ReferenceFrame("N"), mechanics.Point("O")
    origin.set_vel(frame, 0)
    gravity, last, angle, bodies, forces = sympy.Symbol("g"), origin, 0, [], []
    for i in range(n):
        a, m, inertia = sympy.symbols(f"a{i + 1} m{i + 1} I{i + 1}")
        angle = angle + q[i]
        axes = frame.orientnew(f"A{i + 1}", "Axis", (angle, frame.z))
        centre, tip = last.locatenew(f"C{i + 1}", a / 2 * axes.x), last.locatenew(f"P{i + 1}", a * axes.x)
        centre.v2pt_theory(last, frame, axes)
        tip.v2pt_theory(last, frame, axes)
        body = mechanics.RigidBody(f"B{i + 1}", centre, axes, m, (mechanics.inertia(axes, 0, 0, inertia), centre))
        body.potential_energy = m * gravity * centre.pos_from(origin).dot(frame.y)
        forces.append((centre, -m * gravity * frame.y))
        bodies.append(body)
        last = tip
    return q, bodies, frame, forces


def lagrange(n):
    """M and h by Lagrange's equations."""
    from sympy.physics import mechanics

    q, bodies, frame, _ = system(n)
    method = mechanics.LagrangesMethod(mechanics.Lagrangian(frame, *bodies), q, frame=frame)
    method.form_lagranges_equations()
    return method.mass_matrix, -method.forcing


def kane(n):
    """M and h by Kane's equations."""
    from sympy.physics import mechanics

    q, bodies, frame, forces = system(n)
    u = mechanics.dynamicsymbols(f"u1:{n + 1}")
    rates = [speed - angle.diff() for speed, angle in zip(u, q, strict=True)]
    method = mechanics.KanesMethod(frame, q_ind=q, u_ind=u, kd_eqs=rates)
    method.kanes_equations(bodies, forces)
    return method.mass_matrix, -method.forcing


def numbers(M, h, at, rates):
    """SymPy's M and h at a state."""
    from sympy import Symbol
    from sympy.physics import mechanics

    n = len(at)
    q, u = mechanics.dynamicsymbols(f"q1:{n + 1}"), mechanics.dynamicsymbols(f"u1:{n + 1}")
    put = {angle.diff(): rate for angle, rate in zip(q, rates, strict=True)} | dict(zip(u, rates, strict=True))
    put |= {Symbol(f"{letter}{i + 1}"): value(letter, i + 1) for letter in "amI" for i in range(n)}
    put |= {Symbol("g"): GRAVITY}
    last = dict(zip(q, at, strict=True))
    return [np.array(each.subs(put).subs(last).evalf(17), dtype=float) for each in (M, h)]


def fresh(derive):
    """A derivation without what SymPy remembers of the one before."""
    from sympy.core.cache import clear_cache

    def run():
        clear_cache()
        derive()

    return run


def compare(rounds=3, sizes=(2, 3, 4)):
    """Entries of the report, and what is missing."""
    entries = []
    for n in sizes:
        actions = {"kronbot": fresh(lambda n=n: kronbot(n))}
        different = {"kronbot": 0.0}
        try:
            rng = np.random.default_rng(n)
            at, rates = rng.uniform(-1, 1, (2, n))
            own = question(n).at(at, rates)
            for name, method in (("SymPy, Lagrange", lagrange), ("SymPy, Kane", kane)):
                M, h = numbers(*method(n), at, rates)
                pairs = ((M, own["M"].values), (h.ravel(), own["h"].values))
                different[name] = max(float(np.abs(a - b).max() / np.abs(b).max()) for a, b in pairs)
                actions[name] = fresh(lambda n=n, method=method: method(n))
        except ImportError as reason:
            return [], {"SymPy": str(reason)}
        times = interleaved(actions, rounds, warm=False)
        for name, each in times.items():
            over = each.over(times["kronbot"])
            entries.append(
                {
                    "part": "derivation",
                    "who": name,
                    "links": n,
                    "best_s": each.best,
                    "median_s": each.median,
                    "ratio": over["median"],
                    "quartiles": over["quartiles"],
                    "difference": different[name],
                    "equal": different[name] <= EQUAL,
                }
            )
    return entries, {}
