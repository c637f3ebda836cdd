"""Independent mechanics: Lagrange's equations of a robot made of particles, written down by brute force.

Nothing here comes from the package under test. A robot is the plain dict of its file (values: numbers or short
expressions such as 'pi/2'). Every beam is cut into particles at Gauss-Legendre nodes, every body is its mass and the
second moments of its mass, each position is a product of homogeneous transforms from the base, and

    T = 1/2 sum m |dr/dq qd|^2,    tau = d/dt dT/dqd - dT/dq + dV/dq + D qd.

casadi only differentiates; no recursion of velocities, accelerations or forces.
"""

import ast
import functools
import itertools
import math
import operator

import casadi as ca
import mpmath
import numpy as np
from numpy.polynomial import legendre
from scipy.integrate import solve_ivp

# --------------------------------------------------------------------------------------------- numbers

_OPERATORS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
}
_FUNCTIONS = {name: getattr(math, name) for name in ("sin", "cos", "tan", "sqrt", "exp")}


def number(value, names=None):
    """The float of a number or of an expression over `names` (themselves numbers, expressions or symbols)."""
    if isinstance(value, (int, float)):
        return float(value)
    if isinstance(value, ca.SX):
        return value
    names = names or {}

    def fold(node):
        match node:
            case ast.Constant(value=int() | float()):
                return float(node.value)
            case ast.Name(id="pi"):
                return math.pi
            case ast.Name(id="deg"):
                return math.pi / 180
            case ast.Name():
                return number(names[node.id], names)
            case ast.UnaryOp():
                return _OPERATORS[type(node.op)](fold(node.operand))
            case ast.BinOp():
                return _OPERATORS[type(node.op)](fold(node.left), fold(node.right))
            case ast.Call(func=ast.Name(), args=[argument]):
                if node.func.id in _FUNCTIONS:
                    return _FUNCTIONS[node.func.id](fold(argument))
        raise ValueError(f"not an arithmetic expression: {value!r}")

    return fold(ast.parse(value, mode="eval").body)


# ---------------------------------------------------------------------------------------------- shapes


@functools.cache
def _eigenvalue(sign, i):
    """(beta l, sigma, 1 - sigma) of the i-th root of cos x cosh x = sign: -1 clamped-free, +1 clamped-clamped."""
    with mpmath.workdps(60):
        start = mpmath.pi * (2 * i - 1 if sign < 0 else 2 * i + 1) / 2
        x = mpmath.findroot(lambda z: mpmath.cos(z) - sign / mpmath.cosh(z), start)
        sigma = (mpmath.cosh(x) - sign * mpmath.cos(x)) / (mpmath.sinh(x) - sign * mpmath.sin(x))
        return float(x), float(sigma), float(1 - sigma)


def _beam_mode(sign, i, xi):
    """cosh z - cos z - sigma (sinh z - sin z), z = beta l xi, and two derivatives by xi.

    cosh z - sigma sinh z is written exp(-z) + (1 - sigma) sinh z: no difference of large numbers.
    """
    b, sigma, rest = _eigenvalue(sign, i)
    z = b * xi
    decay, c, s, ch, sh = np.exp(-z), np.cos(z), np.sin(z), np.cosh(z), np.sinh(z)
    return np.array(
        [
            decay + rest * sh - c + sigma * s,
            b * (-decay + rest * ch + s + sigma * c),
            b * b * (decay + rest * sh + c - sigma * s),
        ]
    )


@functools.cache
def _largest(i):
    """Largest value of the i-th clamped-clamped mode: the top of its first lobe."""
    low, high = 0.0, 1.5 / (i + 1)  # the slope is positive at 0+ and changes sign once before the end of the first lobe
    low = 1e-3
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if _beam_mode(1, i, np.array(middle))[1] > 0 else (low, middle)
    return float(_beam_mode(1, i, np.array(low))[0])


def _power(p, xi):
    """xi^p and two derivatives."""
    return np.array(
        [xi**p, p * xi ** (p - 1) if p else 0 * xi, p * (p - 1) * xi ** (p - 2) if p > 1 else 0 * xi],
    )


def _shifted_legendre(i, factor, xi):
    """xi^factor P_i(2 xi - 1) and two derivatives by xi (product rule)."""
    c = [0.0] * i + [1.0]
    p = [2**k * legendre.legval(2 * xi - 1, legendre.legder(c, k) if k else c) for k in range(3)]
    f = _power(factor, xi)
    return np.array([f[0] * p[0], f[1] * p[0] + f[0] * p[1], f[2] * p[0] + 2 * f[1] * p[1] + f[0] * p[2]])


