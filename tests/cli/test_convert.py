"""``kronbot convert`` as scripts and people meet it."""

import re
import subprocess
import sys

import numpy as np
import pytest
from click.testing import CliRunner

import kronbot
from kronbot import description
from kronbot.cli.commands.convert import convert
from kronbot.cli.commands.explain import FOLDER
from kronbot.description.wording import shown_path
from kronbot.errors import DescriptionError, UsageError

ARM = """<robot name="arm">
  <link name="world"/>
  <link name="upper">
    <inertial><origin xyz="0 0 0.5"/><mass value="2"/>
      <inertia ixx="0.2" iyy="0.2" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual/>
  </link>
  <link name="tool"/>
  <joint name="q1" type="revolute">
    <parent link="world"/><child link="upper"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="1" effort="10" velocity="2"/>
  </joint>
  <joint name="flange" type="fixed"><parent link="upper"/><child link="tool"/><origin xyz="0 0 1"/></joint>
</robot>
"""


@pytest.fixture
def arm(tmp_path):
    file = tmp_path / "arm.urdf"
    file.write_text(ARM)
    return file


def run(*arguments, text=None):
    return CliRunner().invoke(convert, [str(argument) for argument in arguments], input=text)


def load(text):
    return description.load(description.Source("arm.yaml", text, None)).robot


def test_the_robot_file_goes_to_stdout_and_notes_to_stderr(arm):
    """What is piped on is the file alone; every note stands in both places."""
    result = run(arm)
    assert result.exit_code == 0
    assert [link.name for link in load(result.stdout).links] == ["upper", "tool"]
    notes = result.stderr.splitlines()
    assert f"{shown_path(str(arm))}: not carried: visuals (1: 'upper')" in notes
    for note in notes:
        assert f"# - {note.removeprefix(f'{shown_path(str(arm))}: ')}\n" in result.stdout
    quiet = run(arm, "--quiet")
    assert (quiet.stdout, quiet.stderr) == (result.stdout, "")


def test_standard_input(arm):
    """The same file but for its name."""
    result = run("-", text=ARM)
    assert result.exit_code == 0
    assert result.stdout == run(arm).stdout.replace("arm.urdf", "<stdin>")
    assert result.stderr.startswith("<stdin>: endpoint: 'tool', the only leaf\n")


def test_a_file_is_written_whole_and_replaced_only_when_asked(arm, tmp_path):
    for name in ("arm.yaml", "arm.yml"):
        file = tmp_path / name
        result = run(arm, "-o", file)
        assert result.exit_code == 0
        assert result.stdout == ""
        assert result.stderr.endswith(f"wrote {shown_path(str(file))}\n")
        assert file.read_text() == run(arm).stdout
        file.write_text("mine")
        again = run(arm, "-o", file)
        assert isinstance(again.exception, UsageError)
        assert "--overwrite" in str(again.exception)
        assert file.read_text() == "mine"
        assert run(arm, "-o", file, "--overwrite").exit_code == 0
        assert load(file.read_text()).name == "arm"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["arm.urdf", "arm.yaml", "arm.yml"]
    assert run(arm, "-o", "-").stdout == run(arm).stdout


@pytest.mark.parametrize(
    ("output", "message"), [("arm.json", ".yaml or .yml"), ("arm", ".yaml or .yml"), ("no/arm.yaml", "no folder")]
)
def test_files_that_cannot_be_written_are_refused_first(tmp_path, output, message):
    """Before the URDF is read, which is not even there."""
    result = run(tmp_path / "nosuch.urdf", "-o", tmp_path / output)
    assert isinstance(result.exception, UsageError)
    assert message in str(result.exception)


def test_the_tip(arm):
    assert load(run(arm, "--tip", "upper").stdout).endpoint.link == "upper"
    result = run(arm, "--tip", "toll")
    assert isinstance(result.exception, UsageError)
    assert "did you mean 'tool'?" in str(result.exception)


def test_a_wrong_urdf_is_told_with_its_places_and_nothing_is_written(arm, tmp_path):
    arm.write_text(ARM.replace('value="2"', 'value="two"').replace('"fixed"', '"flying"'))
    result = run(arm, "-o", tmp_path / "arm.yaml")
    assert isinstance(result.exception, DescriptionError)
    assert result.exception.exit_code == 3
    lines = str(result.exception).splitlines()
    assert [line.split(" ")[0] for line in lines] == [f"{arm}:4:38:", f"{arm}:13:3:"]
    assert not (tmp_path / "arm.yaml").exists()


def test_nothing_heavy_is_imported(arm):
    """Neither for an answer nor for help."""
    script = """
import sys
from kronbot.cli.commands.convert import convert
convert(sys.argv[1:], standalone_mode=False)
sys.exit(", ".join({"numpy", "casadi", "sympy"} & set(sys.modules)))
"""
    for argument in (str(arm), "--help"):
        done = subprocess.run(
            [sys.executable, "-c", script, argument, "-q"], capture_output=True, text=True, check=False
        )
        assert done.stderr.strip() == ""
        assert "arm.urdf" in done.stdout


ELBOW = """
kronbot: 1
name: elbow
gravity: [0, 0, -9.81]
links:
  - {name: upper, joint: {type: revolute, name: q1}, pose: {rpy: [0.3, 0.2, 0.1]}, rigid: {mass: 2}}
BEAM  - name: fore
    joint: {type: revolute, name: q2}
    pose: {xyz: XYZ, rpy: RPY}
    payload: {mass: 1, inertia: {Ixx: 1, Iyy: 1, Izz: 1}}
endpoint: {link: fore, position: [0.1, 0.2, 0.3]}
"""


def test_the_recipe_for_a_flexible_link_keeps_the_kinematics(tmp_path):
    """The rows of the text, put where it says, with its child's pose: at order 0 it is the robot that was converted."""
    told = (FOLDER / "commands" / "convert.md").read_text(encoding="utf-8")
    beam = "".join(f"{line}\n" for line in told.splitlines() if line.startswith("  "))
    child = re.search(r"give the child pose: \{xyz: (.*), rpy: (.*)\}, turned", told).groups()
    answers = []
    for rows, (xyz, rpy) in (("", ("[0, -0.3, 0]", "[pi/2, 0, 0]")), (beam, child)):
        file = tmp_path / "elbow.yaml"
        file.write_text(ELBOW.replace("BEAM", rows).replace("XYZ", xyz).replace("RPY", rpy))
        robot = kronbot.load(str(file), order="0")
        assert robot.check().summary["warnings"] == 0
        answers.append(robot.jacobian(q={"q1": 0.4, "q2": -0.7}))
    for name in ("J_T", "J_R"):
        assert np.abs(answers[0][name] - answers[1][name]).max() < 1e-15


def test_a_child_that_is_a_beam_off_its_tip_is_doubted(tmp_path):
    """Who leaves the child where the URDF had it has the length of the beam twice."""
    beam = "  - {name: beam, joint: {type: fixed}, pose: {}, flexible: {mass: 1, length: 0.3}}\n"
    for xyz, count in (("[0, -0.3, 0]", 1), ("[0, -0.2, 0]", 0), ("[0, 0, 0]", 0)):
        text = ELBOW.replace("BEAM", beam).replace("XYZ", xyz).replace("RPY", "[0, 0, 0]")
        told = description.load(description.Source("elbow.yaml", text, None)).warnings
        assert len(told) == count
        assert all(each.message.startswith("this stands 0.3 m off the tip of the beam, by") for each in told)
