"""Closed forms of a question: every quantity as text, LaTeX or Python."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

import casadi
import numpy as np

from kronbot.compute.closed_form import MOST_OPERATIONS, MOST_WRITTEN_OUT, SHARE, ClosedForm, closed_form, demand_size
from kronbot.compute.question import Question
from kronbot.compute.result import Array, demand_array
from kronbot.errors import Argument

LETTERS = "xyzuvwabcdefhkmnp"


@dataclass(frozen=True)
class Writing:
    """How formulas are wanted: ``style`` (text, latex, python), s2 for sin(q2), common parts once, time (s).

    ``array`` is the only quantity wanted, None for all of them.
    """

    style: str
    short: bool
    shared: bool
    seconds: float
    array: str | None = None


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

    Raises UsageError where no array has the name wanted, ComputationError where formulas are too long, with what
    to do instead: before any time is spent where no simplification would help.
    """
    deadline = time.monotonic() + writing.seconds
    if writing.array is not None:
        demand_array(writing.array, question.quantities)
    wanted = [name for name in question.quantities if writing.array in (None, name)]
    for quantity in map(question.quantities.__getitem__, wanted):
        limit = sys.maxsize if writing.shared else MOST_WRITTEN_OUT
        demand_size(quantity.expression, question.symbols, question.parameters, limit)
    forms = {name: _form(question, name, writing, deadline) for name in wanted}
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


def _form(question: Question, name: str, writing: Writing, deadline: float) -> ClosedForm:
    expression = casadi.densify(question.quantities[name].expression)
    left = deadline - time.monotonic()
    if left <= 0.0 and not writing.shared:  # it stays as it is traced, and writing that takes its time, too
        late = f"{name} was not begun within {writing.seconds:g} s: give more time ("
        cure = (late, Argument("seconds"), "), or ", *SHARE)
        demand_size(expression, question.symbols, question.parameters, MOST_OPERATIONS, cure)
    form = closed_form(expression, question.symbols, question.parameters).simplified(left)
    if not writing.shared:
        form.demand_size()
    if writing.short:
        form = form.short()
    # A letter of its own for every quantity: the meanings of all stand in one list.
    place = list(question.quantities).index(name)
    return form.shared(LETTERS[place % len(LETTERS)] * (1 + place // len(LETTERS))) if writing.shared else form
