"""Tables of shapes: what a robot file and a CSV file may say, and every mistake at its place."""

import math
import os
from pathlib import Path

import pytest

from kronbot.cli.main import run
from kronbot.description import Source, limits, load
from kronbot.description.schema import TableFile
from kronbot.description.table import read_table
from kronbot.errors import DescriptionError

ROBOT = """\
kronbot: 1
name: r
convention: standard
gravity: [0, 0, 0]
links:
  - name: arm
    joint: {type: revolute, name: q1}
    dh: {a: 2, d: 0, alpha: 0, theta: 0}
    flexible: {mass: 1, EI: {z: 1}, modes: {v: 1}, shape: SHAPE}
"""
ONE = {"v": 1, "w": 0, "t": 0}
LENGTH = 2.0
CLAMP = "clamp the root of the beam in the program that the shapes come from"
ROUGH = "jumps from row to row: write more digits, or twelve rows a wave"


def loaded(shape, folder):
    return load(Source("r.yaml", ROBOT.replace("SHAPE", shape), folder))


def faults(function, *arguments):
    with pytest.raises(DescriptionError) as caught:
        function(*arguments)
    folder = next((f"{argument}{os.sep}" for argument in arguments if isinstance(argument, Path)), "")
    return [str(mistake).replace(folder, "") for mistake in caught.value.mistakes]


def rows(count=9, **columns):
    """The text of a table of that many rows; columns are functions of xi."""
    lines = [",".join(["x", *columns])]
    for i in range(count):
        xi = i / (count - 1)
        lines.append(",".join(map(repr, [LENGTH * xi, *(float(shape(xi)) for shape in columns.values())])))
    return "\n".join(lines) + "\n"


def bow(xi):
    return xi**2


def read(folder, text, counts=ONE, length=LENGTH):
    (folder / "s.csv").write_text(text)
    return read_table(folder, "s.csv").shapes(length, counts)


# --- the robot file ----------------------------------------------------------------------------------------------


def test_a_shape_is_a_name_or_a_file(tmp_path):
    (tmp_path / "s.csv").write_text("x\n")  # what stands in it is read with the model
    assert loaded("{file: s.csv}", tmp_path).robot.links[0].flexible.shape == TableFile("s.csv")
    assert loaded("legendre", tmp_path).robot.links[0].flexible.shape == "legendre"


@pytest.mark.parametrize(
    ("shape", "fault"),
    [
        ("{file: ../s.csv}", "9:66: the file '../s.csv' must be beside the robot file: no absolute path, no '..'"),
        ("{file: /s.csv}", "9:66: the file '/s.csv' must be beside the robot file: no absolute path, no '..'"),
        ("{file: no.csv}", "9:66: there is no file 'no.csv' beside the robot file"),
        ("{file: .}", "9:66: '.' is not a regular file"),
        ("{file: 1}", "9:66: text is wanted here, not the number 1: put it in quotes"),
        ("{fil: s.csv, file: s.csv}", "9:60: unknown key 'fil'; known here: file"),
        ("{}", "9:52: missing key 'file' in 'shape'"),
        ("clamped-fre", "9:59: 'shape' must be one of clamped-free, clamped-mass, polynomial, legendre, "
                        "craig-bampton; not 'clamped-fre'; did you mean 'clamped-free'?"),
    ],
)  # fmt: skip
def test_mistakes_in_the_robot_file(tmp_path, shape, fault):
    (tmp_path / "s.csv").write_text("x\n")
    assert faults(loaded, shape, tmp_path) == [f"r.yaml:{fault}"]


def test_standard_input_has_no_tables():
    assert faults(loaded, "{file: s.csv}", None) == [
        "r.yaml:9:66: the file 's.csv' cannot be used: a robot file on standard input has no folder"
    ]
    with pytest.raises(DescriptionError, match="standard input"):
        read_table(None, "s.csv")


# --- the table ---------------------------------------------------------------------------------------------------


def test_columns_by_name_and_those_beyond_are_left_out(tmp_path):
    text = rows(5, w1=bow, v2=lambda xi: xi**3, t1=math.sin, v1=lambda xi: -bow(xi), w2=lambda xi: 1)
    got = read(tmp_path, text.replace(",", " , ").replace("\n", "\r\n\r\n"), {"v": 2, "w": 1, "t": 1})
    assert got.x == (0.0, 0.5, 1.0, 1.5, 2.0)
    assert list(got.columns) == ["v1", "v2", "w1", "t1"]
    assert got.columns["v1"] == (-0.0, -0.0625, -0.25, -0.5625, -1.0)
    assert got.columns["t1"][-1] == math.sin(1)
    assert str(got.mistake("v2", "no")) == f"{tmp_path / 's.csv'}:1:10: no"


