"""The library called with what it does not take: every argument of everything public, by plan and by chance."""

import copy
import math
import pickle
import random
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
from fuzzing import abuse
from thinned import rare, thinned

import kronbot
from kronbot.description.wording import Entries
from kronbot.errors import KronbotError, UsageError
from kronbot.library import arguments, designing, fit
from kronbot.mechanics.motion.integration import Tolerances
from kronbot.questions import judgement


@pytest.fixture(scope="module")
def caller(tmp_path_factory):
    return abuse.Caller(tmp_path_factory.mktemp("urdf"))


@pytest.fixture(autouse=True)
def _impatient(monkeypatch):
    """What never ends is given up after fewer entries than elsewhere, and plans are judged by less than there."""
    monkeypatch.setattr(arguments, "ENTRY_LIMIT", 1000)
    monkeypatch.setattr(judgement, "FINE", Tolerances(1e-7, 1e-9))


def test_the_plan_is_complete():
    """No public function and no argument without a call that is right: a new one fails here."""
    assert {name: list(arguments) for name, arguments in abuse.CALLS.items()} == dict(abuse.surface())


SLOW = {"Robot.plan", "Robot.fit", "Robot.design", "Robot.statics", "Symbolic.dynamics", "Symbolic.linearize"}
SLOW |= {"Result.plot", "Result.to_xarray", "Sweep.result", "Sweep.plot", "Robot.linearize_along"}


@pytest.mark.usefixtures("swept_here")
@pytest.mark.parametrize("name", thinned(list(abuse.CALLS), abuse.CALLS.keys() - SLOW))
def test_every_argument_is_looked_at(caller, name):
    """The call is right, and with any argument replaced by what it does not take it is refused in words."""
    right = caller.arguments(name)
    assert abuse.is_answer(caller.call(name, right))
    for argument in right:
        for what, make in abuse.HOSTILE.items():
            if what in abuse.RIGHT.get(argument, ()):
                continue
            with pytest.raises(KronbotError) as refused:
                pytest.fail(f"{argument}: {what} gives {type(caller.call(name, {**right, argument: make()}))}")
            words = str(refused.value)
            assert 0 < len(words) < 2000, (argument, what)
            assert words.isprintable() or name in ("loads", "Robot.with_motion"), (argument, what)
            assert "0x" not in words, (argument, what)
            assert "--" not in words, (argument, what)
            assert str(pickle.loads(pickle.dumps(refused.value))) == words


@pytest.mark.usefixtures("swept_here")
@pytest.mark.parametrize("kinds", [list(abuse.HOSTILE)[::9], rare(list(abuse.HOSTILE))])
def test_every_entry_is_looked_at(caller, kinds):
    """Entries of lists and mappings are met by what does not take them, too."""
    for name in abuse.CALLS:
        right = caller.arguments(name)
        for argument in right.keys() - {"options"}:  # of which a case replaces the first
            for put in abuse.within(right[argument]):
                for what in kinds:
                    if what in abuse.RIGHT_WITHIN.get(argument, ()):
                        continue
                    given = {**right, argument: put(abuse.HOSTILE[what]())}
                    with pytest.raises(KronbotError) as refused:
                        pytest.fail(f"{argument}: {what} gives {type(caller.call(name, given))}")
                    assert str(refused.value).replace("\n", "").isprintable(), (name, argument, what)


def test_poles_are_numbers(caller):
    """No switch, nothing masked, no array, nothing infinite; complex numbers of every kind, and texts."""
    nones = [True, np.False_, np.ma.masked, np.timedelta64(1, "s"), np.array([-1.0]), abuse.Name("x"), None]
    for none in (*nones, math.nan, complex(1, math.inf), np.clongdouble(1e300) ** 5):
        with pytest.raises(UsageError, match="poles"):
            caller.robot.design(poles=[none, -2, -3, -4])
    for half in (0.5 - 1j, np.complex64(0.5 + 1j), np.clongdouble(0.5 + 1j), abuse.Complex(0.5 + 1j), "0.5 + 1i"):
        assert designing.wish({}, False, [half], None, None, None, None, None).poles == [0.5 + 1j]


