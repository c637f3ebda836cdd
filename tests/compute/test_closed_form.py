"""Closed forms: the papers' formulas, exact numbers, equality with the trace, limits, and the same text every time."""

import os
import re
import subprocess
import sys
import textwrap
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import casadi
import numpy as np
import pytest
import sympy
from casadi import SX
from robots_in_tests import model
from sympy import Rational, Symbol, cos, sin, sqrt
from thinned import rare

import kronbot
from kronbot.compute.symbolic import closed_form as module
from kronbot.compute.symbolic import naming, printers, simplification, trees
from kronbot.compute.symbolic.closed_form import ClosedForm, closed_form
from kronbot.compute.symbolic.instructions import expressions, operations, unrounded
from kronbot.compute.symbolic.simplification import Basis
from kronbot.compute.symbolic.writing import latex_matrix
from kronbot.compute.trace import Trace
from kronbot.errors import ComputationError, UsageError
from kronbot.library.symbolic import closed_forms
from kronbot.mechanics.multibody.kinematics import endpoint, tip_frame
from kronbot.mechanics.multibody.state import generalized_inertia_matrix, propagate
from kronbot.questions import dynamics as lagrange
from kronbot.questions import formulas as formulas_module

TIME = 60  # seconds; far more than any of these needs
# Sums of some hundred products of numbers of order one, each rounded in its own order.
SAME = 1e-13


def khang(A, q):
    """dA/dq, block column i the derivative of column i."""
    return casadi.horzcat(*(casadi.jacobian(A[:, i], q) for i in range(A.shape[1])))


def axial(S):
    return casadi.vertcat(S[2, 1], S[0, 2], S[1, 0])


def question(robot, *names):
    """Inputs by name and the traced matrices of these names."""
    q, qd = SX.sym("q", robot.n), SX.sym("qd", robot.n)
    state = propagate(robot, q, qd)
    R = tip_frame(state.links[robot.endpoint.link]).R

    def translation():
        return casadi.jacobian(endpoint(state), q)

    def rotation():
        slopes = casadi.jacobian(casadi.vec(R), q)
        return casadi.horzcat(*(axial(casadi.reshape(slopes[:, i], 3, 3) @ R.T) for i in range(robot.n)))

    matrices = {
        "J_T": translation,
        "J_R": rotation,
        "H_T": lambda: khang(translation(), q),
        "H_R": lambda: khang(rotation(), q),
        "M": lambda: generalized_inertia_matrix(state),
    }
    inputs = dict(zip(robot.coordinates, casadi.vertsplit(q), strict=True))
    return q, inputs, {name: matrices[name]() for name in names}


def form(robot, name, seconds=TIME):
    _, inputs, matrices = question(robot, name)
    return closed_form(matrices[name], inputs, robot.parameters).simplified(seconds)


def formula(expression, **symbols):
    """Closed form of a 1 x 1 expression of x and y without a robot."""
    inputs = {name: SX.sym(name) for name in ("x", "y")}
    return closed_form(expression(**inputs), inputs, kronbot.load("stacker").model.parameters)


def real(names):
    return [Symbol(name, real=True) for name in names.split()]


def arm(rows, alphas, lengths):
    """A serial arm with free DH lengths."""
    free = [f"{letter}{i + 1}: " for letter in lengths for i in range(rows)]
    links = [
        f"""
          - name: link{i + 1}
            joint: {{type: revolute, name: q{i + 1}}}
            dh: {{a: {f"a{i + 1}" if "a" in lengths else 0}, d: d{i + 1}, alpha: {alphas[i % len(alphas)]}, theta: 0}}
        """
        for i in range(rows)
    ]
    head = f"""
        kronbot: 1
        name: arm
        convention: standard
        gravity: [0, 0, 0]
        parameters: {{{", ".join(free)}}}
        links:"""
    return model(textwrap.dedent(head) + "".join(textwrap.dedent(link).rstrip() for link in links) + "\n", "0")


def one_link(alpha="0", a="1", theta="0", d="0", extra=""):
    return model(
        f"kronbot: 1\nname: one\nconvention: standard\ngravity: [0, 0, 0]\n{extra}links:\n"
        f"  - {{name: arm, joint: {{type: revolute, name: q1}}, "
        f"dh: {{a: {a}, d: {d}, alpha: {alpha}, theta: {theta}}}}}\n",
        "0",
    )


def evaluated(source, name, *values, **parameters):
    """The function in a source text, called."""
    namespace = {}
    exec(source, namespace)
    return np.array(namespace[name](*values, **parameters), dtype=float)


# The papers


