"""Robots and answers in notebooks, and as plain text: what is in them, and that names are no markup."""

import ast
import html
import json
import math
import re
import textwrap
from html.parser import HTMLParser
from pathlib import Path

import pytest

import kronbot
from kronbot.cli.main import run
from kronbot.description import read
from kronbot.errors import UsageError
from kronbot.plots import notebook

LIBRARY = Path(kronbot.__file__).parent / "cli" / "explanations" / "topics" / "library.md"
HOSTILE = r"</table><script>alert(1)</script> $\href{javascript:alert(1)}{arm}$"


class Read(HTMLParser):
    """Tables as rows of cells, and the tags there are."""

    def __init__(self, text):
        super().__init__()
        self.tables, self.tags, self.inside = [], set(), False
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")
        self.inside = tag in ("td", "th")

    def handle_endtag(self, tag):
        self.inside = False

    def handle_data(self, data):
        if self.inside:
            self.tables[-1][-1][-1] += data


@pytest.mark.parametrize("question", ["jacobian", "modes"])
def test_print_is_the_table_of_the_command_line(question, capsys):
    """Line by line; these have no series, whose chart the terminal has beside."""
    assert run([question, "canadarm"]) == 0
    assert str(getattr(kronbot.load("canadarm"), question)()) + "\n" == capsys.readouterr().out


def test_a_printed_series_says_where_the_rest_is():
    told = str(kronbot.load("khang").simulate(duration=1, step=0.05, solver="rodas"))
    assert "11 of 21 rows" in told
    assert "all of them: answer[NAME]" in told
    assert "--" not in told


def test_a_notebook_shows_arrays_with_names_and_units():
    answer = kronbot.load("canadarm").jacobian(q=[0.1, 0.2, 0.3])
    J_T, J_R, summary = Read(answer._repr_html_()).tables
    array = answer.arrays["J_T"]
    assert [row[0].partition(" ")[0] for row in J_T[1:]] == list(array.rows)
    assert [name.partition(" ")[0] for name in J_T[0][1:]] == list(array.columns)
    assert float(J_T[1][1]) == pytest.approx(array.values[0, 0], rel=1e-5)
    assert [row[0] for row in summary] == list(answer.summary)


def test_a_notebook_shows_rows_of_a_series():
    answer = kronbot.load("khang").simulate(duration=1, step=0.05, solver="rodas")
    series, _ = Read(answer._repr_html_()).tables
    assert series[0][:2] == ["t [s]", "qa [rad]"]
    assert [float(row[0]) for row in series[1:]] == pytest.approx([0.1 * i for i in range(11)])


@pytest.mark.slow
def test_a_notebook_shows_a_robot():
    """Its tree with the masses of the file; a picture, unless a parameter has no value."""
    shown = Read(kronbot.load("torso", order="0")._repr_html_())
    (links,) = shown.tables
    assert [row[0] for row in links[1:-1]] == [link.name for link in kronbot.load("torso").model.file.links]
    assert links[4][1:4] == ["torso", "right-shoulder, revolute", "flexible"]
    masses = [float(row[-1]) for row in links[1:]]
    assert sum(masses[:-1]) == pytest.approx(masses[-1], rel=1e-5)
    assert masses[0] == 25
    assert shown.tags >= {"table", "img"}
    assert "img" not in Read(kronbot.load("stacker")._repr_html_()).tags


@pytest.mark.slow
def test_what_the_links_of_a_floating_base_carry_is_the_base():
    text = read("khang").text.replace("links:", "base: {type: floating, rigid: {mass: 5}}\nlinks:", 1)
    (links,) = Read(kronbot.loads(text)._repr_html_()).tables
    assert [row[0] for row in links[1:]] == ["base", "arm", "all"]
    base, arm, whole = (float(row[-1]) for row in links[1:])
    assert base == 5 and base + arm == pytest.approx(whole, rel=1e-5)


def test_a_notebook_shows_wide_arrays_rows_of_points_and_hertz():
    """The first columns of a matrix, a row a case, and a summary with units as in the table."""
    robot = kronbot.load("canadarm")
    H_T, _ = Read(robot.hessian()._repr_html_()).tables
    assert (len(H_T), len(H_T[0])) == (4, 25)
    assert "H_T, 24 of 81 columns" in robot.hessian()._repr_html_()
    pose, *_ = Read(robot.kinematics(q=[[0, 0, 0], [0.1, 0.2, 0.3]])._repr_html_()).tables
    assert pose[0][1:4] == ["x [m]", "y [m]", "z [m]"]
    assert [row[0] for row in pose[1:]] == ["case 1", "case 2"]
    frequencies = next(table for table in Read(robot.modes()._repr_html_()).tables if table[0][1:] == ["rad/s", "Hz"])
    assert float(frequencies[1][2]) * 2 * math.pi == pytest.approx(float(frequencies[1][1]), rel=1e-5)
    assert "[]" not in robot.modes()._repr_html_() + notebook.table("", [], notebook._with_units(["q1"], [""]))
    (*_, summary) = Read(robot.check()._repr_html_()).tables
    assert ["total_mass", "320 kg"] in summary