@pytest.mark.parametrize(
    ("header", "found"),
    [
        ("x,V1", ["1: no column 'v1' for modes: {v: 1}", "3: unknown column 'V1'; did you mean 'v1'?"]),
        ("x,v1,u1", ["6: unknown column 'u1'; known are x, v1, v2, ..., w1, w2, ..., t1, t2, ..."]),
        ("x,v1,", ["6: unknown column ''; known are x, v1, v2, ..., w1, w2, ..., t1, t2, ..."]),
        ("v0,v1", ["1: no column 'x': the places of the rows, m from the beam's root",
                   "1: unknown column 'v0'; known are x, v1, v2, ..., w1, w2, ..., t1, t2, ..."]),
        ("x,v1, v1", ["7: a second column 'v1'"]),
        ("0,0", ["1: the first line must name the columns: x, v1, v2, ..., w1, w2, ..., t1, t2, ..."]),
        ("x," * 200, ["1: 201 columns, at most 193 are allowed"]),
    ],
)  # fmt: skip
def test_headers(tmp_path, header, found):
    text = rows(5, v1=bow).replace("x,v1", header, 1)
    assert faults(read, tmp_path, text) == [f"s.csv:1:{each}" for each in found]


def test_missing_columns_are_named_by_what_asks_for_them(tmp_path):
    text = rows(5, v1=bow, w2=bow)
    assert faults(read, tmp_path, text, {"v": 3, "w": 2, "t": 1}) == [
        "s.csv:1:1: no column 't1' for modes: {torsion: 1}",
        "s.csv:1:1: no column 'v2', 'v3' for modes: {v: 3}",
        "s.csv:1:1: no column 'w1' for modes: {w: 2}",
    ]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", ["1:1: empty: a table in columns that commas separate is wanted here"]),
        ("x,v1\n", ["1:1: 0 rows of numbers, at least 5 are wanted"]),
        (rows(4, v1=bow), ["1:1: 4 rows of numbers, at least 5 are wanted"]),
        (rows(5, v1=bow).replace("0.25", "0.25,1").replace("0.5625", "nan"),
         ["4:1: 2 columns are wanted here, as in the header, not 3", "5:5: 'nan' is not a finite number"]),
        (rows(5, v1=bow).replace("0.25", "1e999").replace("2.0,", "2 m,"),
         ["4:5: '1e999' is not a finite number", "6:1: '2 m' is not a finite number"]),
        (rows(5, v1=bow).replace("1.0,", "0.5,"), ["4:1: x must grow from row to row: 0.5 after 0.5"]),
        (rows(5, v1=bow).replace("0.5,", "1e-10,"), ["3:1: x must grow from row to row: 1e-10 after 0"]),
        (rows(5, v1=bow).replace("0.0,", "0.1,", 1),
         ["2:1: the first x must be 0, the root of the beam; it is 0.1"]),
        (rows(5, v1=bow).replace("2.0,", "2000.0,"),
         ["6:1: the last x must be the length of the beam, 2 m from its root; it is 2000"]),
    ],
)  # fmt: skip
def test_rows_and_places(tmp_path, text, found):
    assert faults(read, tmp_path, text) == [f"s.csv:{each}" for each in found]


def test_seven_digits_of_a_length_are_enough(tmp_path):
    text = rows(5, v1=bow)
    assert read(tmp_path, text.replace("2.0,", "2.000001,")).x[-1] == 2.000001
    assert faults(read, tmp_path, text.replace("2.0,", "2.00001,"))


@pytest.mark.parametrize(
    ("shape", "found"),
    [
        (lambda xi: 0, "the shape v1 is zero everywhere"),
        (lambda xi: 1e10 * xi**2, "the largest value of v1 is 1e+10: scale shapes to about 1"),
        (lambda xi: 1e-10 * xi**2, "the largest value of v1 is 1e-10: scale shapes to about 1"),
        (lambda xi: 0.01 + xi**2, f"the shape v1 must be 0 at the root, it is 0.01: {CLAMP}"),
        (lambda xi: xi, f"the slope of v1 must be 0 at the root, it is 0.5 per m: {CLAMP}"),
        # an elastic support: the root turns by 3 % of the steepest slope, 2 at the tip
        (lambda xi: 0.06 * xi + xi**2, f"the slope of v1 must be 0 at the root, it is 0.03 per m: {CLAMP}"),
        (lambda xi: 1 - math.cos(9 * xi), f"the curvature of v1 {ROUGH}"),
    ],
)  # fmt: skip
def test_values(tmp_path, shape, found):
    assert [fault.split(", it is")[0] for fault in faults(read, tmp_path, rows(9, v1=shape))] == [
        f"s.csv:2:5: {found}".split(", it is")[0]
    ]


def test_the_root_is_judged_by_what_the_rows_can_tell(tmp_path):
    """Twelve rows a wave of a clamped shape pass although their secants begin steeply; a pinned one never does."""
    read(tmp_path, rows(14, v1=lambda xi: 1 - math.cos(2 * math.pi * xi)))
    for count in (9, 40, 400):
        fault = faults(read, tmp_path, rows(count, v1=lambda xi: math.sin(math.pi * xi)))
        assert len(fault) == 1 and "the slope of v1 must be 0 at the root, it is 1.5" in fault[0]