def shapes(shape, kind, count, x, length):
    """Shape functions of a beam: array (3, count, len(x)) of phi, dphi/dx, d2phi/dx2; kind 'bending' or 'torsion'."""
    x = np.asarray(x, float)
    xi = x / length
    out = np.zeros((3, count, x.size))
    for i in range(1, count + 1):
        if shape == "polynomial":
            out[:, i - 1] = _power(i + 1 if kind == "bending" else i, x)
            continue
        if shape == "legendre":
            values = _shifted_legendre(i - 1, 2 if kind == "bending" else 1, xi)
        elif kind == "torsion" and shape == "craig-bampton" and i == 1:
            values = _power(1, xi)
        elif kind == "torsion":
            k = (i - 1 if shape == "craig-bampton" else i - 0.5) * math.pi
            values = np.array([np.sin(k * xi), k * np.cos(k * xi), -k * k * np.sin(k * xi)])
        elif shape == "clamped-free":
            values = _beam_mode(-1, i, xi) / _beam_mode(-1, i, np.array(1.0))[0]
        elif shape == "craig-bampton":
            if i == 1:
                values = (3 * _power(2, xi) - _power(3, xi)) / 2
            elif i == 2:
                values = _power(2, xi)
            else:
                values = _beam_mode(1, i - 2, xi) / _largest(i - 2)
        else:
            raise ValueError(f"no such shape: {shape!r}")
        out[:, i - 1] = values / length ** np.arange(3)[:, None]
    return out


# ------------------------------------------------------------------------------------------- rotations


def skew(a):
    """The matrix of a x (.)."""
    zero = 0 * a[0]
    rows = [[zero, -a[2], a[1]], [a[2], zero, -a[0]], [-a[1], a[0], zero]]
    if isinstance(a, (ca.SX, ca.DM)):
        return ca.vertcat(*[ca.horzcat(*row) for row in rows])
    return np.array(rows)


def series(s, first, terms=20):
    """1/first! - s/(first + 2)! + s^2/(first + 4)! - ... : with s = t^2 and first = 1, sin(t)/t; 2: (1 - cos t)/t^2."""
    total = 0
    for n in reversed(range(terms)):
        total = 1 / math.factorial(2 * n + first) - s * total
    return total


def exp_rotation(theta, terms=20):
    """exp(skew(theta)): Rodrigues with sin|t|/|t| and (1 - cos|t|)/|t|^2 as power series in theta . theta."""
    entries = _rotation_entries(*(theta[i] for i in range(3)), terms)
    if isinstance(theta, (ca.SX, ca.DM)):
        return ca.reshape(ca.vertcat(*entries), 3, 3)
    return np.reshape(entries, (3, 3)).T


def _rotation_entries(x, y, z, terms=20):
    """Its nine entries, column by column, of one rotation vector or of columns of them."""
    s = x * x + y * y + z * z
    a, b = series(s, 1, terms), series(s, 2, terms)
    cosine, xy, xz, yz = 1 - b * s, b * x * y, b * x * z, b * y * z
    ax, ay, az = a * x, a * y, a * z
    return [
        *(cosine + b * x * x, xy + az, xz - ay),
        *(xy - az, cosine + b * y * y, yz + ax),
        *(xz + ay, yz - ax, cosine + b * z * z),
    ]


def rotate_x(angle):
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[1, 0, 0], [0, c, -s], [0, s, c]])


def rotate_y(angle):
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])


def rotate_z(angle):
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])


def rod(kappa, length, x=None, rtol=1e-12, atol=1e-13):
    """The exact inextensible rod R' = R skew(kappa), r' = R e1, from r = 0, R = 1.

    kappa: three functions of x (kappa_x, kappa_y, kappa_z), or one function giving all three. Returns r, R at x =
    length, or stacks of them at each of the ascending `x`.
    """
    curvature = kappa if callable(kappa) else lambda s: np.array([k(s) for k in kappa])

    def slope(s, y):
        r = y[3:].reshape(3, 3)
        return np.concatenate([r[:, 0], (r @ skew(np.asarray(curvature(s), float))).ravel()])

    at = [length] if x is None else np.asarray(x, float)
    start = np.concatenate([np.zeros(3), np.eye(3).ravel()])
    end = max(float(length), float(np.max(at)))
    y = solve_ivp(slope, (0.0, end), start, method="DOP853", rtol=rtol, atol=atol, t_eval=at).y
    r, rotation = y[:3].T, y[3:].T.reshape(-1, 3, 3)
    return (r[0], rotation[0]) if x is None else (r, rotation)


# ------------------------------------------------------------------------------------------------ beam


@functools.cache
def gauss(n):
    """Nodes and weights of Gauss-Legendre quadrature on [0, 1]."""
    x, w = legendre.leggauss(n)
    return (x + 1) / 2, w / 2


@functools.cache
def _magnus_step():
    """(h, curvatures at its three Gauss points, 3 x 3) -> shift and rotation, in axes of the start of the step."""
    h, kappa = ca.SX.sym("h"), ca.SX.sym("kappa", 3, 3)

    def bracket(a, b):
        return ca.vertcat(ca.cross(a[:3], b[:3]), ca.cross(a[:3], b[3:]) - ca.cross(b[:3], a[3:]))

    # minus the twist: the inverse of the motion obeys Y' = -X Y
    a1, a2, a3 = (-ca.vertcat(kappa[:, i], 1, 0, 0) for i in range(3))
    b1, b2, b3 = h * a2, h * math.sqrt(15) / 3 * (a3 - a1), 10 * h / 3 * (a3 - 2 * a2 + a1)
    c1 = bracket(b1, b2)
    c2 = -bracket(b1, 2 * b3 + c1) / 60
    omega = -(b1 + b3 / 12 + bracket(-20 * b1 - b3 + c1, b2 + c2) / 240)
    theta, rho = omega[:3], omega[3:]
    s, k = ca.dot(theta, theta), skew(theta)
    b, c = (series(s, n, 8) for n in (2, 3))
    shift = rho + b * (k @ rho) + c * (k @ (k @ rho))
    return ca.Function("step", [h, kappa], [shift, exp_rotation(theta, 8)])


