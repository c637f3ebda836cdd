"""Exported C, Python and CasADi files against the model's own numbers, hostile names, and what is refused."""

import csv
import ctypes
import importlib.util
import io
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import casadi
import numpy as np
import pytest
from casadi import SX
from thinned import rare, thinned

from kronbot import description, load, loads
from kronbot.cli.commands.export import Target
from kronbot.cli.main import run
from kronbot.compute.code import routine
from kronbot.compute.trace import Trace
from kronbot.description.wording import shown_path
from kronbot.library.robot import Robot
from kronbot.mechanics.linear.linear_model import LinearModel
from kronbot.mechanics.multibody.energy import elastic_energy, gravity_energy, kinetic_energy
from kronbot.mechanics.multibody.kinematics import frame, relative_motion
from kronbot.mechanics.multibody.recursion import composite_forward_dynamics, forward_dynamics, inverse_dynamics
from kronbot.mechanics.multibody.state import generalized_inertia_matrix, propagate
from kronbot.model.build import build
from kronbot.questions.export import FUNCTIONS

CC, CXX = shutil.which("cc"), shutil.which("c++")
needs_c = pytest.mark.skipif(CC is None, reason="needs a C compiler")
needs_both = pytest.mark.skipif(CC is None or CXX is None, reason="needs a C and a C++ compiler")
WARNINGS = ("-Wall", "-Wextra", "-Werror", "-pedantic")
# Numbers of the robot are multiplied into each other before they are written, so that roundings differ from the
# model's, and solving with the inertia matrix (condition up to 1e5) enlarges them; relative to the largest entry.
ROUNDING = 1e-10

STACKER = {"d2": 0.7, "a3": 1.1, "l3": 0.6, "yG2": 0.2, "m1": 3.0, "m2": 2.0, "m3": 1.5}
STACKER |= {name: 0.3 + 0.1 * i for i, name in enumerate(("I2x", "I2y", "I2z", "I3x", "I3y", "I3z"))} | {"g": 9.81}
# Order and functions by robot: everything where that compiles in a second, else what the robot adds.
CASES = {
    "puma560": ("2", "pose,hessian"),
    "canadarm": ("1", "bias,linear_model"),
    "stacker": ("2", "all"),
    "spatial": ("1", "inverse_dynamics,jacobian"),
    "torso": ("0", "pose,mass_matrix"),
    "khang": ("exact", "bias,energy"),
    "held": ("1", "forward_dynamics,forward_dynamics_derivatives,inverse_dynamics,energy"),
    "afloat": ("1", "forward_dynamics,inverse_dynamics"),
}
# Robots that are not shipped.
FILES = {name: str(Path(__file__).parents[1] / "data" / f"{name}.yaml") for name in ("held", "afloat")}
PENDULUM = """
kronbot: 1
name: {name}
convention: standard
gravity: [0, -9.81, 0]
parameters: {parameters}
links:
  - name: {link}
    joint: {{type: revolute, name: q1}}
    dh: {{a: 1.5, d: 0, alpha: {alpha}, theta: 0}}
    rigid: {{mass: {mass}, com: [-0.5, 0, 0], inertia: {{Izz: 0.1}}}}
"""


def pendulum(folder, *, name="pendulum", parameters="{}", link="rod", alpha="0", mass="2"):
    path = folder / "pendulum.yaml"
    values = {word: json.dumps(text, ensure_ascii=False) for word, text in (("name", name), ("link", link))}
    path.write_text(PENDULUM.format(**values, parameters=parameters, alpha=alpha, mass=mass), encoding="utf-8")
    return path


def write(folder, robot, of, name, *options):
    """Export into a folder and return the path of the file."""
    path = folder / name
    assert run(["export", str(robot), "--of", of, "-o", str(path), "-q", *options]) == 0
    return path


def loaded(path):
    """A C file as a shared library, compiled without a warning."""
    library = path.with_name(f"lib{path.stem}.so")
    options = ["-std=c99", "-O0", "-ffp-contract=off", "-fPIC", "-shared", *WARNINGS]
    subprocess.run([CC, *options, str(path), "-o", str(library), "-lm"], check=True)
    return ctypes.CDLL(str(library))


