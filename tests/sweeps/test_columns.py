"""What is varied and what is kept: names mean one thing, columns are known beforehand, cells are those of answers."""

import json
import re
from collections import Counter

import numpy as np
import pytest
from thinned import rare

import kronbot
from kronbot.errors import UsageError
from kronbot.library.cases import answer, demand_accepted
from kronbot.questions.columns import unit_of_number
from kronbot.questions.doubts import Doubts
from kronbot.sweeps import grammar
from kronbot.sweeps.cases import Distribution
from kronbot.sweeps.cells import form_of
from kronbot.sweeps.kept import LONGEST, split
from kronbot.sweeps.names import meanings, placed, prepared
from kronbot.sweeps.work import Case


@pytest.fixture(scope="module")
def arm():
    return kronbot.load("khang")


@pytest.fixture(scope="module")
def piedboeuf():
    return kronbot.load("piedboeuf")


def rows(sweep):
    """As workers make them, in this process."""
    done = sweep.task.done(0, len(sweep))
    return [dict(zip(sweep.header, json.loads(line), strict=True)) for line in done.text.splitlines()]


PLANNED = {"to": {"qa": 0.3}, "order": 0, "drive": "motion", "duration": 1}
FIRST = {"taylor": "M[qa,qa]", "jacobian": "J_T[x,qa]"}


@pytest.mark.parametrize(
    ("question", "given", "name", "value", "same"),
    [
        ("jacobian", {}, "qa", 0.3, {"q": {"qa": 0.3}}),
        ("jacobian", {"q": [0.1, 0.01]}, "qa", 0.3, {"q": [0.3, 0.01]}),
        rare("jacobian", {"q": {"arm.v1": 0.02}}, "qa", "pi/7", {"q": {"qa": "pi/7", "arm.v1": 0.02}}),
        ("jacobian", {}, "qa_dot", 2.0, {"qd": {"qa": 2.0}}),
        ("dynamics", {}, "qa_ddot", 2.0, {"qdd": {"qa": 2.0}}),
        ("jacobian", {}, "frame", "arm:root", {"frame": "arm:root"}),
        ("jacobian", {"q": {"qa": 1}}, "order", 1, {"q": {"qa": 1}, "order": 1}),
        ("taylor", {}, "terms", 3.0, {"terms": 3}),
        ("linearize", {"force": [1, 2, 3]}, "force.y", 5.0, {"force": [1, 5.0, 3]}),
        rare("linearize", {}, "equilibrium", "true", {"equilibrium": True}),
        ("linearize", {}, "tau.qa", 0.5, {"tau": {"qa": 0.5}}),
        ("statics", {}, "force.y", -0.2, {"forces": [[0, -0.2, 0]]}),
        rare("statics", {"forces": [[1, 2, 3]]}, "force.z", -0.2, {"forces": [[1, 2, -0.2]]}),
        rare("statics", {}, "moment.z", 0.1, {"moments": [[0, 0, 0.1]]}),
        rare("statics", {}, "load.arm.my", 0.1, {"loads": {"arm": [0, 0, 0, 0, 0.1, 0]}}),
        rare("statics", {"loads": {"arm": [1, 2, 3]}}, "load.arm.fy", 0.1, {"loads": {"arm": [1, 0.1, 3]}}),
        ("statics", {"loads": [["arm", [1, 2, 3]]]}, "load.com:arm.fy", 0.1,
         {"loads": {"arm": [1, 2, 3], "com:arm": [0, 0.1, 0]}}),
        ("statics", {}, "distributed.arm.fy", 0.1, {"distributed": {"arm": [0, 0.1, 0]}}),
        rare("design", {"lqr": True}, "weights.qa", 2.0, {"lqr": True, "weights": {"qa": 2.0}}),
        rare("design", {"poles": "-3,-4,-5+60j"}, "qa", "pi/7", {"poles": "-3,-4,-5+60j", "q": {"qa": "pi/7"}}),
        pytest.param("design", {"lqr": True, "noise": {"qa": 1e-4}}, "noise.torque.qa", 3.0,
                     {"lqr": True, "noise": {"qa": 1e-4, "torque.qa": 3.0}}, marks=pytest.mark.slow),
        *(
            pytest.param("plan", PLANNED, name, value, {**PLANNED, **same}, marks=pytest.mark.slow)
            for name, value, same in [
                ("to.qa", 0.2, {"to": {"qa": 0.2}}), ("limits.qa_dot", 0.6, {"limits": {"qa_dot": 0.6}}),
            ]
        ),
        rare("simulate", {"step": 0.01}, "duration", 0.02, {"step": 0.01, "duration": 0.02}),
    ],
)  # fmt: skip
def test_a_name_is_what_the_library_calls_so(arm, question, given, name, value, same):
    (case,) = arm.sweep(question, {name: [value]}, **given, keep=FIRST.get(question)).task.asked(0, 1)
    alone = answer(arm, question, Case({}, same))
    swept = answer(arm, question, case)
    assert {n: a.values.tolist() for n, a in swept.arrays.items()} == {
        n: a.values.tolist() for n, a in alone.arrays.items()
    }
    assert {n: a.tolist() for n, a in swept.series.items()} == {n: a.tolist() for n, a in alone.series.items()}