def test_stacker_kinematics():
    """Tuan (102)-(105) as corrected, entry by entry."""
    robot = kronbot.load("stacker").model
    q2, q3, a3 = real("q2 q3 a3")
    S2, C2, S3, C3 = sin(q2), cos(q2), sin(q3), cos(q3)
    H_T, H_R = sympy.zeros(3, 9), sympy.zeros(3, 9)
    for row, column, entry in (
        (1, 5, -a3 * C2 * C3),
        (1, 6, a3 * S2 * S3),
        (1, 8, a3 * S2 * S3),
        (1, 9, -a3 * C2 * C3),
        (2, 9, a3 * S3),
        (3, 5, -a3 * S2 * C3),
        (3, 6, -a3 * C2 * S3),
        (3, 8, -a3 * C2 * S3),
        (3, 9, -a3 * S2 * C3),
    ):
        H_T[row - 1, column - 1] = entry
    H_R[0, 7], H_R[2, 7] = C2, S2
    expected = {
        "J_T": sympy.Matrix([[0, -a3 * S2 * C3, -a3 * C2 * S3], [0, 0, -a3 * C3], [1, a3 * C2 * C3, -a3 * S2 * S3]]),
        "J_R": sympy.Matrix([[0, 0, S2], [0, -1, 0], [0, 0, -C2]]),
        "H_T": H_T,
        "H_R": H_R,
    }
    for name, matrix in expected.items():
        result = form(robot, name)
        assert result.complete
        assert result.matrix == matrix, name


def test_stacker_kinematics_as_text():
    assert form(kronbot.load("stacker").model, "J_T").text() == [
        ["0", "-a3*sin(q2)*cos(q3)", "-a3*sin(q3)*cos(q2)"],
        ["0", "0", "-a3*cos(q3)"],
        ["1", "a3*cos(q2)*cos(q3)", "-a3*sin(q2)*sin(q3)"],
    ]


def test_stacker_mass_matrix():
    """Tuan (106) as corrected, in the paper's own form."""
    m1, m2, m3, l3, I2y, I3x, I3y, I3z, q2, q3 = real("m1 m2 m3 l3 I2y I3x I3y I3z q2 q3")
    result = form(kronbot.load("stacker").model, "M")
    M12, M13 = m3 * l3 * cos(q2) * cos(q3), -m3 * l3 * sin(q2) * sin(q3)
    M22 = I2y + (m3 * l3**2 + I3y) * cos(q3) ** 2 + I3x * sin(q3) ** 2
    assert result.matrix == sympy.Matrix(
        [[m1 + m2 + m3, M12, M13], [M12, M22, 0], [M13, 0, m3 * l3**2 + I3z]],
    )
    assert result.text()[1][1] == "I2y + I3x*sin(q3)**2 + (I3y + l3**2*m3)*cos(q3)**2"


def test_modal_data_have_the_names_of_khang():
    """(68): M of the arm in X1 (for X1(l)), m11 and D1; what they are is in the legend."""
    result = form(kronbot.load("khang", order="1").model, "M")
    J1, mE, mu, a, X1, m11, D1, w = real("J1 mE mu l X1 m11 D1 arm.v1")
    b = mE * X1**2 + mu * m11
    expected = sympy.Matrix([[J1 + mE * a**2 + mu * a**3 / 3 + b * w**2, mE * a * X1 + mu * D1], [0, b]])
    expected[1, 0] = expected[0, 1]
    assert (result.matrix - expected).expand() == sympy.zeros(2, 2)
    legend = dict(result.legend())
    assert legend["X1"] == "1"
    assert legend["m11"] == "l/4"
    assert re.fullmatch(r"0\.28441287185495\d*\*l\*\*2", legend["D1"])
    assert r"X_{1}^{2} \mathit{mE}" in latex_matrix(result.latex())  # X_{1}^{2} m E would be three letters
    assert "v_{1,\\mathrm{arm}}" in latex_matrix(result.latex())


def test_angles_of_parallel_joints_are_added():
    result = form(kronbot.load("canadarm", order="0").model, "J_T")
    assert result.text()[0] == [
        "-6*sin(q1) - 7*sin(q1 + q2) - 2*sin(q1 + q2 + q3)",
        "-7*sin(q1 + q2) - 2*sin(q1 + q2 + q3)",
        "-2*sin(q1 + q2 + q3)",
    ]
    assert result.short().text()[0] == ["-6*s1 - 7*s12 - 2*s123", "-7*s12 - 2*s123", "-2*s123"]
    assert ("s123", "sin(q1 + q2 + q3)") in result.short().legend()
    assert "s_{123}" in latex_matrix(result.short().latex())


# Exact numbers


@pytest.mark.parametrize(
    ("robot", "row", "text"),
    [
        (one_link(alpha="pi/2", a="2/3"), 0, "-2*sin(q1)/3"),
        (one_link(a="0.1"), 0, "-sin(q1)/10"),
        (one_link(a="sin(pi/3)"), 0, "-sqrt(3)*sin(q1)/2"),
        (one_link(a="sqrt(2)*pi"), 1, "sqrt(2)*pi*cos(q1)"),
        (one_link(theta="pi/2"), 0, "-cos(q1)"),
        (one_link(theta="pi/3"), 0, "-sin(q1 + pi/3)"),
        (one_link(theta="0.3"), 0, "-sin(q1 + 3/10)"),
        (one_link(a="1.5**0.5"), 0, "-sqrt(6)*sin(q1)/2"),
    ],
)
def test_numbers_stay_exact(robot, row, text):
    assert form(robot, "J_T").text()[row] == [text]