def called(library, prefix, function, values, kind=np.float64):
    """Outputs of a C function by name; the casadi function says which inputs and outputs it has."""
    inputs = [np.ascontiguousarray(values[word], dtype=kind) for word in function.name_in()]
    outputs = {word: np.full(function.size_out(word), np.nan, dtype=kind) for word in function.name_out()}
    routine = getattr(library, f"{prefix}_{function.name()}")
    routine(*(array.ctypes.data_as(ctypes.c_void_p) for array in (*inputs, *outputs.values())))
    return outputs


def imported(path):
    """A module from a file."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def answers(function, values):
    """What a casadi function says, by output."""
    found = function(**{word: values[word] for word in function.name_in()})
    return {word: np.array(found[word]) for word in function.name_out()}


def point(robot, parameters):
    """Inputs at random: joints move far, beams bend a little."""
    rng = np.random.default_rng(7)
    size = np.ones(robot.n)
    size[list(robot.flexible)] = 0.02
    values = {word: size * rng.uniform(-1, 1, robot.n) for word in ("q", "qd", "qdd")}
    return values | {"tau": rng.uniform(-5, 5, robot.n), "force": rng.uniform(-1, 1, 3), "p": parameters}


def expected(robot, words, values):
    """What the model itself says about outputs; accelerations by the other algorithm, their slopes by the first."""
    symbols = {word: SX.sym(word, len(values[word])) for word in ("q", "qd", "qdd", "tau", "force")}
    q, qd, qdd, tau, force = symbols.values()
    state = propagate(robot, q, qd)
    motion = relative_motion(robot, q, frame(robot, "endpoint"), frame(robot, "world"))
    linear = LinearModel(robot, q, qd, qdd, SX(len(robot.joints), 1), force)
    outputs = {
        "qdd": lambda: composite_forward_dynamics(state, tau, {}),
        "tau": lambda: inverse_dynamics(state, qdd),
        "bias": lambda: inverse_dynamics(state, SX(robot.n, 1)),
        "M": lambda: generalized_inertia_matrix(state),
        "position": lambda: motion.pose.r,
        "rotation": lambda: motion.pose.R,
        "energy": lambda: casadi.vertcat(kinetic_energy(state), elastic_energy(state), gravity_energy(state)),
        "h_L": lambda: tau + motion.J_T.T @ force - inverse_dynamics(state, qdd),
    }
    outputs |= {name: lambda name=name: getattr(motion, name) for name in ("J_T", "J_R", "H_T", "H_R")}
    outputs |= {name: lambda name=name: getattr(linear, name) for name in ("M_L", "D_L", "K_L")}
    outputs |= {
        f"dqdd_d{word}": lambda by=by: casadi.jacobian(forward_dynamics(state, tau, {}), by)
        for word, by in (("q", q), ("qd", qd), ("tau", tau))
    }
    trace = Trace(robot.parameters, symbols, {word: outputs[word]() for word in words}, "test")
    return trace(*(values[word] for word in symbols))


def close(found, wanted, tolerance):
    wanted = np.asarray(wanted, dtype=float)
    difference = np.abs(np.asarray(found, dtype=float).reshape(wanted.shape) - wanted)
    return bool((difference <= tolerance * np.abs(wanted).max()).all())


@pytest.fixture(scope="module", params=thinned(list(CASES), ["stacker", "afloat"]))
def exported(request, tmp_path_factory):
    """A robot's C, Python and CasADi files, the functions of the last, a point and the answers there."""
    order, of = CASES[request.param]
    folder = tmp_path_factory.mktemp("export")
    names = list(FUNCTIONS) if of == "all" else of.split(",")
    named = FILES.get(request.param, request.param)
    traced = load(named, order=order).export(*names)  # what the command writes, traced once for all
    for name, prefix in (("arm.c", "arm"), ("arm.py", None), ("arm.casadi", None)):
        target = Target(folder / name, False, "double", prefix)
        paths = target.files(names)
        for path, content in zip(paths, target.contents(traced, [path.name for path in paths]), strict=True):
            path.write_bytes(content)
    overrides = {name: repr(value) for name, value in STACKER.items()} if request.param == "stacker" else {}
    described = description.load(description.read(named), overrides)
    robot = build(described, order)
    independent = [name for name, definition in robot.file.parameters.items() if definition.constant]
    functions = [casadi.Function.load(str(folder / f"arm.{name}.casadi")) for name in names]
    values = point(robot, [described.values[name] for name in independent])
    words = {word for function in functions for word in function.name_out()}
    return folder, functions, values, expected(robot, words, values)


