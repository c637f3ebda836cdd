"""Rows of ``--q @file.csv``: what is read, what is refused, and at which place of the file."""

import io
import os
import threading
import tracemalloc

import numpy as np
import pytest

import kronbot
from kronbot.cli.input.given import arguments
from kronbot.cli.main import run
from kronbot.cli.output.messages import untold

ARM = """
kronbot: 1
name: arm
convention: standard
gravity: [0, 0, 0]
parameters: {a: 0.5, free: }
links:
  - name: upper
    joint: {type: revolute, name: q1}
    dh: {a: 1, d: 0, alpha: 0, theta: 0}
  - name: fore
    joint: {type: revolute, name: q2}
    dh: {a: 1, d: 0, alpha: 0, theta: 0}
"""


@pytest.fixture
def arm(tmp_path, monkeypatch):
    """A robot file in the folder where the tests run."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "arm.yaml").write_text(ARM)
    return "arm.yaml"


@pytest.fixture
def rows(tmp_path, arm):
    """Write a file of rows and say how an option names it."""

    def write(content):
        (tmp_path / "rows.csv").write_bytes(content if isinstance(content, bytes) else content.encode())
        return "@rows.csv"

    return write


@pytest.fixture
def stdin(monkeypatch):
    """Pipe bytes into standard input."""

    def pipe(content):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))

    return pipe


def jacobians(capsys, *arguments):
    """Exit code, csv of J_T and messages."""
    code = run(["jacobian", *arguments, "--array", "J_T", "--format", "csv"])
    out, err = capsys.readouterr()
    return code, out, err


WRONG = {
    "another coordinate": ("slew,q2\n0,0\n", "1:1: the header must name coordinates, 'slew' is none"),
    "a coordinate twice": ("q1, q1\n0,0\n", "1:5: q1 stands twice in the header"),
    "another separator": ("q1;q2\n0;0\n", "1:1: columns are separated by commas, not by semicolons"),
    "no header": ("\n0,0\n", "1:1: a header of coordinate names is wanted here"),
    "nothing": ("", "1:1: a header of coordinate names is wanted here"),
    "no rows": ("q1\n\n \n", "4:1: rows of numbers are wanted below the header"),
    "too few": ("q1,q2\n0,0\n1", "3:2: values in this row: 1, names in the header: 2"),
    "too many": ("q1,q2\n0,0\n1, x,2\n", "3:6: values in this row: 3, names in the header: 2"),
    "too many everywhere": ("q1\n0,0\n0,0\n", "2:3: values in this row: 2, names in the header: 1"),
    "a word": ("q1,q2\n0,0\n\n0, x\n", "4:4: 'x' is not a finite number: unknown name 'x'"),
    "a word in an expression": ("q1,q2\n0,0\n1+ x,0\n", "3:4: '1+ x' is not a finite number: unknown name 'x'"),
    "a free parameter": ("q1,q2\n0,free\n", "2:3: 'free' is not a finite number: "),
    "nan": ("q1,q2\n0,0\n0,nan\n", "3:3: 'nan' is not a finite number"),
    "infinite": ("q1,q2\n-inf,0\n", "2:1: '-inf' is not a finite number"),
    "too large": ("q1,q2\n0,1e999\n", "2:3: '1e999' is not a finite number"),
    "division by zero": ("q1,q2\n0,1/0\n", "2:3: '1/0' is not a finite number: division by zero"),
    "empty": ("q1,q2\n0,0\n,0\n", "3:1: a value is missing"),
    "blank": ("q1,q2\n0,0\n0, \t\n", "3:3: a value is missing"),
    "a lost quote": ('q1,q2\n0,1"\n', "2:4: '1\"' is not a finite number: '\"' is not allowed"),
    "underscores": ("q1,q2\n0,1_0\n", "2:3: '1_0' is not a finite number"),
    "other digits": ("q1,q2\n0,\uff11\n", "2:3: '\uff11' is not a finite number"),
    "zeros": ("q1,q2\n0,\0\n", "2:3: '\\x00' is not a finite number"),
    "Latin-1": (b"q1,q2\n0,0\n0,\xe4\n", "3:3: not UTF-8 text"),
    "Latin-1 names": (b"q1,q\xe4\n0,0\n", "1:5: not UTF-8 text"),
    "lines of old": ("q1,q2\r0,0\r\r0,x\r", "4:3: 'x'"),
    "lines of others": ("q1,q2\r\n0,0\r\n\r\n0,x\r\n", "4:3: 'x'"),
    "byte order mark": ("\ufeffq1,qx\n", "1:4: the header must name coordinates, 'qx'"),
}


@pytest.mark.parametrize("name", WRONG)
@pytest.mark.parametrize("chunk", [5, 1 << 18])
def test_mistakes_have_places(name, chunk, rows, arm, capsys, monkeypatch):
    """FILE:LINE:COLUMN of the first mistake in kronbot's own words, whatever pieces the file is read in."""
    monkeypatch.setattr("kronbot.description.csv_lines.CHUNK", chunk)
    content, message = WRONG[name]
    code, out, err = jacobians(capsys, arm, "--q", rows(content))
    assert (code, out) == (2, "")
    assert err.startswith(f"rows.csv:{message}"), err
    assert "usecols" not in err


