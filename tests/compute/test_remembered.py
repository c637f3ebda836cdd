"""Robots that were asked before: the same answers, nothing traced anew, nothing trusted that others could have put."""

import os
import pickle
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from thinned import rare

import kronbot
from kronbot import description
from kronbot.compute import remembered
from kronbot.compute.native import policy
from kronbot.compute.native.cache import Cache
from kronbot.compute.remembered import Memory
from kronbot.description import Source
from kronbot.library.robot import Robot
from kronbot.model.structure import Structure

ARM = """
kronbot: 1
name: arm
convention: standard
gravity: [0, -9.81, 0]
parameters: {mass: 0.4, turn: 0.3, EI: 20}
links:
  - name: upper
    joint: {type: revolute, name: q1, limits: [-3, 3]}
    dh: {a: 0.9, d: 0, alpha: turn, theta: 0}
    flexible: {mass: mass, EI: {y: EI, z: EI}, modes: {v: 1, w: 1}, shape: craig-bampton}
    payload: {mass: 0.2, com: [0, 0.1, 0]}
  - name: fore
    joint: {type: prismatic, name: q2}
    dh: {a: 0, d: 0, alpha: pi/2, theta: 0}
    rigid: {mass: 0.3}
motion:
  q1: {type: cycloidal, from: 0, to: 0.2, duration: 0.05, shaper: {type: zv, frequency: 200}}
  q2: {type: sinusoid, amplitude: 0.01, frequency: 20}
simulate: {duration: 0.05, step: 0.01}
"""
AFLOAT = str(Path(__file__).parents[1] / "data" / "afloat.yaml")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """An empty cache of the test's own, used as by default."""
    monkeypatch.setenv("KRONBOT_CACHE", str(tmp_path / "cache"))
    with policy.native("auto"):
        yield tmp_path / "cache"


def source(text=ARM):
    return Source("arm.yaml", text, None)


def answers(robot):
    """To questions of every kind, as a file would have them."""
    return [
        robot.jacobian(q=[0.1, 0.2], qd=[1, 2], frame="com:upper").to_dict(),
        robot.statics(q=[0.1, 0.2]).to_dict(),
        robot.modes().to_dict(),
        robot.linearize().to_dict(),
        robot.simulate(solver="rodas", rtol=1e-3).to_dict(),
        robot.simulate(rtol=1e-5, outputs="joints,velocity:endpoint").to_dict(),
    ]


def learnt(text=ARM, ask=lambda robot: robot.jacobian(), settings=(), order="1"):
    """What a process leaves that builds a robot and asks it; its answer."""
    memory, given = Memory(begun=True), dict(settings)
    model = memory.built(description.load(source(text), given), given, order)
    found = ask(Robot(model))
    memory.keep()
    return found


def recalled(text=ARM, settings=(), order="1"):
    return Memory(begun=True).recall(source(text), dict(settings), order)


def entry(folder):
    """That which is found by the text."""
    key, _ = next(remembered._keys(source(), {}, "1"))
    return folder / f"{key}.robot"


def test_answers_are_the_same_and_nothing_is_traced():
    """Of a robot that was asked everything before."""
    wanted = learnt(ask=answers)
    known = Robot(recalled())
    made = Structure.made
    assert answers(known) == wanted
    assert Structure.made == made


@pytest.mark.slow
def test_answers_with_other_values_are_those_of_a_fresh_robot():
    """Than it was asked everything with."""
    learnt(ask=answers)
    other = Robot(recalled()).with_parameters(EI=30, mass=0.5)
    fresh = kronbot.loads(ARM, parameters={"EI": 30, "mass": 0.5}, order="1")
    assert answers(other) == answers(fresh)


@pytest.mark.parametrize(
    ("name", "solver"),
    [rare(AFLOAT, "rodas"), rare("spatial", "dop853")],
)
def test_shipped_robots(name, solver, folder):
    """Beams of every shape, floating bases, elements, loops: what was traced of them is the same."""
    text = description.read(name).text
    ask = [
        lambda robot: robot.simulate(duration=0.01, solver=solver).to_dict(),
        lambda robot: robot.modes().to_dict(),
    ]
    wanted = learnt(text, lambda robot: [each(robot) for each in ask], order="0")
    known, made = Robot(recalled(text, order="0")), Structure.made
    assert [each(known) for each in ask] == wanted
    assert Structure.made == made


