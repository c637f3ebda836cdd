"""What a sweep varies: grids, tables, draws; case i is a function of i, and what it means is told at once."""

import io
import itertools
import math
import pickle

import numpy as np
import pytest
from sweeps.cheap import Cheap, swept

import kronbot
from kronbot.description import csv_lines
from kronbot.errors import UsageError
from kronbot.sweeps import grammar
from kronbot.sweeps.cases import Numbers
from kronbot.sweeps.grammar import cases

pytestmark = pytest.mark.usefixtures("swept_here")
NONE = (None, 0, False)


def test_grids_are_products_the_first_slowest():
    made = cases({"a": "0:1:3", "b": [7, "x"], "c": "2*pi"}, None, *NONE)
    assert made.rows(0, 6) == list(itertools.product([0.0, 0.5, 1.0], [7, "x"], [2 * math.pi]))
    assert all(made.rows(i, j) == made.rows(0, 6)[i:j] for i in range(6) for j in range(i + 1, 7))


@pytest.mark.parametrize("digits", ["\u0661", "\uff11", "\u0967\u0968", "-\u0661"])
def test_digits_of_other_alphabets_are_text(digits):
    """As everywhere else: Python reads them as numbers, no file of robots does."""
    assert grammar.value(digits) == digits
    robot = kronbot.load("khang")
    for given in ({"over": {"EI": [digits, 2]}}, {"cases": {"EI": [digits]}}):
        with pytest.raises(UsageError, match="is not a number|is not allowed in an expression"):
            robot.sweep("modes", **given)
    with pytest.raises(UsageError, match="no row or column"):
        robot.sweep("modes", over={"EI": [1, 2]}, keep=f"frequencies_free[{digits}]")


def lines(text):
    """As a file of that text is read."""
    return csv_lines.lines_of(io.BytesIO(text.encode()))


def test_lists_are_cut_at_commas_that_no_bracket_holds():
    """Also those within brackets within brackets; and very long ones take no longer than they are."""
    assert grammar.factor("m", "f(1, g(2, 3)), (4), pi").columns["m"] == ["f(1, g(2, 3))", 4.0, math.pi]
    assert grammar.factor("m", "(1, 2").columns["m"] == ["(1, 2"] and grammar.factor("m", "1), 2").columns["m"][1] == 2
    assert len(grammar.factor("m", "1," * 50_000 + "1").columns["m"]) == 50_001
    with pytest.raises(UsageError, match="a value is missing"):
        grammar.factor("m", "," * 200_000)
    for many in ("," * 200_000, "1" + " " * 200_000 + "x"):
        with pytest.raises(UsageError, match="should read NAME="):
            grammar.split(many)


def test_ranges_hold_their_ends():
    (name, text) = grammar.split("q2=-pi/2:pi/2:181")
    values = [value for (value,) in cases({name: text}, None, *NONE).rows(0, 181)]
    assert values[0] == -math.pi / 2 and values[-1] == math.pi / 2 and values[90] == 0
    assert np.allclose(values, np.linspace(-math.pi / 2, math.pi / 2, 181), rtol=0, atol=1e-15)
    assert cases({"a": "5:6:1"}, None, *NONE).rows(0, 1) == [(5.0,)]
    # Numbers as people write them.
    assert cases({"a": "0:1:11"}, None, *NONE).rows(0, 11) == [(float(f"0.{i}"),) for i in range(10)] + [(1.0,)]
    assert cases({"a": "0.1:0.4:4"}, None, *NONE).rows(0, 4) == [(0.1,), (0.2,), (0.3,), (0.4,)]
    assert cases({"a": "20:40:4"}, None, *NONE).rows(0, 4) == [(20.0,), (80 / 3,), (100 / 3,), (40.0,)]
    for start, end in ((0.8831065928382196, 0.7), (0.1, -1e17), (1e-300, 0.8831065928382196)):
        (first,), *_, (last,) = cases({"a": f"{start!r}:{end!r}:8"}, None, *NONE).rows(0, 8)
        assert (first, last) == (start, end)


def test_frames_with_colons_are_no_ranges():
    made = cases({"frame": "arm, com:arm,arm:root", "other": "com:arm"}, None, *NONE)
    assert made.rows(0, 3) == [("arm", "com:arm"), ("com:arm", "com:arm"), ("arm:root", "com:arm")]
    with pytest.raises(UsageError, match="should read FROM:TO:N"):
        cases({"frame": "arm,0:1"}, None, *NONE)


