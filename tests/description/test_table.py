"""Tables of time and value."""

import math
import os
import pickle
from pathlib import Path

import numpy as np
import pytest

import kronbot
from kronbot.description import limits, load
from kronbot.description.table import Table, read_table
from kronbot.description.yaml.source import read
from kronbot.errors import DescriptionError, KronbotError
from kronbot.questions.fitting import data
from kronbot.system.platform import host


def table(folder, text):
    (folder / "t.csv").write_text(text)
    return read_table(folder, "t.csv").torque()


def test_with_and_without_a_header(tmp_path):
    expected = ((0.0, 0.5, 1.0), (1.0, -2.0, 3e5))
    assert table(tmp_path, "0,1\n0.5,-2\n1,3e5\n") == expected
    assert table(tmp_path, "t, torque\r\n\r\n0, 1\r\n .5,-2 \r\n1.,3e5") == expected


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("0,1\n0,2\n", ["t.csv:2:1: the time 0 does not come after 0"]),
        ("t,q\n0,1\n", ["t.csv:1:1: 1 row of numbers, at least 2 are wanted"]),
        ("0,1\u20281,2\n\r2,3,4\r\n", ["t.csv:1:1: two columns (time, value) are wanted here, not 3",
                                    "t.csv:3:1: two columns (time, value) are wanted here, not 3"]),
        ("0,1,2\n1\n2,3\n", ["t.csv:1:1: two columns (time, value) are wanted here, not 3",
                             "t.csv:2:1: two columns (time, value) are wanted here, not 1"]),
        ("0,1\n1,nan\n2,inf\n3,1e999\n4,1_0\n5,x\n", [f"t.csv:{n}:3: '{v}' is not a finite number" for n, v in
                             ((2, "nan"), (3, "inf"), (4, "1e999"), (5, "1_0"), (6, "x"))]),
        ("a,b\nc,d\n", ["t.csv:2:1: 'c' is not a finite number", "t.csv:2:3: 'd' is not a finite number"]),
    ],
)  # fmt: skip
def test_mistakes_with_their_places(tmp_path, text, lines):
    with pytest.raises(DescriptionError) as caught:
        table(tmp_path, text)
    assert str(caught.value).replace(f"{tmp_path}{os.sep}", "").splitlines() == lines


def test_a_spline_wants_more_rows_than_a_broken_line(tmp_path):
    (tmp_path / "t.csv").write_text("0,1\n1,2\n2,1\n3,0\n")
    assert len(read_table(tmp_path, "t.csv").motion()[0]) == 4
    assert table(tmp_path, "0,1\n1,2\n2,1\n")
    with pytest.raises(DescriptionError, match="at least 4"):
        read_table(tmp_path, "t.csv").motion()


def test_the_last_row_of_a_period_is_the_first_again(tmp_path):
    """Or whole turns further on, of a joint that turns; digits that the file has not are made up."""
    (tmp_path / "t.csv").write_text("t,q\n0,1\n1,2\n2,1.5\n3,1.0000004\n")
    (tmp_path / "turn.csv").write_text("0,1\n1,2\n2,5\n3,7.283185\n")
    (tmp_path / "open.csv").write_text("t,q\n0,1\n1,2\n2,1.5\n3,1.2\n")
    for turning in (True, False):
        assert read_table(tmp_path, "t.csv").period(turning)[1] == (1, 2, 1.5, 1)
    assert read_table(tmp_path, "turn.csv").period(True)[1] == (1, 2, 5, 1 + 2 * math.pi)
    wrong = r"open.csv:5:3: the last row of a period is the first again: 1{}, not 1.2"
    for turning, further in ((True, ", or whole turns further on"), (False, "")):
        with pytest.raises(DescriptionError, match=wrong.format(further)):
            read_table(tmp_path, "open.csv").period(turning)
    with pytest.raises(DescriptionError, match=r"turn.csv:4:3: .* 1, not 7.283185"):
        read_table(tmp_path, "turn.csv").period(False)