@pytest.mark.parametrize(
    ("question", "given", "name", "merged"),
    [
        ("plan", {"to": {"qa": 1, "b": 2}, "duration": 1}, "to.qa", {"to": {"qa": 9, "b": 2}, "duration": 1}),
        ("plan", {"effort_limits": {"qa": [-1, 1], "b": 2}}, "effort_limits.qa", {"effort_limits": {"qa": 9, "b": 2}}),
        ("statics", {"loads": {"arm": [1, 2, 3], "endpoint": [4]}}, "load.arm.fy",
         {"loads": {"arm": [1, 9, 3, 0, 0, 0], "endpoint": [4]}}),
        ("statics", {"forces": [[1, 2, 3]]}, "force.z", {"forces": [[1, 2, 9]]}),
    ],
)  # fmt: skip
def test_what_varies_in_an_option_takes_the_place_of_what_is_given_and_others_stay(arm, question, given, name, merged):
    meant = meanings(arm.model, demand_accepted(arm, question, given), [name])
    assert placed(prepared(arm.model, given, [name], meant), meant, [9]) == ({}, merged)


def test_options_are_varied_by_the_names_that_the_command_line_has(arm):
    """With hyphens, where arguments have underscores; and --in, which is axes."""
    told, meant = ["effort-limits.qa", "effort-limits.a-b", "closed-loop"], ["effort_limits.qa", "effort_limits.a-b"]
    accepted = {"effort_limits", "closed_loop"}
    assert meanings(arm.model, accepted, told) == meanings(arm.model, accepted, [*meant, "closed_loop"])
    assert [row["in"] for row in rows(arm.sweep("jacobian", {"in": ["base", "body"]}))] == ["base", "body"]
    text = (
        "kronbot: 1\nname: r\ngravity: [0, 0, 0]\nparameters: {m_load: 1}\nlinks:\n"
        "  - {name: a, joint: {type: revolute, name: q_1}, pose: {}, rigid: {mass: m_load, inertia: {Izz: 1}}}\n"
    )
    for name in ("m-load", "q-1", "q-1_dot"):  # names of the file are spelt as they are
        with pytest.raises(
            UsageError, match=f"nothing to vary called '{name}'; did you mean '{name.replace('-', '_')}'"
        ):
            meanings(kronbot.loads(text).model, {"q", "qd", "order"}, [name])


@pytest.mark.parametrize(
    ("question", "over", "told"),
    [
        ("modes", {"EJ": [1]}, "nothing to vary called 'EJ'; there are g, l, mu, EI"),
        ("modes", {"force.x": [1]}, "nothing to vary called 'force.x'"),
        ("modes", {"progress": [1]}, "nothing to vary called 'progress'"),
        ("statics", {"load.nowhere.fx": [1]}, "load.nowhere.fx: .*nowhere"),
        ("statics", {"load.arm.fw": [1]}, "nothing to vary called"),
        ("statics", {"distributed.hub.fx": [1]}, "no flexible link 'hub'"),
        ("modes", {"EI": ["EJ"]}, "EI: unknown name 'EJ'"),
        ("modes", {"EI": ["1+"]}, "EI: "),
        ("modes", {"qa": [True]}, "qa: a number is wanted"),
        ("plan", {"weights.qa": [1]}, "nothing to vary called 'weights.qa'; did you mean 'limits.qa'"),
        (
            "design",
            {f"weights.{'q' * 10_000}": [[]]},
            r"^there is nothing to vary called 'weights\.q{49}\.\.\.'; there are",
        ),
        ("statics", {"load.a\x1b.fx": "1:2"}, r"^there is nothing to vary called 'load\.a\\x1b\.fx'; "),
        ("plan", {"to": [1]}, "nothing to vary called 'to'"),
        ("plan", {"effort-limits.qa": [1], "effort_limits.qa": [1]}, "effort-limits.qa and effort_limits.qa are the"),
        ("nodes", {"EI": [1]}, "did you mean 'modes'"),
    ],
)
def test_what_means_nothing_is_told(arm, question, over, told):
    with pytest.raises(UsageError, match=told):
        arm.sweep(question, over)