def test_a_twist_of_60_degrees_is_half_a_root_of_three():
    """R = Rz(q1) Rx(pi/3) twice; no decimal point and no tiny number anywhere."""
    robot = arm(2, ["pi/3"], "d")
    text = form(robot, "J_R").text()
    assert text == [["0", "sqrt(3)*sin(q1)/2"], ["0", "-sqrt(3)*cos(q1)/2"], ["1", "1/2"]]
    for name in ("J_T", "H_T", "H_R"):
        assert "." not in str(form(robot, name).text())


def test_what_only_rounding_made_a_number_is_refused():
    """Where it is to be a formula; numbers of it are as large as rounding makes them."""
    text = Path(kronbot.description.shipped_robots()["puma560"]).read_text()
    robot = kronbot.loads(re.sub("mass: [^,]*", 'mass: "1/(sqrt(2)**2 - 2)"', text, count=1))
    assert robot.dynamics().arrays
    with pytest.raises(ComputationError, match=re.escape("'1/(sqrt(2)**2 - 2)' has no finite value")):
        robot.symbolic().dynamics()


def test_powers_that_would_fill_the_memory_become_floats():
    robot = one_link(a="((1.0000001**64)**64)**64")
    ((entry,), *_) = form(robot, "J_T").text()
    assert re.fullmatch(r"-1\.0265\d*\*sin\(q1\)", entry)


def test_floats_of_shapes_print_as_they_are():
    """Order 2 holds numbers of the mode shapes: shortest digits that give the same float."""
    text = str(form(kronbot.load("khang", order="2").model, "J_T").text())
    assert re.findall(r"\d\.\d+", text)
    assert all(repr(float(number)) == number for number in re.findall(r"\d+\.\d+(?:e-?\d+)?", text))


def test_a_parameter_may_be_called_like_a_variable():
    """The description refuses two equal names; a closed form keeps apart what it is given."""
    robot = one_link(a="speed", extra="parameters: {speed: 2}\n")
    rate = SX.sym("rate")
    result = closed_form(rate * robot.links[0].row.along, {"speed": rate}, robot.parameters)
    assert result.text() == [["speed*speed_"]]
    assert evaluated(result.python("f"), "f", 3.0) == 6.0


# Equality with the trace


@pytest.mark.parametrize(
    ("name", "order", "matrices"),
    [
        rare("puma560", "0", ["J_R", "H_T"]),
        rare("khang", "1", ["J_R", "H_T"]),
        ("khang", "2", ["J_T", "M"]),
        rare("canadarm", "1", ["J_T"]),
    ],
)
def test_numbers_put_in_give_the_trace(name, order, matrices):
    robot = kronbot.load(name, order=order).model
    q, _, expressions = question(robot, *matrices)
    trace = Trace(robot.parameters, {"q": q}, expressions, "test")
    values = np.random.default_rng(3).uniform(-1, 1, robot.n)
    expected = trace(values)
    for word in matrices:
        result = form(robot, word)
        for writing in (result, result.short(), result.shared(), result.short().shared()):
            numbers = evaluated(writing.python(word), word, *values)
            assert np.abs(numbers - expected[word]).max() < SAME * max(1, np.abs(expected[word]).max()), word


def test_parameters_of_a_python_function_are_keywords():
    robot = kronbot.load("khang", order="1").model
    source = form(robot, "J_T").python("J_T")
    assert "def J_T(qa, arm_v1, *, l=0.9):" in source
    straight = evaluated(source, "J_T", 0.0, 0.0, l=2.0)
    assert straight == pytest.approx(np.array([[0, 0], [2, 1], [0, 0]]))
    with pytest.raises(TypeError):
        evaluated(form(kronbot.load("stacker").model, "J_T").python("J_T"), "J_T", 0, 0, 0)


@pytest.mark.slow
def test_simplification_never_lengthens():
    for name, order in (("puma560", "0"), ("canadarm", "1"), ("piedboeuf", "2")):
        robot = kronbot.load(name, order=order).model
        _, inputs, matrices = question(robot, "J_T")
        plain = closed_form(matrices["J_T"], inputs, robot.parameters)
        assert plain.simplified(TIME).operations <= plain.operations


def value(basis, polynomial, angles):
    """A polynomial with numbers for its angles."""

    def atom(number):
        name, angle = basis.keys[number]
        return getattr(np, name)(sum(float(factor) * angles[term] for term, factor in angle))

    terms = {monomial: basis.factors(monomial) for monomial in polynomial}
    return sum(c * np.prod([atom(k) ** e for k, e in terms[monomial]]) for monomial, c in polynomial.items())