def test_columns_are_looked_at_under_their_masks(caller):
    """What a mask hides is met as all else; then nothing was measured there."""
    robot, column = caller.robot, np.ma.array([0.1, math.inf, 0.3], mask=[False, True, False]).view(abuse.Masked)
    found = fit.table({"theta": column}, "data").numbers(["theta"])["theta"]
    assert np.array_equal(found, [0.1, math.nan, 0.3], equal_nan=True)
    asked = {"question": "statics", "estimate": "EI"}
    fitted = {"q1": [0, 0.3], "q2": [0.1, 0.2], "endpoint.y": [-0.04, 0.38]}
    for call in (
        lambda hostile: robot.fit({**fitted, **hostile}, **asked),
        lambda hostile: robot.fit(fitted, validate={**fitted, **hostile}, **asked),
        lambda hostile: robot.fit(None, plan=1, candidates={**fitted, **hostile}, **asked),
        lambda hostile: robot.plan(follow={"t": [0, 1], **hostile}),
        lambda hostile: robot.plan({"q1": 0.1}, duration=1, through={"t": [0.2, 0.5], **hostile}),
    ):
        for what in (each for each in abuse.HOSTILE if "masked" in each and each != "masked array"):
            with pytest.raises(UsageError, match="q1: .* (is not a number|is wanted|cannot be used)"):
                call({"q1": abuse.HOSTILE[what]()})


@pytest.mark.parametrize("kinds", [list(abuse.HALVES)[::6], rare(list(abuse.HALVES)[1::2])])
def test_numbers_of_every_kind_are_one_number(kinds):
    """Fractions, decimals, long doubles, expressions: the same answer as the float, to the last bit."""

    ask = abuse.robot()

    def answers(half):
        return [
            ask.jacobian({"q1": half()}),
            ask.jacobian([half(), 0]),
            ask.jacobian({"q1": [half(), 0.25], "q2": 0.0}),
            ask.linearize(force=[half(), 0, 0], tau=[half(), 0]),
            ask.statics(angles={"q1": [half()]}, forces=[[0, half(), 0]], loads={"fore": [0, half(), 0]}),
            ask.simulate(half(), 0.25, rtol=1e-3, qd={"q1": half()}),
            kronbot.loads(abuse.TEXT, parameters={"EI": half()}).check(),
        ]

    plain = [answer.to_dict() for answer in answers(lambda: 0.5)]
    for what in kinds:
        assert [answer.to_dict() for answer in answers(abuse.HALVES[what])] == plain, what


def test_what_is_masked_is_nowhere_taken_for_its_value(caller):
    robot = kronbot.load("khang")
    for call in (
        lambda masked: robot.sweep("check", cases={"l": masked}, workers=1),
        lambda masked: robot.sweep("check", over={"l": masked}, workers=1),
        lambda masked: robot.kinematics(inverse=masked),
        lambda masked: robot.statics(forces=masked),
    ):
        with pytest.raises(UsageError, match="masked entries have no value"):
            call(np.ma.masked_array([1.0, 999.0, 2.0], mask=[False, True, False]))


@pytest.mark.parametrize("shape", [30_000_000, (3, 10_000_000), (10_000_000, 3)], ids=str)
def test_what_is_too_long_is_refused_before_it_is_copied(caller, shape):
    """An array that takes a word of memory however many entries it has."""
    robot, many = kronbot.load("khang"), np.broadcast_to(0.0, shape)
    for call in (
        lambda: robot.jacobian(q=many),
        lambda: robot.modes(qd=many),
        lambda: robot.linearize(tau=many),
        lambda: robot.statics(forces=many),
        lambda: robot.statics(loads={"arm": many}),
        lambda: robot.kinematics(inverse=many),
        lambda: robot.sweep("modes", over={"qa": many}),
    ):
        tracemalloc.start()
        with pytest.raises(UsageError):
            call()
        assert tracemalloc.get_traced_memory()[1] < 4e6
        tracemalloc.stop()