def test_lines_are_counted_in_the_file(rows, arm, capsys):
    """Beyond the first block, and with the line itself below the message."""
    content = "q1,q2\n" + "0,0\n" * 69_998 + "1,x\n" + "0,0\n" * 20_000
    code, _, err = jacobians(capsys, arm, "--q", rows(content))
    assert code == 2
    assert err.splitlines()[:2] == ["rows.csv:70000:3: 'x' is not a finite number: unknown name 'x'", "  70000 | 1,x"]


@pytest.mark.parametrize("content", [b"q1,q2\n" + b"0," * 15_000_000 + b"0\n", b"0," * 15_000_000])
def test_a_long_line_is_not_held(content, rows, arm, capsys):
    """30 MB in a line: refused after the first pieces."""
    option = rows(content)
    jacobians(capsys, arm)  # what the first question imports
    tracemalloc.start()
    code, _, err = jacobians(capsys, arm, "--q", option)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert code == 2
    assert "a line of more than 200000 characters" in err
    assert peak < 10e6  # a third of the line; a piece, its lines and the numbers of them take about 2 MB


def test_long_lines_are_refused_wherever_pieces_end(rows, arm, capsys, monkeypatch):
    """The limit is one of characters, not of what is read at a time; blanks count."""
    monkeypatch.setattr("kronbot.description.csv_lines.LINE_LIMIT", 20)
    for chunk in (7, 1 << 18):
        monkeypatch.setattr("kronbot.description.csv_lines.CHUNK", chunk)
        assert jacobians(capsys, arm, "--q", rows("q1\n" + "0".rjust(20) + "\n"))[0] == 0
        for line in ("0".rjust(21), " " * 21):
            code, _, err = jacobians(capsys, arm, "--q", rows(f"q1\n0\n{line}\n0\n"))
            assert code == 2
            assert err.startswith("rows.csv:3:1: a line of more than 20 characters")


def test_blank_lines_end(rows, arm, capsys, monkeypatch):
    """Between rows there may be some; a file of nothing else is not read to its end."""
    monkeypatch.setattr("kronbot.description.csv_lines.CHUNK", 10)
    monkeypatch.setattr("kronbot.cli.input.rows.BLANK_LIMIT", 40)
    code, out, _ = jacobians(capsys, arm, "--q", rows("q1\n" + ("\n" * 30 + "0\n") * 3))
    assert (code, out.count("\n")) == (0, 4)
    code, _, err = jacobians(capsys, arm, "--q", rows("q1\n0\n" + "\n" * 100))
    assert code == 2
    assert "more than 40 blank lines" in err