def test_short_forms_of_random_polynomials_have_the_same_value():
    """Products of sines and cosines of three angles and their squares, multiplied out at random."""
    chance = np.random.default_rng(5)
    for _ in range(60):
        basis = Basis(TIME)
        atoms = [basis.sine_and_cosine(((k, 1),))[:2] for k in range(3)]
        flat = [atom for pair in atoms for atom in pair]
        polynomial = {}
        for _ in range(chance.integers(1, 12)):
            monomial = sum(basis.monomial(atom, int(chance.integers(0, 3))) for atom in flat)
            polynomial[monomial] = int(chance.integers(1, 3)) * int(chance.choice([-1, 1]))
        angles = chance.uniform(-3, 3, 3)

        short = basis.shortest(polynomial)
        assert len(short) <= len(polynomial)
        assert value(basis, short, angles) == pytest.approx(value(basis, polynomial, angles), abs=1e-12)


# Sizes, times, refusals


def test_no_time_leaves_the_entries_as_they_are():
    robot = kronbot.load("puma560").model
    _, inputs, matrices = question(robot, "J_R")
    plain = closed_form(matrices["J_R"], inputs, robot.parameters)
    unfinished = plain.simplified(0)
    assert plain.complete
    assert not unfinished.complete
    assert unfinished.matrix == plain.matrix


@pytest.mark.slow
def test_long_tapes_are_refused():
    robot = kronbot.load("spatial", order="2").model
    with pytest.raises(ComputationError, match=r"instructions, 20000 are the limit; ask for numbers \(q\)"):
        form(robot, "H_T")


@pytest.mark.slow
def test_long_formulas_are_refused_unless_common_parts_are_shared():
    robot = kronbot.load("spatial", order="1").model
    _, inputs, matrices = question(robot, "J_T")
    plain = closed_form(matrices["J_T"], inputs, robot.parameters)
    for writing in (plain.text, plain.latex, plain.legend, lambda: plain.python("f")):
        with pytest.raises(ComputationError, match=r"150000 are the limit; .*shared"):
            writing()
    shared = plain.short().shared()
    assert shared.operations < module.MOST_OPERATIONS
    assert shared.text()


def test_the_size_of_formulas_is_known_before_any_is_written(monkeypatch):
    def written(*_):
        raise AssertionError("a formula was begun")

    monkeypatch.setattr(formulas_module, "closed_form", written)
    with pytest.raises(ComputationError, match=r"\d{7,} operations before it is simplified, 3000000 are the limit"):
        kronbot.load("torso").symbolic("text").hessian()


@pytest.mark.slow
def test_what_is_derived_from_an_inertia_matrix_that_is_too_long_is_not_traced(monkeypatch):
    """With the same words as after all of it: what is short alone is named."""
    robot = kronbot.load("torso").symbolic("text")
    with pytest.raises(ComputationError, match="before it is simplified") as told:
        closed_forms(robot.robot, lagrange.dynamics(robot.robot, rates=True), robot.writing)
    monkeypatch.setattr(lagrange, "khang_derivative", None)
    with pytest.raises(ComputationError, match="or for K, D alone") as early:
        robot.dynamics()
    assert str(early.value) == str(told.value)


@pytest.mark.parametrize("rubbed", ["", ", friction: {coulomb: 1}"])
def test_names_of_equations_of_motion_are_known_before_they_are_traced(rubbed):
    joint = f"{{type: revolute, name: q1{rubbed}}}"
    robot = model(f"kronbot: 1\nname: r\ngravity: [0, 0, 0]\nlinks: [{{name: a, joint: {joint}, pose: {{}}}}]\n")
    found = list(lagrange.dynamics(robot, rates=True).quantities)
    assert lagrange.names(robot) == found and ("friction" in found) == bool(rubbed)


def test_operations_are_counted_as_sympy_counts_them():
    x, y = SX.sym("x"), SX.sym("y")
    common = x * y
    tape = casadi.Function("f", [casadi.vertcat(x, y)], [casadi.vertcat(common + casadi.sin(common), x, 2.5)])
    written = expressions(tape, [real("x y")])
    assert operations(tape) == [trees.operations(entry) for entry in written] == [4, 0, 0]


def test_no_time_is_spent_after_the_time_is_up(monkeypatch):
    robot, clock = kronbot.load("puma560"), iter([0.0])
    monkeypatch.setattr(simplification.time, "monotonic", lambda: next(clock, 1000.0))
    with pytest.raises(ComputationError, match=r"not written within 20 s: give more time \(seconds\)"):
        robot.symbolic("text", seconds=20).dynamics()