@pytest.mark.parametrize("kind", ["f8", "f4", "i8", "O", "U3", "?"])
def test_columns_that_are_too_long_are_refused_before_they_are_copied(caller, kind):
    robot, many = caller.robot, np.broadcast_to(np.array(0.1).astype(kind), arguments.NUMBER_LIMIT + 1)
    fitted = {"q1": [0, 0.3], "q2": [0.1, 0.2], "endpoint.y": [-0.04, 0.38]}
    asked = {"question": "statics", "estimate": "EI"}
    for call in (
        lambda: robot.jacobian(q={"q1": many}),
        lambda: robot.sweep("modes", cases={"q1": many}),
        lambda: robot.sweep("modes", over={"q1": many}),
        lambda: robot.statics(angles={"q1": many}),
        lambda: robot.fit(dict.fromkeys(fitted, many), **asked),
        lambda: robot.fit(fitted, validate={"q1": many}, **asked),
        lambda: robot.fit(None, plan=2, candidates={"q1": many}, **asked),
        lambda: robot.plan(follow={"t": many, "endpoint.x": many}),
        lambda: robot.plan({"q1": 0.1}, duration=1, through={"q1": many}),
        lambda: robot.kinematics(inverse={"x": many}),
        lambda: robot.complexity("inverse", links=many),
    ):
        tracemalloc.start()
        with pytest.raises(UsageError):
            call()
        assert tracemalloc.get_traced_memory()[1] < 4e7  # modules that are imported, no copies
        tracemalloc.stop()


