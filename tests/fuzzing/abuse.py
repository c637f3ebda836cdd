"""What no argument of the library takes, a call of every public method that is right, and calls by chance.

Values are made anew for every call, since generators end and hostile ones may change.
"""

import dataclasses
import inspect
import math
import types
from decimal import Decimal
from fractions import Fraction
from numbers import Real

import casadi
import numpy as np

import kronbot
from kronbot.compute.arrays import NamedArray
from kronbot.description import Description
from kronbot.description.urdf.translation import Translation
from kronbot.library import robot as library
from kronbot.library.exporting import Export
from kronbot.library.sweep import Sweep
from kronbot.library.symbolic import Symbolic
from kronbot.plots.page.pages import Page
from kronbot.questions.result import Result
from kronbot.sweeps.work import Case

TEXT = """
kronbot: 1
name: arm
convention: standard
gravity: [0, -9.81, 0]
parameters: {EI: 20, l: 0.9}
links:
  - name: upper
    joint: {type: revolute, name: q1}
    dh: {a: l, d: 0, alpha: 0, theta: 0}
    flexible: {mass: 0.3, EI: {z: EI}, modes: {v: 1}}
  - name: fore
    joint: {type: revolute, name: q2}
    dh: {a: 0.4, d: 0, alpha: 0, theta: 0}
    rigid: {mass: 0.2, inertia: {Izz: 0.01}}
motion: {q1: {type: sinusoid, amplitude: 0.1, frequency: 5}}
statics: {gauges: [{name: g1, link: upper, x: 0.1}]}
simulate: {duration: 0.02, step: 0.01}
"""


class Raising(Exception):
    """What hostile objects raise; it must never arrive."""


def fails(*arguments, **named):
    raise Raising


class Name(str):
    """Text of which nothing can be asked."""


for _method in dir(str):
    if _method not in ("__new__", "__init__", "__class__", "__doc__", "__getattribute__"):
        setattr(Name, _method, fails)


class Number(float):
    __float__ = __repr__ = __str__ = __eq__ = __lt__ = __le__ = __gt__ = __add__ = __mul__ = fails
    __hash__ = None


class Complex(complex):
    __complex__ = __repr__ = __str__ = __eq__ = __add__ = __abs__ = fails
    __hash__ = None


class Rational(Fraction):
    __float__ = __repr__ = __str__ = __eq__ = __lt__ = fails
    __hash__ = None


class Items(dict):
    items = keys = values = __iter__ = __len__ = fails


class Entries(list):
    __iter__ = __len__ = __getitem__ = fails


class Names(set):
    __iter__ = __len__ = __contains__ = __repr__ = fails


class Masked(np.ma.MaskedArray):
    astype = filled = __iter__ = __repr__ = __len__ = __getitem__ = fails


class Open:
    """A file from which hostile text comes."""

    def read(self, size):
        return Name("nothing")


class Watching:
    """What might be told a share, and does not say how."""

    __call__ = __repr__ = fails
    __signature__ = property(fails)


class Endless(list):
    def __iter__(self):
        while True:
            yield self


class Arrayed:
    __array__ = __repr__ = __len__ = fails


class Imagined(np.ndarray):
    __iter__ = __repr__ = __len__ = __getitem__ = __array_ufunc__ = fails


class Gone:
    """What raises when it is asked what it is, as a proxy of something that is gone does."""

    __class__ = property(fails)
    __len__ = __iter__ = __float__ = __array__ = __repr__ = fails


class Unequal(type):
    """Of a class that is not to be hashed, named or compared."""

    __eq__ = __hash__ = fails
    __name__ = property(fails)


class Same(type):
    """Of a class that says that it is any other one."""

    __hash__ = type.__hash__

    def __eq__(cls, other):
        return True


class Silent(type):
    def __getattribute__(cls, name):
        raise Raising


class Path:
    __fspath__ = __repr__ = fails


def within_itself():
    rows = [0.1, 0.2]
    rows.append(rows)
    return rows


def zero_dimensional(value):
    held = np.empty((), dtype=object)
    held[()] = value
    return held


