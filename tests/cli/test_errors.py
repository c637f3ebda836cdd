"""Errors and warnings as people read them: the place, the message, the line and a caret."""

import errno
import io
import subprocess
import sys
import unicodedata
from pathlib import Path

import click
import pytest

from kronbot.cli.main import run
from kronbot.cli.output import messages
from kronbot.description import read
from kronbot.description.mistakes import quoting, with_lines
from kronbot.errors import DescriptionError, KronbotError, Mistake, MotionError, said
from kronbot.library import arguments

ARM = """\
kronbot: 1
name: arm
convention: standard
gravity: [0, 0, 0]
links:
  - name: upper
    joint: {type: revolute, name: q1}
    dh: {a: 1, d: 0, alpha: 0, theta: 0}
    rigid: {mass: 1}
"""


def refused(tmp_path, capsys, text, *arguments, code=3):
    """The lines on stderr about a robot file with that text."""
    path = tmp_path / "arm.yaml"
    path.write_text(text)
    assert run([*(arguments or ["check"]), str(path)]) == code
    captured = capsys.readouterr()
    assert captured.out == "" or code == 0
    return captured.err.replace(str(path), "arm.yaml").splitlines()


def test_every_mistake_is_a_block(tmp_path, capsys):
    """Message first, so that editors jump; then the line with its number, and a caret below the place."""
    text = ARM.replace("alpha", "alfa").replace("mass: 1}", "mass: -1, com: 3}").replace("standard", "standart")
    assert refused(tmp_path, capsys, text) == [
        "arm.yaml:3:13: 'convention' must be one of standard, modified; not 'standart'; did you mean 'standard'?",
        "  3 | convention: standart",
        "    |             ^",
        "arm.yaml:8:22: unknown key 'alfa'; did you mean 'alpha'?",
        "  8 |     dh: {a: 1, d: 0, alfa: 0, theta: 0}",
        "    |                      ^",
        "arm.yaml:9:19: 'mass' must be at least 0, it is -1",
        "  9 |     rigid: {mass: -1, com: 3}",
        "    |                   ^",
        "arm.yaml:9:28: a list of 3 values is wanted here, not '3'",
        "  9 |     rigid: {mass: -1, com: 3}",
        "    |                            ^",
    ]


def test_text_that_is_no_yaml(tmp_path, capsys):
    lines = refused(tmp_path, capsys, ARM.replace("name: arm", "name: {arm"))
    assert lines[0].startswith("arm.yaml:3:11: this is not YAML: ")
    assert lines[1:] == ["  3 | convention: standard", "    |           ^"]
    assert len(refused(tmp_path, capsys, ARM + "  - [a: \n")) == 1  # the end of the file has no line to show


def test_text_that_is_no_text(tmp_path, capsys):
    """Characters that would write to the terminal are escaped; bytes that are none show as such."""
    assert refused(tmp_path, capsys, ARM.replace("name: arm", "name: a\x1b[31mrm"))[:3] == [
        "arm.yaml:2:8: the character U+001B is not allowed in a text file",
        r"  2 | name: a\x1b[31mrm",
        "    |        ^",
    ]
    path = tmp_path / "bytes.yaml"
    path.write_bytes(ARM.replace("name: arm", "name: a?m").encode().replace(b"?", b"\xff"))
    assert run(["check", str(path)]) == 3
    lines = capsys.readouterr().err.splitlines()
    assert "not UTF-8" in lines[0]
    assert lines[1:] == ["  2 | name: a\ufffdm", "    |        ^"]


def test_warnings(tmp_path, capsys):
    text = ARM.replace("mass: 1", "mass: 1, inertia: {Ixx: 1}").replace("theta: 0", "theta: 90")
    assert refused(tmp_path, capsys, text, code=0) == [
        "arm.yaml:8:39: warning: the angle 90 is beyond 2 pi: is it in degrees? (write 90*deg)",
        "  8 |     dh: {a: 1, d: 0, alpha: 0, theta: 90}",
        "    |                                       ^",
        "arm.yaml:9:31: warning: no body can have this inertia: one principal moment is larger than the other two "
        "together",
        "  9 |     rigid: {mass: 1, inertia: {Ixx: 1}}",
        "    |                               ^",
    ]
    assert refused(tmp_path, capsys, text, "check", "--quiet", code=0) == []


