"""Numbers in tables: errors that hold, and small numbers that are no rounding of large ones."""

import re

import numpy as np
import pytest

import kronbot
from kronbot.cli.main import run
from kronbot.cli.output.tables import table
from kronbot.compute.arrays import NamedArray
from kronbot.questions.result import Result
from kronbot.questions.swept import Swept

# The error of a number, and a distance, which is no bound: 2.1 m are not 3 m.
SUMMARY = {"buckling_factor": 2.5, "buckling_factor_error": 1.01e-13, "position_error": 2.1018}


def shown(capsys, **arrays):
    """The lines of a table as lists of words, the heading left out."""
    table(Result("linearize", "arm", "2", arrays=arrays, at={}, series={}, summary=SUMMARY))
    return [line.split() for line in capsys.readouterr().out.splitlines()[2:] if line]


def test_errors_are_rounded_up_to_one_digit_and_0_only_where_exact(capsys):
    """However small beside others, and whatever stands in other columns."""
    values = np.array([[1e-6, 1e-30, 1e17, 1], [0.0, 1.5e-22, 2, 2], [2.001e-20, 3e-13, 1, 1]])
    columns = ["error", "growth_error", "condition", "count"]
    lines = shown(capsys, accuracy=NamedArray(values, ["1", "2", "3"], "1", columns))
    assert lines[2:] == [
        ["1", "1e-06", "1e-30", "1e+17", "1"],
        ["2", "0", "2e-22", "2", "2"],
        ["3", "3e-20", "3e-13", "1", "1"],
        ["buckling_factor", "2.5"],
        ["buckling_factor_error", "2e-13"],
        ["position_error", "2.1018"],
    ]
    errors = NamedArray(np.array([9.1e-13, 1e-300]), ["1", "2"], "1")
    assert shown(capsys, multiplier_errors=errors)[1:3] == [["1", "1e-12"], ["2", "1e-300"]]


def test_what_is_found_by_itself_is_no_rounding_of_others(capsys):
    """A slow pole beside fast ones, what dies out beside what stays; parts beside their own size are."""
    poles = np.array([-1e-13 + 0j, -2e-12 + 1e5j, -3 + 1e6j])
    lines = shown(capsys, poles=NamedArray(poles, ["1", "2", "3"], "rad/s"))
    assert lines[1:4] == [["1", "-1e-13+0i"], ["2", "0+100000i"], ["3", "-3+1e+06i"]]
    # Those that stand with their errors have been judged by these: what is left is damping.
    accuracy = NamedArray(np.zeros((3, 1)), ["1", "2", "3"], "1", ["error"])
    lines = shown(capsys, poles_free=NamedArray(poles, ["1", "2", "3"], "rad/s"), accuracy_free=accuracy)
    assert lines[2] == ["2", "-2e-12+100000i"]
    real = NamedArray(np.array([1.0, 2e-40]), ["1", "2"], "1")
    for name in ("multipliers", "damping_free"):
        assert shown(capsys, **{name: real})[1:3] == [["1", "1"], ["2", "2e-40"]]
    # Parameters, each of a unit of its own: a second moment is no rounding of a modulus.
    steel = NamedArray(np.array([[2e11, 2.1e11], [4e-9, 3.8e-9]]), ["E", "I"], "", ["start", "estimate"])
    assert shown(capsys, estimates=steel)[2:4] == [["E", "2e+11", "2.1e+11"], ["I", "4e-09", "3.8e-09"]]


@pytest.mark.parametrize(("weak", "word"), [(3e-6, "3e-06"), (-4e-9, "-4e-09")])
def test_a_weak_spring_beside_a_stiff_one_is_no_rounding(capsys, weak, word):
    """What is small beside its row or its column is."""
    K = np.array([[1e9, 1e-7, 0], [2e-6, weak, 0], [0, 0, 1e-5]])
    lines = shown(capsys, K_L=NamedArray(K, "abc", "1", list("abc")))
    assert lines[2:5] == [["a", "1e+09", "0", "0"], ["b", "0", word, "0"], ["c", "0", "0", "1e-05"]]


