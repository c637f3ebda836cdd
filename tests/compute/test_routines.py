"""Routines as code: every operation in every notation, long functions in parts, names that no language minds."""

import ctypes
import importlib.util
import shutil
import subprocess
from dataclasses import replace

import casadi
import numpy as np
import pytest
from casadi import SX
from thinned import rare

from kronbot.compute.code import c_code, documents, python_code
from kronbot.compute.code.c_code import Style, prefix_of
from kronbot.compute.code.routine import Package, Routine, saved
from kronbot.compute.code.straight_line import parts
from kronbot.compute.question import Quantity
from kronbot.errors import ComputationError

CC = shutil.which("cc")
needs_c = pytest.mark.skipif(CC is None, reason="needs a C compiler")
STYLE = Style("arm", "arm.h", "double")


def package(*outputs, q):
    """A package of one routine of one input, with a vector ``tau`` and a matrix ``M``."""
    function = casadi.Function("bias", [q], list(outputs), ["q"], ["tau", "M"])
    rows, columns = (list(map(str, range(size))) for size in function.size_out("M"))
    quantities = {"tau": Quantity(outputs[0], rows, None, "1"), "M": Quantity(outputs[1], rows, columns, "1")}
    routine = Routine("bias", "What a test needs.", {"q": q.rows()}, quantities, function)
    names = [f"q{i}" for i in range(q.rows())]
    return Package("test", "2", names, ["rad"] * q.rows(), ["N m"] * q.rows(), {}, {}, [routine])


def by_c(made, folder, value):
    (folder / "arm.h").write_text(c_code.header(made, STYLE))
    (folder / "arm.c").write_text(c_code.source(made, STYLE))
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-ffp-contract=off", "-fPIC", "-shared"]
    library = folder / "libarm.so"
    subprocess.run([CC, *flags, str(folder / "arm.c"), "-o", str(library), "-lm"], check=True)
    function = made.routines[0].function
    results = [(ctypes.c_double * function.numel_out(i))() for i in range(2)]
    ctypes.CDLL(str(library)).arm_bias((ctypes.c_double * len(value))(*value), *results)
    return [list(result) for result in results]