def test_rows_that_are_one_row_are_counted_before_they_are_copied(caller):
    """Lists of what takes no memory: of arrays that repeat one number, and of one list."""
    robot, row = caller.robot, [0.1] * 1000
    wide, rows = np.broadcast_to(0.1, (10**7, 10**7)), [[row] * 1000] * 1000
    arrays = [np.broadcast_to(0.1, arguments.NUMBER_LIMIT // 2)] * 3
    for call in (
        lambda: robot.fit({"q1": arrays}, question="statics"),
        lambda: robot.fit({"q1": [wide, 0.1]}, question="statics"),
        lambda: robot.jacobian(q=arrays),
        lambda: robot.sweep("modes", over={"q1": wide}),
        lambda: robot.sweep("modes", over={"q1": rows}),
        lambda: robot.sweep("modes", cases={"q1": [wide]}),
        lambda: robot.sweep("modes", cases={"q1": rows}),
        lambda: robot.sweep("modes", q={"q1": rows}, cases={"q2": [1]}),
        lambda: robot.linearize(lock=wide),
    ):
        tracemalloc.start()
        with pytest.raises(UsageError, match="more than"):
            call()
        assert tracemalloc.get_traced_memory()[1] < 4e6
        tracemalloc.stop()


@pytest.mark.parametrize("none", [[], (), np.array([])])
def test_poses_of_no_frame_are_refused(caller, none):
    for ask in (caller.robot, caller.robot.symbolic()):
        with pytest.raises(UsageError, match="frame: name one at least"):
            ask.kinematics(frame=none)


def test_names_of_hostile_classes_are_text(caller):
    """A class between may not compare, hash or write itself; the text that it holds is what counts."""
    ask, name = caller.robot, abuse.Name
    answer = ask.jacobian({"q1": 0.1}, frame=name("fore"), axes=name("body"))
    assert np.array_equal(answer[name("J_T")], ask.jacobian({"q1": 0.1}, frame="fore", axes="body")["J_T"])
    assert name("J_T") in answer
    assert ask.linearize(lock=[name("q1")])["M_L"].shape == (2, 2)
    assert kronbot.loads(name(abuse.TEXT), order=name("0"), parameters={"EI": name("5")}).coordinates == ("q1", "q2")


def test_answers_are_asked_by_name(caller):
    """Whatever a key is."""
    answer = caller.robot.check()
    for make in abuse.HOSTILE.values():
        assert make() not in answer
        with pytest.raises(UsageError):
            answer[make()]


DEADLY = """
import sys
import numpy as np
sys.path.insert(0, {tests!r})
from fuzzing import abuse
from kronbot.errors import KronbotError
from kronbot.library import arguments
arguments.ENTRY_LIMIT = 1000
robot = abuse.robot()
for solver in ("cvodes", "rodas", "dop853", "radau"):
    for tolerance in (np.longdouble("1e-6"), np.float16(1e-3)):
        robot.simulate(0.02, 0.01, solver=solver, rtol=tolerance, atol=tolerance)
    for make in abuse.HOSTILE.values():
        try:
            robot.simulate(0.02, 0.01, solver=solver, rtol=make())
        except KronbotError:
            continue
        raise SystemExit("taken")
"""


@pytest.mark.slow
def test_nothing_of_a_caller_reaches_an_integrator():
    """A long double for a tolerance ended the process: in one of its own, with every solver."""
    script = DEADLY.format(tests=str(abuse.__file__).rsplit("/", 2)[0])
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_arguments_stay_as_they_are_and_answers_too(caller):
    """Nothing is written into what a caller hands over, and nothing read from it later."""
    q, rows = np.array([0.1, 0.2]), np.array([[0.1, 0.2], [0.3, 0.4]])
    columns, names, settings = {"q1": np.array([0.1, 0.2])}, ["q1"], {"EI": 5}
    forces, angles = [[0, 1, 0], [0.0, 2, 0]], {"q1": [0.1, 0.2]}
    given = [q, rows, columns, names, settings, forces, angles]
    before = copy.deepcopy(given)
    ask = kronbot.loads(abuse.TEXT, order="0", parameters=settings)

    def answers(robot):
        return [
            robot.jacobian(q), robot.jacobian(rows), robot.hessian(columns), robot.dynamics(rows, rows),
            robot.taylor(q=q, delta=q), robot.linearize(q, lock=names, inputs=["force"]),
            robot.statics(angles=angles, forces=forces), robot.simulate(0.02, 0.01, q=q), robot.check(),
        ]  # fmt: skip

    made = answers(ask)
    bytes_of = [pickle.dumps(answer) for answer in made]
    assert repr(given) == repr(before)
    for values in (q, rows, columns["q1"]):
        values[:] = 7
    names[:], forces[0][:], angles["q1"][:] = ["q2"], [9, 9, 9], [9, 9]
    settings["EI"] = 1
    assert [pickle.dumps(answer) for answer in made] == bytes_of
    q, rows, columns, names, settings, forces, angles = before
    assert [pickle.dumps(answer) for answer in answers(ask.at_order("0"))] == bytes_of


def emptied(value):
    """Clear all that is in a value of JSON."""
    for each in value.values() if isinstance(value, dict) else value:
        if isinstance(each, dict | list):
            emptied(each)
    value.clear()


@pytest.mark.parametrize("question", ["check", "jacobian", "modes", "linearize", "statics", "dynamics", "simulate"])
def test_what_leaves_an_answer_is_a_copy(caller, question):
    """Whoever changes it changes nothing of the answer, whose own parts refuse to be changed."""
    answer = getattr(caller.robot, question)()
    before = answer.to_dict()
    emptied(answer.to_dict())
    table = [answer.to_pandas()] if answer.series else []
    for view in (answer.to_xarray(), *(array.to_xarray() for array in answer.arrays.values()), *table):
        for variable in getattr(view, "variables", {}).values():
            emptied(variable.attrs)
        emptied(view.attrs)
    for array in answer.arrays.values():
        emptied(array.to_dict())
        for part in (array.rows, array.columns, array.axis, array.units):
            assert isinstance(part, tuple | str | Entries | None), part
    assert isinstance(answer.warnings, tuple)
    assert answer.to_dict() == before
    assert pickle.loads(pickle.dumps(answer)).to_dict() == copy.deepcopy(answer).to_dict() == before


def by_chance(caller, seed, count):
    """So many calls with some arguments by chance; whatever is raised is a KronbotError."""
    chance = random.Random(seed)
    names = [name for name, arguments in abuse.CALLS.items() if arguments]
    for number in range(count):
        name = chance.choice(names)
        arguments = dict(caller.arguments(name))
        for argument in chance.sample(list(arguments), min(len(arguments), chance.choice([1, 1, 2, 3]))):
            arguments[argument] = abuse.by_chance(chance)
        try:
            answer = caller.call(name, arguments)
        except KronbotError:
            continue
        except Exception as error:
            if any(arguments.get("progress") is watcher for watcher in (abuse.fails, dict)):
                continue  # what a caller's own function raises is the caller's
            raise AssertionError(f"seed {seed}, call {number}: {name}({list(arguments)})") from error
        assert abuse.is_answer(answer), (seed, number, name)


def test_calls_by_chance(caller):
    by_chance(caller, 0, 50)


@pytest.mark.slow
def test_many_calls_by_chance(caller, unpaid):
    by_chance(caller, 2, 200)