def test_zeros_are_told_and_not_shown(capsys):
    """A matrix of zeros is one line; of a wide one stand the columns that are not, under their names."""
    lines = shown(capsys, C_star=NamedArray(np.zeros((2, 40)), "ab", "1", [str(k) for k in range(40)]))
    assert lines[0] == ["C_star", "[1]:", "all", "0", "(2", "x", "40)"]
    wide = np.zeros((2, 40))
    wide[1, 30] = 3.5
    lines = shown(capsys, C_star=NamedArray(wide, "ab", {"rows": ["N"] * 2}, [str(k) for k in range(40)]))
    assert " ".join(lines[0]) == "C_star: 1 of 40 columns, the others are 0"
    assert lines[1:4] == [["30"], ["a", "N", "0"], ["b", "N", "3.5"]]  # a row's unit beside its name
    one = NamedArray(np.zeros(1), ["q1"], {"rows": ["N m"]})
    assert shown(capsys, g=one)[:2] == [["g"], ["q1", "0", "N", "m"]]
    # Of what is found one by one every number is an answer.
    assert shown(capsys, poles=NamedArray(np.zeros(2), "12", "rad/s"))[1:3] == [["1", "0"], ["2", "0"]]


def test_a_few_vectors_stand_below_each_other(capsys):
    """Of cases, with frequencies in Hz, too; matrices, and vectors of many cases, are told by their size."""
    frequencies = np.array([[1.0, 2.0], [3.0, 4.0]])
    stack = NamedArray(frequencies, "12", "rad/s", axis=("case", [1, 2]))
    lines = shown(capsys, frequencies_locked=stack)
    assert lines[:4] == [
        ["frequencies_locked", "[rad/s]"],
        ["1", "2"],
        ["case", "1", "1", "2"],
        ["case", "2", "3", "4"],
    ]
    assert lines[4:7] == [["frequencies_locked", "[Hz]"], ["1", "2"], ["case", "1", "0.159155", "0.31831"]]
    pose = NamedArray(np.array([[[1.0, 2.0]], [[3.0, 4.0]]]), ["tip"], "m", "xy", ("case", [1, 2]))
    assert shown(capsys, pose=pose)[1:4] == [["x", "y"], ["case", "1", "1", "2"], ["case", "2", "3", "4"]]
    # Columns with units have a line of them, frequencies a column in Hz.
    units = {"rows": ["1", "rad/s", "rad"]}
    margins = NamedArray(np.ones((2, 3)), ["disk_margin", "frequency", "phase"], units, axis=("case", [1, 2]))
    lines = shown(capsys, margins=margins)
    assert lines[1:4] == [
        ["disk_margin", "frequency", "phase"],
        ["rad/s", "Hz", "rad"],
        ["case", "1", "1", "1", "0.159155", "1"],
    ]
    # Of entries that have the units of their row and their column the system stands above, as of all that are mixed.
    M = NamedArray(np.ones((1, 1)), "a", {"rows": ["N m"], "columns": ["s2/(rad)"]}, "b")
    assert shown(capsys, M=M)[:3] == [["M", "[SI]"], ["b"], ["a", "1"]]
    many = NamedArray(np.ones((40, 2)), "12", "m", axis=("t", list(range(40))))
    assert shown(capsys, h_L=many)[0][:2] == ["h_L:", "40"]


# Of the first word of a name: what has no unit, or mixes several.
WITHOUT = {
    "singular_value", "manipulability", "condition", "energy_drift", "overshoot", "largest_h_L", "largest_multiplier",
    "largest_error", "disk_margin", "gain_margin_low", "gain_margin_high", "cost_predicted", "cost_simulated",
    "damping", "buckling_factor", "buckling_factor_error", "momentum_change", "angular_momentum_change",
    "multipliers_at_one", "end_error", "chi_square", "noise_factor",
}  # fmt: skip
UNITS = "m|kg|s|N|N m|J|rad|1/m|1/s|m/rad|N s|N m s|rad/s, [-+.e0-9]+ Hz"


