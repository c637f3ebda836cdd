"""What an answer may hold is told before it is computed, and nothing else is in it."""

from importlib import import_module

import pytest
from thinned import thinned

import kronbot
from kronbot.description import shipped_robots
from kronbot.errors import KronbotError

ASKED = [
    ("check", {}),
    ("kinematics", {"frame": "all"}),
    ("kinematics", {"inverse": {"x": 0.5}, "starts": 3}),
    ("jacobian", {"qd": {}}),
    ("hessian", {"qdd": {}, "axes": "body"}),
    ("dynamics", {}),
    ("dynamics", {"qd": {}}),
    ("taylor", {"of": "g", "delta": {}}),
    ("linearize", {}),
    ("linearize", {"inputs": "torques", "lock": "all"}),
    ("linearize_along", {"duration": 0.1}),
    ("modes", {}),
    ("modes", {"convergence": 2}),
    ("statics", {}),
    ("statics", {"solver": "linear"}),
    ("statics", {"forces": [[0, 1, 0]], "angles": {}, "q": {}}),
    ("simulate", {"duration": 0.02, "solver": "rodas"}),
]
COSTLY = ("hessian", "dynamics", "taylor", "simulate")


ORDERS = {"khang": "2", "floating-canadarm": "0"}
# All but those that have the names of another, or its kinds of parts.
SPARED = {"canadarm-craig-bampton", "torso", "canadarm", "piedboeuf", "puma560", "stacker"}


@pytest.mark.parametrize("name", thinned(sorted(set(shipped_robots()) - SPARED), ["khang"]))
def test_answers_hold_nothing_else(name):
    """Numbers, texts, arrays with their labels, and series in their order, of all questions to all shipped robots."""
    whole = kronbot.load(name, order=ORDERS.get(name, "1"))  # of which names depend little
    n = whole.n
    for question, given in ASKED:
        if n > 8 and (question == "linearize_along" or "convergence" in given):
            continue  # which take long, and are asked of others
        robot = whole.at_order("0") if n > 8 and question in COSTLY else whole
        possible = {word: (value,) for word, value in given.items()}
        told = import_module(f"kronbot.questions.{question}").outline(robot.model, possible)
        try:
            answer = getattr(robot, question)(**given)
        except KronbotError:
            continue
        for word, value in answer.summary.items():
            assert word in (told.texts if isinstance(value, str) else [*told.numbers, "complete"]), (question, word)
        for word, array in answer.arrays.items():
            rows, columns = told.arrays[word]
            assert set(array.rows) <= set(rows)
            assert array.columns is None if columns is None else set(array.columns) <= set(columns), (
                question,
                word,
                array.columns,
                columns,
            )
            assert (word in told.complex) == (array.values.dtype.kind == "c"), (question, word)
            assert (word in told.stacks) == (array.axis is not None), (question, word)
        assert list(answer.series) == list(told.series)
        labels = {
            f"{word}[{row}{column and ','}{column}]"
            for word, array in answer.arrays.items()
            for row in array.rows
            for column in array.columns or [""]
        }
        assert "lock" in given or set(told.usual) <= labels | set(told.series)
