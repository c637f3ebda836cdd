"""Safe exact arithmetic."""

import math
import re
from fractions import Fraction

import pytest
from any_text import any_text
from hypothesis import strategies as st
from thinned import drawn, rare
from waiting import bounded

from kronbot.description import limits
from kronbot.description.expressions.expression import (
    CycleError,
    ExpressionError,
    Number,
    PiLinear,
    evaluate,
    exact,
    parse,
    quarter_turns,
    resolve_each,
)


def rational(text):
    value = exact(parse(text), {})
    assert value is not None and value.pi == 0
    return value.rational


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0.1", Fraction(1, 10)),
        ("0.1 + 0.2", Fraction(3, 10)),
        ("1e5", Fraction(100000)),
        ("-.5e-3", Fraction(-1, 2000)),
        ("2/3", Fraction(2, 3)),
        ("-2**2", Fraction(-4)),
        ("2**-1", Fraction(1, 2)),
        ("2**3**2", Fraction(512)),
        ("6/2*3", Fraction(9)),
        ("8-4-2", Fraction(2)),
        ("+(1 + 2) * 3", Fraction(9)),
        ("\t1\n+ 1 ", Fraction(2)),
        ("pi/deg", Fraction(180)),
    ],
)
def test_rationals_are_exact(text, value):
    assert rational(text) == value
    assert evaluate(parse(text), {}) == float(value)


@pytest.mark.parametrize("text", ["014", "+5", "-.5e-3", "1.", "0x1F", "0o17", "1e-300"])
def test_numbers_of_a_file(text):
    expected = Fraction(int(text, 0)) if text[:2] in ("0x", "0o") else Fraction(text)
    expression = parse(Number(text))
    assert (expression.text, expression.constant) == (text, True)
    assert exact(expression, {}) == PiLinear(expected, Fraction(0))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("pi/2", math.pi / 2),
        ("-90*deg", -math.pi / 2),
        ("180*deg", math.pi),
        ("sin(pi/6)", math.sin(math.pi / 6)),
        ("sqrt(2)", math.sqrt(2)),
        ("exp(-1)*cos(0)+tan(1)", math.exp(-1) + math.tan(1)),
        ("3*x**2 - y/2", 3 * 1.5**2 + 1.0),
        ("x**0.5", math.sqrt(1.5)),
        ("y**3", -8.0),
        ("2**x", 2**1.5),
        ("1/3 + 1e-30", 1 / 3),
        ("10**100/3", 1e100 / 3),
        ("2**200", 2.0**200),
    ],
)
def test_values(text, value):
    assert evaluate(parse(text), {"x": 1.5, "y": -2.0}) == pytest.approx(value, rel=4e-16)


def test_sines_are_exact_at_quarter_turns():
    """There, and nowhere else: a quarter turn less than the eighth part of one is as Python has it."""
    for turns in range(-9, 10):
        for name in ("sin", "cos", "tan"):
            angle = f"{turns}*pi/2"
            if name == "tan" and turns % 2:
                continue
            wanted = round(getattr(math, name)(turns * math.pi / 2))
            assert exact(parse(f"{name}({angle})"), {}) == PiLinear(Fraction(wanted), Fraction(0))
            assert exact(parse(f"{name}({angle} + 1e-300)"), {}) is None
            eighth = evaluate(parse(f"{name}({angle} + pi/16)"), {})
            assert eighth == pytest.approx(getattr(math, name)((turns / 2 + 1 / 16) * math.pi), rel=1e-14)


def test_constants_are_rounded_once():
    assert evaluate(parse("0.1*3"), {}) == 0.3 != 0.1 * 3
    assert evaluate(parse("1e16 + 1 - 1e16"), {}) == 1.0
    assert evaluate(parse("pi - 3.141592653589793"), {}) == 2.384626433832795e-16


@pytest.mark.parametrize(
    ("text", "turns"),
    [
        ("0", 0), ("pi/2", 1), ("-pi/2", -1), ("pi", 2), ("-270*deg", -3), ("450*deg", 5), ("pi*(1/4 + 1/4)", 1),
        ("a", 1), ("2*a - pi", 0), ("pi/4", None), ("1", None), ("1.5707963267948966", None), ("free", None),
        ("sin(0)", 0), ("sin(1)", None), ("pi*pi", None), ("1/0", None), ("unknown", None), ("loop", None), ("b", None),
    ],
)  # fmt: skip
def test_quarter_turns(text, turns):
    parameters = {"a": parse("90*deg"), "b": parse("a + 1/0"), "free": None, "loop": parse("loop")}
    assert quarter_turns(parse(text), parameters) == turns