HYPHENS = """
kronbot: 1
name: hyphens
convention: standard
gravity: [0, -9.81, 0]
parameters: {a_b: }
links:
  - {name: up-per, joint: {type: revolute, name: a-b}, dh: {a: a_b, d: 0, alpha: 0, theta: 0}}
  - {name: up_per, joint: {type: revolute, name: q1}, dh: {a: 1, d: 0, alpha: 0, theta: 0}, rigid: {mass: 1}}
  - {name: tip, joint: {type: revolute, name: q_1}, dh: {a: 1, d: 0, alpha: 0, theta: 0}, rigid: {mass: 1}}
"""


def test_names_with_a_hyphen_are_no_differences():
    answer = kronbot.loads(HYPHENS).symbolic("text").jacobian()
    text = answer.arrays["J_T"].values[0, 0]
    assert "a-b" not in text and "a_b_" in text and "a_b*" in text
    assert answer.summary["where.a_b_"] == "a-b"
    # The formula means what the trace computes, with the name put back.
    symbols = {name: sympy.Symbol(name) for name in ("a_b", "a_b_", "q1", "q_1")}
    entry = sympy.lambdify(list(symbols.values()), sympy.sympify(text, locals=symbols))
    numbers = kronbot.loads(HYPHENS, parameters={"a_b": 0.7}).jacobian(q={"a-b": 0.3, "q1": 0.4, "q_1": 0.5})
    assert entry(0.7, 0.3, 0.4, 0.5) == pytest.approx(numbers.arrays["J_T"].values[0, 0], rel=1e-14)


def test_modal_data_of_a_link_with_a_hyphen_have_values():
    beam = "flexible: {mass: 2, EI: {z: 3}, modes: {v: 1}, shape: polynomial}"
    text = HYPHENS.replace("dh: {a: a_b, d: 0, alpha: 0, theta: 0}", f"dh: {{a: 2, d: 0, alpha: 0, theta: 0}}, {beam}")
    meanings = kronbot.loads(text, order="1").symbolic("text").jacobian().summary
    assert {meanings[f"where.{name}"] for name in ("X1", "X1'")} == {"4"}
    assert meanings["where.up_per.v1"] == "up-per.v1"


def test_no_two_names_are_written_alike_in_latex():
    answer = kronbot.loads(HYPHENS).symbolic("latex").jacobian()
    text = answer.source["J_T"]
    assert r"\mathrm{a\text{-}b}" in text
    assert r"q_{1}" in text and r"\mathrm{q\_1}" in text


@pytest.mark.slow
def test_sixty_joints_end_early():
    """The tree written out has 10**19 operations; nothing walks over it."""
    plain = form(arm(60, ["0"], "ad"), "J_T", 0)
    assert not plain.complete
    assert plain.shared().text()
    with pytest.raises(ComputationError):
        plain.text()


def test_tables_are_refused():
    table = casadi.interpolant("table", "bspline", [[0, 1, 2, 3]], [0, 1, 4, 9])
    with pytest.raises(ComputationError, match="a table in it has no formula"):
        formula(lambda x, y: table(x))


def test_case_distinctions_have_formulas():
    def expression(x, y):
        inside = casadi.logic_and(x > 0, casadi.logic_not(y <= x))
        return casadi.vertcat(
            casadi.if_else(inside, x, -y), casadi.fmin(x, y), casadi.fmax(x, y), casadi.fabs(y), casadi.sign(x)
        )

    result = formula(expression)
    x, y = SX.sym("x"), SX.sym("y")
    truth = casadi.Function("truth", [x, y], [expression(x, y)])
    for point in ((0.5, 1.0), (0.5, 0.2), (-0.5, 1.0), (2.0, -3.0)):
        assert evaluated(result.python("f"), "f", *point).ravel() == pytest.approx(np.asarray(truth(*point)).ravel())
    assert "Min(x, y)" in result.text()[1]


def test_quotients_by_sums_cancel():
    def expression(x, y):
        return (x + y) * casadi.cos(x) ** 2 / (x + y) ** 2 + casadi.sin(x) ** 2 / (x + y)

    assert formula(expression).simplified(TIME).text() == [["1/(x + y)"]]


@pytest.mark.slow
def test_roots_of_twists_are_carried_out():
    """sqrt(3)**2 = 3 is found although it stands in different factors."""
    robot = arm(3, ["pi/3"], "d")
    J = form(robot, "J_R").matrix
    assert J[:, 2].T.dot(J[:, 2]).simplify() == 1
    assert Rational(1, 2) in J
    assert sqrt(3) in J.atoms(sympy.Pow)


# Names


def test_modal_names_say_no_more_than_they_must():
    def names(*keys, taken=()):
        return list(naming.modal_names(keys, taken).values())

    assert names("arm.v.X1(l)", "arm.v.X1'(l)", "arm.v.m11") == ["X1", "X1'", "m11"]
    assert names("arm.v.X1(l)", taken=["X1"]) == ["v.X1"]
    assert names("arm.v.m11", "arm.w.m11", "arm.m11(v,w)") == ["v.m11", "w.m11", "vw.m11"]
    assert names("upper.v.D1", "lower.v.D1") == ["upper.D1", "lower.D1"]
    assert names("upper.v.D1", "lower.w.D1", "upper.w.D1") == ["upper.v.D1", "lower.w.D1", "upper.w.D1"]