@pytest.mark.slow
def test_casadi_files_give_the_numbers_of_the_model(exported):
    _, functions, values, wanted = exported
    for function in functions:
        for word, found in answers(function, values).items():
            assert close(found, wanted[word], ROUNDING), (function.name(), word)


@needs_c
def test_c_equals_casadi_to_the_bit(exported):
    """The same operations in the same order, with the same mathematics library."""
    folder, functions, values, _ = exported
    library = loaded(folder / "arm.c")
    for function in functions:
        wanted = answers(function, values)
        for word, found in called(library, "arm", function, values).items():
            assert (found == wanted[word]).all(), (function.name(), word)


def test_python_equals_casadi_to_the_bit(exported):
    """In a Python that sees neither kronbot nor numpy."""
    folder, functions, values, _ = exported
    given = json.dumps({word: list(entries) for word, entries in values.items()})
    calls = [[function.name(), function.name_in()] for function in functions]
    script = (
        f"import json, sys; sys.path.insert(0, {str(folder)!r}); import arm; given = json.loads(sys.stdin.read())\n"
        f"print(json.dumps([getattr(arm, name)(*(given[word] for word in words)) for name, words in {calls!r}]))\n"
        "assert not {'numpy', 'casadi', 'kronbot'} & set(sys.modules)"
    )
    command = [sys.executable, "-I", "-S", "-B", "-c", script]
    done = subprocess.run(command, input=given, stdout=subprocess.PIPE, text=True, check=True)
    for function, found in zip(functions, json.loads(done.stdout), strict=True):
        results = [found] if function.n_out() == 1 else found
        for (word, wanted), result in zip(answers(function, values).items(), results, strict=True):
            shape = wanted.shape[:1] if word in ("qdd", "tau", "bias", "position", "energy", "h_L") else wanted.shape
            assert np.shape(result) == shape
            assert (np.ravel(result) == wanted.ravel()).all(), (function.name(), word)


STOPPED = """
kronbot: 1
name: stopped
gravity: [0, -9.81, 0]
parameters: {k: 300, pull: 4}
links:
  - {name: a, joint: {type: revolute, name: q1, limits: [-0.3, 0.4], stops: {stiffness: k, damping: 9},
     rotor_inertia: 1, elastic: {stiffness: 80}}, pose: {}, rigid: {mass: 2, com: [0.5, 0, 0], inertia: {Izz: 0.1}}}
  - {name: b, joint: {type: prismatic, name: q2, limits: [0, 0.2], stops: {stiffness: 50, damping: 0}},
     pose: {xyz: [1, 0, 0], rpy: [0, pi/2, 0]}, rigid: {mass: 1, com: [0.1, 0.2, 0.3], inertia: {Izz: 0.1}}}
elements:
  - {name: rope, type: damper, between: [world, b], points: [[0, 1, 0], [0, 0, 0]], damping: 0.7}
  - {name: piston, type: actuator, between: [a, b], points: [[0, 0.3, 0], [0, 0, 0]], force: pull}
"""


@pytest.mark.slow
@needs_c
def test_stops_push_in_exported_code(tmp_path):
    """Free, deep in a stop, leaving one faster than it follows: C, Python and CasADi files have the same bits."""
    (tmp_path / "stopped.yaml").write_text(STOPPED)
    robot = loads(STOPPED)
    for name in ("arm.c", "arm.py", "arm.casadi"):
        write(tmp_path, tmp_path / "stopped.yaml", "all", name, *(("--prefix", "arm") if name == "arm.c" else ()))
    library, module = loaded(tmp_path / "arm.c"), imported(tmp_path / "arm.py")
    seen = set()
    for q, qd in (([0.1, 0.2, 0.1], [3, 1, -2]), ([0.6, 0.5, -0.1], [3, 0, 1]), ([0.5, 0.5, 0.3], [-9, 0, -1])):
        values = {"q": q, "qd": qd, "qdd": [0.3, -0.4, 0.5], "tau": [0, 2, -1], "force": [1, 2, 3], "p": [300, 4]}
        for name in FUNCTIONS:
            function = casadi.Function.load(str(tmp_path / f"arm.{name}.casadi"))
            wanted = answers(function, values)
            results = getattr(module, name)(*(values[word] for word in function.name_in()))
            results = [results] if function.n_out() == 1 else results
            found = called(library, "arm", function, values)
            for (word, numbers), result in zip(wanted.items(), results, strict=True):
                assert (found[word] == numbers).all() and (np.ravel(result) == numbers.ravel()).all(), (name, word)
        asked = robot.dynamics(q=q, qd=qd, qdd=values["qdd"])
        assert module.inverse_dynamics(q, qd, values["qdd"], [300, 4]) == pytest.approx(asked["tau"], abs=1e-11)
        depth = max(q[0] - 0.4, -0.3 - q[0])
        seen.add((depth > 0, 300 * depth + 9 * qd[0] > 0))
        assert module.forward_dynamics(q, qd, asked["tau"], [300, 4]) == pytest.approx(values["qdd"], abs=1e-10)
    assert seen == {(False, False), (True, True), (True, False)}