def test_angles_in_degrees_are_told_at_the_first_of_a_table(tmp_path):
    """Unless the header says rad, or a period is whole turns; sliding joints have none."""
    robot = (
        "kronbot: 1\nname: r\ngravity: [0, 0, 0]\nlinks:\n"
        "  - {name: a, joint: {type: revolute, name: hand}, pose: {}, rigid: {mass: 1}}\n"
        "motion: {hand: {type: table, file: t.csv}}\n"
    )

    def told(text, robot=robot):
        (tmp_path / "t.csv").write_text(text)
        (tmp_path / "r.yaml").write_text(robot)
        return [str(each).rpartition("t.csv:")[2] for each in load(read(str(tmp_path / "r.yaml"))).warnings]

    table = "t,hand\n0,0\n1,-30\n2,60\n3,90\n"
    (doubt,) = told(table)
    assert doubt.startswith("3:3: the angle -30 is beyond 2 pi: is it in degrees? (times pi/180")
    assert told(table.replace("hand", "hand [rad]")) == told(table, robot.replace("revolute", "prismatic")) == []
    turns = "0,6\n1,7\n2,9\n3,12.283185307179586\n"
    assert told(turns, robot.replace("t.csv", "t.csv, periodic: true")) == []
    assert len(told(turns)) == 1


def test_size(tmp_path, monkeypatch):
    monkeypatch.setattr(limits, "TABLE_BYTES", 1024)
    with pytest.raises(DescriptionError, match="t.csv:1:1: larger than 1 kB"):
        table(tmp_path, "0,1\n" * 300)


@pytest.mark.parametrize(
    "name", ["../t.csv", "/etc/passwd", "no.csv", "C:\\t.csv", "a\\..\\b", "sub", "x\0y", "x" * 9000]
)
def test_files_elsewhere(tmp_path, name):
    (tmp_path / "sub").mkdir()
    with pytest.raises(DescriptionError) as caught:
        read_table(tmp_path, name)
    assert len(caught.value.mistakes) == 1


def test_a_link_out_of_the_folder(tmp_path):
    inside = tmp_path / "in"
    inside.mkdir()
    (tmp_path / "t.csv").write_text("0,1\n1,2\n")
    (inside / "l.csv").symlink_to(tmp_path / "t.csv")
    with pytest.raises(DescriptionError, match="leads out"):
        read_table(inside, "l.csv")


def test_no_folder():
    with pytest.raises(DescriptionError, match="standard input"):
        read_table(None, "t.csv")


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("0;1\n1;2\n", ["t.csv:2:1: columns are separated by commas, not by semicolons"]),
        ("t;q\n0;1\n1;2\n", ["t.csv:2:1: columns are separated by commas, not by semicolons"]),
        ("t\tq\n0\t1\n1\t2\n", ["t.csv:2:1: columns are separated by commas, not by tabs"]),
        ("t q\n0 1\n1 2\n", ["t.csv:2:1: columns are separated by commas, not by spaces"]),
        ("t;q\n0,5;1\n1;2\n", ["t.csv:2:1: columns are separated by commas, not by semicolons, and decimals have a "
                               "point: 0.5"]),
        ("0,5\t1,25\n1\t2\n", ["t.csv:1:1: columns are separated by commas, not by tabs, and decimals have a point: "
                               "0.5"]),
        ("t,q\n0,5,1,25\n1,5,2,0\n", ["t.csv:2:1: two columns (time, value) are wanted here, not 4 (decimals have a "
                                      "point: 0.5)"]),
        ('t,q\n"0,5","1,25"\n', ["t.csv:2:1: decimals have a point: 0.5"]),
        ("# by hand\nt,q\n0,1\n1,2\n", ["t.csv:1:1: a table has no comments: take this line out"]),
        ("# t,q\n0,1\n# a, b\n1,2\n", ["t.csv:3:1: a table has no comments: take this line out"]),
        # Commas that part columns, and other signs beside them, are no such mistake.
        ("0,1,2\n1 ,2\n", ["t.csv:1:1: two columns (time, value) are wanted here, not 3"]),
        ("0,1\n1,2 m\n", ["t.csv:2:3: '2 m' is not a finite number"]),
    ],
)  # fmt: skip
def test_other_ways_to_write_a_table(tmp_path, text, lines):
    test_mistakes_with_their_places(tmp_path, text, lines)


def test_quoted_cells(tmp_path):
    expected = ((0.0, 1.0), (2.0, 3.0))
    assert table(tmp_path, '"t [s]","q, ""of q1"""\n0,2\n1,3\n') == expected
    assert table(tmp_path, ' "t" , q\n"0" ,"2"\n1,3\n') == expected
    test_mistakes_with_their_places(tmp_path, '"t","q"\n"0","x"\n', ["t.csv:2:5: 'x' is not a finite number"])


