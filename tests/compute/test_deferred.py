"""Parts of answers that are computed when somebody looks at them."""

import pickle
from threading import Thread

import numpy as np
import pytest
from thinned import rare

import kronbot
from kronbot.compute.arrays import NamedArray, held_values
from kronbot.compute.deferred import Deferred, later
from kronbot.errors import ComputationError
from kronbot.questions.result import Result


def answer(compute):
    """One with an array that is computed later."""
    return Result("c", "r", "1", arrays={"a": later("a", compute, ["x", "y"], "m")})


def test_an_array_is_computed_once_and_read_only():
    calls = []

    def compute():
        calls.append(1)
        return np.array([1.0, 2.0])

    held = answer(compute)
    array = held.arrays["a"]
    assert list(held) == ["a"] and held_values(array) is None and not calls
    assert array.rows == ("x", "y") and "values" not in vars(array)
    assert held["a"].tolist() == [1, 2] and held_values(array) is not None and held.settled() is held
    assert array.values.base is array.values.base and calls == [1]
    with pytest.raises(ValueError, match="read-only"):
        array.values[0] = 3.0
    with pytest.raises(AttributeError, match="nothing"):
        _ = array.nothing
    plain = Result("c", "r", "1", arrays={"a": NamedArray(np.array([1.0, 2.0]), ["x", "y"], "m")})
    other = answer(compute)
    again = pickle.loads(pickle.dumps(other))
    assert again == other == held == plain and hash(again) == hash(plain) and again.to_dict() == plain.to_dict()


def test_threads_get_the_same_array():
    array, found = answer(lambda: np.zeros(2)).arrays["a"], []
    threads = [Thread(target=lambda: found.append(array.values)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8 and all(each.base is found[0].base for each in found)


def test_what_has_no_answer_says_so_when_it_is_asked_for():
    def singular():
        return np.linalg.inv(np.zeros((2, 2)))

    for held, why in (
        (answer(singular), "there is no answer"),
        (answer(lambda: np.array([1e200]) ** 2), "a is not fin"),
    ):
        for _ in range(2):
            with pytest.raises(ComputationError, match=why):
                held.settled()
    held = Result("c", "r", "1", summary=Deferred(lambda: {"b": float(singular()[0, 0])}))
    with pytest.raises(ComputationError, match="there is no answer"):
        _ = held.summary["b"]


@pytest.mark.parametrize(
    "ask",
    [
        rare(lambda robot, q: robot.dynamics(q)),
        lambda robot, q: robot.dynamics(q, qd=[0.2]),
        rare(lambda robot, q: robot.linearize(q)),
        lambda robot, q: robot.linearize(q, qd=[0.2]),
        rare(lambda robot, q: robot.modes(q)),
        lambda robot, q: robot.statics(q, forces=[[0.1, -0.2, 0.3]]),
    ],
)
def test_questions_between_an_answer_and_a_look_at_it_change_nothing(ask):
    robot = kronbot.load("khang")
    now, then = ask(robot, [0.1]).settled(), ask(robot, [0.1])
    assert any(held_values(array) is None for array in then.arrays.values())
    ask(robot, [0.3]).settled()
    assert then == now and list(then.summary.items()) == list(now.summary.items())