MAIN = """
#include "arm.h"
#include "arm.h"
#include <stdio.h>

int main(void)
{
    double q[ARM_COORDINATES], tau[ARM_COORDINATES], qdd[ARM_COORDINATES], M[ARM_COORDINATES * ARM_COORDINATES];
    int i;
    for (i = 0; i < ARM_COORDINATES; i++) {
        q[i] = 0.01 * i;
        tau[i] = 1;
    }
    arm_forward_dynamics(q, q, tau, arm_parameters, qdd);
    arm_mass_matrix(q, arm_parameters, M);
    printf("%s %s %d", arm_coordinate_names[1], arm_parameter_names[0], ARM_PARAMETERS);
    for (i = 0; i < ARM_COORDINATES; i++) {
        printf(" %.17g", qdd[i]);
    }
    printf(" %.17g\\n", M[1 * ARM_COORDINATES + 2]);
    return 0;
}
"""


@needs_both
def test_a_program_in_c_and_in_cpp(tmp_path):
    """Both include the header, twice, call two functions with the default parameters, and print the same."""
    source = write(tmp_path, "canadarm", "forward_dynamics,mass_matrix", "arm.c", "--prefix", "arm")
    compiled = tmp_path / "arm.o"
    subprocess.run([CC, "-std=c99", *WARNINGS, "-c", str(source), "-o", str(compiled)], check=True)
    printed = []
    for compiler, suffix, standard in ((CC, "c", "c99"), (CXX, "cpp", "c++11")):
        main = tmp_path / f"main.{suffix}"
        main.write_text(MAIN)
        program = tmp_path / f"main-{suffix}"
        options = [f"-std={standard}", *WARNINGS, str(main), str(compiled), "-o", str(program), "-lm"]
        subprocess.run([compiler, *options], check=True)
        printed.append(subprocess.run([str(program)], check=True, capture_output=True, text=True).stdout.split())
    assert printed[0] == printed[1]
    assert printed[0][:3] == ["upper.v1", "EI", "1"]
    python = imported(write(tmp_path, "canadarm", "forward_dynamics,mass_matrix", "arm.py"))
    q = [0.01 * i for i in range(9)]
    numbers = [*python.forward_dynamics(q, q, [1] * 9), python.mass_matrix(q)[1][2]]
    # The compiler of the program may contract products and sums where the processor can.
    assert [float(entry) for entry in printed[0][3:]] == pytest.approx(numbers, rel=1e-9)


@needs_c
@pytest.mark.parametrize(
    ("name", "prefix"),
    [
        ('*/ #error "stop" /*', "error_stop"),
        rare("??/ #error stop", "error_stop"),
        ("\"\"\"\\N{x} '''", "n_x"),
        rare("M\u00fcller's \u0160koda", "muller_s_skoda"),
        ("\u673a\u5668\u4eba", "robot"),
        rare("*/ \U0001f600", "robot"),
        rare("int", "int"),
        rare("7 of 9", "robot_7_of_9"),
        rare("../../etc/pass__wd", "etc_pass_wd"),
        rare("x" * 200, "x" * 40),
    ],
)
def test_hostile_names_stay_text(tmp_path, name, prefix):
    """Robot and link names of any kind compile without a warning, in ASCII, and arrive as they were."""
    robot = pendulum(tmp_path, name=name, link="bras-\u00e9t\u00e9")
    source = write(tmp_path, robot, "mass_matrix,pose", "arm.c", "--frame", "com:bras-\u00e9t\u00e9")
    assert source.read_bytes().isascii()
    assert source.with_suffix(".h").read_bytes().isascii()
    library = loaded(source)
    M = (ctypes.c_double * 1)()
    getattr(library, f"{prefix}_mass_matrix")((ctypes.c_double * 1)(0.3), M)
    assert M[0] == pytest.approx(0.1 + 2.0, rel=1e-14)
    python = write(tmp_path, robot, "mass_matrix,pose", "arm.py", "--frame", "com:bras-\u00e9t\u00e9")
    assert python.read_bytes().isascii()
    assert imported(python).mass_matrix([0.3]) == [[M[0]]]