def test_names_in_latex_and_python():
    assert naming.latex_name("q1") is None
    assert naming.latex_name("upper.X1'") == "X_{1,\\mathrm{upper}}'"
    assert naming.latex_name("fore_arm.v12") == "v_{12,\\mathrm{fore\\_arm}}"
    assert naming.latex_name("q1_dot") == "\\dot{q_{1}}"
    assert naming.latex_name("theta1_dot") == "\\dot{\\theta_{1}}"  # as SymPy writes theta1
    assert naming.latex_name("qa_ddot") == "\\ddot{\\mathit{qa}}"
    assert naming.short_call("c", ["theta1", "phi"], ["theta1", "phi"], ["theta1", "phi"]) == (
        "c_theta1_phi",
        "c_{\\theta_{1} + \\phi}",
    )
    assert naming.joined("I2y") == "\\mathit{I2y}"  # not 2 I y
    assert list(naming.identifiers(["a.b", "a_b", "lambda", "X1'", "fore-arm.v1", "math"]).values()) == [
        "a_b",
        "a_b_",
        "lambda_",
        "X1_prime",
        "fore_arm_v1",
        "math_",
    ]


def test_identifiers_are_as_python_reads_them():
    """It takes letters of one meaning for the same: full-width ones, the long s, the sign for a millionth."""
    names = ["\uff580", "x0", "\u00b5", "\u03bc", "\u017f", "s", "\uff4dath", "__debug__", "\u2e2f", "\u210c-1"]
    words = list(naming.identifiers(names).values())
    source = "\n".join(f"{word} = {number}" for number, word in enumerate(words))
    found = {}
    exec(source, found)
    assert [found[word] for word in words] == list(range(len(names)))
    text = "kronbot: 1\nname: r\nconvention: standard\ngravity: [0, 0, 0]\nlinks:\n" + "".join(
        f"  - {{name: l{i}, joint: {{type: revolute, name: {name}}}, dh: {{a: 0.5, alpha: 0, d: 0, theta: 0}}}}\n"
        for i, name in enumerate(("\uff580", "\uff43_y", "y"))
    )
    robot, shared, q = kronbot.loads(text), {}, [0.3, -0.7, 1.1]
    exec(robot.symbolic("python", short=True, shared=True).jacobian().source["J_T"], shared)
    (function,) = (each for name, each in shared.items() if name == "J_T")
    assert np.array(function(*q)) == pytest.approx(robot.jacobian(q)["J_T"], rel=1e-12)


def test_short_names():
    assert naming.short_call("s", ["q2", "q3"], ["q1", "q2", "q3"], ["q2", "q3"]) == ("s23", "s_{23}")
    assert naming.short_call("c", ["q2", "q3"], ["q2", "q3", "q10"], ["q2", "q3"]) == ("c2_3", "c_{2,3}")
    assert naming.short_call("c", ["waist"], ["waist"], ["waist"])[0] == "c_waist"
    assert naming.short_call("c", ["j1", "j2"], ["j1", "j2"], ["j1", "j2"]) == ("c_j1_j2", "c_{j_{1} + j_{2}}")
    assert naming.short_call("c", ["a_b"], ["a_b"], ["a-b"]) == ("c_a_b", r"c_{\mathrm{a\text{-}b}}")
    assert naming.short_call("c", ["a", "b"], ["a", "b", "a_b"], ["a", "b"])[0] == "c_a__b"  # c_a_b is of a_b
    assert naming.short_call("c", ["pi_"], ["pi_"], ["pi"]) == ("c_pi_", r"c_{\mathrm{pi}}")


def test_names_without_hyphens_stay_different():
    assert naming.readable(["a-b", "a_b", "a-b_dot", "c"]) == {
        "a_b": "a_b", "c": "c", "a-b": "a_b_", "a-b_dot": "a_b_dot"
    }  # fmt: skip