@pytest.mark.slow
def test_order_exact():
    """Rods are traced by functions within others."""
    wanted = learnt(order="exact", ask=lambda robot: robot.simulate(duration=0.01, solver="rodas", rtol=1e-2).to_dict())
    known, made = Robot(recalled(order="exact")), Structure.made
    assert known.simulate(duration=0.01, solver="rodas", rtol=1e-2).to_dict() == wanted
    assert Structure.made == made


def test_what_is_known_grows(folder):
    """Process by process; who asks nothing new writes nothing."""
    learnt()
    before = entry(folder).stat().st_mtime_ns, entry(folder).stat().st_size
    memory = Memory(begun=True)
    known = Robot(memory.recall(source(), {}, "1"))
    known.jacobian()
    memory.keep()
    os.utime(entry(folder), ns=(before[0], before[0]))
    assert (entry(folder).stat().st_mtime_ns, entry(folder).stat().st_size) == before
    wanted = known.modes().to_dict()
    memory.keep()
    made = Structure.made
    assert Robot(recalled()).modes().to_dict() == wanted
    assert Structure.made == made


def test_other_robots_orders_versions_and_policies_are_not_met(monkeypatch):
    learnt()
    assert recalled() is not None
    assert recalled(ARM.replace("0.4", "0.5")) is None
    assert recalled(order="2") is None
    assert Memory().recall(source(), {}, "1") is None  # the library
    with policy.native("off"):
        assert recalled() is None
    for name in ("__version__", "SETTINGS"):
        with monkeypatch.context() as changed:
            remembered._versions.cache_clear()
            changed.setattr(remembered, name, ("PATH",) if name == "SETTINGS" else "0.0.1")
            assert recalled() is None
        remembered._versions.cache_clear()
    with monkeypatch.context() as changed:
        stamp = remembered._stamp
        changed.setattr(remembered, "_stamp", lambda found: (stamp(found)[0] + 1, stamp(found)[1]))
        remembered._versions.cache_clear()
        assert recalled() is None  # a module was edited
    remembered._versions.cache_clear()
    assert recalled() is not None


SLIDER = """
kronbot: 1
name: slider
convention: standard
gravity: [0, -9.81, 0]
links:
  - {name: a, joint: {type: prismatic, name: q1}, dh: {a: 0.9, d: 0, alpha: 0, theta: 0}, rigid: {mass: 0.4}}
motion: {q1: {type: cycloidal, from: 0, to: 0.2, duration: 0.05}}
"""


def test_what_was_compiled_is_left_where_it_is():
    """Robots that were asked with native code in any case are known to the next process, which loads it again."""

    def ask(robot):
        return [robot.jacobian(q=[0.1]).to_dict(), robot.jacobian(q=[[0.1], [0.2]]).to_dict()]

    with policy.native("on"):
        wanted = learnt(SLIDER, ask)
        known, made = Robot(recalled(SLIDER)), Structure.made
        assert ask(known) == wanted
    assert Structure.made == made


def test_other_values():
    """A robot that is known by the values of its file gets those of --set, and shares what was traced where it can."""
    learnt()
    for settings in ({"EI": "35"}, {"turn": "pi/2"}):
        known = recalled(settings=settings)
        fresh = kronbot.loads(ARM, parameters=settings, order="1")
        assert dict(known.description.values) == dict(fresh.description.values)
        assert Robot(known).modes().to_dict() == fresh.modes().to_dict()
    wrong = Memory(begun=True)
    with pytest.raises(kronbot.errors.UsageError, match="unknown parameter"):
        wrong.recall(source(), {"EJ": "1"}, "1")
    learnt(settings={"EI": "40"})
    assert recalled(settings={"EI": "40"}).description.overrides == {"EI": "40"}


