"""Closed forms of a question: every quantity as text, LaTeX or Python."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import casadi
import numpy as np

from kronbot.compute.closed_form import ClosedForm, closed_form
from kronbot.compute.question import Question
from kronbot.compute.result import Array

LETTERS = "xyzuvwabcdefhkmnp"


@dataclass(frozen=True)
class Writing:
    """How formulas are wanted: ``style`` (text, latex, python), s2 for sin(q2), common parts once, time (s)."""

    style: str
    short: bool
    shared: bool
    seconds: float


@dataclass(frozen=True)
class Formulas:
    """The quantities as stacks of text, what the symbols in them stand for, and whether all was simplified.

    ``source`` holds whole documents by quantity: LaTeX matrices or Python functions, empty for plain text.
    """

    arrays: dict[str, Array]
    meanings: dict[str, str]
    source: dict[str, str]
    complete: bool


def formulas(question: Question, writing: Writing) -> Formulas:
    """The quantities of a question in closed form.

    Raises ComputationError where they are too long, with what to do instead.
    """
    deadline = time.monotonic() + writing.seconds
    forms = {
        name: _form(question, name, writing, max(deadline - time.monotonic(), 0.0)) for name in question.quantities
    }
    entries: Callable[[ClosedForm], list[list[str]]]
    entries = ClosedForm.latex_entries if writing.style == "latex" else ClosedForm.text
    arrays: dict[str, Array] = {}
    meanings: dict[str, str] = {}
    source: dict[str, str] = {}
    for name, form in forms.items():
        quantity = question.quantities[name]
        texts = np.array(entries(form), dtype=object)
        values = texts[:, 0] if quantity.columns is None else texts
        arrays[name] = Array(values, quantity.rows, quantity.units, quantity.columns)
        meanings |= dict(form.legend(latex=writing.style == "latex"))
        if writing.style == "python":
            source[name] = form.python(name)
        elif writing.style == "latex":
            source[name] = form.latex()
    return Formulas(arrays, meanings, source, all(form.complete for form in forms.values()))


def _form(question: Question, name: str, writing: Writing, seconds: float) -> ClosedForm:
    expression = casadi.densify(question.quantities[name].expression)
    form = closed_form(expression, question.symbols, question.parameters).simplified(seconds)
    if writing.short:
        form = form.short()
    # A letter of its own for every quantity: the meanings of all stand in one list.
    place = list(question.quantities).index(name)
    return form.shared(LETTERS[place % len(LETTERS)] * (1 + place // len(LETTERS))) if writing.shared else form