def test_numbers_and_functions_of_formulas_are_no_names_in_them():
    """A joint pi and a parameter e are told from the numbers pi and exp(1), by text and in LaTeX, and back again."""
    assert naming.readable(["pi", "pi_dot", "sin", "pi_"]) == {
        "pi_dot": "pi_dot", "pi_": "pi_", "pi": "pi__", "sin": "sin_"
    }  # fmt: skip
    robot = model(
        "kronbot: 1\nname: one\ngravity: [0, 0, 0]\nparameters: {e: 0.2, E: }\nlinks:\n"
        "  - {name: a, joint: {type: revolute, name: pi}, pose: {xyz: [0, 0, 0]}}\n"
        "  - {name: b, joint: {type: prismatic, name: z, follows: \"'pi'*E*exp(1)*e/pi\"}, pose: {xyz: [0, 0, 0]}}\n",
        "0",
    )
    q = SX.sym("q")
    tip = casadi.vertcat(endpoint(propagate(robot, q, q)), casadi.cos(q))
    written = closed_form(tip, {"pi": q}, robot.parameters)
    short = written.short()
    assert written.text()[2:] == [["exp(1)*E*e*pi_/pi"], ["cos(pi_)"]] and ("pi_", "pi") in written.legend()
    assert written.latex()[2] == [r"\frac{\mathrm{e} E e \mathrm{pi}}{\pi}"]
    assert short.text()[3] == ["c_pi_"] and short.latex()[3] == [r"c_{\mathrm{pi}}"]
    assert ("c_pi_", "cos(pi_)") in short.legend()
    z = evaluated(written.python("f"), "f", 0.5, E=2.0)[2, 0]
    assert z == pytest.approx(0.5 * 2 * np.e * 0.2 / np.pi)


def test_short_names_give_way_to_parameters():
    robot = one_link(a="s1", extra="parameters: {s1: }\n")
    assert form(robot, "J_T").short().text() == [["-s1*sin(q1)"], ["c1*s1"], ["0"]]


# The same text every time


def written():
    """Some formulas in every form."""
    forms = [
        form(kronbot.load(name, order=order).model, matrix)
        for name, order, matrix in (("puma560", "0", "J_R"), ("khang", "1", "M"))
    ]
    every = [one for each in forms for one in (each, each.short().shared())]
    return "\n".join(f"{one.text()} {one.legend()} {one.latex()} {one.python('f')}" for one in every)


@pytest.mark.slow
def test_the_text_does_not_depend_on_the_hash_seed():
    script = "import test_closed_form; print(test_closed_form.written())"
    here = Path(__file__).parent
    paths = os.pathsep.join([str(here), str(here.parent), str(Path(kronbot.__file__).parents[1])])
    seed = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"
    there = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert there == written() + "\n"
    assert len(there) > 1000


def test_what_rounding_left_of_simple_fractions_is_not_printed():
    """Order 2 adds integrals of polynomials up over nodes: 36/11 is a few roundings off, and prints as it is."""
    texts = kronbot.load("piedboeuf", order="2").symbolic("text").jacobian()["J_T"].ravel()
    numbers = [float(number) for text in texts for number in re.findall(r"\d+\.\d+(?:e-?\d+)?", text)]
    assert all(min(abs(x - round(x * d) / d) for d in range(1, 100)) > 1e-13 * x for x in numbers), numbers
    assert "36" in str(texts) and "/11" in str(texts)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (2.999999999999998, "3"),
        (25 / 12, "25/12"),
        (0.1 + 0.2, "3/10"),
        (-(2.571875 + 5e-16), "-823/320"),
        (1.2345678900000001, "1.23456789"),
        (0.284412871854951, "0.284412871854951"),
        (3.00000000001, "3.00000000001"),
        (12345678901.37, "12345678901.37"),
        (1.25e-17, "1.25e-17"),
    ],
)
def test_roundings_are_told_from_numbers(value, text):
    assert printers.Text().doprint(unrounded(Fraction(value))) == text


def test_one_array_alone_is_written_with_its_own_symbols(monkeypatch):
    begun = []
    form = formulas_module.closed_form
    monkeypatch.setattr(formulas_module, "closed_form", lambda *given: begun.append(given) or form(*given))
    khang = kronbot.load("khang", order="1")
    answer = khang.symbolic("text", short=True, array="K").dynamics()
    assert list(answer.arrays) == ["K"]
    assert len(begun) == 1
    assert [name for name in answer.summary if name.startswith("where.")] == ["where.k11"]
    with pytest.raises(UsageError, match="no array 'k' in this answer"):
        khang.symbolic("text", array="k").dynamics()


def test_an_array_that_turned_out_long_is_not_advised(monkeypatch):
    """Though it is short as it is traced: simplified it may be longer."""
    monkeypatch.setattr(ClosedForm, "operations", property(lambda self: 10**6))
    with pytest.raises(ComputationError, match="too long: 1000000 operations") as refused:
        kronbot.load("khang", order="1").symbolic("text").jacobian()
    assert "for J_R alone (array)" in str(refused.value) and "J_T" not in str(refused.value)


@pytest.mark.slow
def test_only_what_holds_is_advised():
    """Order 1 is no shorter for beams in space; single arrays are named that are short as they are traced."""
    torso = kronbot.load("torso", order="1")
    with pytest.raises(ComputationError) as refused:
        torso.symbolic("text").dynamics()
    assert "order" not in str(refused.value) and "modes" not in str(refused.value)
    assert "K, D alone (array)" in str(refused.value)
    assert torso.symbolic("text", array="K").dynamics().arrays