def test_long_texts_of_names_are_split_in_no_time_or_refused(arm):
    """Brackets hold commas together, and nothing takes the square of what it reads."""
    assert split("a, b[1,2],,max(c[3,4]) ,d") == ["a", "b[1,2]", "max(c[3,4])", "d"]
    assert split("a" * LONGEST) == ["a" * LONGEST] and split("a," * (LONGEST // 2)) == ["a"] * (LONGEST // 2)
    with pytest.raises(UsageError, match="keep: a text of more than"):
        arm.sweep("modes", over={"EI": [1]}, keep="a" * (LONGEST + 1))


def test_what_means_two_things_is_refused(tmp_path):
    file = tmp_path / "two.yaml"
    text = "links: [{name: a, joint: {type: revolute, name: q1}, dh: {a: duration, d: 0, alpha: 0, theta: 0}}]\n"
    head = "kronbot: 1\nname: two\ngravity: [0, 0, 0]\nconvention: standard\nparameters: {duration: 1}\n"
    file.write_text(head + text)
    robot = kronbot.load(str(file))
    with pytest.raises(UsageError, match="'duration' means two things, parameter and option"):
        robot.sweep("simulate", {"duration": [1]})


@pytest.mark.parametrize(
    ("name", "given", "wrong"),
    [
        ("qa", {"q": [True, 0.2]}, "q: a number is wanted, not True"),
        ("qa", {"q": ["EJ", 0.2]}, "q: unknown name 'EJ'"),
        ("qa", {"q": [{"a": 1}, 0.2]}, "q: a number is wanted, not a mapping"),
        ("force.x", {"forces": [True]}, "forces: a number is wanted, not True"),
        ("force.x", {"forces": {}}, "forces: a number is wanted, not a mapping"),
        ("force.z", {"forces": [[0.1]]}, "forces: numbers are missing in the place of what is varied, 2"),
        ("load.endpoint.fx", {"loads": {"endpoint": [None, 1, 0]}}, "loads: a number is wanted, not nothing"),
        ("load.endpoint.fx", {"loads": [True]}, "loads: one point is wanted"),
    ],
)
def test_what_a_case_replaces_is_looked_at(arm, name, given, wrong):
    with pytest.raises(UsageError, match=re.escape(wrong)):
        arm.sweep("statics", cases={name: [0.1]}, **given)
    arm.sweep("statics", cases={"qa": [0.1]}, q=["pi*EI", 0.2])


def test_options_are_those_of_the_question(arm):
    with pytest.raises(UsageError, match="modes takes no 'solver'"):
        arm.sweep("modes", {"EI": [1]}, solver="rodas")
    with pytest.raises(UsageError, match="order is varied, and fixed"):
        arm.sweep("modes", {"order": [1]}, order=2)
    for rows_of_points in ([[0.1, 0], [0.2, 0]], {"qa": [0.1, 0.2]}):
        with pytest.raises(UsageError, match="a case is one point"):
            arm.sweep("modes", {"EI": [1]}, q=rows_of_points)
    with pytest.raises(UsageError, match="lock: a value of type object is not a number"):
        arm.sweep("linearize", {"EI": [1]}, lock=object())


KEPT = {
    "frequencies_free[1:2]": (["frequencies_free[1]", "frequencies_free[2]"], lambda a: a["frequencies_free"].tolist()),
    "frequencies_free[2]": (["frequencies_free[2]"], lambda a: [a["frequencies_free"][1]]),
    "shapes_free[arm.v1, 2]": None,
    "abs(shapes_free[arm.v1,2])": (
        ["abs(shapes_free[arm.v1,2])"],
        lambda a: [abs(a["shapes_free"][1, 1])],
    ),
    "imag(poles_free[2])": (["imag(poles_free[2])"], lambda a: [a["poles_free"][1].imag]),
    "max(frequencies_free)": (["max(frequencies_free)"], lambda a: [a["frequencies_free"].max()]),
    "last(max(frequencies_free))": (["last(max(frequencies_free))"], lambda a: [a["frequencies_free"].max()]),
    "last(free_coordinates_free)": (
        ["last(free_coordinates_free)"],
        lambda a: [a.summary["free_coordinates_free"]],
    ),
    "last( abs(poles_free) )": (["last(abs(poles_free))"], lambda a: [abs(a["poles_free"][-1])]),
    "verdict_free": (["verdict_free"], lambda a: [a.summary["verdict_free"]]),
    "frequencies_free": (["frequencies_free"], lambda a: [a["frequencies_free"].tolist()]),
    "frequencies_free[4]": (["frequencies_free[4]"], lambda a: [None]),
}


@pytest.mark.parametrize("text", KEPT)
def test_what_is_kept_is_of_the_answer(arm, text):
    if KEPT[text] is None:
        with pytest.raises(UsageError, match="is complex: keep abs"):
            arm.sweep("modes", {"EI": [20]}, keep=text)
        return
    names, of = KEPT[text]
    swept = arm.sweep("modes", {"EI": [20]}, keep=text)
    assert swept.header == ["case", "EI", *names, "error"]
    (row,) = rows(swept)
    assert [row[name] for name in names] == of(arm.with_parameters(EI=20).modes())


def test_series_are_reduced(arm):
    keep = ["max(tip.arm.y)", "min(tip.arm.y)", "max(abs(tip.arm.y))", "last(qa)", "rms(qa)", "energy_drift"]
    (row,) = rows(arm.sweep("simulate", {"EI": [20]}, keep=keep, duration=0.1, step=0.01))
    alone = arm.with_parameters(EI=20).simulate(0.1, 0.01)
    y, qa = alone["tip.arm.y"], alone["qa"]
    wanted = [y.max(), y.min(), abs(y).max(), qa[-1], np.sqrt(np.mean(qa**2)), alone.summary["energy_drift"]]
    assert list(row.values())[2:-1] == wanted


def test_cases_of_statics_are_rows_of_its_table(piedboeuf):
    swept = piedboeuf.sweep("statics", {"theta": [0, 0.5]}, keep=["tip.arm.y", "cases"])
    alone = piedboeuf.statics(q={"theta": 0.5})
    found = rows(swept)
    assert len(found) == 2 * alone.summary["cases"]
    mine = [row for row in found if row["case"] == 2]
    assert [row["tip.arm.y"] for row in mine] == alone["tip.arm.y"].tolist()
    assert [row["force.y"] for row in mine] == alone["force.y"].tolist()
    assert {row["cases"] for row in mine} == {alone.summary["cases"]}
    # By default all columns, once: the varied one is not repeated.
    header = piedboeuf.sweep("statics", {"force.y": [1], "theta": [0]}).header
    assert header[:3] == ["case", "force.y", "theta"] and len(set(header)) == len(header)
    assert set(alone.series) <= set(header)


@pytest.mark.parametrize(
    ("over", "given", "telling"),
    [
        ("theta", {}, ["force.y"]),
        ("EI", {}, ["angle.theta", "force.y"]),
        ("force.y", {}, ["angle.theta"]),
        ("force.y", {"q": [0.1]}, []),
        ("force.y", {"q": [[0.1], [0.2]]}, ["angle.theta"]),
        (
            "EI",
            {"q": {"theta": [0.1, 0.2]}, "moments": [[0, 0, 1], [0, 1, 2]]},
            ["angle.theta", "moment.y", "moment.z"],
        ),
        ("EI", {"angles": {"theta": [0.1, 0.2]}, "forces": [[1, 0, 0]]}, ["angle.theta"]),
        ("EI", {"forces": [1, 2, 3]}, []),
    ],
)
def test_rows_of_a_case_are_told_apart(piedboeuf, over, given, telling):
    """By what they differ in, whatever is kept."""
    header = piedboeuf.sweep("statics", {over: [1]}, **given, keep="torque.theta").header
    assert header == ["case", over, *telling, "torque.theta", "error"]
    assert "angle.theta" not in piedboeuf.sweep("statics", {over: [1]}, **given, keep="max(torque.theta)").header


def test_orders_have_the_columns_of_all_of_them(arm):
    found = rows(arm.sweep("modes", {"order": ["0", "2", "exact"]}))
    assert [row["order"] for row in found] == [0, 2, "exact"]
    assert found[0]["frequencies_free[2]"] is None
    assert found[1]["frequencies_free[2]"] == arm.modes()["frequencies_free"][1]
    assert found[2]["frequencies_free[2]"] == arm.at_order("exact").modes()["frequencies_free"][1]


@pytest.mark.parametrize(
    ("keep", "told"),
    [
        ("M[q1,q2]", "answers of modes hold no 'M'"),
        ("frequencies_fre[1]", "did you mean 'frequencies_free'"),
        ("frequencies_free[1,2]", r"should read frequencies_free\[ROW\]"),
        ("frequencies_free[0]", "no row or column '0'"),
        ("frequencies_free[2:1]", "is empty"),
        ("frequencies_free[1:2:3]", "FIRST:LAST"),
        ("shapes_free[qb,1]", "no row or column 'qb'; there are qa"),
        ("max(poles_free)", "is complex"),
        ("sum(frequencies_free)", "hold no"),
        ("max(verdict_free)", "verdict_free is a text, which is kept as it is"),
        ("last(abs(shapes_free))", "shapes_free has rows and columns: which of them is the last"),
        ("", "no numbers|nothing is kept|name some"),
    ],
)
def test_what_no_answer_holds_is_told(arm, keep, told):
    with pytest.raises(UsageError, match=told):
        arm.sweep("modes", {"EI": [20]}, keep=keep)


def test_a_row_of_a_column_is_told_by_functions(arm):
    with pytest.raises(UsageError, match=r"qa is a column, no array: take last\(qa\) or max\(qa\)"):
        arm.sweep("simulate", {"EI": [20]}, keep="qa[1]")


def test_a_refused_value_is_a_row(arm):
    found = rows(arm.sweep("modes", {"EI": [-1, 20]}, keep="frequencies_locked[1]"))
    assert (
        found[0]["frequencies_locked[1]"] is None
        and "must be at least 0" in found[0]["error"]
        and "\n" not in found[0]["error"]
    )
    assert found[1]["error"] is None


RIGID = """
kronbot: 1
name: rigid
gravity: [0, -9.81, 0]
parameters: {m: 1}
links: [{name: bar, joint: {type: revolute, name: q1}, pose: {}, rigid: {mass: m, com: [0.5, 0, 0]}}]
"""


def test_arrays_of_robots_without_beams_are_empty_and_no_error(tmp_path, swept_here):
    robot = kronbot.loads(RIGID)
    kept = robot.sweep("modes", {"m": [1, 2]}, workers=1, output=f"{tmp_path}/all/")
    assert kept.failed == 0 and "shapes_locked" in kept.header
    with np.load(tmp_path / "all" / "1.npz") as archive:
        assert archive["shapes_locked"].size == 0 and archive["poles_free"].tolist() == [0]
    empty = robot.sweep("modes", {"m": [1, 2]}, keep="poles_locked,max(frequencies_locked)", workers=1)
    table = empty.result()
    assert "{" not in str(table) and table["max(frequencies_locked)"].tolist() == [None, None]
    assert list(table.warnings) == ["no case has max(frequencies_locked)"]
    for keep, told in (
        ("shapes_locked[1,1]", "shapes_locked of this robot has no entries"),
        ("", "like keep 'frequencies_free[1]'"),
    ):
        with pytest.raises(UsageError, match=told.replace("[", r"\[")):
            robot.sweep("modes", {"m": [1, 2]}, keep=keep)


def test_arrays_that_only_some_orders_fill_are_wide_enough(arm):
    swept = arm.sweep("modes", {"order": [0, 2]}, keep="shapes_locked,frequencies_locked", workers=1)
    data = [json.loads(line) for line in swept.task.done(0, 2).text.splitlines()]
    form = form_of("shapes_locked", np.array([row[2] for row in data] + [None], dtype=object)[:2])
    whole = form.array([row[2] for row in data])
    alone = arm.modes()["shapes_locked"]
    assert whole.shape == (2, *alone.shape) and np.isnan(whole[0]).all() and np.array_equal(whole[1], alone)


def test_units_of_numbers_are_theirs_where_joints_are_called_so(swept_here):
    robot = kronbot.loads(RIGID.replace("q1", "end"))
    swept = robot.sweep("simulate", {"m": [1, 2]}, keep="end,max(end),max(end_dot),energy_drift", duration=0.1)
    assert swept.task.units == {"end": "s", "max(end)": "rad", "max(end_dot)": "rad/s"}
    (first, _) = swept
    assert first["end"] == 0.1 and first["max(end)"] == robot.simulate(0.1)["end"].max() < 0.01
    assert unit_of_number(kronbot.loads(RIGID.replace("q1", "steps")).model, "steps") == ""
    assert unit_of_number(robot.model, "end") == "s" and unit_of_number(robot.model, "peak_torque.end") == "N m"


ASKED = {
    "kinematics": ("pose", {}),
    "jacobian": ("J_T,J_R,omega", {"qd": [1, 0]}),
    "hessian": ("H_T,H_R,H_T_star,a", {"axes": "body", "qd": [1, 0]}),
    "dynamics": ("M,C,C_star,dM_dq,g,K,D,tau", {"qd": [1, 0]}),
    "statics": ("compliance,stiffness", {"q": [0.1]}),
    "linearize": ("M_L,D_L,K_L,h_L", {}),
}


@pytest.mark.parametrize("question", ASKED)
def test_entries_have_the_units_of_their_arrays(arm, question):
    """Products of those of rows and columns, as far as there are both; at several orders, too."""
    words, given = ASKED[question]
    answer = getattr(arm, question)(**given)
    keep = []
    for word in words.split(","):
        array = answer.arrays[word]
        keep.append(f"{word}[{','.join(f'1:{len(side)}' for side in (array.rows, array.columns) if side)}]")
    task = arm.sweep(question, {"EI": [20], "order": [1, 2]}, keep=keep, **given).task
    for column in task.kept.columns:
        array = answer.arrays[column.key]
        sides = [(array.rows, "rows"), (array.columns or (), "columns")]
        units = {"rows": [array.units] * len(array.rows)} if isinstance(array.units, str) else array.units
        named = zip(sides, column.labels, strict=False)
        own = [units[side][names.index(label)] for (names, side), label in named if side in units]
        told = task.units.get(column.name, "1")
        assert dimension(told) == dimension(*own), column.name


@pytest.mark.parametrize(
    ("question", "given", "told"),
    [
        ("jacobian", {"over": {"qa": "0:90:2"}}, "qa = 90"),
        ("jacobian", {"over": {"qa": [0, 30, 60.5]}}, "qa = 30"),
        ("jacobian", {"over": {"qa": ["0", "-30"]}}, "qa = -30"),
        rare("jacobian", {"over": {"qa": "normal(30,1)"}, "sample": 2}, "qa = 30"),
        ("jacobian", {"cases": {"qa": [0.5, 60], "EI": [1, 2]}}, "qa = 60"),
        ("jacobian", {"cases": {"qa": np.array([0.5, 60])}}, "qa = 60"),
        ("kinematics", {"over": {"inverse.yaw": [45]}}, "inverse.yaw = 45"),
        ("plan", {"over": {"to.qa": [30]}, "duration": 1}, "to.qa = 30"),
        ("plan", {"over": {"limits.qa": [30]}, "to": {"qa": 1}, "duration": 1}, "limits.qa = 30"),
        ("jacobian", {"over": {"qa": "0,pi/2,90"}}, "qa = 90"),
        ("jacobian", {"over": {"qa": "-pi:90:3"}}, "qa = 90"),
        ("jacobian", {"over": {"qa": [0, "400*deg", 90, "pi"]}}, "qa = 90"),
        ("jacobian", {"over": {"qa": "400*deg,EI,2*(pi+1)"}}, ""),
        rare("jacobian", {"over": {"qa": "normal(90,5*deg)"}, "sample": 2}, "qa = 90"),
        ("jacobian", {"over": {"qa": "0:4*pi:2"}}, ""),
        ("jacobian", {"over": {"qa": ["90*deg", "400*deg"]}}, ""),
        ("jacobian", {"over": {"qa": ["EI"], "EI": [30]}}, ""),
        rare("jacobian", {"over": {"qa": "uniform(0,4*pi)"}, "sample": 2}, ""),
        ("jacobian", {"over": {"qa_dot": [30], "arm.v1": [30]}}, ""),
    ],
)  # fmt: skip
def test_angles_that_look_like_degrees_are_told_once(arm, question, given, told):
    """As elsewhere, before anything is computed."""
    doubt = f"{told} is beyond 2 pi: is it in degrees? (write {told.rpartition(' ')[2]}*deg)"
    assert [*arm.sweep(question, **given).tally.doubts()] == ([doubt] if told else [])


def test_numbers_of_distributions_are_those_that_somebody_wrote():
    given = (Distribution("uniform", (0.0, 90.0)), "uniform(0, 90)", Distribution("lognormal", (8.0, 1.0)))
    found = [[*grammar.written("a", each)] for each in (*given, "lognormal(8, 1)")]
    assert found == [[(0, ""), (90, "")], [(0, "0"), (90, "90")], [], []]


def test_a_file_of_cases_may_have_degrees(arm):
    """What is written as an expression is meant."""
    for cells, told in ((["0.5", "60"], 1), (["0.5", "400*deg"], 0), (["90", "400*deg"], 1), (["EI", "400*deg"], 0)):
        columns = grammar.table([["qa", *cells]], "cases.csv").columns
        assert len([*arm.sweep("jacobian", cases=columns).tally.doubts()]) == told


def test_one_and_many_rows_are_one_kind_of_warning():
    found = Doubts()
    for case, text in enumerate(("1 row: a beam bends", "51 rows: a beam bends"), 1):
        found.of_case(case, [text])
    assert [*found.told(2)] == ["in 2 of 2 cases, first in case 1: 1 row: a beam bends"]


def test_what_a_robot_cannot_tell_is_not_only_unknown(arm):
    floating = kronbot.load("floating-canadarm")
    for robot, why in ((floating, "its base floats"), (kronbot.load("canadarm"), "its drives do not hold q1, q2, q3 ")):
        with pytest.raises(UsageError, match=f"hold no 'residual_amplitude' here: {why}"):
            robot.sweep("simulate", {"duration": [1]}, keep="residual_amplitude")
    with pytest.raises(UsageError, match="hold no 'C' here: it belongs to a motion"):
        arm.sweep("dynamics", {"EI": [1]}, keep="C")


def test_inertias_are_masses_and_their_moments(arm):
    units = arm.sweep("dynamics", {"EI": [20]}, keep=["M", "M[1:2,1:2]", "D[1,1]"]).task.units
    assert {*units.values()} == {"kg m2", "kg m", "kg", "N m s/rad"}
    (unit,) = arm.sweep("hessian", {"EI": [20]}, keep=["H_T[1,2]"]).task.units.values()
    assert unit == "m/(rad m)"


def dimension(*units):
    """Exponents of the units that texts are a product of; a fraction is over all that comes after. Angles have none."""
    found = Counter()
    for unit in units:
        above, _, below = unit.replace("(", "").replace(")", "").partition("/")
        for words, sign in ((above, 1), (below, -1)):
            for word in words.split():
                name, power = (word[:-1], int(word[-1])) if word[-1] in "23" else (word, 1)
                for part, of_it in {"N": 1, "s": 2, "m": -1}.items() if name == "kg" else [(name, 1)]:
                    found[part] += sign * power * of_it
    return {name: power for name, power in found.items() if power and name not in ("1", "rad")}


@pytest.mark.parametrize("kind", ["step", "impulse", "frequency"])
def test_responses_have_their_units(arm, kind):
    names = [name for name in arm.linearize(response=kind).series if "/" in name]
    units = arm.linearize(response=kind).units
    swept = arm.sweep("linearize", {"EI": [20]}, keep=[f"max({names[0]})"], response=kind)
    assert swept.task.units == {f"max({names[0]})": units[names[0]]}