def test_standard_input(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "kronbot", "check", "-"],
        input=ARM.replace("mass", "maß"),
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 3
    assert done.stderr.splitlines() == [
        "<stdin>:9:13: unknown key 'maß': its 3rd letter is LATIN SMALL LETTER SHARP S; did you mean 'mass'?",
        "  9 |     rigid: {maß: 1}",
        "    |             ^",
    ]


def test_a_motion_of_the_command_line(capsys):
    """Usage, not the file: exit 2; every mistake, with the text that was given."""
    motion = "qa: {type: sinusoid, amplitud: 0.2, frequency: 5}\nqaa: {type: cycloidl}"
    assert run(["linearize", "khang", "--motion", motion]) == 2
    assert capsys.readouterr().err.splitlines() == [
        "motion:1:22: unknown key 'amplitud'; did you mean 'amplitude'?",
        "  1 | qa: {type: sinusoid, amplitud: 0.2, frequency: 5}",
        "    |                      ^",
        "motion:2:1: unknown joint 'qaa'; did you mean 'qa'?",
        "  2 | qaa: {type: cycloidl}",
        "    | ^",
        "motion:2:13: 'type' must be one of cycloidal, spin-up, polynomial, trapezoid, via-points, sinusoid, table; "
        "not 'cycloidl'; did you "
        "mean 'cycloidal'?",
        "  2 | qaa: {type: cycloidl}",
        "    |             ^",
        "motion:2:13: a cycloidal motion takes {rate, half_period} or {from, to, duration}; here is nothing of it",
        "  2 | qaa: {type: cycloidl}",
        "    |             ^",
    ]
    assert run(["linearize", "khang", "--motion", "qa: ["]) == 2
    assert capsys.readouterr().err.startswith("motion:")


def test_tables(tmp_path, capsys):
    """The line of the table; tabs are expanded."""
    (tmp_path / "t.csv").write_text("t,q\n0,0\n1,\tone\n2,2\n3,3\n4,4\n")
    text = ARM + "motion:\n  q1: {type: table, file: t.csv}\n"
    assert refused(tmp_path, capsys, text) == [
        f"{tmp_path / 't.csv'}:3:4: 'one' is not a finite number",
        "  3 | 1,    one",
        "    |       ^",
    ]


def test_urdf(tmp_path, capsys):
    path = tmp_path / "arm.urdf"
    path.write_text('<robot name="a">\n  <link name="b"><inertial><mass value="two"/></inertial></link>\n</robot>\n')
    assert run(["convert", str(path)]) == 3
    lines = capsys.readouterr().err.splitlines()
    at = lines.index(f"{path}:2:28: 'value' of <mass> must be a number up to 1e+100, not 'two'")
    assert lines[at + 1] == '  2 |   <link name="b"><inertial><mass value="two"/></inertial></link>'
    assert lines[at + 2].index("^") == lines[at + 1].index("<mass")


@pytest.mark.parametrize(
    ("line", "column", "width", "expected"),
    [
        ("name: x", 7, 20, ("name: x", 6)),
        ("", 1, 20, ("", 0)),
        ("abc", 9, 20, ("abc", 3)),  # beyond the end: after it
        ("\tx: 1", 2, 20, ("    x: 1", 4)),
        ("日本: x", 5, 20, ("日本: x", 6)),  # two columns each
        ("e\u0301: x", 5, 20, ("e\u0301: x", 3)),  # a combining accent takes none
        ("a\x07\u202eb", 4, 20, (r"a\x07\u202eb", 11)),
        ("0123456789" * 10, 1, 20, ("01234567890123...", 0)),
        ("0123456789" * 10, 100, 20, ("...67890123456789", 16)),
        ("0123456789" * 10, 51, 20, ("...34567890123456...", 10)),
        ("日" * 40, 21, 20, ("...日日日日日日日...", 9)),
    ],
)
def test_excerpts(line, column, width, expected):
    shown, offset = messages.excerpt(line, column, width)
    assert (shown, offset) == expected