@pytest.mark.slow
def test_time_bounds_common_parts_too(monkeypatch):
    robot, clock = kronbot.load("puma560"), iter([0.0])
    monkeypatch.setattr(simplification.time, "monotonic", lambda: next(clock, 1000.0))
    with pytest.raises(ComputationError, match=r"M was not written within 20 s: give more time \(seconds\)"):
        robot.symbolic("text", seconds=20, shared=True).dynamics()


def test_time_bounds_every_stage():
    """Replay, common parts and every writing ask the clock."""
    robot = kronbot.load("puma560").model
    _, inputs, matrices = question(robot, "J_T")
    parameters = robot.parameters

    def up():
        raise simplification.Unfinished

    late = replace(closed_form(matrices["J_T"], inputs, parameters), check_time=up)
    stages = [lambda: closed_form(matrices["J_T"], inputs, parameters, up)]
    stages += [late.shared, late.text, late.latex, late.short().legend, lambda: late.python("f")]
    for stage in stages:
        with pytest.raises(simplification.Unfinished):
            stage()


def test_formulas_meet_no_part_of_earlier_ones():
    """SymPy remembers those, and compares what is equal, and not the same object, part by part, each many times."""
    x, y = real("x y")
    robot = kronbot.load("khang").model
    _, inputs, matrices = question(robot, "J_T")
    whole = closed_form(matrices["J_T"], inputs, robot.parameters)
    for step in (lambda: closed_form(matrices["J_T"], inputs, robot.parameters), whole.shared):
        before = x * y + sin(x)
        assert x * y + sin(x) is before
        step()
        assert x * y + sin(x) is not before


@pytest.mark.slow
def test_one_long_entry_is_written_in_time():
    """Printers ask at every part of it."""
    (x,) = real("x")
    for form in (printers.Text(), printers.Python(), printers.Latex()):
        asked = []
        form.asking(lambda asked=asked: asked.append(1)).doprint(sum(sin(k * x) for k in range(1, 200)))
        assert len(asked) > 400


def test_time_is_left_for_writing(monkeypatch):
    """Simplification takes half of it at most where writing is long, and all of it where it is short."""
    shares = []

    def simplified(self, seconds):
        shares.append(seconds)
        return self

    monkeypatch.setattr(ClosedForm, "simplified", simplified)
    monkeypatch.setattr(simplification.time, "monotonic", lambda: 0.0)
    kronbot.load("spin-up").symbolic("text", seconds=8).jacobian()
    assert shares == [8, 8]
    shares.clear()
    monkeypatch.setattr(formulas_module, "AT_ONCE", 0)
    kronbot.load("spin-up").symbolic("text", seconds=8).jacobian()
    assert shares[0] == 4


def test_operations_of_many_trees_are_counted_in_one_walk(monkeypatch):
    """Entries of a Hessian share most of theirs."""
    (x,) = real("x")
    chain = [x]
    for _ in range(800):
        chain.append(sin(chain[-1], evaluate=False) + 1)
    walks, known = [], trees.parts
    monkeypatch.setattr(trees, "parts", lambda roots, *given: walks.append(1) or known(roots, *given))
    assert trees.each_operations(chain) == [2 * k for k in range(801)]
    assert len(walks) == 1
    assert trees.each_operations([]) == []


def test_parts_that_stand_twice_are_written_once():
    x, y, a, b = real("x y a b")
    roots = [sin(x + y) * (x + y) + 2, sin(x + y), x, (x + y) ** 2]
    meanings, left = trees.shared(roots, iter((a, b)))
    assert meanings == [(a, x + y), (b, sin(a))]
    assert left == [a * b + 2, b, x, a**2]


def test_numbers_of_shapes_that_cancel_leave_no_rounding():
    """Of a beam with two shapes and a payload, in M of order 2; what is small by itself stays."""
    text = """
kronbot: 1
name: flap
gravity: [0, -9.81, 0]
parameters: {EI: 3e3}
links:
  - name: flap
    joint: {type: revolute, name: hinge}
    pose: {rpy: [0, 0, pi/2]}
    flexible: {mass: 60, length: 2, EI: {z: EI}, modes: {v: 2}, shape: clamped-free}
    payload: {mass: 5}
"""
    written = str(kronbot.loads(text).symbolic(short=True).dynamics().arrays["M"].values)
    assert "X1" in written and not re.search(r"[0-9]e-1[0-9]", written)
    # What is small by itself stays, and so does what exact numbers leave.
    for parts, left in (
        ([0.1, -0.3, 0.2], {}),
        ([1e-17], {0: Fraction(1e-17)}),
        ([Fraction(10**14 + 1, 10**14), -1], {0: Fraction(1, 10**14)}),
    ):
        polynomial = {}
        for part in parts:
            simplification._add(polynomial, 0, Fraction(part))
        assert polynomial == left