@needs_c
def test_names_of_coordinates_are_utf8(tmp_path):
    robot = tmp_path / "beam.yaml"
    robot.write_text(description.read("khang").text.replace("name: arm", "name: bras-\u00e9t\u00e9"), encoding="utf-8")
    library = loaded(write(tmp_path, robot, "pose", "arm.c", "--prefix", "arm"))
    names = (ctypes.c_char_p * 2).in_dll(library, "arm_coordinate_names")
    assert [name.decode() for name in names] == ["qa", "bras-\u00e9t\u00e9.v1"]


@pytest.mark.slow
def test_same_question_same_bytes(tmp_path):
    """In processes whose sets and dictionaries are ordered differently, and from another folder."""
    kinds = ("arm.c", "arm.py", "arm.casadi")
    script = (
        "import sys; from kronbot.cli.main import run\nfor kind in sys.argv[1:]:\n"
        "    assert run(['export', 'stacker', '--of', 'forward_dynamics', '-o', kind]) == 0"
    )
    for seed in ("1", "2"):
        (tmp_path / seed).mkdir()
        environment = os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)}
        command = [sys.executable, "-c", script, *kinds]
        subprocess.run(command, cwd=tmp_path / seed, env=environment, check=True, capture_output=True)
    for kind in (*kinds, "arm.h"):
        first, second = ((tmp_path / seed / kind).read_bytes() for seed in ("1", "2"))
        assert first == second
        assert str(tmp_path).encode() not in first


def test_parameters_do_what_set_does(tmp_path):
    """Independent ones are inputs; Iy and Iz of the file, which the polar inertia holds, follow from b and h."""
    of, point = "mass_matrix", [0.1 * i for i in range(5)]
    module = imported(write(tmp_path, "torso", of, "plain.py", "--order", "0"))
    assert module.PARAMETERS == (7e10, 2.6e10, 2700.0, 0.008, 0.03, 0.7)
    changed = imported(write(tmp_path, "torso", of, "set.py", "--order", "0", "--set", "b=0.02", "--set", "L=0.9"))
    assert changed.PARAMETERS == (7e10, 2.6e10, 2700.0, 0.02, 0.03, 0.9)
    wanted = changed.mass_matrix(point)
    assert module.mass_matrix(point) != wanted
    assert module.mass_matrix(point, changed.PARAMETERS) == wanted
    # One that --set makes a number of its own is an input.
    assert len(imported(write(tmp_path, "torso", of, "Iy.py", "--order", "0", "--set", "Iy=1e-9")).PARAMETERS) == 7


def test_parameters_that_shape_the_code_are_fixed(tmp_path, capsys):
    """An angle that is folded at a quarter turn, with what it is computed from."""
    robot = pendulum(tmp_path, parameters="{half: pi/4, turn: 2*half, m: 3}", alpha="turn", mass="m")
    path = write(tmp_path, robot, "pose,mass_matrix", "arm.py", "--format", "json", "--overwrite")
    summary = json.loads(capsys.readouterr().out)["summary"]
    assert (summary["parameters"], summary["fixed_parameters"]) == ("m", "half")
    assert imported(path).PARAMETERS == (3.0,)
    assert "half  0.7853981633974483" in path.read_text()
    write(tmp_path, robot, "pose,mass_matrix", "arm.py", "--format", "json", "--overwrite", "--set", "half=0.7")
    assert json.loads(capsys.readouterr().out)["summary"]["parameters"] == "half, m"


def test_a_beam_needs_no_parameters_by_name(tmp_path):
    """A file of numbers alone, with damping, whose modal numbers are constants of the code."""
    beam = "flexible: {mass: 0.3, EI: {z: 15}, modes: {v: 2}, shape: craig-bampton, damping: {ratio: 0.01}}"
    text = PENDULUM.format(name="arm", parameters="{}", link="beam", alpha=0, mass=1)
    robot = tmp_path / "beam.yaml"
    robot.write_text(text[: text.index("    rigid:")].replace("parameters: {}\n", "") + f"    {beam}\n")
    module = imported(write(tmp_path, robot, "inverse_dynamics", "arm.py"))
    assert module.PARAMETERS == ()
    q, qd, qdd = [0.3, 0.02, -0.01], [1.0, 0.1, 0.2], [-2.0, 0.3, 0.5]
    tau = load(str(robot)).dynamics(q=q, qd=qd, qdd=qdd)["tau"]
    np.testing.assert_allclose(np.ravel(module.inverse_dynamics(q, qd, qdd)), tau, rtol=ROUNDING)