@pytest.mark.parametrize("sign", ["x", "日", "\t", "\u0301", "\x00"])
@pytest.mark.parametrize("column", [1, 2, 50, 2500, 4999, 5000, 5001])
def test_excerpts_of_long_lines_fit_and_point_at_the_place(sign, column):
    line = sign * (column - 1) + "P" + sign * (5000 - column)
    shown, offset = messages.excerpt(line, column, 94)
    widths = [0 if unicodedata.combining(c) else 2 if c == "日" else 1 for c in shown]
    place = shown.index("P")
    assert sum(widths) <= 94
    assert sum(widths[:place]) == offset
    assert len(shown) < 1000


def test_long_lines_are_cut_to_a_window(tmp_path, capsys):
    long = ", ".join(f"p{i}: {i}" for i in range(3000))
    lines = refused(tmp_path, capsys, ARM + f"parameters: {{{long}, sin: 1, {long.replace('p', 'r')}}}\n")
    assert lines[0].startswith("arm.yaml:10:") and "'sin' is reserved" in lines[0]
    assert max(map(len, lines[1:])) <= messages.WIDTH
    assert lines[1][lines[2].index("^") :].startswith("sin: 1")


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self):
        return True


PLAIN = "f.yaml:1:3: odd\n  1 | a: b\n    |   ^\nf.yaml:1:3: warning: odd\n  1 | a: b\n    |   ^\nError: no\n"


def shown(monkeypatch, stream, **environment):
    """What goes to a stream as stderr."""
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stderr", stream)
        patch.delenv("NO_COLOR", raising=False)
        for name, value in ({"TERM": "xterm"} | environment).items():
            patch.setenv(name, value)
        mistake = Mistake(1, 3, "odd", "f.yaml", "a: b")
        messages.show_error(DescriptionError([mistake]))
        messages.show_warnings([mistake])
        messages.show_error(KronbotError("no"))
    return stream.getvalue()


def test_colour_is_for_terminals(monkeypatch):
    """And says nothing that the words do not; NO_COLOR and dumb terminals get none, nor does a pipe."""
    coloured = shown(monkeypatch, Terminal())
    assert "\x1b[31m" in coloured and "\x1b[33m" in coloured
    assert click.unstyle(coloured) == PLAIN
    assert shown(monkeypatch, Terminal(), NO_COLOR="1") == PLAIN
    assert shown(monkeypatch, Terminal(), TERM="dumb") == PLAIN
    assert shown(monkeypatch, io.StringIO()) == PLAIN


def test_file_names_do_not_write_to_the_terminal(capsys):
    messages.show_error(DescriptionError([Mistake(1, 1, "odd", "a\x1b[2Jb.yaml")]))
    assert capsys.readouterr().err == "a\\x1b[2Jb.yaml:1:1: odd\n"


def test_lines_are_no_part_of_what_a_mistake_is():
    """They neither order nor tell mistakes apart; the text of an error stays one line a mistake."""
    one, other = Mistake(1, 2, "odd", "f", "text"), Mistake(1, 2, "odd", "f")
    assert one == other
    assert str(DescriptionError([one])) == "f:1:2: odd"
    assert [mistake.text for mistake in with_lines([other, one, Mistake(9, 1, "odd", "f")], ["first"])] == [
        "first",
        "text",
        "",
    ]


def test_mistakes_of_a_library_call_carry_their_lines():
    from kronbot.description import Source, load

    with pytest.raises(DescriptionError) as caught:
        load(Source("r", ARM.replace("mass", "mas"), None))
    assert [mistake.text for mistake in caught.value.mistakes] == ["    rigid: {mas: 1}"]
    assert str(caught.value) == "r:9:13: unknown key 'mas'; did you mean 'mass'?"
    with pytest.raises(MotionError) as caught:
        load(Source("r", ARM, None), {}, "q2: {}")
    assert caught.value.exit_code == 2
    assert {mistake.text for mistake in caught.value.mistakes} == {"q2: {}"}
    assert {warning.text for warning in load(read("puma560")).warnings} >= {
        "    rigid: {mass: 0, inertia: {Iyy: 0.35}}",
    }