def test_names():
    expression = parse("a*sin(b) + pi - deg*a**c")
    assert expression.names == {"a", "b", "c"}
    assert not expression.constant
    assert parse("pi*deg").constant
    assert hash(parse("a+b")) == hash(parse(" a+b ")) and parse("a+b") == parse(" a+b ") != parse("b+a")


class Printed(str):
    """An algebra that writes down what it is asked."""

    def _do(self, symbol, other):
        return Printed(f"({self} {symbol} {other!r})" if isinstance(other, int) else f"({self} {symbol} {other})")

    def __add__(self, other):
        return self._do("+", other)

    def __sub__(self, other):
        return self._do("-", other)

    def __mul__(self, other):
        return self._do("*", other)

    def __truediv__(self, other):
        return self._do("/", other)

    def __pow__(self, other):
        return self._do("**" if isinstance(other, int) else "^", other)

    def __neg__(self):
        return Printed(f"-{self}")


FUNCTIONS = {name: lambda x, name=name: Printed(f"{name}[{x}]") for name in ("sin", "cos", "tan", "sqrt", "exp")}
NAMES = {name: Printed(name) for name in ("x", "y", "pi", "deg")}


@pytest.mark.parametrize(
    ("text", "whole", "constants"),
    [
        ("2*3*x", "((2 * 3) * x)", ["2*3"]),
        ("x*2*3", "((x * 2) * 3)", ["2", "3"]),
        ("x + 2*pi", "(x + (2 * pi))", ["2*pi"]),
        ("(1 + 2)*x - sin(pi/2)", "(((1 + 2) * x) - sin[(pi / 2)])", ["1 + 2", "sin(pi/2)"]),
        ("x**2", "(x ** 2)", []),
        ("x**-3", "(x ** -3)", []),
        ("x**(1/2)", "(x ^ (1 / 2))", ["1/2"]),
        ("x**65", "(x ^ 65)", ["65"]),
        ("2**x", "(2 ^ x)", ["2"]),
        ("-x*-2", "(-x * -2)", ["-2"]),
        ("1 - 2 - 3 - x - 4", "((((1 - 2) - 3) - x) - 4)", ["1 - 2 - 3", "4"]),
        ("3**2", "(3 ** 2)", ["3**2"]),
        ("pi", "pi", ["pi"]),
        ("x", "x", []),
        ("sin(x) + (x*(2*3) + y)", "(sin[x] + ((x * (2 * 3)) + y))", ["2*3"]),
    ],
)
def test_folds(text, whole, constants):
    expression = parse(text)
    assert expression.fold(lambda value: Printed(value), NAMES, FUNCTIONS) == whole
    seen = []

    def constant(part):
        seen.append(part.text)
        assert part.constant
        assert evaluate(part, {}) == evaluate(parse(part.text), {})
        return Printed("c")

    expression.fold_constants(constant, {"x": Printed("x"), "y": Printed("y")}, FUNCTIONS)
    assert seen == constants


def test_a_missing_name_in_a_fold():
    with pytest.raises(ExpressionError, match="unknown name 'lenght'; did you mean 'length'"):
        evaluate(parse("2*lenght"), {"length": 1.0})


HOSTILE = [
    ("", 0), ("  ", 0), ("1,5", 1), ("1_000", 0), ("0x1F", 0), ("1j", 0), ("1 2", None), ("014", None), ("2EI", 0),
    ("1.2.3", 0), ("ｐｉ", 0), ("π", 0), ("٣", 0), ("1e999", 0), ("2 + 1e99999", 4), ("1e-400", 0), ("e5 e", None),
    ("()", None), ("(1", None), ("1)", None), ("1 +", None), ("*a", None), ("1//2", 0), ("1%2", 1), ("2^3", 1),
    ("a if b else c", 2), ("lambda: 1", 0), ("not a", 0), ("a and b", 2), ("True", 0), ("None", 0), ("a is b", 2),
    ("__import__('os')", 11), ("().__class__", 2), ("a.b", 1), ("a[0]", 1), ("'a'", 0), ('f"{a}"', 1), ("a := 1", 2),
    ("a = 1", 2), ("a; b", 1), ("a # b", 2), ("sin(1, 2)", 5), ("sin()", None), ("sin(*a)", None), ("sin(x=1)", 5),
    ("sin", 0), ("1 + cos", 4), ("sine(1)", 0), ("eval(1)", 0), ("(sin)(1)(2)", None), ("pi(2)", 0), ("a(b)", 0),
    ("[1]", 0), ("{1}", 0), ("1 < 2", 2), ("~1", 0), ("1 & 2", 2), ("a\\b", 1), ("a\x00", 1), ("\xa01", 0),
    ("yield a", 0), ("await a", 0), ("-" * 190 + "1", None), ("(" * 250 + "1" + ")" * 250, None), ("(" * 999, None),
    ("sin(" * 120 + "1" + ")" * 120, None), ("-" * 999 + "1", None), ("2**" * 300 + "2", None), ("1+" * 600 + "1", 0),
]  # fmt: skip