def by_python(made, folder, value):
    path = folder / "arm.py"
    path.write_text(python_code.module(made))
    spec = importlib.util.spec_from_file_location("arm", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return [np.ravel(result).tolist() for result in module.bias(value)]


def by_casadi(made, value):
    return [np.array(result).ravel().tolist() for result in made.routines[0].function(value)]


def operations():
    """Everything that a robot file can ask for, constants of either sign included."""
    q = SX.sym("q", 3)
    a, b, c = casadi.vertsplit(q)
    one = [casadi.sin(a), casadi.cos(b), casadi.tan(c), casadi.sqrt(a), casadi.exp(b), casadi.log(c)]
    two = [a**b, a**2.5, a**-2, 1 / a, -a, a**2, 2 * a, a + b, a - b, a * b, a / b, a - (-0.5), -3.25 * b - 1e-300]
    column = casadi.vertcat(*one, *two, 7, a)
    matrix = casadi.blockcat([[a, 0, b * c], [casadi.sin(a * b), -2, c]])
    return package(column, matrix, q=q)


@needs_c
def test_every_operation_in_c(tmp_path):
    value = [0.7, 1.9, 0.3]
    assert by_c(operations(), tmp_path, value) == by_casadi(operations(), value)


def test_every_operation_in_python(tmp_path):
    value = [0.7, 1.9, 0.3]
    assert by_python(operations(), tmp_path, value) == by_casadi(operations(), value)


def test_an_operation_without_code_is_refused():
    """And a .casadi file still has it."""
    q = SX.sym("q", 1)
    made = package(casadi.floor(q), q, q=q)
    with pytest.raises(ComputationError, match=r"has no code, only as \.casadi"):
        python_code.module(made)
    with pytest.raises(ComputationError, match=r"has no code, only as \.casadi"):
        c_code.source(made, STYLE)
    assert casadi.Function.deserialize(made.routines[0].function.serialize())(1.5)[0] == 1
    assert saved(made.routines[0])


def program(seed):
    """A routine of some hundred operations, with values that are used late."""
    rng = np.random.default_rng(seed)
    q = SX.sym("q", 4)
    pool = casadi.vertsplit(q)
    for _ in range(300):
        a, b = (pool[rng.integers(max(0, len(pool) - 60), len(pool))] for _ in range(2))
        pool.append([a + b, a * b, a - 0.5 * b, casadi.sin(a), a / (2 + b**2)][rng.integers(5)])
    chosen = [pool[i] for i in rng.integers(4, len(pool), 20)]
    return package(casadi.vertcat(*chosen[:8]), casadi.reshape(casadi.vertcat(*chosen[8:]), 3, 4), q=q)


@needs_c
@pytest.mark.parametrize("longest", [rare(1), 7, rare(60)])
def test_parts_of_a_long_function_hand_on_what_is_needed(tmp_path, monkeypatch, longest):
    monkeypatch.setattr(c_code, "LONGEST", longest)
    value = [0.3, -0.8, 1.4, 0.6]
    made = program(longest)
    assert by_c(made, tmp_path, value) == by_casadi(made, value)
    assert "static void arm_bias_1(" in (tmp_path / "arm.c").read_text()


@needs_c
def test_parts_that_share_nothing(tmp_path, monkeypatch):
    """An array of variables would be empty."""
    monkeypatch.setattr(c_code, "LONGEST", 1)
    q = SX.sym("q", 2)
    made = package(q, SX([[1, 0], [0, 2]]), q=q)
    assert by_c(made, tmp_path, [3.0, 4.0]) == [[3.0, 4.0], [1.0, 0.0, 0.0, 2.0]]
    assert "double w[" not in (tmp_path / "arm.c").read_text()


def test_a_part_leaves_only_what_is_read_later():
    """Neither what is overwritten first nor what nobody reads."""
    assignments = program(5).routines[0].straight_line(python_code.NOTATION)
    sequence = parts(assignments, 25)
    assert [each for part in sequence for each in part.assignments] == assignments
    assert not sequence[0].loads
    assert not sequence[-1].stores
    for i, part in enumerate(sequence):
        for name in part.stores:
            later = next(after for after in sequence[i + 1 :] if name in (*after.loads, *after.stores))
            assert name in later.loads


def test_a_number_that_a_float_cannot_hold_is_refused():
    q = SX.sym("q", 1)
    for expression in (q + 1e39, q - 1e39, q / 1e-60, casadi.sqrt(q + 1) / 1e-49, casadi.power(1e-60, q)):
        made = package(expression, q, q=q)
        with pytest.raises(ComputationError, match="take real double"):
            c_code.source(made, replace(STYLE, real="float"))
    assert "0.1f" in c_code.source(package(q + 0.1, q, q=q), replace(STYLE, real="float"))


def test_what_rounding_left_of_a_zero_is_zero_in_a_float():
    """In sums, products and alone; 2^-150 and less round to zero, more do not."""
    q = SX.sym("q", 1)
    for small in (9e-49, -9e-49, 2.0**-150):
        text = c_code.source(package(casadi.vertcat(q + small, small * q, small), q, q=q), replace(STYLE, real="float"))
        assert "e-" not in text
        assert "0.0f" in text
    assert "1e-45f" in c_code.source(package(q + 2.0**-149, q, q=q), replace(STYLE, real="float"))


def test_prefixes_are_names_in_c():
    """They begin with a letter, hold no double underscore and stay what they are."""
    wanted = {
        "Canadarm": "canadarm",
        "KUKA LBR iiwa 14": "kuka_lbr_iiwa_14",
        "\u00c5ngstr\u00f6m\u2013arm": "angstromarm",
        "__x__": "x",
        "3R": "robot_3r",
        "\u0440\u043e\u0431\u043e\u0442": "robot",
        "a" * 39 + "-b": "a" * 39,
    }
    assert {name: prefix_of(name) for name in wanted} == wanted


def test_text_in_comments_ends_no_comment():
    text = "*/ ??/ \\ \n \r \u2028 \" # <'> \u202e \U0001f600 a.v1[2] = (b + c)^2"
    plain = documents.plain(text)
    assert plain.isascii()
    assert plain.isprintable()
    assert not {"*", "/", "\\", "?", '"', "#"} & set(plain)
    assert plain.endswith("a.v1[2] = (b + c)^2")
    assert "<U+002A><U+002F>" in plain


def test_units_keep_their_slashes():
    """But none that could begin or end a comment."""
    assert documents.plain("J/(m^-1), rad/m^1") == "J/(m^-1), rad/m^1"
    for text in ("//x", "/*x*/", "*/x", "x/ /y"):
        assert not {"//", "/*", "*/"} & {documents.plain(text)[i : i + 2] for i in range(len(documents.plain(text)))}


def test_what_nobody_gave_is_not_a_number():
    """A parameter without value is NaN in both languages."""
    q = SX.sym("q", 1)
    made = replace(package(q, q, q=q), parameters={"m": None, "k": -2.5})
    assert "arm_parameters[2] = {NAN, -2.5};" in c_code.source(made, STYLE)
    assert "PARAMETERS = (math.nan, -2.5,)" in python_code.module(made)