def test_tables_go_together_and_are_slowest():
    table = grammar.table(lines("a, b\n1, 0.5\n\n2, 2*pi\n"), "cases.csv")
    made = cases({"c": [1, 2]}, table.columns, *NONE)
    assert made.names == ("a", "b", "c")
    assert made.rows(0, 4) == [(1, 0.5, 1), (1, 0.5, 2), (2, 2 * math.pi, 1), (2, 2 * math.pi, 2)]


CELLS = ["1", "-0", "+7", "0.10", "1e3", ".5", "2.", "1e-400", "0e5", "00012", "1234567890123456", "- 5", "--5", "1-2",
         "2*pi", "text", "1_000", "nan", "Infinity", '" 4 "', "٣"]  # fmt: skip


@pytest.mark.parametrize("others", [["1.5"], ["3"], CELLS])
def test_numbers_of_files_are_those_of_lists(others):
    """Whatever stands beside them: text, kind and value of each are those that it has alone."""
    for cell in CELLS:
        column = [*others, cell, *others]
        (found,) = grammar.table(lines("\n".join(["a", *column])), "cases.csv").columns.values()
        alone = [grammar.value(each.strip('"')) for each in column]
        assert [(type(each), each) for each in found] == [(type(each), each) for each in alone]


@pytest.mark.slow
def test_many_cases_are_numbers_and_no_objects(monkeypatch):
    """Nine bytes a number, here and for who gets them, and none of them looked at by itself where all are plain."""
    plain = []
    monkeypatch.setattr(grammar, "value", lambda text: plain.append(text))
    rows = "".join(f"{i % 7},{i / 8}\n" for i in range(20_000))
    told = grammar.table(lines(f"a,b\n{rows}"), "cases.csv")
    assert not plain
    made = cases({}, told.columns, *NONE)
    assert len(pickle.dumps(made)) < 2 * 9 * 20_000 + 1000
    assert made.rows(19_998, 20_000) == [(19_998 % 7, 19_998 / 8), (19_999 % 7, 19_999 / 8)]
    assert made.values_of("a") == tuple(range(7)) and made.values_of("b") == ()
    assert made.key == cases({}, {name: list(column) for name, column in told.columns.items()}, *NONE).key
    assert made.key != cases({}, {**told.columns, "a": [float(each) for each in told.columns["a"]]}, *NONE).key


def test_no_draw_depends_on_its_chunk():
    over = {"a": "normal(1, 2)", "b": [1, 2, 3], "c": "lognormal(0, 0.1)", "d": "uniform(-1, 1)"}
    whole = cases(over, None, 64, 3, False).rows(0, 192)
    made = cases(over, None, 64, 3, False)
    for start, stop in ((100, 130), (0, 1), (60, 70), (191, 192), (130, 150)):
        assert made.rows(start, stop) == whole[start:stop]
    assert len({row[0] for row in whole}) == 64
    assert cases(over, None, 64, 4, False).rows(0, 192) != whole


@pytest.mark.parametrize(
    ("text", "name", "numbers"),
    [
        ("normal(1, 2)", "norm", (1, 2)),
        ("uniform(-1, 3)", "uniform", (-1, 4)),
        ("lognormal(0.5, 0.2)", "lognorm", (0.2, 0, math.exp(0.5))),
        ("triangular(1, 2, 4)", "triang", (1 / 3, 1, 3)),
    ],
)
def test_draws_follow_their_distribution(text, name, numbers):
    from scipy import stats

    known = getattr(stats, name)(*numbers)
    values = np.array(cases({"a": text}, None, 1024, 0, False).rows(0, 1024))[:, 0]
    points = stats.qmc.Sobol(1, seed=0, bits=30).random(1024)[:, 0]
    assert np.allclose(values, known.ppf(points), rtol=1e-12)
    assert stats.kstest(values, known.cdf).statistic < 2 / 1024


def test_a_billion_cases_cost_nothing():
    made = cases({"a": "0:1:1000000000"}, None, *NONE)
    assert made.rows(999_999_999, 10**9) == [(1.0,)]
    for over in ({"a": "0:1:1000000000000"}, {"a": "0:1:100000", "b": "0:1:100000"}):
        with pytest.raises(UsageError, match="cases are too many"):
            cases(over, None, *NONE)