class Beam:
    """A clamped beam of given length: pose of its sections and its constant matrices, straight from the shapes.

    The curvatures are kappa = (alpha', -w'', v''). Order 1: r = (x, v, w), rotation vector (alpha, -w', v'). Order 2: r
    of Piedboeuf (18), rotation vector theta1 + 1/2 int theta1 x kappa dx with theta1 = (alpha, -w', v'). Order 'exact':
    the rod R' = R skew(kappa), r' = R e1 by Magnus steps of sixth order.
    """

    def __init__(self, data, length, order=2, value=number):
        self.length, self.order = length, str(order)
        modes = data.get("modes") or {}
        self.counts = [0 if self.order == "0" else int(modes.get(key, 0)) for key in ("v", "w", "torsion")]
        self.shape = data.get("shape", "clamped-free")
        self.mass = value(data.get("mass", 0))
        self.polar_inertia = value(data.get("polar_inertia", 0))
        stiffness = data.get("EI") or {}
        self.EI_z, self.EI_y = value(stiffness.get("z", 0)), value(stiffness.get("y", 0))
        self.GJ = value(data.get("GJ", 0))
        self.size = sum(self.counts)
        self.quadrature = 24 + 5 * max(self.counts)
        self._damping = data.get("damping") or {}
        self._value = value

    def fields(self, x):
        """Shapes of v, w, alpha at x: three arrays (3, count, len(x))."""
        kinds = ("bending", "bending", "torsion")
        return [shapes(self.shape, k, n, x, self.length) for k, n in zip(kinds, self.counts, strict=True)]

    def _tables(self, x):
        """Shapes at x and the running integrals over [0, x] of their products that the second order needs."""
        v, w, a = self.fields([x])
        out = {"x": x, "v": v[:, :, 0], "w": w[:, :, 0], "a": a[:, :, 0]}
        node, weight = gauss(self.quadrature)
        s, ds = node * x, weight * x
        fv, fw, fa = self.fields(s)

        def integral(f, g, ds):
            return (f * ds) @ g.T

        out["v'v'"], out["w'w'"] = integral(fv[1], fv[1], ds), integral(fw[1], fw[1], ds)
        lever = ds * (x - s)  # int_0^x int_0^xi f = int_0^x (x - s) f(s) ds
        out["II w''a"], out["II v''a"] = integral(fw[2], fa[0], lever), integral(fv[2], fa[0], lever)
        out["v'w''-v''w'"] = integral(fv[1], fw[2], ds) - integral(fv[2], fw[1], ds)
        out["v'a'-v''a"] = integral(fv[1], fa[1], ds) - integral(fv[2], fa[0], ds)
        out["w'a'-w''a"] = integral(fw[1], fa[1], ds) - integral(fw[2], fa[0], ds)
        return out

    def pose(self, x, q_f):
        """Numbers: position r (3,) and rotation R (3, 3) of the section at x for modal coordinates q_f."""
        r, rotation = self.sections([x], ca.DM(np.asarray(q_f, float).reshape(-1, 1)))[0]
        return np.array(r).ravel(), np.array(rotation)

    def sections(self, places, q_f, rotation=True):
        """Position and rotation (or None) at each of the ascending places x, for casadi coordinates q_f."""
        if self.order == "exact" and self.size:
            return self._march(places, q_f)
        return self._truncated(places, q_f, rotation)

    def _march(self, places, q_f):
        """Sixth-order Magnus steps (three Gauss points) of the motion (R, r) along the rod."""
        marks, grid = [0.0, *places], [0.0]
        for before, place in itertools.pairwise(marks):
            steps = math.ceil((place - before) / (self.length / (24 + 4 * max(self.counts))) - 1e-9)
            grid += np.linspace(before, place, steps + 1)[1:].tolist()
        grid = np.array(grid)
        middles, lengths = (grid[1:] + grid[:-1]) / 2, np.diff(grid)
        points = middles[:, None] + np.outer(lengths, [-1, 0, 1]) * math.sqrt(15) / 10
        v, w, a = self.fields(points.ravel())
        q_v, q_w, q_a = self._split(q_f)
        strains = [f.T if f.size else np.zeros((points.size, 0)) for f in (a[1], -w[2], v[2])]
        kappa = ca.horzcat(*(ca.DM(f) @ q for f, q in zip(strains, (q_a, q_w, q_v), strict=True))).T
        r, rotation, at = ca.DM.zeros(3), ca.DM.eye(3), {0.0: (ca.DM.zeros(3), ca.DM.eye(3))}
        for k, (end, h) in enumerate(zip(grid[1:].tolist(), lengths, strict=True)):
            shift, turn = _magnus_step()(h, kappa[:, 3 * k : 3 * k + 3])
            r, rotation = r + rotation @ shift, rotation @ turn
            at[end] = r, rotation
        return [at[float(place)] for place in places]

    def _split(self, q_f):
        """Of v, w and torsion; with one index alone a 1 x 1 column of nothing would be a row."""
        n_v, n_w, _ = self.counts
        return q_f[:n_v, :], q_f[n_v : n_v + n_w, :], q_f[n_v + n_w :, :]

    def _truncated(self, places, q_f, rotation):
        tables = [self._tables(x) for x in places]
        parts = self._split(q_f)

        def combined(values, unknowns):  # a row for each place
            return ca.DM(np.array([np.ravel(row) for row in values])) @ unknowns if unknowns.numel() else none

        def linear(key, k):
            return combined([table[key][k] for table in tables], parts["vwa".index(key)])

        def square(name, left, right):
            p, q = parts["vwa".index(left)], parts["vwa".index(right)]
            return combined([table[name] for table in tables], ca.vec(q @ p.T))

        none = ca.DM.zeros(len(tables))
        r = [ca.DM(places), linear("v", 0), linear("w", 0)]
        theta = [linear("a", 0), -linear("w", 1), linear("v", 1)]
        if self.order == "2":
            r[0] -= (square("v'v'", "v", "v") + square("w'w'", "w", "w")) / 2
            r[1] -= square("II w''a", "w", "a")
            r[2] += square("II v''a", "v", "a")
            theta[0] += square("v'w''-v''w'", "v", "w") / 2
            theta[1] += square("v'a'-v''a", "v", "a") / 2
            theta[2] += square("w'a'-w''a", "w", "a") / 2
        positions = ca.horzsplit(ca.horzcat(*r).T)
        if not rotation:
            return [(at, None) for at in positions]
        entries = ca.horzsplit(ca.horzcat(*_rotation_entries(*theta)).T)
        return [(at, ca.reshape(turned, 3, 3)) for at, turned in zip(positions, entries, strict=True)]

    def curvature(self, q_f):
        """The function x -> (kappa_x, kappa_y, kappa_z) of the exact rod with these modal coordinates."""
        n_v, n_w, _ = self.counts
        v, w, a = np.split(np.asarray(q_f, float), [n_v, n_v + n_w])

        def kappa(x):
            fv, fw, fa = self.fields([x])
            return np.array([a @ fa[1, :, 0], -w @ fw[2, :, 0], v @ fv[2, :, 0]])

        return kappa

    def matrices(self):
        """Mass, stiffness and damping matrix of the bare clamped beam at q_f = 0."""
        node, weight = gauss(self.quadrature)
        fields = self.fields(node * self.length)
        mass, stiffness = np.zeros((self.size,) * 2), np.zeros((self.size,) * 2)
        density = [self.mass / self.length, self.mass / self.length, self.polar_inertia]
        rigidity = [self.EI_z, self.EI_y, self.GJ]
        damping = np.zeros_like(mass)
        ratios = self._damping.get("ratio", 0)
        ratios = [self._value(r) for r in (ratios if isinstance(ratios, list) else [ratios] * self.size)]
        start = 0
        for k, count in enumerate(self.counts):  # v, w and torsion do not couple at q_f = 0
            block = slice(start, start + count)
            ds = weight * self.length
            f, bend = fields[k][0], fields[k][1 if k == 2 else 2]
            m_f = mass[block, block] = density[k] * np.einsum("ik,jk,k->ij", f, f, ds)
            k_f = stiffness[block, block] = rigidity[k] * np.einsum("ik,jk,k->ij", bend, bend, ds)
            if count and any(ratios[block]):
                root = np.linalg.cholesky(m_f)
                inverse = np.linalg.inv(root)
                square, basis = np.linalg.eigh(inverse @ k_f @ inverse.T)
                phi = inverse.T @ basis  # phi^T m_f phi = 1
                rate = np.diag(2 * np.array(ratios[block]) * np.sqrt(square))
                damping[block, block] = m_f @ phi @ rate @ phi.T @ m_f
            start += count
        damping += self._value(self._damping.get("alpha", 0)) * mass
        damping += self._value(self._damping.get("beta", 0)) * stiffness
        return mass, stiffness, damping