def test_shapes_made_for_a_mass_fix_it(tmp_path):
    """Eigenfunctions with a tip mass are numbers: the parameters they were found with are no inputs."""
    text = description.read("khang").text.replace("shape: clamped-free", "shape: clamped-mass")
    robot = tmp_path / "beam.yaml"
    robot.write_text(text)
    values = {"l": "1", "mu": "2", "EI": "30", "mE": "0.5", "J1": "0.1"}
    settings = [part for name, value in values.items() for part in ("--set", f"{name}={value}")]
    module = imported(write(tmp_path, robot, "mass_matrix", "arm.py", *settings))
    header = (tmp_path / "arm.py").read_text().split("cannot be changed")[1].split("import")[0]
    assert len(module.PARAMETERS) == 3
    assert {name for name in ("l", "mu", "mE") if f"#   {name} " in header} == {"l", "mu", "mE"}


@needs_c
def test_a_free_parameter_is_not_a_number(tmp_path):
    """Until it is given; Python has no default for p then."""
    library = loaded(write(tmp_path, "stacker", "mass_matrix", "arm.c"))
    defaults = (ctypes.c_double * 14).in_dll(library, "stacker_parameters")
    assert np.isnan(defaults[:13]).all()
    assert defaults[13] == 9.81
    module = imported(write(tmp_path, "stacker", "mass_matrix", "arm.py"))
    with pytest.raises(TypeError, match="'p'"):
        module.mass_matrix([0, 0, 0])
    with pytest.raises(ValueError, match="unpack"):
        module.mass_matrix([0, 0, 0], [1.0])


@needs_c
def test_single_precision(tmp_path):
    """--real float: the same numbers to the digits of a float."""
    function = casadi.Function.load(str(write(tmp_path, "puma560", "inverse_dynamics", "arm.casadi")))
    source = write(tmp_path, "puma560", "inverse_dynamics", "arm.c", "--real", "float")
    assert "double" not in source.read_text() + source.with_suffix(".h").read_text()
    rng = np.random.default_rng(3)
    values = {word: rng.uniform(-1, 1, 6) for word in ("q", "qd", "qdd")}
    found = called(loaded(source), "puma560", function, values, np.float32)["tau"]
    # Under a thousand operations with a rounding of 6e-8 each.
    assert close(found, answers(function, values)["tau"], 1000 * 6e-8)
    assert not close(found, answers(function, values)["tau"], 1e-12)


def test_frame_axes_and_algorithm(tmp_path):
    """The body-fixed Hessian of a link's root frame, and accelerations by the composite algorithm."""
    options = ("--frame", "forearm:root", "--in", "body", "--order", "1")
    module = imported(write(tmp_path, "canadarm", "hessian,jacobian", "arm.py", *options))
    q = [0.1, 0.02, 0.01, -0.4, 0.0, 0.01, 0.3, 0.0, 0.0]
    text = ",".join(map(repr, q))
    path = tmp_path / "answer.json"
    assert run(["hessian", "canadarm", "--q", text, *options, "-o", str(path), "-q"]) == 0
    arrays = json.loads(path.read_text())["arrays"]
    found = dict(zip(("H_T", "H_R", "H_T_star"), module.hessian(q), strict=True))
    for word, entries in found.items():
        assert close(entries, arrays[word]["values"], 1e-13), word
    modules = [
        imported(write(tmp_path, "puma560", "forward_dynamics", f"{name}.py", "--algorithm", name))
        for name in ("recursive", "composite")
    ]
    first, second = (module.forward_dynamics([0.3] * 6, [0.2] * 6, [1.0] * 6) for module in modules)
    assert first == pytest.approx(second, rel=ROUNDING)
    assert modules[0].forward_dynamics.__code__.co_code != modules[1].forward_dynamics.__code__.co_code
    assert "composite" in modules[1].forward_dynamics.__doc__