@pytest.mark.parametrize(
    ("over", "draws", "told"),
    [
        ({"a": "0:1"}, NONE, "should read FROM:TO:N"),
        ({"a": "0:1:0"}, NONE, "how many values"),
        ({"a": "0:1:2.5"}, NONE, "how many values"),
        ({"a": "0:q:2"}, NONE, "a: "),
        ({"a": "1e300:1.5e308:9"}, NONE, "too large"),
        ({"a": "1,,2"}, NONE, "a value is missing"),
        ({"a": []}, NONE, "there is no case"),
        ({"a": [math.nan]}, NONE, "finite"),
        ({"a": [None]}, NONE, "finite"),
        ({}, NONE, "nothing is varied"),
        ({"a": "gauss(0, 1)"}, NONE, "no distribution and no function 'gauss'; there are normal"),
        ({"a": "normal(0)"}, (4, 0, False), "mean, standard deviation"),
        ({"a": "normal(0, 0)"}, (4, 0, False), "must be positive"),
        ({"a": "lognormal(1e3, 1)"}, (4, 0, False), "too large.* logarithm; about 1000 it is lognormal.6.9078,1."),
        ({"a": "lognormal(0, 1e3)"}, (4, 0, False), "natural logarithm$"),
        ({"a": "lognormal(log(1e3), 1)"}, (4, 0, False), "'log' is not a function.* written as its number"),
        ({"a": "lognormal(700, 2)"}, (4, 0, False), "too large"),
        ({"a": "normal(1e308, 1e308)"}, (4, 0, False), "too large"),
        ({"a": "triangular(-1e300, 0, 1e300)"}, (4, 0, False), "too large"),
        ({"a": "uniform(1, 1)"}, (4, 0, False), "in this order"),
        ({"a": "triangular(1, 0, 2)"}, (4, 0, False), "in this order"),
        ({"a": "normal(0, 1)"}, NONE, "how many draws of a"),
        ({"a": "normal(0, 1)"}, (0, 0, False), "there is no case"),
        ({"a": "0:1:1e30", "b": "0:1:1e300"}, NONE, "cases are too many"),
        ({"a": [1]}, (4, 0, False), "nothing is drawn"),
        ({"a": "normal(0, 1)"}, (100, 0, True), "power of 2"),
        ({"a": "normal(0, 1)", "b": [1]}, (64, 0, True), "draws alone"),
        ({"a": ["x", "\udcff"]}, NONE, "no text of printable characters"),
    ],
)
def test_what_is_no_case_is_told(over, draws, told):
    with pytest.raises(UsageError, match=told):
        cases(over, None, *draws)


def test_texts_of_a_file_are_bounded(monkeypatch):
    """A pipe of them that never ends would take minutes and gigabytes, long before its size is too large."""
    monkeypatch.setattr(grammar, "WORDS", 3)
    few = grammar.table(lines("a,b\n1,x\n2,y\n3,pi\n4,x\n5.5,x\n6,7\n"), "cases.csv")
    assert few.columns["b"] == ["x", "y", math.pi, "x", "x", 7]
    with pytest.raises(UsageError, match=r"cases.csv.*more than 3 different texts: write numbers as decimals"):
        grammar.table(lines("a\n" + "\n".join(f"x{i}" for i in range(4))), "cases.csv")


@pytest.mark.parametrize("text", ["a\n", "", "a,b\n1\n", "a,a\n1,2\n", "a\n\n"])
def test_tables_that_are_none_are_told(text):
    with pytest.raises(UsageError, match="cases"):
        grammar.table(lines(text), "cases.csv")


ISHIGAMI = """
kronbot: 1
name: ishigami
gravity: [0, 0, 0]
convention: standard
parameters: {x1: 0.1, x2: 0.1, x3: 0.1, y: 30 + sin(x1) + 7*sin(x2)**2 + 0.1*x3**4*sin(x1)}
links: [{name: arm, joint: {type: revolute, name: q1}, dh: {a: y, d: 0, alpha: 0, theta: 0}, rigid: {mass: 1}}]
"""


