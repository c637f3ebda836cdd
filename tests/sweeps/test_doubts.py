"""Warnings of cases: a line a kind at the end, whoever computes them and however often the sweep was stopped."""

import json

import pytest
from sweeps.cheap import Cheap, swept
from sweeps.test_driver import Here
from sweeps.test_journal import chunk

import kronbot
from kronbot.cli.main import run
from kronbot.errors import Interrupted, KronbotError
from kronbot.questions.doubts import MOST, Doubt, Doubts, kind
from kronbot.sweeps.driver import Driver, in_order
from kronbot.sweeps.place import Place
from kronbot.sweeps.tally import Tally

OVER = {"EI": "0:8:9"}
TOLD = [
    "in 6 of 9 cases, first in case 4: EI is 3, much",
    "in 4 of 9 cases, first in case 6: EI passes 1.25",
]
ARM = """
kronbot: 1
name: arm
convention: standard
gravity: [0, -9.81, 0]
parameters: {m: 0.25, v: 0.1}
links:
  - name: upper
    joint: {type: revolute, name: q1, limits: [-1, 1], friction: {coulomb: 0.1, smoothing: 0.01}}
    dh: {a: 0.9, d: 0, alpha: 0, theta: 0}
    flexible: {mass: 0.3, EI: {z: 20}, modes: {v: 1}, shape: craig-bampton}
    payload: {mass: m, inertia: {Ixx: 0.1, Iyy: 0.1, Izz: v}}
motion: {q1: {type: cycloidal, from: 0, to: v, duration: 0.2}}
"""


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("q1 is beyond its limit of 1 rad by up to 0.2 rad", "q1 is beyond its limit of -3.5e-7 rad by up to inf rad"),
        ("3 of 4 cases: a beam bends", "12 of 40 cases: a beam bends"),
    ],
)
def test_numbers_make_no_kinds(one, other):
    assert kind(one) == kind(other)


def test_names_make_kinds():
    assert kind("q1 is near rest") != kind("q2 is near rest")
    assert kind("arm.v1 has no mass") != kind("arm.v2 has no mass")


def test_first_case_and_count_of_each_kind(swept_here):
    sweep = swept(Cheap(much=2), OVER)
    assert list(sweep.result().warnings) == TOLD
    assert list(swept(Cheap(), OVER).result().warnings) == []


def test_one_case_needs_no_count(swept_here):
    assert list(swept(Cheap(much=2), {"EI": "3"}).result().warnings) == ["in the one case: EI is 3, much"]
    assert list(swept(Cheap(much=7), OVER).result().warnings) == ["in case 9: EI is 8, much"]


def test_very_many_kinds_are_counted():
    doubts = Doubts()
    doubts.of_case(3, (f"joint{letter} is loose" for letter in map(chr, range(97, 97 + MOST + 5))))
    *told, last = doubts.told(7)
    assert len(told) == MOST and told[0] == "in case 3: jointa is loose"
    assert last == "cases have 5 more kinds of warnings"


@pytest.mark.parametrize("seed", range(4))
def test_chunks_and_their_order_do_not_matter(seed):
    task = swept(Cheap(much=2), OVER).task
    tally = Tally(task.kept)
    tally.begin()
    engine = Here(task, seed, lambda span, lost: span[1] - span[0] > 2)
    for done in in_order(Driver(task, engine).chunks()):
        tally.add(done)
    assert [*tally.doubts()] == TOLD


def test_a_sweep_that_goes_on_tells_those_of_before(tmp_path, swept_here, monkeypatch):
    place = Place.named(f"{tmp_path}/out.csv", resume=True)
    stopped = swept(Cheap(much=2), OVER, place=place)
    done, calls = type(stopped.task).done, []

    def ends(task, start, stop):
        calls.append(start)
        if len(calls) > 2:
            raise KeyboardInterrupt
        return done(task, start, stop)

    with monkeypatch.context() as patch:
        patch.setattr(type(stopped.task), "done", ends)
        with pytest.raises(KronbotError, match="resume goes on"):
            list(stopped.chunks())
    log = tmp_path / "log"
    gone_on = swept(Cheap(str(log), much=2), OVER, place=place)
    list(gone_on.chunks())
    assert len(log.read_text().splitlines()) < 9
    assert [*gone_on.tally.doubts()] == TOLD