def test_the_list_of_functions(tmp_path, capsys):
    """JSON and CSV on stdout: one row a function, each once, in the order asked for."""
    write(tmp_path, "canadarm", "pose, mass_matrix,pose", "arm.c", "--format", "json")
    answer = json.loads(capsys.readouterr().out)
    assert answer["series"]["function"] == ["pose", "mass_matrix"]
    assert answer["series"]["inputs"] == ["q 9, p 1"] * 2
    assert answer["series"]["outputs"] == ["position 3, rotation 3 x 3", "M 9 x 9"]
    assert all(isinstance(count, int) and count > 50 for count in answer["series"]["operations"])
    assert answer["summary"]["files"] == f"{tmp_path}/arm.c, {tmp_path}/arm.h"
    assert answer["summary"]["parameters"] == "EI"
    write(tmp_path, "canadarm", "pose", "arm.casadi", "--format", "csv")
    rows = list(csv.reader(io.StringIO(capsys.readouterr().out)))
    assert rows[0] == ["function", "operations", "inputs", "outputs"]
    assert rows[1][0] == "pose"
    write(tmp_path, "canadarm", "pose", "arm.py")
    assert "pose" in capsys.readouterr().out


def test_help_names_every_function_without_casadi():
    script = (
        "import sys; from kronbot.cli.main import run; run(['export', '--help'])\n"
        "assert not {'numpy', 'casadi', 'sympy'} & set(sys.modules)"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, stdout=subprocess.PIPE, text=True, check=True
    )
    for name in FUNCTIONS:
        assert f"\n  {name} " in done.stdout


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--of", "pose", "-o", "arm.mat"], 2, "kronbot linearize"),
        (["--of", "pose", "-o", "arm.h"], 2, "-o FILE.c"),
        (["--of", "pose", "-o", "arm.txt"], 2, ".c, .py, .casadi"),
        (["--of", "pose", "-o", "-"], 2, ".c, .py, .casadi"),
        (["--of", "pose", "-o", "nowhere/arm.c"], 2, "there is no folder"),
        (["--of", "pose", "-o", 'a"b.c'], 2, "letters, digits"),
        (["--of", "pose", "-o", "arm.py", "--real", "float"], 2, "--real is for C"),
        (["--of", "pose", "-o", "arm.casadi", "--prefix", "x"], 2, "--prefix is for C"),
        (["--of", "pose", "-o", "arm.c", "--prefix", "a__b"], 2, "no C name"),
        (["--of", "pose", "-o", "arm.c", "--prefix", "2x"], 2, "no C name"),
        (["--of", "poses", "-o", "arm.c"], 2, "did you mean 'pose'"),
        (["--of", " , ", "-o", "arm.c"], 2, "there are forward_dynamics"),
        (["--of", "pose", "-o", "arm.c", "--frame", "rodd"], 2, "did you mean 'rod'"),
        (["-o", "arm.c"], 2, "--of"),
        (["--of", "pose"], 2, "--output"),
        (["--of", "inverse_dynamics", "-o", "arm.c", "--real", "float", "--set", "m=1e39"], 1, "--real double"),
        (["--of", "inverse_dynamics", "-o", "arm.c", "--real", "float", "--set", "m=1e-60"], 1, "--real double"),
    ],
)
def test_wrong_questions(tmp_path, monkeypatch, capsys, arguments, code, message):
    """One line that names the cure, and no file."""
    monkeypatch.chdir(tmp_path)
    robot = pendulum(tmp_path, parameters="{m: 2}", mass="m")
    assert run(["export", str(robot), *arguments]) == code
    said = capsys.readouterr()
    assert message in said.err
    assert said.out == ""
    assert os.listdir(tmp_path) == [robot.name]


def test_functions_without_an_answer(tmp_path, capsys):
    """Massless joints, torsion without inertia, a robot that cannot move."""
    target = str(tmp_path / "arm.c")
    light = pendulum(tmp_path, mass="0").read_text().replace("inertia: {Izz: 0.1}", "inertia: {}")
    robot = tmp_path / "robot.yaml"
    robot.write_text(light)
    assert run(["export", str(robot), "--of", "forward_dynamics", "-o", target]) == 1
    assert "give its link some" in capsys.readouterr().err
    assert run(["export", str(robot), "--of", "mass_matrix", "-o", target]) == 0
    robot.write_text(light.replace("{type: revolute, name: q1}", "{type: fixed}"))
    capsys.readouterr()
    assert run(["export", str(robot), "--of", "pose", "-o", target, "--overwrite"]) == 2
    assert "no coordinates" in capsys.readouterr().err
    twisted = description.read("khang").text.replace("v: 1", "v: 1, torsion: 1").replace("EI: {", "GJ: 1, EI: {")
    robot.write_text(twisted)
    assert run(["export", str(robot), "--of", "forward_dynamics", "-o", target, "--overwrite"]) == 1
    assert "polar_inertia" in capsys.readouterr().err