HOSTILE = {
    "object": object,
    "type": lambda: dict,
    "function": lambda: fails,
    "module": lambda: math,
    "ellipsis": lambda: ...,
    "True": lambda: True,
    "numpy bool": lambda: np.True_,
    "complex": lambda: 1 + 0j,
    "hostile complex": lambda: Complex(1j),
    "numpy complex": lambda: np.complex128(1),
    "nan": lambda: math.nan,
    "inf": lambda: -math.inf,
    "longdouble inf": lambda: np.longdouble("1e4000"),
    "huge int": lambda: 10**400,
    "huger int": lambda: 10**20000,
    "sNaN": lambda: Decimal("sNaN"),
    "timedelta": lambda: np.timedelta64(1, "s"),
    "datetime": lambda: np.datetime64("2020-01-01"),
    "void": lambda: np.zeros(1, dtype=[("a", float)])[0],
    "hostile fraction": lambda: Rational(1, 2),
    "bytes": lambda: b"q1",
    "bytearray": lambda: bytearray(b"q1"),
    "memoryview": lambda: memoryview(b"q1"),
    "surrogate": lambda: "\ud800",
    "NUL": lambda: "q1\0",
    "long text": lambda: "q" * 100_000,
    "hostile text": lambda: Name("nothing"),
    "text": lambda: "nothing of that name",
    "masked": lambda: np.ma.masked,
    "masked array": lambda: np.ma.array([0.1, 0.2], mask=[True, False]),
    "masked text": lambda: np.ma.array(["q9"]),
    "masked complex": lambda: np.ma.array([0.1, 0.2j], mask=[False, True]),
    "masked bools": lambda: np.ma.array([True, False]),
    "masked dates": lambda: np.ma.array(np.zeros(2, "datetime64[D]")),
    "masked objects": lambda: np.ma.array([0.1, object()], dtype=object),
    "hostile masked": lambda: np.ma.array([0.1, 1j]).view(Masked),
    "complex array": lambda: np.array([0.1, 0.2j]),
    "bool array": lambda: np.array([True, False]),
    "nan array": lambda: np.array([0.1, math.nan]),
    "object array": lambda: np.array([0.1, object()], dtype=object),
    "object in an array": lambda: zero_dimensional(object()),
    "array in an array": lambda: zero_dimensional(zero_dimensional(0.1)),
    "structured array": lambda: np.zeros(2, dtype=[("a", float)]),
    "dates": lambda: np.array(["2020-01-01", "2021-01-01"], dtype="datetime64[D]"),
    "cube": lambda: np.zeros((2, 2, 2)),
    "hostile array": lambda: np.zeros((2, 2, 2)).view(Imagined),
    "array-like": Arrayed,
    "ragged": lambda: [[0.1, 0.2], [0.1]],
    "bools": lambda: [True, False],
    "Nones": lambda: [None, None],
    "nested": lambda: [[[[0.1]]]],
    "within itself": within_itself,
    "endless": lambda: Endless([1]),
    "hostile list": lambda: Entries([0.1, 0.2]),
    "numbers as names": lambda: {1: 2.0},
    "hostile mapping": lambda: Items(q1=0.1),
    "unknown name": lambda: {"q9": 0.1},
    "generator": lambda: (each for each in (0.1, 0.2)),
    "iterator": lambda: iter([0.1]),
    "set": lambda: {0.1, 0.2},
    "hostile set": lambda: Names(["q1"]),
    "hostile file": Open,
    "hostile function": Watching,
    "symbol": lambda: casadi.SX.sym("x"),
    "symbolic matrix": lambda: casadi.MX.sym("x", 2),
    "hostile path": Path,
    **{
        f"{kind.__name__} {base.__name__}": kind("Kind", (base,), {})
        for kind in (Unequal, Same, Silent)
        for base in (object, Entries)
    },
    "hostile class": Gone,
    "hostile class in a list": lambda: [Gone(), Gone()],
    "hostile class by name": lambda: {"q1": Gone()},
}

# Equal to 1/2, each in its way.
HALVES = {
    "numpy": lambda: np.float64(0.5),
    "single": lambda: np.float32(0.5),
    "longdouble": lambda: np.longdouble("0.5"),
    "fraction": lambda: Fraction(1, 2),
    "decimal": lambda: Decimal("0.5"),
    "expression": lambda: "1/2",
    "numpy text": lambda: np.str_("1/2"),
    "array": lambda: np.array(0.5),
    "masked array": lambda: np.ma.array(0.5),
    "hostile float": lambda: Number(0.5),
}


