"""What has no joints, or no coordinates at all: every question has an answer, or a refusal in words."""

from pathlib import Path

import pytest

import kronbot
from kronbot.cli.main import run
from kronbot.errors import UsageError

BEAM = "flexible: {mass: 1, length: 1, EI: {z: EI}, modes: {v: 2}}\n    payload: {mass: mt}"
BODY = "rigid: {mass: mt, com: [0.5, 0, 0], inertia: {Ixx: 1, Iyy: 1, Izz: 1}}"
FILE = """
kronbot: 1
name: NAME
gravity: [0, GRAVITY, 0]
parameters: {EI: 15, mt: 0.1, L: 0.5}
BASE
links:
  - name: beam
    joint: {type: fixed}
    pose: {xyz: [L, 0, 0]}
    BODY
"""
FLOATING = "base: {type: floating, rigid: {mass: 4, inertia: {Ixx: 2, Iyy: 2, Izz: 2}}}"


def robot(name, body, base="", gravity="-9.81"):
    """The text of a robot of one link that is fixed."""
    return FILE.replace("NAME", name).replace("BODY", body).replace("BASE", base).replace("GRAVITY", gravity)


ROBOTS = {
    "clamped": robot("clamped", BEAM),
    "rigid": robot("rigid", BODY),
    "afloat": robot("afloat", BEAM.replace("v: 2", "v: 1"), FLOATING, "0"),
}
TABLES = {
    "loads.csv": "force.y,displacement.y\n-1,-0.02\n-2,-0.04\n",
    "poses.csv": "position.beam.x,position.beam.y\n1.5,-0.02\n1.5,-0.04\n",
    "ends.csv": "endpoint.y\n-0.02\n-0.03\n",
    "modes.csv": "frequencies_locked[1],frequencies_free[1]\n2,2\n2.1,2.1\n",
    "swings.csv": "t,force.y,endpoint.y\n0,0,0\n0.1,1,-0.02\n0.2,1,-0.04\n",
    "base.csv": "t,reaction.beam.fy\n0,1\n0.1,2\n0.2,3\n",
    "none.csv": "force.y,displacement.y\n",
    "q.csv": "beam.v1\n0\n0.01\n",
    "path.csv": "t,endpoint.x,endpoint.y\n0,1,0\n1,1,0\n",
    "times.csv": "t\n0\n1\n",
}
FITS = [
    f"fit ROBOT {more} --question {question}"
    for table in TABLES
    for question in ("statics", "simulate", "modes", "dynamics")
    for more in (f"--data {table}", f"--plan 2 --candidates {table} --estimate L")
] + [
    f"fit ROBOT --data {table} --estimate EI,L {more}"
    for table in ("loads.csv", "poses.csv", "ends.csv")
    for more in (
        "--view out.html --plot out.png", "--synthetic 2 --sigma displacement=1e-3,endpoint=1e-3,position=1e-3",
        "--loss huber", "--starts 2", "--validate 0.5", "--order exact", "--prior L=0.5,0.1",
    )
]  # fmt: skip
POSED = ("kinematics", "jacobian", "hessian", "dynamics", "taylor", "linearize", "modes", "statics")
AT = [
    f"{question} ROBOT {more}"
    for question in POSED
    for more in (
        "", "--order 0", "--order exact", "--symbolic", "--plot out.png", "--view out.html", "-o out.json",
        "-o out.npz", "-o out.mat", "--q=", "--q @q.csv", "--q @none.csv", "--q 0", "--q 0,0", "--q beam.v1=0.01",
        "--q q1=1",
    )
]  # fmt: skip
QUESTIONS = {
    "kinematics": ["--frame all", "--inverse 1,0,0", "--inverse x=1 --q=", "--inverse 1,0,0,0,0,0"],
    "jacobian": ["--in body"],
    "taylor": ["--of M --terms 2"],
    "linearize": [
        "--equilibrium", "--closed-loop", "--motion", "--motion --period 1 --view out.html", "--motion {}",
        "--motion --duration 1 --step 0.1 --lock all", "--lock all --plot out.png", "--lock q1", "--inputs force",
        "--inputs torques --outputs joints", "--inputs elements", "--outputs gauges", "--outputs velocity:endpoint",
        "--tau 0", "--tau=", "--tau q1=1", "--force 1,0,0",
        *(f"--response {kind} {more}" for kind in ("step", "impulse", "frequency")
          for more in ("", "--inputs force --outputs endpoint", "--lock all", "--plot out.png", "--duration 1")),
    ],
    "statics": [
        "--order all --solver linear", "--order all --plot out.png", "--forces 0,1,0;0,2,0 --plot out.png",
        "--forces 0,1,0;0,2,0 --order 0 --plot out.png", "--forces 0,1,0;0,2,0 --view out.html", "--moments 0,0,1",
        "--load beam=-1,0,0 --buckling", "--buckling", "--distributed beam=0,1,0", "--tau 0", "--tau q1=0",
        "--angles q1=0,1", "--calibration 0", "--outputs reaction:beam", "--solver linear",
    ],
    "simulate --duration 0.05": [
        "", "--algorithm composite", "--start equilibrium", "--load beam=0,1,0", "--outputs reaction:beam",
        "--plot out.png", "--view out.html", "--qd 0", "--qd beam.v1=1", "--order 0", "--q @q.csv",
        *(f"--solver {name} --native {way}"
          for name in ("cvodes", "rodas", "dop853", "radau") for way in ("off", "on")),
    ],
    "design": [
        "--lqr", "--poles=-1", "--poles=-1,-2+3j", "--shaper zv", "--shaper ei --plot out.png", "--lqr --motion",
        "--lqr --motion --duration 1", "--lqr --noise q1=1", "--lqr --weights beam.v1=1", "--lqr --lock all",
        "--lqr --effort q1=1", "--lqr --deviation beam.v1=1", "--lqr --q @q.csv",
    ],
    "plan": [
        "", "--to q1=1 --duration 1", "--to beam.v1=1 --duration 1", "--to 0,0 --duration 1", "--to= --shortest",
        "--to 0 --duration 1 --drive motion", "--follow path.csv", "--duration 1", "--to q1=1 --through times.csv",
    ],
    "complexity": ["", "--order 0", "--links 1..2", "--modes 1..2", "--of inverse"],
    "check": [""],
    "view": ["-o out.html"],
}  # fmt: skip
EXPORTS = [
    f"export ROBOT --of {name} -o out.{kind}"
    for name in (
        "forward_dynamics", "forward_dynamics_derivatives", "inverse_dynamics", "bias", "mass_matrix", "pose",
        "jacobian", "hessian", "energy", "linear_model", "all", "forward_dynamics --algorithm composite",
    )
    for kind in ("c", "py", "casadi")
]  # fmt: skip
SWEEPS = [
    f"sweep {question} ROBOT {given} --workers 1 --over {over}"
    for question, given in [
        *((question, "") for question in ("check", *POSED)), ("linearize", "--equilibrium"),
        ("simulate", "--duration 0.05"), ("simulate", "--duration 0.05 --solver rodas"),
        ("simulate", "--duration 0.05 --solver dop853"), ("design", "--lqr"), ("design", "--shaper zv"),
        ("plan", "--to q1=1 --duration 1"),
    ]
    for over in (
        "L=1,2", "L=1,2 --plot out.png", "L=1,2 -o out.npz", "L=1,2 -o out/", "L~uniform(1,2) --sample 2 --indices",
        "beam.v1=0,0.01", "force.y=0,1", "q1=0,1",
    )
]  # fmt: skip
LINES = [
    *FITS,
    *AT,
    *(
        f"{name.partition(' ')[0]} ROBOT {name.partition(' ')[2]} {more}"
        for name, lines in QUESTIONS.items()
        for more in lines
    ),
    *EXPORTS,
    *SWEEPS,
]


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in {**{f"{name}.yaml": text for name, text in ROBOTS.items()}, **TABLES}.items():
        (tmp_path / name).write_text(text)