def test_the_file_is_named_by_its_path(tmp_path, monkeypatch):
    """From where the user stands, so that an editor finds it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "t.csv").write_text("0,x\n")
    (tmp_path / "t.csv").write_text("0,x\n")
    for folder, name in (("sub", "sub/t.csv"), (".", "t.csv"), (tmp_path, f"{tmp_path}/t.csv")):
        with pytest.raises(DescriptionError) as caught:
            read_table(Path(folder), "t.csv").torque()
        assert str(caught.value) == f"{Path(name)}:1:3: 'x' is not a finite number"


SLIDERS = """
kronbot: 1
name: sliders
convention: standard
gravity: [0, 0, 0]
parameters: {m: 2}
links:
  - name: pushed
    joint: {type: prismatic, name: q1}
    dh: {a: 0, d: 0, alpha: pi/2, theta: 0}
    rigid: {mass: m}
  - name: moved
    joint: {type: prismatic, name: q2}
    dh: {a: 0, d: 0, alpha: 0, theta: 0}
    rigid: {mass: 1}
simulate: {duration: 1, step: 0.5, drive: {q1: {torque: {file: t.csv}}, q2: {motion: {type: table, file: q.csv}}}}
"""


def test_tables_are_read_with_the_robot(tmp_path):
    """Later the files change, and go: nothing else does, of other values and from a pickle too."""
    file = tmp_path / "sliders.yaml"
    file.write_text(SLIDERS)
    (tmp_path / "t.csv").write_text("0,0\n1,3\n")
    (tmp_path / "q.csv").write_text("0,0\n0.3,0.09\n0.7,0.49\n1,1\n")
    robot = kronbot.load(file)
    (tmp_path / "t.csv").write_text("what\n")
    (tmp_path / "q.csv").unlink()
    with pytest.raises(DescriptionError):
        kronbot.load(file)
    again = pickle.loads(pickle.dumps(robot)).with_parameters(m=4)
    for each, mass in ((robot, 2), (robot.with_parameters(m=1), 1), (again, 4)):
        answer = each.simulate()
        assert answer["q1"][-1] == pytest.approx(3 / 6 / (mass + 1), rel=1e-7)
        assert answer["q2"].tolist() == pytest.approx([0, 0.25, 1])
    assert robot.with_motion("q1: {type: sinusoid, amplitude: 1, frequency: 1}").simulate()["q2"][1] == pytest.approx(
        0.25
    )


def test_a_wrong_table_of_a_torque_is_told_at_loading(tmp_path):
    (tmp_path / "sliders.yaml").write_text(SLIDERS)
    (tmp_path / "q.csv").write_text("0,0\n0.3,0.09\n0.7,0.49\n1,1\n")
    (tmp_path / "t.csv").write_text("0,1\n1,x\n")
    with pytest.raises(DescriptionError, match="t.csv:2:3: 'x' is not a finite number"):
        kronbot.load(tmp_path / "sliders.yaml")


def test_whether_the_rows_are_a_period_is_checked_with_the_robot(tmp_path):
    """In motions and in drives, by what the joint is."""
    (tmp_path / "turn.csv").write_text("0,0\n1,2\n2,5\n3,6.283185\n")
    text = SLIDERS.replace("q.csv", "turn.csv, periodic: true").replace("{file: t.csv}", "1")
    (tmp_path / "r.yaml").write_text(text)
    with pytest.raises(DescriptionError, match=r"turn.csv:4:3: the last row of a period is the first again"):
        kronbot.load(tmp_path / "r.yaml")
    (tmp_path / "r.yaml").write_text(text.replace("prismatic, name: q2", "revolute, name: q2"))
    answer = kronbot.load(tmp_path / "r.yaml").simulate(duration=9, step=1.5)
    assert answer["q2"][::2] == pytest.approx(2 * math.pi * np.arange(4), abs=1e-12)
    assert np.ptp(answer["q2_dot"][1::2]) < 1e-12 < answer["q2_dot"][1]
    wrong = text.replace("periodic: true", "periodic: 1")
    (tmp_path / "r.yaml").write_text(wrong)
    with pytest.raises(DescriptionError, match="true or false"):
        kronbot.load(tmp_path / "r.yaml")


def test_joints_take_their_columns_of_one_file(tmp_path):
    """A simulation's own CSV moves the robot again: motions by the joint's name, torques by theirs."""
    file = tmp_path / "sliders.yaml"
    (tmp_path / "t.csv").write_text("0,0\n1,3\n")
    (tmp_path / "q.csv").write_text("0,0\n0.3,0.09\n0.7,0.49\n1,1\n")
    file.write_text(SLIDERS)
    first = kronbot.load(file).simulate(step=0.05)
    rows = zip(*(column.tolist() for column in first.series.values()), strict=True)
    lines = [",".join(first.series), *(",".join(map(repr, row)) for row in rows)]
    (tmp_path / "run.csv").write_text("\n".join(lines))
    file.write_text(SLIDERS.replace("t.csv", "run.csv").replace("q.csv", "run.csv"))
    again = kronbot.load(file).simulate(step=0.05)
    for name in ("q1", "q2", "torque.q1"):
        assert again[name] == pytest.approx(first[name], abs=1e-9)
    file.write_text(SLIDERS.replace("{file: t.csv}", "{file: run.csv, column: torque.q2}").replace("q.csv", "run.csv"))
    assert kronbot.load(file).simulate(step=0.05)["torque.q1"] == pytest.approx(first["torque.q2"], abs=1e-9)
    for said, wrong in (
        ("q.csv, column: q3", "run.csv:1:1: no column 'q3'; column: NAME says which"),
        ("q.csv, column: torgue.q1", "no column 'torgue.q1'; did you mean 'torque.q1'?"),
    ):
        file.write_text(SLIDERS.replace("q.csv", said).replace("q.csv", "run.csv"))
        with pytest.raises(DescriptionError, match=wrong):
            kronbot.load(file)
    (tmp_path / "run.csv").write_text("t,q1,q2\n0,1,1\n1,2\n2,x,3\n")
    file.write_text(SLIDERS.replace("q.csv", "run.csv"))
    with pytest.raises(DescriptionError) as caught:
        kronbot.load(file)
    assert "run.csv:3:1: 3 columns are wanted here, as in the header, not 2" in str(caught.value)
    assert "run.csv:4:3: 'x' is not a finite number" in str(caught.value)


def test_what_stands_but_for_rounding_is_held():
    """As plans have joints that stay: it moves by last digits from row to row. Hundred times as much is a motion."""
    for size, held in ((1, True), (100, False)):
        digits = 1 + size * np.finfo(float).eps * np.array([0, 3, -2, 1, 0, 0, 2, -1, 3, 0])
        text = "t,q1\n" + "".join(f"{i / 300!r},{q!r}\n" for i, q in enumerate(digits.tolist()))
        table = Table("plan.csv", text)
        if held:
            assert table.held("q1")[1] == tuple(digits.tolist())
        else:
            with pytest.raises(DescriptionError, match="moves here"):
                table.held("q1")


@pytest.mark.slow
def test_what_is_held_stands_outside_its_rows(tmp_path):
    """A rise of degree three on rows of its own, and what rests at its ends though the cubics there would not: bangs
    of torque, a rise of degree five in ten rows. One that moves at an end is no such table.
    """
    file, times = tmp_path / "sliders.yaml", np.linspace(0.2, 0.8, 13)
    s = (times - 0.2) / 0.6
    rows = zip(times.tolist(), (s**2 * (3 - 2 * s)).tolist(), strict=True)
    (tmp_path / "q.csv").write_text("".join(f"{t!r},{q!r}\n" for t, q in rows))
    file.write_text(SLIDERS.replace("q.csv", "q.csv, held: true").replace("{file: t.csv}", "1"))
    run = kronbot.load(file).simulate(step=0.05, duration=2)
    s = np.clip((run["t"] - 0.2) / 0.6, 0, 1)
    assert run["q2"] == pytest.approx(s**2 * (3 - 2 * s), abs=1e-12)
    assert run["q2_dot"][run["t"] > 0.81].tolist() == pytest.approx([0] * 24, abs=1e-12)
    s = np.linspace(0, 1, 10)
    bangs = np.cumsum(np.cumsum([0, 0.5, 0, -0.5, -0.5, 0.5, 0.5, -0.5, 0, 0]))
    for q in (s**3 * (10 - 15 * s + 6 * s**2), bangs):
        (tmp_path / "q.csv").write_text("".join(f"{t!r},{x!r}\n" for t, x in enumerate(q.tolist())))
        run = kronbot.load(file).simulate(step=3, duration=12)
        assert run["q2_dot"][[0, 3, 4]] == pytest.approx([0, 0, 0], abs=1e-15) and run["q2"][3:] == pytest.approx(q[-1])
    header, sine = "t,q1,q2\n", "".join(f"{t},0,{math.sin(t / 3)!r}\n" for t in range(11))
    for rows, place in (
        ("0,0\n1,1\n2,1\n3,1\n4,1\n", "1:3"),
        ("0,0\n1,0\n2,0\n3,0\n4,1\n", "5:3"),
        (header + sine, "2:5"),
    ):
        (tmp_path / "q.csv").write_text(rows)
        with pytest.raises(DescriptionError, match=f"q.csv:{place}: 'q2' moves here, by"):
            kronbot.load(file)
    file.write_text(SLIDERS.replace("q.csv", "q.csv, held: true, periodic: true").replace("{file: t.csv}", "1"))
    with pytest.raises(DescriptionError, match="one of 'held' and 'periodic'"):
        kronbot.load(file)


@pytest.mark.parametrize(("header", "column"), [("x,t", 3), ("q1, Time [s],q2", 5), ("torque,tau,time_s", 12)])
def test_a_header_that_calls_another_column_the_time_is_refused(header, column):
    """Which would be read with the wrong one; also of vectors."""
    rows = "".join(f"{k},{k},{k},{k}"[: len(header.split(",")) * 2 - 1] + "\n" for k in range(4))
    for asked in (Table("a.csv", f"{header}\n{rows}").motion, Table("a.csv", f"{header}\n{rows}").torque):
        with pytest.raises(DescriptionError, match=f"^a.csv:1:{column}: time is the first column of a table: put '"):
            asked("q1")
    with pytest.raises(DescriptionError, match="^a.csv:1:7: time is the first column"):
        Table("a.csv", "x,y,z,t\n0,0,0,0\n1,1,1,1\n").vector()
    told = ("t,x", "time,x", "Zeit,tau", "x,y", "t,time", "s,ts_of_day")
    assert {Table("a.csv", f"{fine}\n0,5\n1,6\n").torque("q1") for fine in told} == {((0.0, 1.0), (5.0, 6.0))}


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="files by descriptor are POSIX")
@pytest.mark.parametrize("link", ["robot", "robot/sub", "robot/sub/t.csv"])
@pytest.mark.parametrize("reader", [read_table, data.beside])
def test_what_is_exchanged_while_it_is_read_leads_nowhere(tmp_path, monkeypatch, link, reader):
    """Who can write to the folder lays a link to a file of the user's, whose first line a message would tell: after the
    robot file was read, or after links were followed."""
    for name, rows in (("robot", "0,1"), ("secret", "the,secret")):
        (tmp_path / name / "sub").mkdir(parents=True)
        (tmp_path / name / "sub" / "t.csv").write_text(f"{rows}\n")
    (tmp_path / "robot" / "r.yaml").write_text("kronbot: 1\n")
    source = read(str(tmp_path / "robot" / "r.yaml"))

    def exchange():
        (tmp_path / link).rename(tmp_path / "moved")
        (tmp_path / link).symlink_to(tmp_path / link.replace("robot", "secret"))

    def meanwhile(*given, found=host.located):
        exchange()
        return found(*given)

    assert reader(source.folder, "sub/t.csv", source.place)
    if link == "robot":
        exchange()
    else:
        monkeypatch.setattr(host, "located", meanwhile)
    with pytest.raises(KronbotError) as caught:
        reader(source.folder, "sub/t.csv", source.place)
    told = "leads out of the folder" if link == "robot" else "it has become a link while it was read"
    (mistake,) = caught.value.mistakes
    assert told in mistake.message and not mistake.text


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="files by descriptor are POSIX")
def test_a_folder_that_is_exchanged_while_the_robot_is_read(tmp_path, monkeypatch):
    """The tables are those of the folder that the robot file is in."""
    for name in ("robot", "secret"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "r.yaml").write_text(f"{name}\n")
    (tmp_path / "now").symlink_to("secret")

    def meanwhile(*given, found=host.located):
        (tmp_path / "now").unlink()
        (tmp_path / "now").symlink_to("robot")
        return found(*given)

    monkeypatch.setattr(host, "located", meanwhile)
    source = read(str(tmp_path / "now" / "r.yaml"))
    assert (source.text, source.folder, source.place) == ("secret\n", tmp_path / "now", tmp_path / "secret")


def test_links_within_the_folder_are_followed(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "t.csv").write_text("0,1\n1,2\n")
    (tmp_path / "l.csv").symlink_to(tmp_path / "sub" / "t.csv")
    (tmp_path / "by").symlink_to("sub")
    for name in ("l.csv", "by/t.csv"):
        assert read_table(tmp_path, name).torque() == ((0, 1), (1, 2))