def robot():
    return kronbot.loads(TEXT, order="1")


# Whose methods are called; all others that a user gets have none.
OWNERS = {"Robot": library.Robot, "Symbolic": Symbolic, "Export": Export, "Result": Result, "Sweep": Sweep}
OWNERS |= {"NamedArray": NamedArray, "Description": Description, "Page": Page, "Translation": Translation}
# A call of everything public that is right, with a value for every argument; what takes any number of names has one.
CALLS = {
    "load": {"robot": "khang", "order": "1", "parameters": {}},
    "loads": {"text": TEXT, "order": "1", "parameters": {"EI": 2}},
    "robots": {},
    "convert": {"urdf": "arm.urdf", "tip": "b"},
    "Robot.at_order": {"order": "1"},
    "Robot.with_parameters": {"values": 2},
    "Robot.with_motion": {"motion": "q1: {type: sinusoid, amplitude: 0.1, frequency: 3}"},
    "Robot.check": {},
    "Robot.symbolic": {"style": "text", "short": False, "shared": False, "seconds": 1.0, "array": None},
    "Robot.kinematics": {"q": [0.1, 0.2], "frame": ["fore"], "inverse": {"x": 0.7, "y": 0.4}, "starts": 2},
    "Robot.jacobian": {
        "q": [0.1, 0.2], "qd": {"q1": 1.0}, "frame": "fore", "axes": "body", "generalized": False
    },
    "Robot.hessian": {"q": [0.1, 0.2], "qd": {"q1": 1.0}, "qdd": [1, 2], "frame": "fore", "axes": "body"},
    "Robot.dynamics": {"q": [0.1, 0.2], "qd": {"q1": 1.0}, "qdd": [1, 2]},
    "Robot.taylor": {"of": "J_T", "terms": 1, "q": [0.1, 0.2], "delta": [0.1, 0], "frame": "fore", "axes": "base"},
    "Robot.linearize": {
        "q": [0.1, 0.2], "qd": {"q1": 1.0}, "qdd": [1, 2], "tau": [1, 2], "force": [0, 1, 0], "equilibrium": False,
        "closed_loop": False, "lock": ["q1"], "inputs": ["force"], "outputs": ["gauges"],
        "response": "step", "duration": 0.1, "progress": lambda share: None,
    },
    "Robot.linearize_along": {
        "lock": ["q1", "q2"], "duration": 0.1, "step": 0.05, "period": "2*pi/5", "progress": lambda share: None
    },
    "Robot.modes": {"q": [0.1, 0.2], "qd": [0.1, 0], "convergence": 1, "progress": lambda share: None},
    "Robot.statics": {
        "q": [0.1, 0.2], "angles": {"q2": [0.1]}, "forces": [[0, 1, 0]], "moments": [[0, 0, 1]],
        "loads": {"fore": [0, 1, 0]}, "distributed": {"upper": [0, 1, 0]}, "tau": None, "calibration": [0.1, 0.2],
        "solver": "linear", "outputs": ["reaction:q1"], "buckling": False, "order": None,
        "progress": lambda share: None,
    },
    "Robot.simulate": {
        "duration": 0.02, "step": 0.01, "q": [0.1, 0.2], "qd": {"q1": 0.1}, "start": "straight",
        "loads": {"fore": [0, 1, 0]}, "outputs": ["velocity:fore"], "algorithm": "composite",
        "solver": "radau", "rtol": 1e-6, "atol": 1e-8, "band": 0.02, "progress": lambda share: None,
    },
    "Robot.plan": {
        "to": {"q1": 0.101}, "q": [0.1, 0.2], "duration": 0.1, "shortest": False, "drive": "torque", "least": "change",
        "effort_limits": {"q1": 100}, "limits": {"q2_dot": [-9, 9]}, "robust": None,
        "after": 0.01, "follow": None, "through": None, "seconds": 60, "progress": lambda share: None,
    },
    "Robot.design": {
        "q": [0.1, 0.2], "lqr": True, "poles": None, "shaper": None, "weights": {"q1": 2}, "effort": {"q2": 0.1},
        "noise": {"q1": 1e-3, "q2": 1e-3}, "deviation": {"q1": 0.01}, "lock": [], "motion": False,
        "duration": None, "progress": lambda share: None,
    },
    "Robot.export": {"functions": "jacobian", "algorithm": None, "frame": "fore", "axes": "body"},
    "Robot.complexity": {"functions": "inverse", "links": [1], "modes": [1], "progress": lambda share: None},
    "Robot.answers": {"question": "check", "cases": [Case({"EI": 2}, {})]},
    "Robot.sweep": {
        "question": "modes", "over": {"EI": [1, 2]}, "cases": {"q1": [0, 0.1]}, "sample": None, "seed": 0,
        "indices": False, "keep": "frequencies_free[1]", "workers": 1, "scheduler": None, "output": "sweep.csv",
        "overwrite": False, "resume": False, "strict": False, "plot": False, "progress": lambda share: None,
        "options": [0.1, 0.2],
    },
    "Robot.fit": {
        "data": {"q1": [0, 0.3, 0.5], "q2": [0.1, 0.2, 0.3], "endpoint.y": [-0.04201, 0.38566, 0.6621]},
        "question": "statics", "columns": {}, "estimate": {"EI": (1, 100)}, "prior": {"EI": (20, 10)},
        "sigma": {"endpoint": 0.001}, "only": ["endpoint.y"], "fix": [], "validate": None, "initial": None,
        "offset": {"endpoint": 0.001}, "delay": {}, "differentiate": None, "loss": "linear", "starts": 1, "seed": None,
        "steps": 100, "plan": None, "candidates": None, "synthetic": None, "progress": lambda share: None,
    },
    "Robot.rewritten": {"values": {"EI": 30}, "heading": "Before"},
    "Robot.view": {"q": [0.1, 0.2], "file": None, "overwrite": False, "open": False},
    "Robot.force_units": {"indices": [0, 1]},
    "Robot.derivative_names": {"words": ["q", "qd"]},
    "Symbolic.kinematics": {"frame": "fore"},
    "Symbolic.jacobian": {"frame": "fore", "axes": "body", "generalized": False},
    "Symbolic.hessian": {"frame": "fore", "axes": "body"},
    "Symbolic.dynamics": {},
    "Symbolic.linearize": {"lock": ["q1"]},
    "Export.c": {"header": "arm.h", "prefix": "arm", "real": "float"},
    "Export.python": {},
    "Export.casadi": {},
    "Result.plot": {"file": None, "overwrite": False, "pair": ("q2", "torque.q1"), "panels": "response"},
    "Result.view": {"file": None, "overwrite": False, "open": False},
    "Result.to_pandas": {},
    "Result.to_xarray": {},
    "Result.to_dict": {},
    "Result.settled": {},
    "NamedArray.to_pandas": {},
    "NamedArray.to_xarray": {},
    "NamedArray.to_dict": {},
    "Sweep.result": {},
    "Sweep.chunks": {},
    "Sweep.to_dict": {},
    "Sweep.to_pandas": {},
    "Sweep.to_xarray": {},
    "Sweep.plot": {"file": None, "overwrite": False, "panels": None},
    "Sweep.view": {"file": None, "overwrite": False, "open": False},
}  # fmt: skip