@pytest.mark.slow
@pytest.mark.parametrize("name", ROBOTS)
def test_every_command_answers_or_refuses_in_words(name, files, swept_here, unsettled, capsys):
    """Nothing unexpected, no warning of an array, nothing without end; each line by one of the robots at most."""
    wrong = []
    for line in LINES[[*ROBOTS].index(name) :: 29]:
        words = line.replace("ROBOT", f"{name}.yaml").split()
        writes = [] if not {"-o", "--plot", "--view"} & {*words} else ["--overwrite"]
        code, told = run([*words, *writes]), capsys.readouterr()
        said = [text for text in (*told.err.splitlines(), *told.out.splitlines()) if _is_wrong(text)]
        if said or code not in (0, 1, 2, 3):
            wrong.append((code, " ".join(words), *said[:1]))
    assert not wrong, "\n".join(map(str, wrong))


def _is_wrong(text):
    """Whether a line tells what nobody foresaw, or lists nothing."""
    return any(
        each in text for each in ("unexpected", "Warning:", "such are ;", "joint: \n", "()", "are ;", "which are ;")
    )


@pytest.mark.slow
@pytest.mark.parametrize("question", ["statics", "simulate"])
def test_fits_are_those_of_a_joint_that_stands(question):
    """The same beam on a joint at 0, which it is told of, or which a motion holds there."""
    data = {"statics": {"force.y": [-1, -2], "displacement.y": [-0.02, -0.04]}}
    data["simulate"] = {"t": [0, 0.1, 0.2], "endpoint.y": [0, -0.02, -0.06]}
    held = "simulate: {drive: {q1: {motion: {type: sinusoid, amplitude: 0, frequency: 1}}}}\n"
    turning = ROBOTS["clamped"].replace("{type: fixed}", "{type: revolute, name: q1}")
    angles = {"statics": {"q1": [0, 0]}, "simulate": {}}[question]
    ways = (ROBOTS["clamped"], {}), (turning + held * (question == "simulate"), angles)
    fits = [
        kronbot.loads(text).fit({**data[question], **more}, question=question, estimate=["EI"]) for text, more in ways
    ]
    assert fits[0]["estimates"] == pytest.approx(fits[1]["estimates"], rel=1e-7)


