"""Robots and errors in many threads, in other processes, in containers."""

import copy
import pickle
import threading
from pathlib import Path

import numpy as np
import pytest

import kronbot
from kronbot.cli.main import run
from kronbot.description import limits
from kronbot.errors import (
    ComputationError,
    DescriptionError,
    FreeParameters,
    Interrupted,
    KronbotError,
    Mistake,
    MotionError,
    ShapeError,
    UsageError,
)

THREADS = 8


def test_one_robot_in_eight_threads():
    """Questions that are traced and answered at the same time have the bytes of one after another."""
    asks = {
        "jacobian": lambda robot, k: robot.jacobian([0.1 * k, 0.2, 0.3]),
        "check": lambda robot, k: robot.check(),
        "rows": lambda robot, k: robot.hessian(np.full((50, 3), 0.1 * k)),
        "simulate": lambda robot, k: robot.simulate(0.02, 0.01, q={"q2": 0.01 * k}),
    }
    alone = kronbot.load("canadarm", order="1")
    wanted = {(word, k): pickle.dumps(ask(alone, k)) for word, ask in asks.items() for k in range(THREADS)}
    shared, found, together = kronbot.load("canadarm", order="1"), {}, threading.Barrier(THREADS)

    def work(k):
        together.wait()
        for word, ask in asks.items():
            found[word, k] = pickle.dumps(ask(shared, k))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == wanted


def test_a_robot_that_was_asked_can_be_copied():
    robot = kronbot.load("khang")
    robot.check()
    again = copy.deepcopy(robot)
    assert again.dynamics().to_dict() == robot.dynamics().to_dict()


MISTAKES = (Mistake(3, 5, "wrong", "arm.yaml", "  a: 1"), Mistake(1, 1, "bad", "arm.yaml"))


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda error: pickle.loads(pickle.dumps(error))])
@pytest.mark.parametrize("kind", [KronbotError, ComputationError, Interrupted, UsageError, FreeParameters, ShapeError])
def test_errors_keep_their_words(copied, kind):
    """With the arguments that they name, and what they hold."""
    error = kind("take ", kronbot.errors.Argument("order", "exact"), " for it")
    error.partial = kronbot.load("khang").check()
    again = copied(error)
    assert type(again) is kind
    assert str(again) == str(error) == "take order exact for it"
    assert again.args == error.args
    assert again.partial.to_dict() == error.partial.to_dict()


@pytest.mark.parametrize("kind", [DescriptionError, MotionError])
def test_errors_keep_their_mistakes(kind):
    again = pickle.loads(pickle.dumps(kind(MISTAKES)))
    assert again.mistakes == kind(MISTAKES).mistakes
    assert [mistake.text for mistake in again.mistakes] == [None, "  a: 1"]
    assert str(again) == "arm.yaml:1:1: bad\narm.yaml:3:5: wrong"


def test_one_error_in_the_words_of_each_face(capsys):
    """An argument in the library, an option on the command line."""
    with pytest.raises(UsageError) as refused:
        kronbot.load("stacker").jacobian()
    assert "give parameters a3=..." in str(refused.value)
    assert run(["jacobian", "stacker"]) == 2
    assert "give --set a3=..." in capsys.readouterr().err
    with pytest.raises(UsageError, match="^how long\\? give duration, or"):
        kronbot.load("stacker").simulate()
    assert run(["simulate", "stacker"]) == 2
    assert "how long? give --duration, or" in capsys.readouterr().err
    assert run(["modes", "khang", "--array", "frequ"]) == 2
    assert "did you mean 'frequencies_locked'?" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "empty"),
        ("\0", "U+0000"),
        ("name: \ud800", "U+D800"),
        ("a" * (limits.TEXT_BYTES + 1), "longer than"),
        ("[" * 1000, "nested"),
        ("&a [*a]", "<text>:1:1"),
        ("<robot/>", "XML"),
        ("kronbot: 2", "<text>:1:10"),
    ],
)
def test_text_that_is_no_robot(text, words):
    """Each with its place in the text."""
    with pytest.raises(DescriptionError) as refused:
        kronbot.loads(text)
    assert words in str(refused.value)
    with pytest.raises(KronbotError):
        kronbot.load("khang").with_motion(text)


def test_paths(tmp_path):
    """Text, Path or bytes; a folder, nothing, and names that no file can have."""
    file = tmp_path / "k.yaml"
    file.write_text(Path(kronbot.description.shipped_robots()["khang"]).read_text())
    assert [kronbot.load(each).name for each in (file, str(file), bytes(file))] == ["khang"] * 3
    for wrong in (tmp_path, tmp_path / "none.yaml", "", "a\0b", "x" * 5000, "\ud800"):
        for read in (kronbot.load, kronbot.convert):
            with pytest.raises(KronbotError) as refused:
                read(wrong)
            assert len(str(refused.value)) < 1000