# What of the above is right after all: by argument, or by call and argument.
RIGHT = {
    "header": {"text", "hostile text"},
    "prefix": {"hostile text"},
    "heading": {"text", "hostile text", "long text"},
    "array": {"text", "hostile text", "surrogate", "NUL", "long text"},  # the question that it is asked for knows them
    "progress": {"type", "function"},
    "scheduler": {"text", "hostile text", "surrogate", "NUL", "long text", "bytes"},  # a path, looked for when needed
    **dict.fromkeys(("overwrite", "resume", "strict", "plot", "indices", "open"), {"True", "numpy bool"}),
    **dict.fromkeys(("short", "shared", "equilibrium", "buckling", "generalized", "lqr"), {"True", "numpy bool"}),
}
# And of what is right among the entries of an argument: nothing measured, a parameter without bounds.
RIGHT_WITHIN = {"data": {"nan"}, "estimate": {"Nones"}}


def within(right):
    """An argument with another first entry, or first entry of its first entry, as functions of that entry."""
    if isinstance(right, dict) and right:
        name, *_ = right
        yield lambda entry: {**right, name: entry}
        for put in within(right[name]):
            yield lambda entry, put=put: {**right, name: put(entry)}
    elif isinstance(right, list | tuple) and right:
        yield lambda entry: [entry, *right[1:]]