def test_rows_are_planned_and_fitted_without_coordinates(files, capsys):
    """Where nothing moves lengths are what is measured; a beam that stands, bends."""
    assert run(["fit", "clamped.yaml", "--data", "loads.csv", "--estimate", "EI", "--format", "json"]) == 0
    rigid = kronbot.loads(ROBOTS["rigid"])
    for question in ("statics", "simulate"):
        rows = {"endpoint.x": [0.7, 0.9]} | ({"t": [0, 1]} if question == "simulate" else {})
        found = rigid.fit(rows, question=question, estimate=["L"])
        assert found["estimates"][0].tolist() == pytest.approx([0.5, 0.8])  # start and mean
    plan = "fit rigid.yaml --plan 2 --candidates poses.csv --estimate L --sigma position=1e-3"
    assert run(plan.split()) == 0
    assert run(["fit", "rigid.yaml", "--data", "swings.csv", "--question", "modes"]) == 2
    assert "; this robot has none to this question" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.usefixtures("files", "unsettled")
def test_pictures_of_robots_that_do_not_move():
    rigid = kronbot.loads(ROBOTS["rigid"])
    rigid.statics(forces=[[0, 1, 0], [0, 2, 0]]).plot("statics.png")
    rigid.simulate(duration=0.01).plot("motion.png")
    assert all(Path(name).read_bytes().startswith(b"\x89PNG") for name in ("statics.png", "motion.png"))


@pytest.mark.parametrize(
    ("ask", "told"),
    [
        (lambda r: r.plan({"beam.v1": 1}, duration=1), "the robot has no joint, hence nothing to plan"),
        (lambda r: r.plan({}, duration=1), "the robot has no joint, hence nothing to plan"),
        (lambda r: r.statics(tau={"q1": 1}), "tau is by joint, and the robot has no joint"),
        (lambda r: r.statics(tau={"beam.v1": 1}), "tau is by joint, and the robot has no joint"),
    ],
)
def test_what_is_by_joint_is_refused(ask, told):
    with pytest.raises(UsageError) as caught:
        ask(kronbot.loads(ROBOTS["clamped"]))
    assert str(caught.value) == told


def test_what_is_by_joint_lists_the_joints(capsys):
    assert run(["plan", "canadarm", "--to", "q7=1,q1=1", "--duration", "1"]) == 2
    assert capsys.readouterr().err == "Error: --to: no joint 'q7'; joints are q1, q2, q3\n"
    assert run(["plan", "canadarm", "--to", "uper.v1=1", "--duration", "1"]) == 2
    assert capsys.readouterr().err == "Error: --to: no joint 'uper.v1'; joints are q1, q2, q3\n"


def test_frames_are_listed_with_world(capsys):
    """Both names of the frame that does not move."""
    assert run(["statics", "khang", "--load", "Loeffel=0,1,0"]) == 2
    assert capsys.readouterr().err.endswith(", world, base\n")