def test_other_errors_pass_through():
    with pytest.raises(ZeroDivisionError), quoting(["x"]):
        _ = 1 / 0


FOLLOWED = """\
  - name: forearm
    joint: {type: revolute, name: q2, follows: -q1}
    dh: {a: 1, d: 0, alpha: 0, theta: 0}
"""


@pytest.mark.parametrize(
    ("arguments", "cure"),
    [
        (["kinematics", "--q", "q2=0.1"], "--q: joint 'q2' follows others and has no coordinate: give theirs"),
        (["linearize", "--lock", "q2"], "--lock: joint 'q2' follows others and has no coordinate: give theirs"),
        (["dynamics", "--array", "tau"], "it belongs to a motion: give rates (qd) or accelerations (qdd) too"),
    ],
)
def test_what_is_there_otherwise_has_a_cure(arguments, cure, tmp_path, capsys):
    (message,) = refused(tmp_path, capsys, ARM + FOLLOWED, *arguments, code=2)
    assert cure in message


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (ARM + "simulate: {drive: {q1: {pid: {kp: 1}}}}\n", "PID controllers stand in control:"),
        (ARM + "parameters: {m-1: 2}\n", "at most 64 characters; write m_1"),
    ],
)
def test_other_words_for_what_there_is_have_a_cure(text, told, tmp_path, capsys):
    assert told in "\n".join(refused(tmp_path, capsys, text))


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        (["help"], "kronbot --help"),
        (["list"], "kronbot robots"),
        (["plot", "canadarm"], "kronbot simulate ROBOT --plot FILE"),
        (["simulate", "canadarm", "--json"], "--format json"),
        (["check", "canadarm", "--csv"], "--format csv"),
        (["jacobain", "canadarm"], "jacobian"),
        (["schema", "--json"], None),  # is JSON already
        (["fk", "canadarm"], "kronbot kinematics"),
        (["arm.yaml"], "kronbot check arm.yaml"),
        (["arm.urdf"], "kronbot convert arm.urdf -o robot.yaml"),
        (["canadarm"], "kronbot check canadarm"),
        (["simulate", "canadarm", "--tf", "3"], "--duration"),
        (["simulate", "canadarm", "-T", "3"], "--duration"),
        (["jacobian", "canadarm", "--link", "wrist"], "--frame"),
        (["jacobian", "canadarm", "--joints", "1,2,3"], "--q"),
    ],
)
def test_what_is_called_otherwise_here(line, meant, capsys):
    assert run(line) == 2
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.endswith(f"Did you mean {meant!r}?") if meant else "mean" not in last


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (["--json", "check", "canadarm"], "after a command: kronbot COMMAND ROBOT --format json"),
        (["check", "canadarm", "--q", "1"], "check has none, but kinematics, jacobian, "),
        (
            ["jacobian", "canadarm", "--duration", "1"],
            "jacobian has none, but linearize, simulate, design, plan have --duration",
        ),
        (["simulate", "--robot", "canadarm"], "ROBOT stands alone: kronbot simulate arm.yaml"),
        (["jacobian", "canadarm", "--q", "0.1", "0.2", "0.3"], "joined by commas: --q 0.1,-0.2"),
        (["jacobian", "canadarm", "--q", "0.1", "-0.2", "0.3"], "joined by commas: --q 0.1,-0.2"),
        (["jacobian", "--q", "0.1", ".2", ".3", "canadarm"], "joined by commas: --q 0.1,-0.2"),
        (["linearize", "--motion", "two.yaml", "arm.yaml"], "There is one ROBOT, and --motion takes YAML text, 'q1: {"),
        (["check", "canadarm", "two.yaml"], "extra argument (two.yaml). There is one ROBOT"),
        (["jacobian", "canadarm", "q1=2"], "those of an option: --q q1=0.1"),
        (["jacobian", "canadarm", "--q", "[0.1, 0.2, 3]"], "written: --q 0.1,0.2,3"),
        (["jacobian", "canadarm", "--q", "[0.1 -0.2 3]"], "written: --q 0.1,-0.2,3"),
        (["jacobian", "canadarm", "--q", '{"q1": 0.1, "q2": pi/4}'], "written: --q q1=0.1,q2=pi/4"),
        (["jacobian", "canadarm", "--q", "q1:0.1"], "written: --q q1=0.1"),
        (["jacobian", "canadarm", "--q", "π/2,0,0"], "'π' is written pi"),
        (["jacobian", "canadarm", "--q", "90°,0,0"], "'°' is written *deg: 30*deg"),
        (["jacobian", "canadarm", "--q", "0,−1,0"], "the minus sign is the hyphen of the keyboard"),
        (["statics", "canadarm", "--forces", "[0, -5, 0]"], "written: --forces 0,-5,0"),
        (["design", "khang", "--lqr", "--weights", "1,2"], "--weights: NAME=VALUE,... is wanted, not '1,2'"),
        (["design", "khang", "--lqr", "--weights", "qa=1,b"], "--weights: 'b' should read NAME=VALUE like the others"),
        (["modes", "khang", "--set", "EI=3e6,m"], "--set: 'm' should read NAME=VALUE like the others"),
        (["modes", "khang", "--set", "m,EI=3e6"], "--set: 'm' should read NAME=VALUE like the others"),
        (["modes", "khang", "--set", "EI=3,5"], "decimals are written with a point"),
        (["fit", "khang", "--sigma", "a=1e-5,M[q1,q2]=2,b.x"], "--sigma: 'b.x' should read COLUMN=NUMBER like"),
        (["fit", "khang", "--prior", "EI=1e5,2e4,m"], "--prior: 'm' should read NAME=MEAN,DEVIATION like the others"),
        (
            ["fit", "khang", "--differentiate", "--estimate", "m,k"],
            "--differentiate wants a value (HZ), and the option --estimate follows in its place",
        ),
        (["sweep", "modes", "khang", "--over", "--set", "m=1:2:3"], "--over wants a value"),
        (["modes", "khang", "--set", "--q=1"], "--set wants a value (NAME=VALUE,...), and the option --q follows"),
        (["modes", "khang", "--set", "qa=1"], "'qa' is a joint and no parameter: --q tells where it stands"),
        (["simulate", "khang", "--band", "2"], "--band is a share, between 0 and 1, not 2: 2 % is 0.02"),
    ],
)
def test_habits_of_other_programs_have_a_cure(line, told, capsys):
    assert run(line) == 2
    assert told in capsys.readouterr().err.splitlines()[-1]