@pytest.mark.parametrize(("text", "offset"), HOSTILE, ids=[ascii(text[:20]) for text, _ in HOSTILE])
@pytest.mark.filterwarnings("error")
def test_hostile_and_odd_texts_are_refused_with_an_offset(text, offset):
    with bounded(2), pytest.raises(ExpressionError) as caught:
        parse(text)
    assert caught.value.message
    assert 0 <= caught.value.offset <= len(text)
    if offset is not None:
        assert caught.value.offset == offset


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("1/0", "division by zero"), ("0**-1", "division by zero"), ("1/(x - x)", "division by zero"),
        ("tan(pi/2)", "division by zero"), ("1/cos(-270*deg)", "division by zero"), ("1/sin(7*pi)", "division by zero"),
        ("tan(90*deg)*0", "division by zero"), ("1/tan(pi)", "division by zero"),
        ("9**9**9**9", "too large"), ("1e308*10", "too large"), ("exp(1e6)", "too large"),
        ("x*1e308*1e308", "too large"),
        ("sqrt(-1)", "no real value"), ("(-8)**(1/3)", "no real value"), ("sin((-8)**0.5)", "no real value"),
        ("((-8)**0.5)**2", "no real value"), ("pi**999*10**64**5", "too large"), ("nowhere", "unknown name"),
    ],
)  # fmt: skip
def test_texts_without_a_value(text, words):
    with bounded(2), pytest.raises(ExpressionError, match=words):
        evaluate(parse(text), {"x": 1.0})


def test_fractions_stay_small():
    huge = "*".join(["(3/7)**64"] * 60)
    assert exact(parse(huge), {}) is None
    assert evaluate(parse(huge), {}) == pytest.approx(0.0, abs=1e-300)
    assert exact(parse("3**64"), {}) is not None
    assert exact(parse("3**65"), {}) is None


def test_long_sums_and_products():
    assert rational("+".join(["0.1"] * 100)) == 10
    assert rational("-".join(["1"] * 500)) == -498
    assert rational("*".join(["2"] * 100)) == 2**100
    assert evaluate(parse("+".join(["x"] * 500)), {"x": 1.0}) == 500


def test_lengths():
    assert parse("1" + " " * (limits.EXPRESSION_LENGTH - 1))
    for text in ("1" + " " * limits.EXPRESSION_LENGTH, Number("1" * (limits.EXPRESSION_LENGTH + 1))):
        with pytest.raises(ExpressionError, match="more than 1000 characters"):
            parse(text)


LITERALS = st.one_of(
    st.integers(0, 50).map(str),
    st.decimals(0, 50, places=3, allow_nan=False, allow_infinity=False).map(lambda d: f"{d:f}"),
)
EXPRESSIONS = st.recursive(
    LITERALS,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["+", "-", "*", "/", " - ", " * "]), inner).map("".join),
        inner.map(lambda text: f"({text})"),
        inner.map(lambda text: f"-({text})"),
        inner.map(lambda text: f"({text})**2"),
    ),
    max_leaves=12,
)


@drawn(30, 65, EXPRESSIONS)
def test_random_expressions_are_python_s_fractions(text):
    python = re.sub(r"(?<!\*\*)\b(\d+(\.\d+)?)", r"Fraction('\1')", text)
    try:
        expected = eval(python, {"Fraction": Fraction})  # noqa: S307 - the oracle, on text this test has made
    except ZeroDivisionError:
        with pytest.raises(ExpressionError, match="division by zero"):
            evaluate(parse(text), {})
        assert exact(parse(text), {}) is None
        return
    assert exact(parse(text), {}) == PiLinear(expected, Fraction(0))
    assert evaluate(parse(text), {}) == float(expected)