# ------------------------------------------------------------------------------------------ Lagrangian


class Lagrangian:
    """Equations of motion of a robot (dict of its file) from the kinetic energy of its particles.

    order: 0, 1, 2 or 'exact' (kinematics of the flexible links); nodes: particles along each beam (default: enough for
    1e-12); values: numbers for the robot's `parameters`, over those of the file.
    """

    def __init__(self, robot, order=2, nodes=None, values=None):
        self.robot, self.order = robot, str(order)
        self._names = {**(robot.get("parameters") or {}), **(values or {})}
        self.links = {link["name"]: link for link in robot["links"]}
        self.gravity = np.array([self._value(g) for g in robot["gravity"]])
        self.beams = {
            name: Beam(link["flexible"], self._beam_length(link), order, self._value)
            for name, link in self.links.items()
            if link.get("flexible")
        }
        self._name_coordinates()
        self.q = ca.SX.sym("q", self.n)
        self.frames = {}
        for name in self.links:
            self._pose(name)
        self._collect(nodes)
        self._elements, self._stops = self._element_functions(), self._stop_functions()
        self._friction = self._friction_function()
        self._frame_functions = {}

    # -- the robot ---------------------------------------------------------------------------------------------------

    def _value(self, value):
        return number(value, self._names)

    def _vector(self, values):
        return np.array([self._value(v) for v in (values or [0, 0, 0])])

    def _standard(self, link):
        return "dh" in link and self.robot["convention"] == "standard"

    def _beam_length(self, link):
        flexible = link["flexible"]
        if self._standard(link):
            return self._value(link["dh"]["a"]) - self._value(flexible.get("root", 0))
        return self._value(flexible["length"])

    def _name_coordinates(self):
        names, self.index, self.joints = [], {}, []
        if (self.robot.get("base") or {}).get("type") == "floating":
            names += [f"base.{word}" for word in ("x", "y", "z", "rx", "ry", "rz")]
        for name, link in self.links.items():
            joint = link["joint"]
            if joint["type"] != "fixed":
                if "follows" in joint and "elastic" in joint:
                    names.append(joint["name"])
                    self.index[name, "joint"] = len(names) - 1
                elif "follows" not in joint:
                    self.joints.append(len(names))
                    names.append(joint["name"])
                    self.index[name, "joint"] = self.index[name, "motor"] = len(names) - 1
                if "elastic" in joint and "follows" not in joint:
                    names.append(f"{joint['name']}.motor")
                    self.joints[-1] = self.index[name, "motor"] = len(names) - 1
                for axis in joint.get("bearing", {}).get("stiffness", {}):
                    names.append(f"{joint['name']}.{axis}")
                    self.index[name, axis] = len(names) - 1
            if name in self.beams:
                first = len(names)
                for letter, count in zip("vwt", self.beams[name].counts, strict=True):
                    names += [f"{name}.{letter}{i + 1}" for i in range(count)]
                self.index[name, "beam"] = slice(first, len(names))
        self.coordinates, self.n = names, len(names)
        self.flexible = [i for i in range(self.n) if i not in self.joints and not names[i].startswith("base.")]

    def _joint(self, name, theta=0.0, d=0.0):
        """Rotation and translation Rz(theta) Tz(d), the joint coordinate added to one of them."""
        kind = self.links[name]["joint"]["type"]
        if kind == "fixed":
            return rotate_z(theta), ca.DM([0, 0, d])
        q = self._moved(name)
        if kind == "prismatic":
            return rotate_z(theta), ca.vertcat(0, 0, d + q)
        c, s = ca.cos(theta + q), ca.sin(theta + q)
        return ca.vertcat(ca.horzcat(c, -s, 0), ca.horzcat(s, c, 0), ca.horzcat(0, 0, 1)), ca.DM([0, 0, d])

    def _moved(self, name):
        """How far the joint of a link has moved."""
        if (name, "joint") in self.index:
            return self.q[self.index[name, "joint"]]
        return self._followed(self.links[name]["joint"]["follows"])

    def _followed(self, text):
        known = {link["joint"]["name"]: other for other, link in self.links.items() if "name" in link["joint"]}
        wanted = {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)}
        values = {joint: self._moved(other) for joint, other in known.items() if joint in wanted}
        return number(text, {**self._names, **values})

    def _base(self, name):
        """The frame that does not move, or the base where it floats."""
        if name == "world" or "base.x" not in self.coordinates:
            return ca.SX.zeros(3), ca.SX.eye(3)
        c, s = ca.cos(self.q[3:6]), ca.sin(self.q[3:6])
        about_x = ca.blockcat([[1, 0, 0], [0, c[0], -s[0]], [0, s[0], c[0]]])
        about_y = ca.blockcat([[c[1], 0, s[1]], [0, 1, 0], [-s[1], 0, c[1]]])
        about_z = ca.blockcat([[c[2], -s[2], 0], [s[2], c[2], 0], [0, 0, 1]])
        return self.q[:3], about_z @ about_y @ about_x

    def _pose(self, name):
        """Root and tip frame (position, rotation) of a link in the base frame, parents first."""
        if (name, "tip") in self.frames:
            return self.frames[name, "tip"]
        link = self.links[name]
        before = list(self.links)[: list(self.links).index(name)]
        parent = link.get("parent", before[-1] if before else "base")
        p, r = self._base(parent) if parent in ("base", "world") else self._pose(parent)
        after, shift = 0.0, 0.0
        if "dh" in link:
            a, d, alpha, theta = (self._value(link["dh"][key]) for key in ("a", "d", "alpha", "theta"))
            if self._standard(link):
                after, shift = alpha, a
            else:
                p, r = p + r @ ca.DM([a, 0, 0]), r @ rotate_x(alpha)
            turn, move = self._joint(name, theta, d)
        else:
            roll, pitch, yaw = self._vector(link["pose"].get("rpy"))
            p = p + r @ self._vector(link["pose"].get("xyz"))
            r = r @ (rotate_z(yaw) @ rotate_y(pitch) @ rotate_x(roll))
            turn, move = self._joint(name)
        if "bearing" in link["joint"]:
            tilt = [self.q[self.index[name, axis]] if (name, axis) in self.index else 0 for axis in "xy"]
            r = r @ exp_rotation(ca.vertcat(*tilt, 0))
        p, r = p + r @ move, r @ turn  # Rz and Tz commute
        self.frames[name, "root"] = p, r
        if name in self.beams:
            beam = self.beams[name]
            at, turned = beam.sections([beam.length], self.q[self.index[name, "beam"]])[0]
            shift = at + ca.DM([self._value(link["flexible"].get("root", 0)), 0, 0])
            p, r = p + r @ shift, r @ turned
        else:
            p = p + r @ ca.DM([shift, 0, 0])
        self.frames[name, "tip"] = p, r @ rotate_x(after)
        return self.frames[name, "tip"]

    # -- particles ---------------------------------------------------------------------------------------------------

    def _body(self, body, frame):
        """A rigid body: its mass at the centre, and the second moments of its mass on the axes of the frame.

        With J = tr(I)/2 - I = int s s^T dm, the turning energy 1/2 omega^T I omega is 1/2 tr(R_dot J R_dot^T).
        """
        p, r = frame
        mass = self._value(body.get("mass", 0))
        entry = {key: self._value(v) for key, v in (body.get("inertia") or {}).items()}
        xx, yy, zz, xy, xz, yz = (entry.get(k, 0.0) for k in ("Ixx", "Iyy", "Izz", "Ixy", "Ixz", "Iyz"))
        tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        if mass:
            self.particles.append((mass, p + r @ self._vector(body.get("com"))))
        if tensor.any():
            self.spins.append((np.trace(tensor) / 2 * np.eye(3) - tensor, r))

    def _collect(self, nodes):
        self.particles, self.spins, self.sections = [], [], []
        self.rotors, self.preload, self.slack = np.zeros(self.n), np.zeros(self.n), 0.0
        self.stiffness, self.damping = np.zeros((self.n,) * 2), np.zeros((self.n,) * 2)
        if (self.robot.get("base") or {}).get("rigid"):
            self._body(self.robot["base"]["rigid"], self._base("base"))
        for name, link in self.links.items():
            for key, which in (("rigid", "tip"), ("hub", "root"), ("payload", "tip")):
                if link.get(key):
                    self._body(link[key], self.frames[name, which])
            joint = link["joint"]
            if (name, "motor") in self.index:
                i = self.index[name, "motor"]
                self.rotors[i] = self._value(joint.get("gear", 1)) ** 2 * self._value(joint.get("rotor_inertia", 0))
            if joint["type"] != "fixed":
                self._joint_springs(name, joint)
            if name in self.beams:
                self._beam_particles(name, link, nodes)

    def _joint_springs(self, name, joint):
        """Shaft, spring and bearing of a joint as entries of the matrices, and what springs exert at q = 0."""
        own = self._moved(name)
        before = self._followed(joint["follows"]) if "follows" in joint else self.q[self.index[name, "motor"]]
        damped = {"damping": joint.get("damping", 0)}
        springs = [(own, joint.get("spring", {})), (own - before, joint.get("elastic", {}))]
        springs.append((before if (name, "motor") in self.index else own, damped))
        for axis in "xy":
            of_axis = {key: values.get(axis, 0) for key, values in joint.get("bearing", {}).items()}
            springs.append((self.q[self.index.get((name, axis), 0)], of_axis))
        for stretch, spring in springs:
            linear = ca.Function("stretch", [self.q], [ca.jacobian(stretch, self.q), stretch])(0)
            row = np.array(linear[0]).ravel()
            stiffness, rest = (self._value(spring.get(key, 0)) for key in ("stiffness", "rest"))
            rest -= float(linear[1])
            self.stiffness += stiffness * np.outer(row, row)
            self.damping += self._value(spring.get("damping", 0)) * np.outer(row, row)
            self.preload += stiffness * rest * row
            self.slack += stiffness * rest**2 / 2

    def _beam_particles(self, name, link, nodes):
        beam, block = self.beams[name], self.index[name, "beam"]
        p, r = self.frames[name, "root"]
        root = ca.DM([self._value(link["flexible"].get("root", 0)), 0, 0])
        spinning = beam.polar_inertia != 0
        xi, weights = gauss(nodes or 16 + 5 * max(beam.counts))
        sections = beam.sections(xi * beam.length, self.q[block], rotation=spinning)
        for w, (at, turned) in zip(weights, sections, strict=True):
            self.particles.append((beam.mass * w, p + r @ (root + at)))
            if spinning:
                self.sections.append((beam.polar_inertia * beam.length * w, r @ turned))
        _, self.stiffness[block, block], self.damping[block, block] = beam.matrices()

    def _element_functions(self):
        """(q, qd) -> energy of the elements' springs, and what elements take, by energy and work of their lengths."""
        energy, forces, qd = ca.SX(0), ca.SX.zeros(self.n), ca.SX.sym("qd", self.n)
        for element in self.robot.get("elements", []):
            ends, over = [], [(each["frame"], each.get("point", [0, 0, 0])) for each in element.get("via", [])]
            first, last = zip(element["between"], element.get("points", [[0, 0, 0]] * 2), strict=True)
            for name, point in (first, *over, last):
                link, _, which = name.partition(":")
                p, r = self._base(name) if name in ("base", "world") else self.frames[link, which or "tip"]
                ends.append(p + r @ ca.DM(self._vector(point)))
            length = sum(ca.norm_2(after - before) for before, after in itertools.pairwise(ends))
            k, rest, c, f = (self._value(element.get(key, 0)) for key in ("stiffness", "rest", "damping", "force"))
            spring, slope = k * (length - rest) ** 2 / 2, ca.gradient(length, self.q)
            if element["type"] == "tendon":
                depth = length - rest
                energy += ca.if_else(depth > 0, spring, 0)
                forces += slope * ca.if_else(depth > 0, ca.fmax(0, k * depth + c * ca.dot(slope, qd)), 0)
                continue
            energy += spring
            forces += ca.gradient(spring, self.q) + slope * (c * ca.dot(slope, qd) - f)
        return ca.Function("elements", [self.q, qd], [energy, forces])

    def _stop_functions(self):
        """(q, qd) -> energy of joints in stops, and what these take; max(0, k d + c dd/dt) at a depth d > 0."""
        energy, forces, qd = ca.SX(0), ca.SX.zeros(self.n), ca.SX.sym("qd", self.n)
        for name, link in self.links.items():
            stops = link["joint"].get("stops")
            if stops is None:
                continue
            k, c = (self._value(stops.get(key, 0)) for key in ("stiffness", "damping"))
            low, high = (self._value(end) for end in link["joint"]["limits"])
            for depth in (low - self._moved(name), self._moved(name) - high):
                push = ca.if_else(depth > 0, ca.fmax(0, k * depth + c * ca.jtimes(depth, self.q, qd)), 0)
                energy += ca.if_else(depth > 0, k * depth**2 / 2, 0)
                forces += push * ca.gradient(depth, self.q)
        return ca.Function("stops", [self.q, qd], [energy, forces])

    def _friction_function(self):
        """(q, qd) -> forces that dry friction takes, by the rate of the motor or else of the joint."""
        forces, qd = ca.SX.zeros(self.n), ca.SX.sym("qd", self.n)
        for name, link in self.links.items():
            said = link["joint"].get("friction")
            if said is None:
                continue
            low, smoothing = self._value(said["coulomb"]), self._value(said["smoothing"])
            high, fading = self._value(said.get("static", low)), self._value(said.get("stribeck_rate", 1))
            motor = self.index.get((name, "motor"))
            if "follows" in link["joint"] or motor is None:
                slope = ca.gradient(self._moved(name), self.q)
            else:
                slope = ca.gradient(self.q[motor], self.q)
            rate = ca.dot(slope, qd)
            size = low + (high - low) * ca.exp(-((rate / fading) ** 2))
            forces += slope * size * ca.tanh(rate / smoothing)
        return ca.Function("friction", [self.q, qd], [forces])

    # -- energies and their derivatives --------------------------------------------------------------------------------

    @functools.cached_property
    def _expressions(self):
        """Rates qd, kinetic energy, momentum, potential energy."""
        q, qd = self.q, ca.SX.sym("qd", self.n)
        columns = [r for _, r in self.particles] + [r for _, r in self.spins] + [r for _, r in self.sections]
        vectors = ca.horzcat(*columns) if columns else ca.SX.zeros(3, 0)
        rates = ca.reshape(ca.jtimes(ca.vec(vectors), q, qd), *vectors.shape)
        kinetic = ca.sum1(ca.DM(self.rotors) * qd**2) / 2
        momentum, potential, k = ca.SX.zeros(3), ca.SX(0), 0
        for mass, r in self.particles:
            v = rates[:, k]
            kinetic += mass * ca.sumsqr(v) / 2
            momentum += mass * ca.cross(r, v)
            potential -= mass * ca.dot(ca.DM(self.gravity), r)
            k += 1
        for moments, r in self.spins:
            rate = rates[:, k : k + 3]
            kinetic += ca.trace(rate @ moments @ rate.T) / 2
            weighted = rate @ moments
            momentum += sum((ca.cross(r[:, i], weighted[:, i]) for i in range(3)), ca.SX.zeros(3))
            k += 3
        for inertia, r in self.sections:  # omega_x = (R^T R_dot)[3, 2]
            axial = ca.dot(r[:, 2], rates[:, k + 1])
            kinetic += inertia * axial**2 / 2
            momentum += inertia * axial * r[:, 0]
            k += 3
        return qd, kinetic, momentum, potential

    @functools.cached_property
    def _generalized(self):
        """(q, qd) -> dT/dqd."""
        qd, kinetic, *_ = self._expressions
        return ca.Function("generalized", [self.q, qd], [ca.gradient(kinetic, qd)], {"cse": False})

    @functools.cached_property
    def _motion(self):
        """(q, qd) -> kinetic energy, and d/dt dT/dqd - dT/dq at qdd = 0."""
        qd, kinetic, *_ = self._expressions
        inertial = ca.jtimes(ca.gradient(kinetic, qd), self.q, qd) - ca.gradient(kinetic, self.q)
        return ca.Function("motion", [self.q, qd], [kinetic, inertial], {"cse": False})

    @functools.cached_property
    def _momentum(self):
        qd, _, momentum, _ = self._expressions
        return ca.Function("momentum", [self.q, qd], [momentum], {"cse": False})

    @functools.cached_property
    def _potential(self):
        potential = self._expressions[-1]
        return ca.Function("potential", [self.q], [potential, ca.gradient(potential, self.q)], {"cse": False})

    def _point(self, link, which, point, derivatives):
        """Function q -> r, R of a point fixed in a frame, or dr/dq, dR/dq, or the derivatives of these."""
        key = (link, which, tuple(point), derivatives)
        if key not in self._frame_functions:
            p, r = self.frames[link, which]
            at = p + r @ ca.DM(list(point))
            answers = [at, r]
            if derivatives:
                turn = []
                for i in range(self.n):  # column i of J_R: the vector of dR/dq_i R^T
                    spin = ca.reshape(ca.jacobian(ca.vec(r), self.q[i]), 3, 3) @ r.T
                    turn.append(ca.vertcat(spin[2, 1], spin[0, 2], spin[1, 0]))
                answers = [ca.jacobian(at, self.q), ca.horzcat(*turn)]
            if derivatives == 2:
                answers = [ca.jacobian(ca.vec(m), self.q) for m in answers]
            self._frame_functions[key] = ca.Function("point", [self.q], answers)
        return self._frame_functions[key]

    # -- answers -------------------------------------------------------------------------------------------------------

    def frame(self, q, link, which="tip", point=(0, 0, 0)):
        """Position (3,) and rotation (3, 3), base frame, of a link's 'tip' or 'root' frame (or a point fixed in it)."""
        out = self._point(link, which, point, 0)(q)
        return np.array(out[0]).ravel(), np.array(out[1])

    def jacobian(self, q, link, which="tip", point=(0, 0, 0)):
        """J_T and J_R (3 x n each, base frame); J_R from dR/dq_i R^T."""
        out = self._point(link, which, point, 1)(q)
        return np.array(out[0]), np.array(out[1])

    def hessian(self, q, link, which="tip", point=(0, 0, 0)):
        """H_T and H_R (3 x n^2): columns j n + k hold d(column j of the Jacobian)/dq_k."""
        out = self._point(link, which, point, 2)(q)

        def khang(flat):
            return np.array(flat).reshape(self.n, 3, self.n).transpose(1, 0, 2).reshape(3, -1)

        return khang(out[0]), khang(out[1])

    def mass_matrix(self, q):
        """M: its columns are the generalized momenta of unit rates."""
        q = np.asarray(q, float).reshape(-1, 1)
        return np.array(self._generalized(np.tile(q, self.n), np.eye(self.n)))

    def kinetic_energy(self, q, qd):
        return float(self._motion(q, qd)[0])

    def elastic_energy(self, q):
        q = np.asarray(q, float)
        of_elements = sum(float(each(q, np.zeros(self.n))[0]) for each in (self._elements, self._stops))
        return float(q @ self.stiffness @ q) / 2 - float(self.preload @ q) + self.slack + of_elements

    def gravity_energy(self, q):
        return float(self._potential(q)[0])

    def potential_energy(self, q):
        """(elastic, gravity), gravity measured from the base origin."""
        return self.elastic_energy(q), self.gravity_energy(q)

    def gravity_torque(self, q):
        """g = d(gravity energy)/dq."""
        return np.array(self._potential(q)[1]).ravel()

    def coriolis_torque(self, q, qd):
        """Mdot qd - dT/dq."""
        return np.array(self._motion(q, qd)[1]).ravel()

    def bias(self, q, qd):
        """What inverse dynamics needs at qdd = 0."""
        elastic = self.stiffness @ np.asarray(q, float) - self.preload + self.damping @ np.asarray(qd, float)
        taken = sum(np.array(each(q, qd)[1])[:, 0] for each in (self._elements, self._stops))
        rubbing = np.array(self._friction(q, qd))[:, 0]
        return self.coriolis_torque(q, qd) + self.gravity_torque(q) + elastic + taken + rubbing

    def inverse_dynamics(self, q, qd, qdd):
        """tau = M qdd + Mdot qd - dT/dq + dV/dq + D qd, one entry a coordinate."""
        return self.mass_matrix(q) @ np.asarray(qdd, float) + self.bias(q, qd)

    def forward_dynamics(self, q, qd, tau):
        """qdd for generalized forces tau (one a coordinate)."""
        return np.linalg.solve(self.mass_matrix(q), np.asarray(tau, float) - self.bias(q, qd))

    def angular_momentum(self, q, qd):
        """About the base origin, of particles, bodies and spinning beam sections (rotors hold none)."""
        return np.array(self._momentum(q, qd)).ravel()