def test_warnings_of_one_kind_are_one(tmp_path, capsys):
    """With the lines of the others; those of a shipped robot are for whoever checks it."""
    link = (
        "  - name: l{0}\n    joint: {{type: revolute, name: q{0}, limits: [-{0}0, 1], rotor_inertia: 1}}\n"
        "    pose: {{xyz: [0, 0, 1]}}\n"
    )
    text = "kronbot: 1\nname: arm\ngravity: [0, 0, 0]\nlinks:\n" + "".join(link.format(k) for k in range(1, 4))
    told = refused(tmp_path, capsys, text, code=0)
    assert [line for line in told if "warning" in line] == [
        "arm.yaml:6:48: warning: the angle -10 is beyond 2 pi: is it in degrees? (write -10*deg); 2 more like this: "
        "lines 9, 12"
    ]
    idle = "parameters: {idle: 1}\n" + text.replace("limits: [-", "limits: [-0.")
    told = refused(tmp_path, capsys, idle, code=0)
    assert told[:2] == [
        "arm.yaml:1:14: warning: nothing in this file depends on the parameter idle", "  1 | parameters: {idle: 1}"
    ]  # fmt: skip
    assert sum("warning" in line for line in told) == 1
    # Of the model, too, told once as well.
    ends = "between: [world, l1], points: [[0, 0, 1], [0, 0, 0]]"
    rod = f"elements:\n  - {{name: rod, type: spring, {ends}, stiffness: 1, rest: 1}}"
    told = refused(tmp_path, capsys, f"{idle}{rod}", code=0)
    assert sum("warning" in line for line in told) == 2 and "the ends of element 'rod' meet" in told[-1]
    assert refused(tmp_path, capsys, f"{idle}{rod}", "check", "-q", code=0) == []
    mine = str(tmp_path / "arm.yaml")
    for line, count in (("kinematics", "puma560"), 0), (("kinematics", mine), 0), (("check", "puma560"), 2):
        assert run(line) == 0
        assert capsys.readouterr().err.count("warning") == count