def test_rows_take_expressions(rows, arm, capsys):
    """What an option takes a row takes too, with the same value; so do numbers in all their forms."""
    written = [("pi/2", "a"), ("1.", "-.5e-1"), ("+3E0", " 2*(a - 1) "), ("90*deg", "0.1")]
    code, out, err = jacobians(capsys, arm, "--q", rows("q1,q2\n" + "".join(f"{a},{b}\n" for a, b in written)))
    assert (code, err) == (0, "")
    robot = kronbot.load(arm)
    for line, (a, b) in zip(out.splitlines()[1:], written, strict=True):
        expected = robot.jacobian([a.lstrip("+"), b])["J_T"].ravel().tolist()
        assert [float(entry) for entry in line.split(",")[1:]] == expected


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_pieces_do_not_show(end, rows, arm, capsys, monkeypatch):
    """The same answer whatever ends the lines and wherever the pieces end, with expressions or without."""
    values = np.random.default_rng(5).uniform(-3, 3, (200, 2)).tolist()
    lines = [f"{a!r},{b!r}" for a, b in values]
    mixed = [line if i % 7 else line.replace(",", "+0,") for i, line in enumerate(lines)]
    told = set()
    for chunk in (11, 1000, 1 << 18):
        monkeypatch.setattr("kronbot.description.csv_lines.CHUNK", chunk)
        for each in (lines, mixed):
            code, out, _ = jacobians(capsys, arm, "--q", rows(end.join(["q1,q2", *each])))
            assert code == 0
            told.add(out)
    assert len(told) == 1


def test_standard_input(arm, capsys, stdin, rows):
    """- is what is piped in, as for a robot file."""
    content = "q1,q2\n0.1,0.2\n0.3,0.4\n"
    expected = jacobians(capsys, arm, "--q", rows(content))
    for name in ("@-", "@/dev/stdin"):
        stdin(content.encode())
        assert jacobians(capsys, arm, "--q", name) == expected
    stdin(b"q1\nx\n")
    assert jacobians(capsys, arm, "--q", "@-")[2].startswith("<stdin>:2:1: 'x'")
    stdin(b"q1\n0.5\n")
    assert run(["taylor", arm, "--q", "@-", "--of", "position"]) == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["jacobian", "arm.yaml", "--q", "@-", "--qd", "@-"], "--qd @-: --q reads standard input already"),
        (["taylor", "arm.yaml", "--q", "@-", "--delta", "@-"], "--delta @-: --q reads standard input already"),
        (["jacobian", "-", "--q", "@-"], "--q @-: the robot file is read from standard input already"),
        (["plan", "-", "--follow", "-"], "--follow -: the robot file is read from standard input already"),
        (["sweep", "modes", "-", "--cases", "-"], "--cases -: the robot file is read from standard input already"),
    ],
)
def test_standard_input_has_one_reader(arguments, message, arm, capsys, stdin):
    stdin(b"q1\n1\n")
    assert run(arguments) == 2
    assert message in capsys.readouterr().err


def test_nobody_pipes(arm, capsys, monkeypatch):
    """A terminal would wait for rows nobody knows to type."""

    class Terminal(io.TextIOWrapper):
        def isatty(self):
            return True

    for nobody in (None, Terminal(io.BytesIO(b"q1\n1\n"))):
        monkeypatch.setattr("sys.stdin", nobody)
        code, _, err = jacobians(capsys, arm, "--q", "@-")
        assert code == 2
        assert "nothing is piped into standard input" in err


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (".", "--q @.: a directory, not a file"),
        ("/", "--q @/: a directory, not a file"),
        ("/dev/zero", "neither a file nor a pipe"),
        ("/dev/null", "neither a file nor a pipe"),
        ("", "--q @: name a file after the @"),
        ("nothing.csv", "--q @nothing.csv: there is no such file"),
        ("arm.yaml/rows.csv", "there is no such file"),
        ("a" * 5000, "File name too long"),
        ("a\0b", "null"),
    ],
)
def test_what_is_no_file(name, message, arm, capsys):
    """What it is, and not that it is not there."""
    code, _, err = jacobians(capsys, arm, "--q", f"@{name}")
    assert code == 2
    assert message in err


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_read(arm, capsys, tmp_path):
    """As the shell makes one of <(...), in pieces as they come; one without an end by the limit of a line."""
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)

    def answered(write):
        def feed():
            with open(fifo, "wb", buffering=0) as file:
                try:
                    write(file)
                except BrokenPipeError:
                    return

        writer = threading.Thread(target=feed, daemon=True)
        writer.start()
        answer = jacobians(capsys, arm, "--q", "@fifo")
        writer.join()
        return answer

    code, out, _ = answered(lambda file: [file.write(piece) for piece in (b"q1\n0", b".5\n", b"1\n")])
    assert code == 0
    assert out.count("\n") == 3

    def zeros(file):
        while True:
            file.write(bytes(10_000))

    code, _, err = answered(zeros)
    assert code == 2
    assert err.startswith("fifo:1:1: a line of more than 200000 characters")