def test_every_wrong_column_is_reported_but_those_beyond_are_not_judged(tmp_path):
    text = rows(9, v1=lambda xi: xi, w1=lambda xi: 0, t1=lambda xi: 1, t2=lambda xi: 1)
    found = faults(read, tmp_path, text, {"v": 1, "w": 1, "t": 1})
    assert [fault.split(":")[:3] for fault in found] == [["s.csv", "2", place] for place in ("5", "9", "13")]


def test_torsion_may_have_a_slope_at_the_root_but_no_twist(tmp_path):
    counts = {"v": 0, "w": 0, "t": 1}
    assert read(tmp_path, rows(5, t1=lambda xi: 3 * xi), counts).columns["t1"][-1] == 3.0
    assert faults(read, tmp_path, rows(5, t1=lambda xi: 1 + xi), counts) == [
        f"s.csv:2:5: the shape t1 must be 0 at the root, it is 1: {CLAMP}"
    ]
    assert faults(read, tmp_path, rows(9, t1=lambda xi: math.sin(9 * xi)), counts) == [
        f"s.csv:2:5: the twist per length of t1 {ROUGH}"
    ]


def test_values_rounded_too_early(tmp_path):
    """Four decimals are enough for 21 rows; of 401 rows they make a curvature of rounding errors."""

    def rounded(xi):
        return round(xi**2 * (3 - xi) / 2, 4)

    read(tmp_path, rows(21, v1=rounded))
    assert faults(read, tmp_path, rows(401, v1=rounded)) == [f"s.csv:2:5: the curvature of v1 {ROUGH}"]


def test_sizes(tmp_path, monkeypatch):
    monkeypatch.setattr(limits, "SHAPE_ROWS", 8)
    assert faults(read, tmp_path, rows(9, v1=bow)) == ["s.csv:10:1: more than 8 rows of numbers"]
    assert len(read(tmp_path, rows(8, v1=bow)).x) == 8
    monkeypatch.setattr(limits, "TABLE_BYTES", 1024)
    assert faults(read, tmp_path, rows(100, v1=bow)) == ["s.csv:1:1: larger than 1 kB"]


def test_the_file_is_named_by_its_path(tmp_path, monkeypatch, capsys):
    """From where the user stands, so that an editor finds it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "s.csv").write_text("a,b\n")
    (tmp_path / "sub" / "r.yaml").write_text(ROBOT.replace("SHAPE", "{file: s.csv}"))
    assert run(["check", str(Path("sub", "r.yaml"))]) == 3
    assert capsys.readouterr().err.startswith(f"{Path('sub', 's.csv')}:1:1: no column 'v1'")


@pytest.mark.parametrize(("sign", "name"), [(";", "semicolons"), ("\t", "tabs"), (" ", "spaces")])
def test_headers_that_other_signs_part(tmp_path, sign, name):
    text = rows(5, v1=bow).replace(",", sign)
    assert faults(read, tmp_path, text) == [f"s.csv:1:1: columns are separated by commas, not by {name}"]


def test_decimal_commas(tmp_path):
    text = rows(5, v1=bow).replace(",", ";").replace(".", ",").replace("x;v1", "x,v1")
    assert faults(read, tmp_path, text) == [
        "s.csv:2:1: columns are separated by commas, not by semicolons, and decimals have a point: 0.0"
    ]


def test_quoted_headers(tmp_path):
    text = rows(5, v1=bow)
    assert read(tmp_path, text.replace("x,v1", '"x", "v1"')).columns == read(tmp_path, text).columns
    assert faults(read, tmp_path, text.replace("x,v1", '"x","u1","v1"').replace(".0,", ".0,1,"))[0].startswith(
        "s.csv:1:5: unknown column 'u1'"
    )


def test_a_file_of_another_name(tmp_path):
    (tmp_path / "s.csv").write_text("x\n")
    (tmp_path / "s.txt").write_text("x\n")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "shapes.csv").write_text("x\n")
    told = "there is no file {0!r} beside the robot file; did you mean {1!r}?"
    for wrong, right in (("S.csv", "s.csv"), ("s", "s.csv"), ("sub/shape.csv", str(Path("sub", "shapes.csv")))):
        assert faults(loaded, f"{{file: {wrong}}}", tmp_path) == [f"r.yaml:9:66: {told.format(wrong, right)}"]
    for outside in ("../S.csv", f"{tmp_path}/S.csv", "elsewhere/S.csv"):
        assert "did you mean" not in faults(loaded, f"{{file: {outside}}}", tmp_path / "sub")[0]


def test_files_of_folders_elsewhere_are_not_told(tmp_path):
    inside = tmp_path / "in"
    inside.mkdir()
    (tmp_path / "s.csv").write_text("x\n")
    (inside / "out").symlink_to(tmp_path)
    assert faults(loaded, "{file: out/S.csv}", inside) == [
        "r.yaml:9:66: there is no file 'out/S.csv' beside the robot file"
    ]