@pytest.mark.parametrize(
    ("angle", "cure"),
    [
        ("45 deg", "write 45*deg"),
        ("-4.5e1 degrees", "write -4.5e1*deg"),
        ("45degrees", "write 45*deg"),
        ("2 * 400 deg", "write 400*deg"),
        ("(1 + 30 degrees)/2", "write 30*deg"),
        ("2*(3 mm)", "write 3*1e-3"),
        ("3rad", "write 3"),
        ("2 q3", "a product needs *"),
        ("3 m", "a product needs *"),
    ],
)
def test_units_behind_numbers(angle, cure, capsys):
    assert run(["kinematics", "stacker", "--quiet", f"--q=q2={angle}"]) == 2
    assert f"({cure}; units are SI" in capsys.readouterr().err


def test_one_value_is_no_values(capsys):
    assert run(["kinematics", "stacker", "--quiet", "--q", "1"]) == 2
    assert "got 1 value;" in capsys.readouterr().err


FIT = ["fit", "--data", "d.csv", "--estimate", "m"]
HEEDLESS = [
    (["taylor", "--of", "M", "--frame", "upper"], "--frame changes nothing of M: leave it out"),
    (["taylor", "--of", "g", "--in", "body"], "--in changes nothing of g: leave it out"),
    (["taylor", "--of", "position", "--in", "body"], "--in changes nothing of position: leave it out"),
    (["export", "--of", "mass_matrix", "-o", "e.py", "--algorithm", "composite"], "--algorithm changes nothing of"),
    (["export", "--of", "mass_matrix,bias", "-o", "e.py", "--frame", "upper"], "nothing of mass_matrix, bias: leave"),
    (["export", "--of", "pose", "-o", "e.py", "--in", "body"], "--in changes nothing of pose: leave it out"),
    (["statics", "--calibration", "q1=0.3"], "--calibration sets gauges to zero, of which the file has none"),
    (["sweep", "modes", "--over", "q1=0,1", "--seed", "3"], "nothing is drawn: leave out --seed, or give a distr"),
    (["plan", "--to", "q1=1", "--duration", "1", "--after", "2"], "--after: nothing vibrates here; leave it out"),
    (["simulate", "--duration", "1", "--algorithm", "recursive"], "leave it out, or take --algorithm composite"),
    (["export", "--of", "all", "-o", "e.py", "--algorithm", "recursive"], "or take --algorithm composite"),
    ([*FIT, "--initial", "fitted"], "--initial: only motions begin somewhere; leave it out for statics"),
    ([*FIT, "--seed", "5"], "nothing is drawn: leave out --seed, or add --starts, or a share to --validate"),
    ([*FIT, "--synthetic", "3", "--validate", "0.3"], "are all fitted: leave out --validate"),
    ([*FIT, "--plan", "1", "--candidates", "d.csv", "--loss", "huber"], "a plan fits nothing: leave out --loss"),
    ([*FIT, "--plan", "1", "--candidates", "d.csv", "--seed", "1"], "nothing is drawn: leave out --seed"),
]