def test_a_sweep_computes_nothing_to_be_shown(swept_here):
    """What it varies; once it is computed its table, with frequencies in Hz beside rad/s."""
    sweep = kronbot.load("khang").sweep(
        "modes", {"l": "0.5:1:3", "qa": [0, 1]}, keep="frequencies_locked[1]", workers=1
    )
    (varied,) = Read(sweep._repr_html_()).tables
    assert varied[1:] == [["l", "3", "0.5", "1"], ["qa", "2", "0", "1"]] and not sweep.tally.complete
    result = sweep.result()
    table, *_ = Read(sweep._repr_html_()).tables
    at = table[0].index("[Hz]")
    assert table[0][at - 1] == "frequencies_locked[1] [rad/s]"
    assert [float(row[at]) * 2 * math.pi for row in table[1:]] == pytest.approx(
        result["frequencies_locked[1]"], rel=1e-4
    )


def test_formulas_say_what_there_is():
    (table,) = Read(kronbot.load("stacker").symbolic()._repr_html_()).tables
    assert [row[0] for row in table] == [".kinematics()", ".jacobian()", ".hessian()", ".dynamics()", ".linearize()"]


def test_rounding_is_shown_as_0():
    """As in the table of the command line; the numbers keep it."""
    answer = kronbot.load("puma560").kinematics(q=[0, 0.5, 0.1, 0, 0, "pi/2"])
    values = answer.arrays["pose"].values
    assert ((values != 0) & (abs(values) < 1e-15)).any()
    T, pose, *_ = Read(answer._repr_html_()).tables
    told = [float(cell) for row in (*T[1:], *pose[1:]) for cell in row[1:]]
    assert all(each == 0 or abs(each) > 1e-12 for each in told)


def test_names_are_text(tmp_path):
    file = tmp_path / "hostile.yaml"
    file.write_text(read("khang").text.replace("name: khang", f"name: {json.dumps(HOSTILE)}", 1))
    robot = kronbot.load(file)
    for shown in (robot._repr_html_(), robot.jacobian()._repr_html_()):
        assert "script" not in Read(shown).tags
        assert HOSTILE in html.unescape(re.sub(r"<img[^>]*>", "", shown))
        around = re.findall(r"<(?:p|table)\b[^>]*>", shown)
        assert around and all('class="mathjax_ignore tex2jax_ignore"' in each for each in around)


def is_code(block):
    """Whether an indented block of a text is Python."""
    try:
        return bool(ast.parse(textwrap.dedent(block)).body)
    except SyntaxError:
        return False


def cells():
    """The Python that people are told: each block of explain library; the README's is a program of its own."""
    told = re.findall(r"(?:^  .*\n?)+", LIBRARY.read_text(), re.M)
    return [textwrap.dedent(block) for block in told if is_code(block)]


def test_calls_that_explain_library_shows_in_a_line_work(tmp_path, monkeypatch):
    """Those that are whole and not in a block, but for what needs another file or other libraries."""
    monkeypatch.chdir(tmp_path)
    told = " ".join(LIBRARY.read_text().split())
    calls = re.findall(r"(?:\b(?:robot|answer|kronbot))?\.\w+\([^()]*\)(?:\.\w+\(\))?", told)
    left_out = r"\.load\(|\.linear|with_motion|symbolic|\.\.\.|data|urdf|EI=EI|\.to_[px]|\.plot\("
    robot = kronbot.load("canadarm", order="0")
    known = {"robot": robot, "answer": robot.kinematics(), "kronbot": kronbot}
    done = [call for call in calls if not re.search(left_out, call)]
    for call in done:
        exec(f"answer{call}" if call[0] == "." else call, known)
    assert len(done) == 8 and {each.name for each in tmp_path.iterdir()} == {"robot.html", "arm.html"}
    with pytest.raises(UsageError, match="q: coordinates are wanted beside a file, not 'robot.html'"):
        robot.view("robot.html", "arm.html")


@pytest.mark.slow
def test_a_notebook_runs_what_explain_tells(tmp_path):
    """Cell by cell in a kernel; at the end of a cell a robot, an answer, its picture and its page show themselves."""
    pytest.importorskip("nbclient")
    import nbformat

    shown = ["robot", "answer", "answer.plot()", "robot.view()"]
    code = [*cells(), *shown]
    assert len(code) >= len(shown) + 2
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in code])
    from nbclient import NotebookClient

    NotebookClient(book, timeout=None, kernel_name="python3", resources={"metadata": {"path": tmp_path}}).execute()
    outputs = [cell.outputs for cell in book.cells]
    assert not [
        each for cell in outputs for each in cell if each.output_type == "error" or each.get("name") == "stderr"
    ]
    found = [cell[-1].data for cell in outputs[-len(shown) :]]
    assert "<table " in found[0]["text/html"]
    assert "data:image/png" in found[0]["text/html"]
    assert "verdict" in found[1]["text/html"]
    assert "image/png" in found[2]
    assert "<iframe srcdoc=" in found[3]["text/html"]