def test_numbers_of_summaries_have_their_units():
    """Of every question that has any: counts are whole, what has none is listed."""
    arm = kronbot.loads(
        "kronbot: 1\nname: arm\nconvention: standard\ngravity: [0, -9.81, 0]\nlinks:\n"
        "  - name: a\n    joint: {type: revolute, name: q1, damping: 0.5}\n    dh: {a: 1, d: 0, alpha: 0, theta: 0}\n"
        "    flexible: {mass: 1, EI: {z: 50}, modes: {v: 1}, damping: {ratio: 0.05}}\n    payload: {mass: 1}\n"
        "motion: {q1: {type: polynomial, from: 0, to: 1, duration: 1, degree: 5}}\n"
        "simulate: {duration: 2, step: 0.1, drive: {q1: {pd: {kp: 200, kd: 20}}}}\n"
    )
    answers = [
        arm.check(), arm.simulate(), arm.statics(q=[0.0], order="all"), arm.statics(q=[0.0], buckling=True),
        arm.linearize(equilibrium=True), arm.modes(), arm.jacobian(), arm.design(lqr=True), arm.design(shaper="zv"),
        kronbot.load("stacker-numeric").jacobian(), kronbot.load("puma560").kinematics(inverse=[0.4, 0.1, 0.3]),
        kronbot.load("puma560").jacobian(), arm.taylor(of="g", terms=1, delta={"q1": 0.1}),
    ]  # fmt: skip
    told = set()
    for answer in answers:
        lines = dict(line.split(None, 1) for line in str(answer).splitlines() if len(line.split()) > 1)
        for name, value in answer.summary.items():
            if not isinstance(value, float):
                continue
            told.add(name.partition(".")[0])
            unit = re.fullmatch(rf"[-+.e0-9]+( ({UNITS}))?", lines[name])
            assert unit, (answer.command, name, lines[name])
            assert unit[1] or name.partition(".")[0] in WITHOUT, name
    assert {"end", "peak_torque", "phase_margin", "length", "longer", "position_error", "largest_difference"} <= told


def test_what_was_asked_for_stands_first(capsys):
    """Behind what it is over, before what comes anyway: there is room for no more."""
    robot = kronbot.load("puma560").model
    names = ["angle.q1", "torque.q2", "endpoint.x", "reaction.mz", "position.link2.x", "power.q1"]
    series = {name: np.array([1.0, 2]) for name in names} | {"velocity.endpoint.x": np.zeros(2)}
    table(Result("statics", "arm", "2", arrays={}, at={}, series=series, summary={}, about=robot))
    zeros, head = capsys.readouterr().out.splitlines()[2:4]
    assert zeros.startswith("1 more column of zeros (") and head.split() == [names[0], *names[4:], *names[1:4]]


def test_what_does_not_move_has_neither_tables_nor_a_verdict(capsys):
    """A rigid arm with its joints locked: files hold its empty arrays still."""
    answer = kronbot.load("puma560").modes()
    assert "verdict_locked" not in answer.summary and "joints locked" in answer.summary["model_locked"]
    assert answer["frequencies_locked"].shape == (0,)
    table(answer)
    lines = capsys.readouterr().out.splitlines()
    assert not any(re.match(r"(poles|frequencies|damping|shapes|accuracy)_locked", line) for line in lines)
    assert any(line.startswith("poles_free") for line in lines)


def test_a_sentence_leaves_room_for_numbers(swept_here, capsys):
    """It is cut, in tables alone."""
    asked = ["sweep", "modes", "khang", "--over", "l=1,2", "--keep", "verdict_locked,frequencies_locked[1]"]
    assert run(asked) == 0
    head, _, *rows = capsys.readouterr().out.split("\n\n")[1].splitlines()
    assert "frequencies_locked[1]" in head and all(row.count("...") == 1 for row in rows)
    assert run([*asked, "--format", "csv"]) == 0
    assert "..." not in capsys.readouterr().out


def test_errors_of_sweeps_tell_the_reason(capsys):
    """Where there is no room for all of it, as of what a posture of many joints comes before."""
    where, why = ", ".join(f"q{k} = {k}.25" for k in range(1, 9)), "no stable path of equilibria beyond 0.6188"
    errors = np.array([f"{where}: {why} of the load; there the tip is 3 m off", None, "m = 3: no", "x" * 200], object)
    series = {"case": np.arange(1, 5), "error": errors}
    table(Result("sweep", "arm", "2", series=series, asked=Swept("statics", [(("m",), 4)], (), ())))
    told = [line.split(None, 1)[1:] for line in capsys.readouterr().out.splitlines()[3:7]]
    assert told == [[f"... {why} of the load; there the tip is 3 m off"], [], ["m = 3: no"], [f"{'x' * 111}..."]]