def test_code_that_no_compiler_digests_is_refused(tmp_path, monkeypatch, capsys):
    """With the cure; a CasADi file has no limit."""
    monkeypatch.setattr(routine, "MOST_OPERATIONS", 100)
    for name in ("arm.c", "arm.py"):
        assert run(["export", "puma560", "--of", "inverse_dynamics", "-o", str(tmp_path / name), "-q"]) == 1
        message = r"Error: inverse_dynamics takes \d+ operations, more than the 100 .* write a \.casadi file\n"
        assert re.fullmatch(message, capsys.readouterr().err)
    assert os.listdir(tmp_path) == []
    write(tmp_path, "puma560", "inverse_dynamics", "arm.casadi")


@pytest.mark.parametrize(
    ("name", "present"),
    [rare("arm.c", "arm.c"), ("arm.c", "arm.h"), rare("arm.py", "arm.py"), ("arm.casadi", "arm.bias.casadi")],
)
def test_nothing_is_overwritten_unasked(tmp_path, capsys, name, present):
    (tmp_path / present).write_text("mine")
    command = ["export", "puma560", "--of", "pose,bias", "-o", str(tmp_path / name)]
    assert run(command) == 2
    assert f"{present}: the file is there already; --overwrite" in capsys.readouterr().err
    assert os.listdir(tmp_path) == [present]
    assert run([*command, "--overwrite"]) == 0
    assert f"wrote {shown_path(str(tmp_path / present))}" in capsys.readouterr().err
    assert (tmp_path / present).read_text() != "mine"


@pytest.mark.parametrize("links", [True, False])
@pytest.mark.parametrize(
    ("name", "appeared", "told"),
    [
        rare("arm.c", ["arm.h"], ["arm-2.c", "arm-2.h"]),
        ("arm.c", ["arm.c", "arm-2.h"], ["arm-3.c", "arm-3.h"]),
        ("arm.casadi", ["arm.bias.casadi"], ["arm.pose-2.casadi", "arm.bias-2.casadi"]),
        rare("arm.py", ["arm.py"], ["arm-2.py"]),
    ],
)
def test_files_of_one_answer_keep_together(tmp_path, monkeypatch, capsys, name, appeared, told, links):
    """Where one has appeared meanwhile all have another name, and what names another says it."""

    def appear(*_, **__):
        for each in appeared:
            (tmp_path / each).write_text("theirs")
        return exported(*_, **__)

    def refuse(*_, **__):
        raise PermissionError(1, "Operation not permitted")

    exported = Robot.export
    monkeypatch.setattr(Robot, "export", appear)
    if not links:
        monkeypatch.setattr(os, "link", refuse)
    assert run(["export", "khang", "--of", "pose,bias", "-o", str(tmp_path / name)]) == 1
    said = capsys.readouterr().err
    assert [each for each in told if f"wrote {shown_path(str(tmp_path / each))}\n" in said] == told
    first = appeared[0]
    assert re.search(rf"{first} has appeared meanwhile and stays; the answer is in .*/{told[0]}", said)
    assert sorted(os.listdir(tmp_path)) == sorted(appeared + told)
    assert all((tmp_path / each).read_text() == "theirs" for each in appeared)
    if name == "arm.c":
        assert f'#include "{told[1]}"' in (tmp_path / told[0]).read_text()


def test_who_names_no_function_learns_which_there_are(tmp_path, capsys):
    assert run(["export", "khang", "-o", str(tmp_path / "k.c")]) == 2
    told = capsys.readouterr().err
    assert "--of all" in told and all(name in told for name in FUNCTIONS)
    assert not (tmp_path / "k.c").exists()


def test_a_module_does_not_hide_one_of_pythons_own(tmp_path, monkeypatch, capsys):
    """It imports math, and would import itself."""
    monkeypatch.chdir(tmp_path)
    assert run(["export", "khang", "--of", "pose", "-o", "math.py"]) == 2
    assert "a module math.py hides Python's own math: give it another name" in capsys.readouterr().err
    assert not any(tmp_path.iterdir())