@pytest.mark.parametrize("text", ["", "  "])
@pytest.mark.parametrize(
    ("command", "option"),
    [("jacobian", "--q"), ("jacobian", "--qd"), ("taylor", "--delta"), ("linearize", "--tau"), ("modes", "--q")],
)
def test_no_values(text, command, option, arm, capsys):
    """An unset variable of a shell script is not a posture."""
    assert run([command, arm, option, text]) == 2
    assert f"Error: {option} is empty" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("option", "text", "told"),
    [
        ("to", "q1=30", "q1 = 30"),
        ("to", "q1=30*deg,q2=400*deg", None),
        ("to", "q1=45,q2=10*deg", "q1 = 45"),
        ("limits", "q1=-3:60,tip.a.y=90", "q1 = 60"),
        ("limits", "q2=:-60", "q2 = -60"),
        ("limits", "q1=-2*pi:2*pi,q2=-4*pi:60", "q2 = 60"),
        ("limits", "q1_dot=60", None),
        ("deviation", "q1=0.1,q2=10", "q2 = 10"),
        ("inverse", "0,0,0,0,0,90", "yaw = 90"),
        ("inverse", "x=0.5,roll=pi,yaw=30", "yaw = 30"),
        ("q", "30,60", "q1 = 30"),
        ("q", "q1=pi/4,q2=90", "q2 = 90"),
        ("q", "720*deg,90", "q2 = 90"),
        ("calibration", "q2=pi,q1=90", "q1 = 90"),
        ("qd", "30,60", None),
        ("effort_limits", "q1=60", None),
    ],
)
def test_degrees_are_doubted_in_every_option_of_angles(option, text, told, arm, capsys):
    """Once an option, and not by who only looks whether it makes sense."""
    robot = kronbot.load(arm).model
    with untold():
        arguments(robot, {option: text})
    assert capsys.readouterr().err == ""
    arguments(robot, {option: text})
    cure = f" is beyond 2 pi: is it in degrees? (write {(told or '').rpartition(' ')[2]}*deg)\n"
    assert capsys.readouterr().err == (f"warning: --{option}: {told}{cure}" if told else "")


def test_degrees_are_doubted_once(rows, arm, capsys):
    """As for values of an option: at the first angle beyond 2 pi that nobody wrote with pi or deg."""
    code, _, err = jacobians(capsys, arm, "--q", rows("q2,q1\n0,7*pi\n\n720*deg,0\n0, 90\n45,90\n"))
    assert code == 0
    first, *below = err.splitlines()
    assert first == "rows.csv:5:4: warning: q1 = 90 is beyond 2 pi: is it in degrees? (write 90*deg)"
    assert len(below) == 2  # the line and the caret
    code, _, err = jacobians(capsys, arm, "--q", "0,0", "--qd", rows("q1\n90\n"))
    assert (code, err) == (0, "")
    code, _, err = jacobians(capsys, arm, "--q", rows("q1\n6.28\n-6.28\n"))
    assert (code, err) == (0, "")


def test_cells_in_quotes(rows, arm, capsys):
    """Programs quote names, some of them all."""
    code, out, _ = jacobians(capsys, arm, "--q", rows('"q2", "q1"\n"0.5","1"\n'))
    assert code == 0
    assert out == jacobians(capsys, arm, "--q", rows("q1,q2\n1,0.5\n"))[1]


def test_rows_that_never_end_are_no_one_answer(capsys, arm, stdin, monkeypatch):
    """As csv they are written as they come."""
    monkeypatch.setattr("kronbot.cli.output.render.NUMBERS", 10_000)
    content = b"q1,q2\n" + b"0.1,0.2\n" * 100_000
    for style in ("table", "json"):
        stdin(content)
        assert run(["jacobian", arm, "--q", "@-", "--format", style]) == 2
        told = capsys.readouterr()
        assert not told.out
        assert "more than 10000 numbers does not fit into one piece: --format csv" in told.err
    stdin(content[: 6 + 8 * 5000])
    assert run(["jacobian", arm, "--q", "@-", "--format", "csv", "--array", "J_T"]) == 0
    assert capsys.readouterr().out.count("\n") == 5001