def public(owner):
    """Names of the public functions of a class or module."""
    for name in owner.__all__ if isinstance(owner, types.ModuleType) else dir(owner):
        value = getattr(owner, name)
        if not name.startswith("_") and (inspect.isfunction(value) or inspect.ismethod(value)):
            yield name


def surface():
    """Every public function and method by its name in CALLS, with the names of its arguments."""
    for prefix, owner in {"": kronbot, **{f"{kind}.": owner for kind, owner in OWNERS.items()}}.items():
        for name in public(owner):
            names = list(inspect.signature(getattr(owner, name)).parameters)
            yield prefix + name, [each for each in names if each != "self"]


class Caller:
    """Calls of everything public about one robot."""

    def __init__(self, folder):
        self.robot = robot()
        self.symbolic = self.robot.symbolic(seconds=1.0)
        self.export = self.robot.export("pose")
        self.result = self.robot.linearize(response="step", duration=0.1)
        self.namedarray = self.result.arrays["M_L"]
        self.sweep = self.robot.sweep("modes", {"EI": [1, 2]}, keep="frequencies_free[1]", workers=1)
        mass = '<inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
        joint = '<joint name="q" type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/></joint>'
        self.urdf = folder / "arm.urdf"
        self.urdf.write_text(f'<robot name="r"><link name="a"/><link name="b">{mass}</link>{joint}</robot>')

    def arguments(self, name):
        """Those of the call that is right."""
        return CALLS[name] | ({"urdf": self.urdf} if name == "convert" else {})

    def call(self, name, arguments):
        """The answer."""
        owner, _, method = name.rpartition(".")
        held = getattr(self, owner.lower()) if owner else kronbot
        named = dict(arguments)
        several = [named.pop("functions")] if "functions" in named else []
        if method == "with_parameters":
            named = {"EI": named["values"]}
        if method == "answers":
            return list(held.answers(**named))
        if name == "Sweep.chunks":
            return list(held.chunks())
        if method == "sweep":
            named = {**named, "q": named["options"]}
            del named["options"]
            return demand_possible(held.sweep(**named))
        return getattr(held, method)(*several, **named)


def demand_possible(sweep):
    """The sweep, once its first case is computed here, which is what its driver does before all others."""
    if refused := sweep.task.done(0, 1).refused:
        raise kronbot.errors.UsageError(*refused)
    return sweep


def by_chance(chance, depth=2):
    """A value that may be anything."""
    kinds = [
        lambda: HOSTILE[chance.choice(sorted(HOSTILE))](),
        lambda: HALVES[chance.choice(sorted(HALVES))](),
        lambda: chance.choice([0, 1, -1, 2, 0.1, -0.0, 1e-300, 1e300, 5e-324, 2**63, -(2**63), None]),
        lambda: chance.choice(["", "1", "pi", "q1", "upper", "upper.v1", "fore:root", "com:upper", "all", "q1,q2"]),
        lambda: np.zeros([chance.randrange(4) for _ in range(chance.randrange(3))]),
        lambda: np.full(chance.randrange(4), chance.choice([1e4, 1e-4, 0.5]), dtype=chance.choice("efdgiOU")),
    ]
    if depth:
        kinds += [
            lambda: [by_chance(chance, depth - 1) for _ in range(chance.randrange(5))],
            lambda: tuple(by_chance(chance, depth - 1) for _ in range(chance.randrange(5))),
            lambda: {
                chance.choice(["q1", "q2", "upper", "upper.v1", "fore", "EI", 3]): by_chance(chance, depth - 1)
                for _ in range(chance.randrange(4))
            },
        ]
    return chance.choice(kinds)()


def is_answer(value):
    """Whether it is something that the library answers with."""
    plain = isinstance(value, str | list | tuple | dict)
    drawn = type(value).__module__.partition(".")[0] in ("pandas", "xarray") or hasattr(value, "savefig")
    return plain or drawn or isinstance(value, Real | library.Robot) or dataclasses.is_dataclass(value)