@pytest.mark.slow
def test_indices_of_a_function_with_known_ones(tmp_path, interpreted):
    """Ishigami and Homma (1990), a = 7, b = 0.1, as the length of a link, which is an entry of the Jacobian."""
    (tmp_path / "ishigami.yaml").write_text(ISHIGAMI)
    robot = kronbot.load(str(tmp_path / "ishigami.yaml"))
    over = dict.fromkeys(("x1", "x2", "x3"), "uniform(-pi, pi)")
    swept = robot.sweep("jacobian", over, sample=1024, indices=True, keep=["J_T[y,q1]", "J_T[x,q1]"], workers=1)
    answer = swept.result()
    # What is always 0 depends on nothing.
    assert list(answer.asked.indices) == ["J_T[y,q1]"]
    found = answer.asked.indices["J_T[y,q1]"]
    pi4, pi8 = math.pi**4, math.pi**8
    parts = {"1": (1 + 0.1 * pi4 / 5) ** 2 / 2, "2": 49 / 8, "13": 0.01 * pi8 * (1 / 18 - 1 / 50)}
    variance = sum(parts.values())
    first = np.array([parts["1"], parts["2"], 0]) / variance
    total = np.array([parts["1"] + parts["13"], parts["2"], parts["13"]]) / variance
    for values, interval, known in (
        (found.first, found.first_interval, first),
        (found.total, found.total_interval, total),
    ):
        assert np.allclose(values, known, atol=0.03)
        assert (interval[:, 0] <= known).all() and (known <= interval[:, 1]).all()
        assert (interval[:, 1] - interval[:, 0] < 0.2).all()


def test_one_name_and_one_column_have_indices():
    """All of the variance comes from the one name."""
    answer = swept(Cheap(), {"EI": "uniform(1, 2)"}, draws=(64, 0, True), keep=["total_mass"]).result()
    found = answer.asked.indices["total_mass"]
    again = swept(Cheap(), {"EI": "uniform(1, 2)"}, draws=(64, 0, True), keep=["total_mass"]).result()
    assert (again.asked.indices["total_mass"].total_interval == found.total_interval).all()
    assert found.first.shape == found.total.shape == (1,) and found.total_interval.shape == (1, 2)
    assert abs(found.first - 1) < 0.05 and abs(found.total - 1) < 0.05


def test_indices_want_one_row_a_case():
    """Refused before anything is computed, with a cure that works; where rows look alike it is told."""
    robot, over = kronbot.load("piedboeuf"), {"EI": "normal(15, 0.5)"}
    drawn = {"sample": 4, "indices": True, "workers": 1}
    with pytest.raises(
        UsageError, match=r"several \(angle.theta, force.y\): keep one number .* keep 'max\(endpoint.y\)'"
    ):
        robot.sweep("statics", over, keep=["cases", "endpoint.y"], **drawn)
    answer = robot.sweep("statics", over, keep=["max(endpoint.y)"], **drawn).result()
    assert list(answer.asked.indices) == ["max(endpoint.y)"]
    alike = {"theta": [0, 0]}
    answer = robot.sweep("statics", over, keep=["endpoint.y"], angles=alike, forces=[[0, 1, 0]], **drawn).result()
    assert list(answer.warnings)[-1] == "no indices: they are about one row a case, and these have several"
    assert not answer.asked.indices


def test_no_indices_where_cases_failed():
    answer = swept(Cheap(), {"EI": "uniform(-1, 1)"}, draws=(8, 0, True), keep=["total_mass"]).result()
    assert answer.asked.indices == {}
    assert list(answer.warnings) == [
        f"no indices: they are about whole draws, and {answer.summary['failed']} cases have failed"
    ]


def test_numbers_are_given_one_after_the_other_at_once(monkeypatch):
    """Asked one by one, each looked at all of them: a long file with one text took a time that grew with its square."""
    numbers = Numbers(np.array([1.0, 0.5, 2.0]), np.array([True, False, True]))
    monkeypatch.setattr(Numbers, "__getitem__", lambda *_: pytest.fail("one by one"))
    assert list(map(repr, numbers)) == list(map(repr, [*numbers, "x"][:3])) == ["1", "0.5", "2"]
    monkeypatch.undo()
    for place in (0, -1, slice(1, None), slice(None, None, -1)):
        assert repr(numbers[place]) == repr([1, 0.5, 2][place])
    with pytest.raises(IndexError):
        _ = numbers[3]
