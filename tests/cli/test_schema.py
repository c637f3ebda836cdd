"""The JSON Schema of robot files, judged by a validator that is not kronbot's."""

import copy
import json
from functools import cache
from pathlib import Path

import jsonschema
import pytest
import yaml

from kronbot import description
from kronbot.cli.main import run
from kronbot.description.shipped import shipped_robots, starter
from kronbot.errors import DescriptionError

SHIPPED = sorted(shipped_robots())
BESIDE = shipped_robots()[SHIPPED[0]].parent / "robot.schema.json"


@pytest.fixture(scope="module")
def schema():
    """The schema beside the shipped robots."""
    return json.loads(BESIDE.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def validator(schema):
    jsonschema.Draft7Validator.check_schema(schema)
    return jsonschema.Draft7Validator(schema)


@cache
def plain(text):
    """A robot file as an editor sees it; PyYAML takes 1e5 for text, which is an expression too."""
    return yaml.safe_load(text)


def test_the_file_beside_the_robots_is_what_the_tool_writes(schema, capsys):
    """Made anew by: kronbot schema -o robots/robot.schema.json --overwrite."""
    assert run(["schema"]) == 0
    assert json.loads(capsys.readouterr().out) == schema


@pytest.mark.parametrize("suffix", [".yaml", ".csv", ".tex", ""])
def test_a_wrong_suffix_is_told_the_right_one(suffix, capsys, tmp_path, monkeypatch):
    """The only one: no other that is refused next."""
    monkeypatch.chdir(tmp_path)
    assert run(["schema", "-o", f"s{suffix}"]) == 2
    assert capsys.readouterr().err == f"Error: -o s{suffix}: a schema is a .json file\n"
    assert run(["schema", "-o", "s.json"]) == 0


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_robots_are_accepted_and_point_at_it(name, validator):
    text = description.read(name).text
    first, second, *_ = text.splitlines()
    assert first == "# yaml-language-server: $schema=robot.schema.json"
    assert second.startswith("# ")
    assert list(validator.iter_errors(plain(text))) == []


def test_the_starter_is_accepted(validator):
    assert list(validator.iter_errors(plain(starter()))) == []


FULL = """\
kronbot: 1
name: full
description: everything
source: here
convention: modified
gravity: [0, 0, -g]
parameters: {g: 9.81, m: , EI: 2*g**2}
links:
  - name: a
    parent: base
    joint: {type: revolute, name: q1, damping: 0.1, rotor_inertia: 1e-5, gear: -50, limits: [-pi, pi]}
    dh: {a: 0, d: 1, alpha: 90*deg, theta: 0}
    flexible: {mass: m, EI: {y: EI, z: EI}, GJ: 1, modes: {v: 2, w: 1, torsion: 1}, shape: clamped-mass, length: 1,
               polar_inertia: 0.1, root: 0, damping: {ratio: [0.01, 0.01, 0.02, 0.03]}, tip: {mass: 1, inertia: 0.1}}
    hub: {mass: 1, com: [0, 0, 0], inertia: {Ixx: 1, Iyy: 1, Izz: 1, Ixy: 0, Ixz: 0, Iyz: 0}}
    payload: {mass: 1}
  - {name: b, joint: {type: prismatic, name: q2}, pose: {xyz: [0, 0, 1], rpy: [0, 0, 0]}, rigid: {mass: 2}}
  - {name: c, joint: {type: fixed}, pose: {}}
elements:
  - {name: rope, type: spring, between: [world, c], points: [[0, 0, 1], [0, 0, 0]], stiffness: 1, rest: 1, damping: 1,
     force: {file: t.csv, steps: true}}
  - {name: piston, type: actuator, between: [a, c], force: {type: step, value: 1, start: 0.1, end: 0.2}}
  - {name: shaker, type: actuator, between: [a, c], force: {type: sinusoid, amplitude: 1, frequency: 2, offset: 1}}
endpoint: {link: c, position: [0, 0, 0.1]}
damping: {ratios: [0.01, 0.02], joints: free, at: {q1: 0.3}}
motion:
  q1: {type: cycloidal, rate: 1, half_period: 2}
  q2: {type: table, file: t.csv, start: 0.5}
statics:
  angles: {q1: [0, pi/4]}
  forces: [[0, 0, 1]]
  moments: [[0, 0, 0]]
  loads: [{frame: com:a, force: [0, 0, 1], moment: [0, 0, 0]}]
  distributed: [{link: a, force: [0, 0, 1]}]
  gauges: [{name: g1, link: a, x: 0.5}]
  calibration: {q1: 0}
simulate:
  duration: 1
  step: 0.1
  drive: {q1: {torque: {file: t.csv, steps: true}}, q2: {pd: {kp: 1, kd: 2, target: 0}}}
  forces:
    - {frame: com:a, force: {file: f.csv, steps: true}, moment: [0, 0, 1], axes: body, at: [0, 0, 1]}
    - frame: endpoint
      force: {type: step, value: [1, 0, 0], start: 0.1, end: 0.2}
      moment: {type: sinusoid, amplitude: [1, 0, 0], frequency: 2, phase: 0.1, offset: [0, 0, 1], start: 0.1}
sweep:
  question: statics
  options: {order: exact, load: [endpoint=1,0,0], buckling: true}
  over: {q1: 0:1:3, q2: 'normal(0, 1)'}
  cases: {order: [1, exact]}
  sample: 8
  seed: 1
  indices: false
  keep: [endpoint.y]
fit:
  question: statics
  data: measured.csv
  columns: {endpoint.x: "x_mm*1e-3"}
  parameters: {EI: {from: 1, to: 1e6, prior: [100, 20]}, m: }
  sigma: {endpoint: 1e-3}
  only: endpoint
  fix: [m]
  validate: 0.3
  loss: huber
  starts: 2
  seed: 1
  steps: 100
"""


def test_every_key_of_the_format(validator):
    """kronbot accepts this file (with its table), and so does the schema; all keys of the format are in it."""
    assert list(validator.iter_errors(plain(FULL))) == []


DRIVE = ("simulate", "drive")


def mappings(node, path=()):
    if isinstance(node, dict):
        yield path
        for key, value in node.items():
            yield from mappings(value, (*path, key))
    elif isinstance(node, list):
        for index, value in enumerate(node):
            yield from mappings(value, (*path, index))


def by_name(path):
    """Mappings whose keys are names of joints or parameters, where any key is right."""
    return path in {
        ("parameters",),
        ("motion",),
        ("damping", "at"),
        ("statics", "angles"),
        ("statics", "calibration"),
        ("simulate", "drive"),
        *(("fit", word) for word in ("columns", "parameters", "sigma")),
        *(("sweep", word) for word in ("options", "over", "cases")),
    }


@pytest.mark.parametrize("path", [path for path in mappings(plain(FULL)) if not by_name(path)], ids=str)
def test_unknown_keys_are_refused_everywhere(path, validator):
    robot = copy.deepcopy(plain(FULL))
    holder = robot
    for step in path:
        holder = holder[step]
    holder["no_such_key"] = 1
    assert list(validator.iter_errors(robot))


def minimal(link="", more=""):
    return (
        "kronbot: 1\nname: r\nconvention: standard\ngravity: [0, 0, 0]\nlinks:\n  - {name: a, "
        + (link or "joint: {type: revolute, name: q1}, dh: {a: 1, d: 0, alpha: 0, theta: 0}")
        + "}\n"
        + more
    )


WRONG = {
    "version": minimal().replace("kronbot: 1", "kronbot: 2"),
    "no links": "kronbot: 1\nname: r\nconvention: standard\ngravity: [0, 0, 0]\nlinks: []\n",
    "missing key": minimal().replace("name: r\n", ""),
    "convention": minimal().replace("standard", "standart"),
    "two components": minimal().replace("[0, 0, 0]", "[0, 0]"),
    "a list for a number": minimal().replace("d: 0", "d: [0]"),
    "a truth for a number": minimal().replace("d: 0", "d: true"),
    "no expression": minimal().replace("d: 0", "d: '1,5'"),
    "empty": minimal().replace("d: 0", "d: "),
    "neither dh nor pose": minimal("joint: {type: fixed}"),
    "dh and pose": minimal().replace("dh:", "pose: {}, dh:"),
    "rigid and flexible": minimal().replace("dh:", "rigid: {}, flexible: {mass: 1}, dh:"),
    "fixed with a name": minimal("joint: {type: fixed, name: q1}, pose: {}"),
    "joint without a name": minimal("joint: {type: revolute}, pose: {}"),
    "joint type": minimal().replace("revolute", "revolut"),
    "bearing without an axis": minimal().replace("name: q1", "name: q1, bearing: {stiffness: {}}"),
    "half a mode": minimal().replace("dh:", "flexible: {mass: 1, EI: {z: 1}, modes: {v: 1.5}}, dh:"),
    "many modes": minimal().replace("dh:", "flexible: {mass: 1, EI: {z: 1}, modes: {v: 65}}, dh:"),
    "shape": minimal().replace("dh:", "flexible: {mass: 1, shape: clamped}, dh:"),
    "ratio and Rayleigh": minimal().replace("dh:", "flexible: {mass: 1, damping: {ratio: 1, alpha: 1}}, dh:"),
    "a push without a force": minimal(more="simulate: {forces: [{frame: a}]}\n"),
    "a push of another kind": minimal(more="simulate: {forces: [{frame: a, force: {type: ramp, value: [1, 0, 0]}}]}\n"),
    "motion without a type": minimal(more="motion: {q1: {rate: 1, half_period: 2}}\n"),
    "motion of another type": minimal(more="motion: {q1: {type: sinusoid, rate: 1, half_period: 2}}\n"),
    "two forms of one motion": minimal(more="motion: {q1: {type: cycloidal, rate: 1, half_period: 2, to: 1}}\n"),
    "half of a form": minimal(more="motion: {q1: {type: cycloidal, from: 1, to: 2}}\n"),
    "trapezoid without a time": minimal(more="motion: {q1: {type: trapezoid, from: 1, to: 2, rate: 1}}\n"),
    "trapezoid told twice": minimal(
        more="motion: {q1: {type: trapezoid, from: 1, to: 2, duration: 1, rate: 2, acceleration: 3}}\n"
    ),
    "a shaper of what goes on": minimal(
        more="motion: {q1: {type: cycloidal, rate: 1, half_period: 2, shaper: {type: zv, frequency: 1}}}\n"
    ),
    "one point": minimal(more="motion: {q1: {type: via-points, through: [[0, 1]]}}\n"),
    "a point of three": minimal(more="motion: {q1: {type: via-points, through: [[0, 1, 2], [1, 2, 3]]}}\n"),
    "half a step": minimal(more="simulate: {drive: {q1: {torque: {file: t.csv, steps: 0.5}}}}\n"),
    "rows without a convention": minimal().replace("convention: standard\n", ""),
    "degree": minimal(more="motion: {q1: {type: polynomial, from: 0, to: 1, duration: 1, degree: 4}}\n"),
    "two drives": minimal(more="simulate: {drive: {q1: {torque: 1, pd: {kp: 1, kd: 1}}}}\n"),
    "no drive": minimal(more="simulate: {drive: {q1: {}}}\n"),
    "drive": minimal(more="simulate: {drive: inverse}\n"),
    "parameter name": minimal(more="parameters: {a-b: 1}\n"),
}


def test_the_shortest_file(validator):
    assert list(validator.iter_errors(plain(minimal()))) == []
    description.load(description.Source("r", minimal(), None))


@pytest.mark.parametrize(
    "text",
    [
        minimal("joint: {type: revolute, name: q1}, pose: {}").replace("convention: standard\n", ""),
        minimal(more="motion: {q1: {type: cycloidal, from: 0, to: 1, duration: 2}}\n"),
        minimal(more="motion: {q1: {type: trapezoid, from: 0, to: 1, duration: 2, acceleration: 1, start: 1}}\n"),
        minimal(more="motion: {q1: {type: trapezoid, from: 0, to: 1, rate: 2, acceleration: 1}}\n"),
        minimal(more="motion: {q1: {type: via-points, through: [[0, pi], [1, 90*deg]]}}\n"),
        minimal(
            more="motion: {q1: {type: cycloidal, from: 0, to: 1, duration: 2, shaper: {type: ei, frequency: 2*pi}}}\n"
        ),
        minimal(
            more="motion: {q1: {type: cycloidal, from: 0, to: 1, duration: 2, shaper: [{type: zv, frequency: 3}]}}\n"
        ),
    ],
    ids=[
        "poses without a convention",
        "cycloidal from one value to another",
        "trapezoid",
        "as fast",
        "via points",
        "shaped",
        "shapers",
    ],
)
def test_it_accepts_what_kronbot_accepts(text, validator):
    assert list(validator.iter_errors(plain(text))) == []
    description.load(description.Source("r", text, None))


@pytest.mark.parametrize("kind", WRONG)
def test_it_refuses_what_kronbot_refuses(kind, validator):
    assert list(validator.iter_errors(plain(WRONG[kind])))
    with pytest.raises(DescriptionError):
        description.load(description.Source("r", WRONG[kind], None))


def test_it_helps_while_one_types(schema):
    """Every key has a description, numbers their unit; defaults are plain values; nothing is of Python."""
    definitions = schema["$defs"]
    assert "mass of the beam, kg" in definitions["Flexible"]["properties"]["mass"]["description"]
    assert definitions["Joint"]["properties"]["gear"]["default"] == 1
    assert definitions["Body"]["properties"]["com"]["default"] == [0, 0, 0]
    assert definitions["BendingStiffness"]["title"] == "bending stiffness"
    for name, entry in (("", schema), *definitions.items()):
        for key, value in entry.get("properties", {}).items():
            assert value.get("description"), f"{name}.{key}"
            assert isinstance(value.get("default", 0), int | float | str | list), f"{name}.{key}"
    text = json.dumps(schema)
    assert "``" not in text and "Expression" not in text


def test_output(tmp_path, capsys):
    file = tmp_path / "s.json"
    assert run(["schema", "-o", str(file)]) == 0
    assert capsys.readouterr() == ("", f"wrote {file}\n")
    assert run(["schema", "-o", "-", "-q"]) == 0
    assert capsys.readouterr() == (file.read_text(), "")
    assert run(["schema", "-o", str(file)]) == 2
    assert "--overwrite" in capsys.readouterr().err
    assert run(["schema", "-o", str(file), "--overwrite", "-q"]) == 0
    assert run(["schema", "-o", str(tmp_path / "s.yaml")]) == 2
    assert run(["schema", "-o", str(tmp_path / "s.csv")]) == 2
    assert [path.name for path in Path(tmp_path).iterdir()] == ["s.json"]