@drawn(30, 65, any_text(max_size=30) | st.text(alphabet="0123456789.eE+-*/() abpisn", max_size=20))
def test_any_text_parses_or_is_refused(text):
    try:
        expression = parse(text)
        evaluate(expression, dict.fromkeys(expression.names, 1.5))
    except ExpressionError as error:
        assert 0 <= error.offset <= len(text)


def test_parameters_refer_to_each_other():
    table = {"c": parse("a + b"), "a": parse("1/3"), "b": parse("3*a"), "free": None, "d": parse("free*2 + 1/0")}
    values, _ = resolve_each(table)
    assert values == {"c": 4 / 3, "a": 1 / 3, "b": 1.0, "free": None, "d": None}
    assert list(values) == list(table)


def test_cycles_are_named():
    table = {"x": parse("1"), "d": parse("a"), "a": parse("b"), "b": parse("x + c"), "c": parse("2*a"), "e": parse("e")}
    values, mistakes = resolve_each(table)
    assert values == {"x": 1.0, **dict.fromkeys("dabce")}
    assert {name: str(mistake) for name, mistake in mistakes.items()} == {
        "a": "the parameters define each other in a circle: 'a' -> 'b' -> 'c' -> 'a'",
        "e": "the parameter 'e' is defined by itself",
    }
    assert all(isinstance(mistake, CycleError) for mistake in mistakes.values())


def test_mistaken_parameters_are_told_once():
    values, mistakes = resolve_each({"a": parse("1/0"), "b": parse("a"), "c": parse("aa + 1")})
    assert values == dict.fromkeys("abc")
    assert {name: mistake.message for name, mistake in mistakes.items()} == {
        "a": "division by zero in '1/0'",
        "c": "unknown name 'aa'; did you mean 'a'?",
    }


@pytest.mark.parametrize("closed", [rare(False), True])
def test_thousands_of_parameters_in_a_chain(closed):
    count = 5_000
    table = {f"p{i}": parse(f"p{i + 1} + 1") for i in range(count)} | {f"p{count}": parse("p0" if closed else "1")}
    with bounded(3):
        values, mistakes = resolve_each(table)
    assert values["p0"] == (None if closed else count + 1.0)
    assert list(mistakes) == (["p0"] if closed else [])


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (Number("2.5"), ["2.5"]),
        ("2*3*EI + sin(pi/3)*a**2 - (1 + 2)*a", ["2*3", "sin(pi/3)", "1 + 2"]),
        ("-a/2**0.5 + 4 - 5", ["2**0.5", "4", "5"]),
    ],
)
def test_the_largest_parts_without_parameters(text, parts):
    """They go to the caller as expressions of their own, small whole exponents as int."""
    told = []
    parse(text).fold_constants(lambda part: told.append(part.text) or evaluate(part, {}), {"EI": 2.0, "a": 3.0}, {})
    assert told == parts


def test_names_with_dots_are_quoted_ones():
    """Where these are allowed, with the same value; numbers stay what they are, and no other dot is allowed."""
    for text, names, value in (
        ("2.e1*endpoint.x - .5e-1*x1.y", {"'endpoint.x'", "'x1.y'"}, 20 * 0.3 - 0.05 * 0.3),
        ("sin( a.in.b)**2/'a.in.b'", {"'a.in.b'"}, math.sin(0.3) ** 2 / 0.3),
        ("-'raw-1' + \"raw-1\"*pi", {"'raw-1'"}, 0.3 * (math.pi - 1)),
        ("'deg'*deg", {"'deg'"}, 0.3 * math.pi / 180),
    ):
        found = parse(text, quoted=True)
        assert found.names == names
        known = {**dict.fromkeys(names, 0.3), "pi": math.pi, "deg": math.pi / 180}
        assert found.fold(float, known, {"sin": math.sin}) == pytest.approx(value, rel=1e-15)
    for wrong in ("endpoint. x", "endpoint .x", "a..b", "a.", "2.x", "a.2", "a.b 'c'", "a.b(1)", "a.b.", "'a'.b"):
        with pytest.raises(ExpressionError):
            parse(wrong, quoted=True)
    with pytest.raises(ExpressionError, match="'.' is not allowed"):
        parse("endpoint.x*2")