@pytest.mark.slow
def test_files_that_differ_in_values_alone():
    """Of parameters, and in comments and layout: what was traced of one serves the other; other numbers do not."""

    def few(robot):
        return [robot.modes().to_dict(), robot.simulate(solver="rodas", rtol=1e-3).to_dict()]

    learnt(ask=few)
    made = Structure.made
    memory = Memory(begun=True)
    for old, new, same in (("mass: 0.4", "mass: 0.6", True), ("name: arm\n", "name: arm  # mine\n\n", True),
                           ("payload: {mass: 0.2", "payload: {mass: 0.21", False)):  # fmt: skip
        text = ARM.replace(old, new)
        assert memory.recall(source(text), {}, "1") is None
        other = Robot(memory.built(description.load(source(text), {}), {}, "1"))
        assert other.description.source.text == text
        found = few(other)
        assert (Structure.made == made) == same
        assert found == few(kronbot.loads(text, order="1"))
        made = Structure.made


def test_robots_with_tables_are_built_anew(tmp_path, folder):
    """Their files may change, and say so by nothing in the robot's."""
    (tmp_path / "q.csv").write_text("t,q\n0,0\n1,0\n2,0.1\n3,0.1\n")
    text = ARM.replace("{type: sinusoid, amplitude: 0.01, frequency: 20}", "{type: table, file: q.csv}")
    place = Source("arm.yaml", text, tmp_path)
    memory = Memory(begun=True)
    memory.built(description.load(place, {}), {}, "1")
    memory.keep()
    assert not folder.exists()


def forged(content):
    """An entry of such content with the right digest, in the place of what was learnt."""
    key, _ = next(remembered._keys(source(), {}, "1"))
    with Cache(remembered_folder()) as cache, cache.turn(key, 1), cache.build_folder(key) as place:
        cache.store(key, content, place, "robot")


def remembered_folder():
    from kronbot.compute.native.cache import folder

    return folder()


class Call:
    """Pickled, a program."""

    def __reduce__(self):
        return os.mkdir, (os.path.join(os.environ["KRONBOT_CACHE"], "was-run"),)


def test_what_is_not_what_was_stored_is_as_if_there_was_none(folder):
    """Cut, changed, without its digest; of another kind; a program in a pickle is not run."""
    learnt()
    whole = entry(folder).read_bytes()
    for content in (
        b"",
        whole[:-1],
        whole[:1000],
        whole[:5000] + bytes([whole[5000] ^ 1]) + whole[5001:],
        whole + b"\0",
    ):
        entry(folder).write_bytes(content)
        assert recalled() is None
    entry(folder).write_bytes(whole)
    assert recalled() is not None
    entry(folder).with_suffix(".sha256").unlink()
    assert recalled() is None
    tree, expressions, *functions = remembered._parts(whole)
    for parts in (
        *([], [b""], [b"", b""], [tree], [tree, b"", *functions], [tree, expressions], [tree, *functions]),
        *([pickle.dumps(each), expressions, *functions] for each in (None, Call(), [1] * 5)),
        *([tree[:100], expressions, *functions], [tree, expressions[:1000], *functions]),
    ):
        forged(remembered._joined(parts))
        assert recalled() is None
    for content in (b"", b"\x80", b"1 2\n", b"-1 1\n", b"x\n", whole[:5000]):
        forged(content)
        assert recalled() is None
    assert not (folder / "was-run").exists()


@pytest.mark.slow
def test_no_entry_takes_the_place_of_another(folder):
    """Whole files of one robot, digests and all, under the names of another."""
    learnt(SLIDER)
    others = sorted(folder.glob("*.robot"))

    def ask(robot):
        return robot.modes().to_dict()

    wanted = learnt(ask=ask)
    for file in set(folder.glob("*.robot")) - {*others}:
        for suffix in (".robot", ".sha256"):
            file.with_suffix(suffix).write_bytes(others[0].with_suffix(suffix).read_bytes())
    assert recalled() is None
    assert learnt(ask=ask) == wanted