@pytest.mark.parametrize("told", [b'{"a":1}', b'"a"', b"[[1,2,3]]", b'[["a",1]]', b"[" * 100_000, b"[1]", b"\xff"])
def test_warnings_that_are_none_are_told(tmp_path, told, swept_here):
    """Where somebody has made a sum for them."""
    sweep = swept(Cheap(), OVER, place=Place.named(f"{tmp_path}/out.csv", resume=True))
    rows = b"[3,2.0,4.0,3,null]\n"
    head, _, content = chunk(rows + told, 2, 3).partition(b"\n")
    head = head.replace(b'"bytes":%d,' % len(rows + told), b'"bytes":%d,"told":%d,' % (len(rows), len(told)))
    key = json.dumps(sweep.task.key).encode()[1:]
    (tmp_path / "out.csv.part").write_bytes(b'{"kronbot sweep": 1, ' + key + b"\n" + head + b"\n" + content)
    with pytest.raises(KronbotError, match="warnings of cases 3 to 3 are not as a sweep has written them"):
        list(sweep.chunks())


def test_warnings_of_every_question_arrive(tmp_path, capsys, swept_here):
    """Limits that a run passes, beams that bend far, friction at rest; of the file, what other values make wrong."""
    file = tmp_path / "arm.yaml"
    file.write_text(ARM)
    robot = kronbot.load(str(file))
    run_of = robot.sweep("simulate", over={"v": [0.1, 1.5, 0.2]}, duration=0.2, keep="end", solver="rodas")
    told = run_of.result().warnings
    assert any(each.startswith("in case 2: q1 is beyond its limit of 1 rad by up to") for each in told)
    assert any(each.startswith("in case 2: ") and "no body can have this inertia" in each for each in told)
    told = robot.sweep("statics", over={"m": "0.1:2:4", "order": [1, "exact"]}, keep="endpoint.y").result().warnings
    assert [each.partition(", which orders 1 and 2 are not made for")[0][:44] for each in told] == [
        "in 3 of 8 cases, first in case 3: a beam bend"[:44]
    ]
    assert run(["sweep", "linearize", str(file), "--over", "m=1,2", "--keep", "verdict", "--format", "csv"]) == 0
    assert "warning: in 2 of 2 cases, first in case 1: q1 is near rest" in capsys.readouterr().err
    assert run(["sweep", "linearize", str(file), "--over", "m=1,2", "--keep", "verdict", "--quiet"]) == 0
    assert "near rest" not in capsys.readouterr().err


def test_warnings_of_the_file_as_it_is_are_told_once(tmp_path, capsys, swept_here):
    file = tmp_path / "arm.yaml"
    file.write_text(ARM.replace("v: 0.1", "v: 0.9"))
    assert run(["sweep", "check", str(file), "--over", "m=1,2", "--keep", "total_mass"]) == 0
    assert capsys.readouterr().err.count("warning: ") == 1


def test_doubts_are_plain_on_their_way():
    """What a joint's warning knows besides its words stays where it was."""
    doubts = Doubts()
    doubts.of_case(1, [type("Told", (str,), {})("q1 is far")])
    (found,) = doubts.kinds.values()
    assert found == Doubt("q1 is far", 1, 1) and type(found.text) is str


def test_a_sweep_without_a_file_says_how_far_it_came(swept_here, monkeypatch):
    """And what would have kept it."""
    stopped = swept(Cheap(much=2), OVER)
    done = type(stopped.task).done
    for first, told in ((0, "before the first case$"), (1, "after 1 of 9 cases; with output what is computed is kept")):

        def ends(task, start, stop, first=first):
            if start >= first:
                raise KeyboardInterrupt
            return done(task, start, stop)

        monkeypatch.setattr(type(stopped.task), "done", ends)
        with pytest.raises(Interrupted, match=f"^interrupted {told}"):
            list(stopped.chunks())