@pytest.mark.parametrize(("line", "told"), HEEDLESS)
def test_what_changes_nothing_is_refused(line, told, tmp_path, monkeypatch, capsys):
    """Options that what is asked, or this robot, does not heed."""
    follower = "  - {name: hand, joint: {type: revolute, name: q2, follows: -q1}, dh: {a: 1, d: 0, alpha: 0, theta: 0}}"
    follower += "\n  - {name: tool, joint: {type: revolute, name: q3}, dh: {a: 1, d: 0, alpha: 0, theta: 0}}"
    monkeypatch.chdir(tmp_path)
    (tmp_path / "d.csv").write_text("q1,torque.q1\n0.1,0\n0.2,0\n")
    (tmp_path / "arm.yaml").write_text(ARM.replace("links:", "parameters: {m: 1}\nlinks:") + follower)
    split = 2 if line[0] == "sweep" else 1
    assert run([*line[:split], "arm.yaml", *line[split:]]) == 2
    assert told in capsys.readouterr().err and not (tmp_path / "e.py").exists()


def test_series_of_columns_have_no_arrays_to_choose(capsys):
    """A run has none, a plan has those of its way; nothing is computed first."""
    assert run(["simulate", "khang", "--array", "t"]) == 2 and run(["simulate", "khang", "--help"]) == 0
    told = capsys.readouterr()
    assert "No such option" in told.err and "--array" not in told.out
    assert run(["plan", "khang", "--to", "qa=0.1", "--duration", "1", "--array", "through"]) == 2
    assert "it is a series of columns; leave it out" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (
            ["sweep", "statics", "--over", "qa=0:1:3", "--angles", "qa=0"],
            "qa is varied, and has a value by --angles: l",
        ),
        (
            ["sweep", "modes", "--over", "qa=0:1:3", "--q", "qa=0"],
            "qa is varied, and has a value by --q: leave one out",
        ),
        (["sweep", "statics", "--over", "order=1,2", "--order", "1"], "--order 1 and --over order both give order val"),
        (["linearize", "--motion", "--force", "0,0,3", "--qd", "qa=1"], "no state space: leave out --qd and --force\n"),
        (["linearize", "--motion", "--outputs", "joints"], "no state space: leave out --outputs\n"),
        (["linearize", "--symbolic", "--inputs", "force", "--response", "step"], "out --inputs and --response\n"),
        (["linearize", "--symbolic", "--motion"], "leave out --motion, or --symbolic\n"),
        (["linearize", "--motion", "--view", "m.html"], "leave out --motion, or --view\n"),
        (["linearize", "--period", "2"], "--period goes with --motion\n"),
    ],
)
def test_messages_name_what_is_given(line, told, capsys):
    """Every option that is in the way, and none that nobody gave."""
    split = 2 if line[0] == "sweep" else 1
    assert run([*line[:split], "khang", *line[split:]]) == 2
    answer, said = capsys.readouterr()
    named = {word.strip(":,") for word in said.split() if word.startswith("--")}
    assert told in said and not answer and named <= {*line, "--motion", "--symbolic"}


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("plan khang --to qa=1 --duration 1 --effort-limits qa=1:2", "--effort-limits qa: limits on either side of 0"),
        ("plan khang --to qa=1 --duration 1 --effort-limits qb=1", "--effort-limits: no joint 'qb'"),
        ("plan khang --to qa=1 --duration 1 --effort-limits qa=-1", "--effort-limits qa must be positive"),
        ("plan khang --to qa=1 --duration 1 --limits qa=2:1", "--limits qa: a lower and a higher one are wanted"),
        ("design khang --lqr --weights qb=1", "--weights: no 'qb' here"),
        ("design khang --lqr --deviation qb=1", "--deviation: no 'qb' here"),
        ("design khang --lqr --noise torque.qa=1", "--noise: a Kalman filter wants sensors"),
    ],
)
def test_messages_name_options(words, told, capsys):
    """Where the library knows arguments."""
    assert run(words.split()) == 2
    assert capsys.readouterr().err.startswith(f"Error: {told}")


def test_words_of_paths_and_of_large_integers():
    """A path is told by its name, not as Python writes it; an integer of many digits is one."""
    assert said(OSError(errno.ENOENT, "Gone", Path("cache"))) == "Gone: 'cache'"
    assert arguments.shown(10**60) == "an integer of 60 digits or more"