def test_places_that_others_could_write_are_not_read(folder, tmp_path):
    """A folder open to a group, a file open to all, one with two names, a link; elsewhere nothing is kept either."""
    learnt()
    file = entry(folder)
    folder.chmod(0o770)
    assert recalled() is None
    size = file.stat().st_size
    learnt(ask=lambda robot: robot.modes())
    assert file.stat().st_size == size
    folder.chmod(0o700)
    file.chmod(0o666)
    assert recalled() is None
    file.chmod(0o600)
    os.link(file, tmp_path / "second")
    assert recalled() is None
    (tmp_path / "second").rename(tmp_path / "moved")
    file.unlink()
    file.symlink_to(tmp_path / "moved")
    assert recalled() is None
    file.unlink()
    (tmp_path / "moved").rename(file)
    assert recalled() is not None


def test_a_file_of_another_user_is_not_read(folder):
    learnt()
    try:
        os.chown(entry(folder), 12345, -1)
    except PermissionError:
        pytest.skip("only root gives files away")
    assert recalled() is None


def test_what_is_checked_is_what_is_read(folder, monkeypatch):
    """Whoever exchanges the file after the check finds that its bytes are there already."""
    learnt()
    content = Cache.content

    def exchanged(self, key, suffix):
        found = content(self, key, suffix)
        entry(folder).write_bytes(b"something else")
        return found

    monkeypatch.setattr(Cache, "content", exchanged)
    assert Robot(recalled()).coordinates[0] == "q1"


def test_no_place_to_keep_it(tmp_path, monkeypatch):
    """No folder, a file in its place: answers are there all the same."""
    (tmp_path / "file").write_text("")
    for place in ("file", "file/cache"):
        monkeypatch.setenv("KRONBOT_CACHE", str(tmp_path / place))
        learnt()
        assert recalled() is None
    assert (tmp_path / "file").read_text() == ""


def test_many_at_once(folder):
    """Writers take turns, or leave it to the others; what is there is whole."""
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda _: learnt(), range(8)))
        assert all(each is not None for each in threads.map(lambda _: recalled(), range(8)))
    assert not list(folder.glob("build-*"))
    entry(folder).unlink()
    key, _ = next(remembered._keys(source(), {}, "1"))
    with Cache(folder) as cache, cache.turn(key, 1):
        learnt()
    assert recalled() is None


def test_too_large_robots_are_not_kept(folder, monkeypatch):
    monkeypatch.setattr(remembered, "MOST_NODES", 10)
    learnt()
    assert not folder.exists()


ASKED = """
import sys, time
from kronbot.system.platform import host

def rename(folder, name, other, done=host.Folder.rename):
    done(folder, name, other)
    print("keeping", file=sys.stderr, flush=True)
    time.sleep(60)

host.Folder.rename = rename
sys.argv = ["kronbot", "jacobian", "stacker-numeric"]
from kronbot.__main__ import main
main()
"""


@pytest.mark.parametrize("number", [signal.SIGINT, rare(signal.SIGTERM)])
def test_who_interrupts_what_comes_after_the_answer_has_it(number, folder):
    """Nothing was missed, so that nothing is told; nor is anything left of a robot that is half kept."""
    process = subprocess.Popen([sys.executable, "-c", ASKED], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stderr.readline() == "keeping\n"
    process.send_signal(number)
    answer, told = process.communicate()
    assert (process.returncode, told) == (0, "")
    assert "J_T" in answer
    assert not [*folder.iterdir()]


@pytest.mark.slow
def test_the_command_line_has_the_same_bytes_first_and_second(folder, tmp_path):
    """Whatever it does with them: a table, an array, a file, warnings on the way."""
    (tmp_path / "arm.yaml").write_text(ARM)

    def run(*more):
        command = [sys.executable, "-m", "kronbot", "simulate", str(tmp_path / "arm.yaml"), "--solver", "rodas"]
        done = subprocess.run([*command, "--q", "q2=7", *more], capture_output=True, check=True)
        return done.stdout, done.stderr

    without = run("--native", "off")
    assert not folder.exists()
    assert run() == without
    stored = {path: path.read_bytes() for path in folder.glob("*.robot")}
    assert len(stored) == 2
    assert run() == without
    assert {path: path.read_bytes() for path in folder.glob("*.robot")} == stored
