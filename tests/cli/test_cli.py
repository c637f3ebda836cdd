"""The command line as scripts and people meet it."""

import io
import json
import os
import re
import subprocess
import sys
import time
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.io import loadmat
from thinned import rare
from waiting import PATIENCE, soon

from kronbot import __version__
from kronbot.cli.input.options import Subject
from kronbot.cli.main import kronbot, run
from kronbot.cli.output import render
from kronbot.cli.output.archives import as_mat, as_npz
from kronbot.cli.output.files import FORMULAS, SUFFIXES
from kronbot.compute.arrays import NamedArray
from kronbot.library.robot import Robot
from kronbot.questions.result import Result
from kronbot.sweeps.tally import Tally

NUMBERS = [suffix for suffix in SUFFIXES if suffix not in FORMULAS]
EXAMPLES = {"convert": "arm.urdf", "statics": "piedboeuf", "schema": "-o", "init": "arm.yaml"} | {
    "cache": "--clear",
    "explain": "orders",
    "plan": "khang",
    "sweep": "modes canadarm",
}
SHORT = ["--duration", "0.1", "--step", "0.05"]
# Where nothing is about how it is integrated.
QUICK = [*SHORT, "--solver", "rodas"]


def kron(*arguments, text=None, **options):
    """Run the command line in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "kronbot", *arguments],
        input=text,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        **options,
    )


def test_version_and_help(capsys):
    """--version prints the version and nothing else; every command has help with an example."""
    assert run(["--version"]) == 0
    assert capsys.readouterr().out == f"kronbot {__version__}\n"
    for name in kronbot.commands:
        assert run([name, "--help"]) == 0
        example = EXAMPLES.get(name, "canadarm")
        assert f"kronbot {name} {example}" in capsys.readouterr().out
    assert run(["-h"]) == 0


def test_formulas_are_files_of_the_commands_that_write_them(capsys):
    for name in kronbot.commands:
        assert run([name, "--help"]) == 0
        text = capsys.readouterr().out
        assert (".tex .py" in text) is ("--symbolic" in text), name


@pytest.mark.parametrize("command", ["kinematics", "jacobian", "hessian", "dynamics", "linearize"])
@pytest.mark.parametrize(
    ("words", "cure"), [("--symbolic -o a.tex", "--latex"), ("--latex -o a.py", "--symbolic python")]
)
def test_formulas_in_another_language_than_their_file_are_refused_at_once(command, words, cure, monkeypatch, capsys):
    monkeypatch.setattr(Subject, "load", None)  # before the robot is read
    assert run([command, "khang", *words.split()]) == 2
    assert f"wants {cure}" in capsys.readouterr().err


# What answers at every row of a file; the others take one point.
AT_ROWS = {"kinematics", "jacobian", "hessian", "dynamics", "linearize", "modes", "statics", "design"}


def test_files_of_rows_are_promised_where_they_are_taken(tmp_path, capsys):
    rows = tmp_path / "rows.csv"
    rows.write_text("qa\n0.1\n0.2\n")
    more = {"taylor": ["--of", "g"], "design": ["--lqr"], "plan": ["--to", "qa=1", "--duration", "1"]}
    more |= {"view": ["-o", str(tmp_path / "v.html")], "simulate": ["--duration", "0.1"]}
    assert run(["explain", "rows"]) == 0
    single = capsys.readouterr().out.replace("\n", " ").partition(" are about one point")[0].rpartition("  ")[2]
    for name, command in kronbot.commands.items():
        text = next((each.help for each in command.params if "--q" in each.opts), None)
        if text is not None:
            assert (name in single.replace(",", "").split()) is (name not in AT_ROWS), name
            assert ("@file.csv" in text) is (name in AT_ROWS), name
            assert run([name, "khang", "--quiet", "--q", f"@{rows}", *more.get(name, [])]) == 2 * (name not in AT_ROWS)
            capsys.readouterr()


def test_json_is_one_object_with_the_contract(capsys):
    """Keys, order of the columns, plain numbers."""
    assert run(["simulate", "canadarm", *SHORT, "--format", "json"]) == 0
    answer = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    assert list(answer) == ["kronbot", "command", "robot", "order", "at", "series", "units", "summary", "warnings"]
    assert (answer["command"], answer["robot"], answer["order"]) == ("simulate", "canadarm", "2")
    names = list(answer["series"])
    coordinates = names[1:10]
    assert coordinates == ["q1", "upper.v1", "upper.v2", "q2", "forearm.v1", "forearm.v2", "q3", "wrist.v1", "wrist.v2"]
    assert names[0] == "t"
    assert names[10:19] == [f"{name}_dot" for name in coordinates]
    assert names[19:22] == ["torque.q1", "torque.q2", "torque.q3"]
    assert names[22:31] == [f"tip.{link}.{axis}" for link in ("upper", "forearm", "wrist") for axis in "xyz"]
    assert names[31:34] == ["endpoint.x", "endpoint.y", "endpoint.z"]
    energies = ["kinetic", "elastic", "gravity", "work", "dissipated", "balance"]
    assert names[34:] == [f"energy.{name}" for name in energies]
    assert answer["series"]["t"] == [0.0, 0.05, 0.1]
    assert answer["summary"]["complete"] is True
    assert {"energy_drift", "energy_imbalance", "steps", "evaluations"} <= answer["summary"].keys()


def test_formats_hold_the_same_numbers(tmp_path, capsys):
    """JSON, CSV, NumPy and MATLAB; the same bytes each time."""
    line = ["simulate", "khang", "--order", "0", *QUICK]
    assert run([*line, "--format", "json"]) == 0
    series = json.loads(capsys.readouterr().out)["series"]
    for suffix in NUMBERS:
        files = [tmp_path / f"{name}{suffix}" for name in ("run", "again")]
        assert [run([*line, "-o", str(file)]) for file in files] == [0, 0]
        assert files[0].read_bytes() == files[1].read_bytes()
    assert capsys.readouterr().out == ""
    table = np.genfromtxt(tmp_path / "run.csv", delimiter=",", names=True, deletechars="")
    archive = np.load(tmp_path / "run.npz")
    matlab = loadmat(tmp_path / "run.mat", simplify_cells=True)
    for name, values in series.items():
        assert table[name].tolist() == values
        assert archive[name].tolist() == values
        assert matlab["series"][name.replace(".", "_")].tolist() == values
    assert set(render.WRITERS) == set(SUFFIXES)


@pytest.mark.slow
def test_archives_hold_axes_units_and_names(tmp_path, capsys):
    """As JSON has them, of stacks along a motion; one column for all of the same values."""
    line = ["linearize", "khang", "--motion", "qa: {type: sinusoid, amplitude: 0.2, frequency: 5}", "--step", "0.5"]
    assert run([*line, "--format", "json"]) == 0
    arrays = json.loads(capsys.readouterr().out)["arrays"]
    for suffix in (".npz", ".mat"):
        assert run([*line, "-q", "-o", str(tmp_path / f"lm{suffix}")]) == 0
    with np.load(tmp_path / "lm.npz") as archive:
        assert set(archive) == {*arrays, "t", "summary.json", "units.json", "names.json"}
        assert archive["t"].tolist() == arrays["M_L"]["axis"]["values"]
        units, names = json.loads(str(archive["units.json"])), json.loads(str(archive["names.json"]))
    assert units == {name: array["units"] for name, array in arrays.items()}
    assert names["M_L"] == {side: arrays["M_L"][side] for side in ("rows", "columns")}
    matlab = loadmat(tmp_path / "lm.mat", simplify_cells=True)
    assert matlab["axes"]["t"].tolist() == arrays["M_L"]["axis"]["values"]
    assert matlab["names"]["h_L"]["rows"].tolist() == arrays["h_L"]["rows"]
    assert matlab["units"]["M_L"]["rows"].tolist() == arrays["M_L"]["units"]["rows"]


def test_axes_of_one_name_and_other_values_stand_apart():
    """What the series has of that name and values is not there twice."""

    def stack(*times):
        return NamedArray(np.ones((len(times), 1)), ["a"], "m", axis=("t", times))

    arrays = {"A": stack(0.0, 1.0), "B": stack(0.0, 2.0), "C": stack(0.0, 1.0)}
    alone = np.load(io.BytesIO(as_npz(Result("linearize", "arm", "0", arrays=arrays))))
    assert {name: alone[name].tolist() for name in alone if name[-1] == "t"} == {"t": [0, 1], "B.t": [0, 2]}
    series = {"t": np.array([0.0, 2.0])}
    beside = Result("linearize", "arm", "0", arrays=arrays, series=series, units={"t": "s"})
    held = np.load(io.BytesIO(as_npz(beside)))
    found = {name: held[name].tolist() for name in held if name[-1] == "t"}
    assert json.loads(str(held["units.json"])) == {"t": "s", "A": "m", "B": "m", "C": "m"}
    assert found == {"t": [0, 2], "A.t": [0, 1], "C.t": [0, 1]}
    assert loadmat(io.BytesIO(as_mat(beside)), simplify_cells=True)["axes"]["C_t"].tolist() == [0, 1]


def test_files_are_not_replaced_unless_asked(tmp_path, capsys):
    """Refused before anything is computed; --overwrite does it; folders that are not there are named."""
    file = tmp_path / "run.csv"
    file.write_text("mine")
    assert run(["check", "canadarm", "-o", str(file)]) == 2
    assert "--overwrite" in capsys.readouterr().err
    assert file.read_text() == "mine"
    assert run(["check", "canadarm", "-o", str(tmp_path / "run.json")]) == 0
    assert run(["simulate", "khang", *QUICK, "-o", str(file), "--overwrite"]) == 0
    assert file.read_text().startswith("t,qa,")
    assert run(["check", "canadarm", "-o", str(tmp_path / "no" / "run.csv")]) == 2
    assert run(["check", "canadarm", "-o", str(tmp_path / "run.xyz")]) == 2
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_arrays_as_csv(capsys):
    """--array chooses; a name that is not there lists those that are."""
    assert run(["check", "canadarm", "--format", "csv", "--array", "frequency_locked"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == ",value"
    assert lines[1].startswith("1,0.97677")
    assert run(["check", "canadarm", "--format", "csv", "--array", "frequency_lockd"]) == 2
    assert "frequency_locked" in capsys.readouterr().err
    assert run(["check", "canadarm", "--format", "csv"]) == 2


def test_one_array_in_every_form(tmp_path, capsys):
    """--array leaves the others out, and the series."""
    line = ["statics", "khang", "--array", "compliance", "-q"]
    assert run([*line, "--format", "json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert list(answer["arrays"]) == ["compliance"]
    assert "series" not in answer
    assert answer["summary"]["cases"] == 1
    assert run(line) == 0
    out = capsys.readouterr().out
    assert "compliance" in out
    assert "stiffness" not in out
    for suffix in (".npz", ".mat"):
        assert run([*line, "-o", str(tmp_path / f"c{suffix}")]) == 0
    assert set(np.load(tmp_path / "c.npz")) == {"compliance", "summary.json", "units.json", "names.json"}
    assert loadmat(tmp_path / "c.mat")["arrays"].dtype.names == ("compliance",)


def test_summary_for_a_person(capsys):
    """The table names the robot, says whether the run is complete, and shows the energy balance."""
    assert run(["simulate", "khang", *SHORT]) == 0
    out = capsys.readouterr().out
    assert "khang" in out
    assert "complete" in out
    assert "energy_drift" in out
    assert "[" not in out.split("complete")[1]  # no markup, no arrays


def test_standard_input_and_exit_codes(monkeypatch, capsys):
    """- reads the file from stdin; 2 for usage, 3 for the file, 1 for the computation."""
    from kronbot import description

    text = description.read("khang").text

    def told(text, *words):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
        return run(["check", "-", *words]), capsys.readouterr().err

    assert told(text)[0] == 0
    code, broken = told(text.replace("convention: standard", "convention: standrad"))
    assert code == 3 and broken.startswith("<stdin>:") and "standard" in broken
    singular = text.replace("modes: {v: 1}", "modes: {v: 1, torsion: 1}, GJ: 1")
    assert told(singular, "-q") == (0, "")
    assert re.match("<stdin>:17:48: warning: .*polar_inertia.*simulate refuse\n", told(singular)[1])
    assert run(["check", "nosuch"]) == 2
    assert run(["simulate", "canadarm", "--order", "third"]) == 2
    failed = kron("simulate", "-", text=singular)
    assert failed.returncode == 1
    assert "polar_inertia" in failed.stderr
    assert "Traceback" not in failed.stderr


def test_set_and_initial_values(capsys):
    """--set takes expressions and checks names; --q takes values by number, by joint, by name."""
    assert run(["check", "khang", "--set", "l=2*0.9", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["summary"]["length.arm"] == 1.8
    assert run(["check", "khang", "--set", "el=1"]) == 2
    assert run(["check", "khang", "--set", "l"]) == 2
    starts = []
    for value in ("pi/4,0.01", "qa=pi/4, arm.v1=0.01"):
        assert run(["simulate", "khang", *QUICK, "--q", value, "--format", "json"]) == 0
        starts.append(json.loads(capsys.readouterr().out.splitlines()[-1])["at"]["q"])
    assert run(["simulate", "khang", *QUICK, "--qd", "arm.v1=0.2", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["at"]["qd"] == {"qa": 0.0, "arm.v1": 0.2}
    assert starts == [{"qa": np.pi / 4, "arm.v1": 0.01}] * 2
    for wrong in ("1,2,3", "qb=1", "qa=1,qa=2", "qa=", "qa=1,2", "qa=1/0", "qa=__import__('os')"):
        assert run(["simulate", "khang", *SHORT, "--q", wrong]) == 2
        assert "--q" in capsys.readouterr().err


def test_an_unexpected_error_is_one_line(monkeypatch, capsys):
    """A traceback only with --debug."""
    from kronbot.model import build

    def broken(*arguments):
        raise RuntimeError("nobody expected this")

    monkeypatch.setattr(build, "build", broken)
    assert run(["check", "canadarm"]) == 1
    err = capsys.readouterr().err
    assert "nobody expected this" in err
    assert "Traceback" not in err
    assert run(["check", "canadarm", "--debug"]) == 1
    assert "Traceback" in capsys.readouterr().err


@pytest.mark.slow
def test_a_closed_pipe_is_no_error():
    """kronbot ... | head -1 ends well, with the warnings of an answer that is read."""
    command = f"{sys.executable} -m kronbot simulate khang --step 0.001 --duration 1 --format csv | head -1"
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command}"], capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert done.returncode == 0
    assert done.stdout.startswith("t,qa")
    told = done.stderr.splitlines()
    assert any("acts as a step" in line for line in told) and all(line.startswith("warning: ") for line in told)


@pytest.mark.parametrize(("option", "name"), [rare("--plot", "a.svg"), ("--view", "a.html")])
def test_who_stops_reading_still_gets_the_picture(option, name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    read, written = os.pipe()
    os.close(read)
    with open(written, "w") as gone, monkeypatch.context() as reading:
        reading.setattr(sys, "stdout", gone)
        assert run(["jacobian", "khang", option, name]) == 0
    assert (tmp_path / name).is_file() and f"wrote {name}" in capsys.readouterr().err


def test_who_stops_reading_ends_a_sweep(monkeypatch, capsys):
    """Of cases that go nowhere none is computed any more."""
    read, written = os.pipe()
    os.close(read)
    computed, add = [], Tally.add
    monkeypatch.setattr(Tally, "add", lambda tally, done: (computed.append(done.stop), add(tally, done)))
    with open(written, "w") as gone, monkeypatch.context() as reading:
        reading.setattr(sys, "stdout", gone)
        line = "sweep jacobian khang --over qa=0:1:6000 --keep J_T[x,qa] --workers 1 --format csv"
        assert run(line.split()) == 0
    assert computed and computed[-1] < 3000
    assert capsys.readouterr().err == ""


@pytest.mark.slow
def test_what_runs_away_is_kept_and_told(monkeypatch, capsys):
    """Order 1 loses the stiffness of the spinning beam: exit 1 or a huge deflection, never NaN in JSON."""
    monkeypatch.setattr("kronbot.mechanics.motion.integrators.STEP_LIMIT", 5_000)  # to give up sooner
    code = run(["simulate", "spin-up", "--order", "1", "--duration", "25", "--format", "json", "-q"])
    out = capsys.readouterr().out
    answer = json.loads(out, parse_constant=pytest.fail)
    assert code in (0, 1)
    assert answer["summary"]["complete"] is (code == 0)


def imported(*lines):
    """Heavy modules that command lines import, one after the other in one process: those there are after each."""
    script = (
        "import json, sys; from kronbot.cli.main import run\nfor line in json.loads(sys.argv[1]):\n    run(line)\n"
        "    heavy = [m for m in ('numpy', 'casadi', 'sympy', 'scipy', 'rich') if m in sys.modules]\n"
        "    print('heavy:', *heavy, file=sys.stderr)"
    )
    command = [sys.executable, "-c", script, json.dumps(lines)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return [line.split()[1:] for line in done.stderr.splitlines() if line.startswith("heavy:")]


def test_help_and_file_errors_import_nothing_heavy(tmp_path):
    """--help, --version and a wrong file answer without numpy, casadi, sympy, scipy or rich; simulate without sympy."""
    bad = tmp_path / "bad.yaml"
    bad.write_text("kronbot: 1\n")
    light = [["--help"], ["--version"], ["simulate", "--help"], ["check", str(bad)], ["check", "nosuch"]]
    *nothing, heavy = imported(*light, ["simulate", "khang", *SHORT])
    assert nothing == [[]] * len(light)
    assert "casadi" in heavy and not {"sympy", "scipy"} & set(heavy)


def test_progress_is_silent_in_a_pipe(monkeypatch):
    """No bar where stderr is no terminal, and none with --quiet."""
    from kronbot.cli.output.progress import progress_bar

    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    with progress_bar("work", quiet=False) as progress:
        progress(0.5)
    assert stream.getvalue() == ""


@pytest.mark.parametrize("term", ["dumb", "unknown"])
def test_a_terminal_that_moves_no_cursor_gets_no_bar(term, monkeypatch):
    """Nor an empty line in its place."""
    from kronbot.cli.output import progress

    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setenv("TERM", term)
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    monkeypatch.setattr(sys, "stderr", Terminal())
    with progress.progress_bar("work", quiet=False) as show:
        show(0.5)
        time.sleep(0.1)
    assert sys.stderr.getvalue() == ""


def test_a_robot_that_takes_long_to_draw_is_told_of(tmp_path, monkeypatch):
    """From the first second on, as of every long work."""
    from kronbot.cli.output import progress

    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    page = Robot.view
    monkeypatch.setattr(Robot, "view", lambda self, **given: time.sleep(0.3) or page(self, **given))
    assert run(["view", "khang", "-o", str(tmp_path / "page.html")]) == 0
    assert "drawing" in sys.stderr.getvalue()


def test_progress_is_drawn_on_a_terminal_after_a_while(monkeypatch):
    """Not for what is done soon, and also where work tells nothing for long."""
    from kronbot.cli.output import progress

    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setenv("TERM", "xterm")
    for patience, shares, drawn in ((0.0, (0.1, 0.5), True), (1e6, (0.1, 0.5), False), (0.0, (), True)):
        monkeypatch.setattr(progress, "PATIENCE", patience)
        monkeypatch.setattr(sys, "stderr", Terminal())
        with progress.progress_bar("work", quiet=False) as show:
            for share in shares:
                show(share)
            if drawn:
                soon(lambda: "work" in sys.stderr.getvalue())
            else:
                time.sleep(0.2)
        assert ("work" in sys.stderr.getvalue()) == drawn


@pytest.mark.parametrize("question", ["kinematics", "jacobian", "statics"])
def test_quiet_commands_doubt_no_degrees(question, capsys):
    """Nothing on stderr but errors; without it they do."""
    for words in (["--quiet"], []):
        assert run([question, "puma560", "--q", "q1=90", *words]) == 0
        assert bool(capsys.readouterr().err) is not bool(words)


@pytest.mark.parametrize("word", ["elements", "outside"])
def test_inputs_that_a_file_does_not_have_are_told(word, capsys):
    """Alone they left a model without inputs, in whose picture all responses were 0."""
    assert run(["linearize", "canadarm", "--inputs", word]) == 2
    assert f"--inputs {word}: the file has no" in capsys.readouterr().err
    assert run(["linearize", "canadarm", "--inputs", f"{word},force"]) == 0


def test_what_takes_long_is_told_in_lines_where_there_is_no_terminal(monkeypatch, capsys):
    """At a time, and at twice that; not to who wants to hear nothing."""
    from kronbot.cli.output import progress

    now, heard = [0.0], []
    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: now[0]))
    monkeypatch.setattr(progress, "tell", heard.append)
    for quiet in (True, False):
        with progress.progress_bar("planning for arm", quiet) as show:
            for now[0] in (1.0, 59.0, 61.0, 70.0, 121.0, 123.0, 240.0, 247.0):
                show(now[0] / 1000)
        now[0] = 0.0
    assert heard == [
        f"planning for arm: some {share} % done after {passed} s" for share, passed in ((6, 61), (12, 123), (25, 247))
    ]
    assert capsys.readouterr() == ("", "")
