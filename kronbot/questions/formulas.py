"""Closed forms of a question: every quantity as text, LaTeX or Python."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

import casadi
import numpy as np

from kronbot.cached import cached_property
from kronbot.compute.arrays import NamedArray
from kronbot.compute.question import Question
from kronbot.compute.symbolic.closed_form import (
    INSTEAD,
    MOST_INSTRUCTIONS,
    MOST_OPERATIONS,
    MOST_WRITTEN_OUT,
    SHARE,
    TOO_LONG,
    ClosedForm,
    closed_form,
    size,
)
from kronbot.compute.symbolic.simplification import Clock, Unfinished, unbounded
from kronbot.compute.symbolic.writing import latex_matrix
from kronbot.description.wording import listing
from kronbot.errors import Argument, ComputationError
from kronbot.questions.result import demand_array
from kronbot.records import dataclass

# Operations that are written in some tenths of a second.
AT_ONCE = 5_000
LETTERS = "xyzuvwabcdefhkmnp"


def _whichever(names: Sequence[str]) -> None:
    pass


@dataclass(frozen=True)
class Writing:
    """How formulas are wanted: ``style`` (text, latex, python), s2 for sin(q2), common parts once, time (s).

    ``array`` is the only quantity wanted, None for all of them. ``demand`` is told the names of those that are, and
    may refuse them, before any is written.
    """

    style: str
    short: bool
    shared: bool
    seconds: float
    array: str | None = None
    demand: Callable[[Sequence[str]], None] = _whichever


@dataclass(frozen=True)
class Formulas:
    """The quantities as stacks of text, what the symbols in them stand for, and whether all was simplified.

    ``source`` holds whole documents by quantity: LaTeX matrices or Python functions, empty for plain text.
    """

    arrays: dict[str, NamedArray]
    meanings: dict[str, str]
    source: dict[str, str]
    complete: bool


@dataclass(frozen=True)
class Lengths:
    """How long the quantities of a question are that are ``wanted``, before they are simplified."""

    question: Question
    wanted: Sequence[str]

    @cached_property
    def _sizes(self) -> dict[str, tuple[int, int]]:
        return {}

    def sizes(self, name: str) -> tuple[int, int]:
        """Instructions, and operations written out."""
        if name not in self._sizes:
            question = self.question
            expression = question.quantities[name].expression
            self._sizes[name] = size(expression, question.symbols, question.parameters)
        return self._sizes[name]

    def instead(self, shared: bool, without: str = "") -> tuple[str | Argument, ...]:
        """What holds: numbers, single arrays that are short as they are traced, ``without`` one that turned out long,
        common parts written once.
        """
        expressions = {name: self.question.quantities[name].expression for name in self.wanted if name != without}
        short = [name for name, each in expressions.items() if casadi.n_nodes(each) <= MOST_INSTRUCTIONS]
        holding = listing(name for name in short if self.sizes(name)[1] <= MOST_OPERATIONS)
        alone = (", or for ", holding, " alone (", Argument("array"), ")") if holding and len(self.wanted) > 1 else ()
        return (*INSTEAD, *alone, *(() if shared else SHARE[len(INSTEAD) :]))

    def demand_short(self, shared: bool) -> None:
        """Raise ComputationError, with what to do instead, where no simplification would help."""
        for name in self.wanted:
            instructions, written = self.sizes(name)
            if instructions > MOST_INSTRUCTIONS:
                what = TOO_LONG.format(f"{instructions} instructions", MOST_INSTRUCTIONS)
                raise ComputationError(what, *self.instead(shared=True))
            if written > MOST_WRITTEN_OUT and not shared:
                what = TOO_LONG.format(f"{written} operations before it is simplified", MOST_WRITTEN_OUT)
                raise ComputationError(what, *self.instead(shared=False))


def formulas(question: Question, writing: Writing) -> Formulas:
    """The quantities of a question in closed form.

    Raises UsageError where no array has the name wanted, ComputationError where formulas are too long, with what
    to do instead: before any time is spent where no simplification would help.
    """
    clock = Clock(writing.seconds)
    if writing.array is not None:
        demand_array(writing.array, question.quantities)
    wanted = [name for name in question.quantities if writing.array in (None, name)]
    writing.demand(wanted)

    lengths = Lengths(question, wanted)
    lengths.demand_short(writing.shared)
    sizes, instead = lengths.sizes, lengths.instead

    @contextmanager
    def in_time(name: str) -> Iterator[None]:
        try:
            yield
        except Unfinished:
            late = f"{name} was not written within {writing.seconds:g} s: give more time ("
            raise ComputationError(late, Argument("seconds"), "), or ", *instead(writing.shared)) from None

    forms: dict[str, ClosedForm] = {}

    def long(name: str) -> bool:
        """What is short as it is traced is written however little time there is."""
        return writing.shared or sizes(name)[1] > AT_ONCE

    for name in wanted:
        share = 1.0
        left = [other for other in wanted if other not in forms]
        if any(map(long, left)):  # as much time again for writing, and for those that come after it
            each = [sizes(other)[0 if writing.shared else 1] for other in left]
            share = each[0] / max(1, sum(each)) / 2
        with in_time(name):
            forms[name] = _form(question, name, writing, clock, clock.check_time if long(name) else unbounded, share)
        if not writing.shared and (count := forms[name].operations) > MOST_OPERATIONS:
            what = TOO_LONG.format(f"{count} operations", MOST_OPERATIONS)
            raise ComputationError(what, *instead(shared=False, without=name))
    entries: Callable[[ClosedForm], list[list[str]]]
    entries = ClosedForm.latex if writing.style == "latex" else ClosedForm.text
    arrays: dict[str, NamedArray] = {}
    meanings: dict[str, str] = {}
    source: dict[str, str] = {}
    for name, form in forms.items():
        quantity = question.quantities[name]
        with in_time(name):
            texts = np.array(entries(form), dtype=object).reshape(form.matrix.shape)  # also without rows
            meanings |= dict(form.legend(latex=writing.style == "latex"))
            if writing.style == "python":
                source[name] = form.python(name)
            elif writing.style == "latex":
                source[name] = latex_matrix(texts.tolist())
        arrays[name] = quantity.array(texts[:, 0] if quantity.columns is None else texts)
    return Formulas(arrays, meanings, source, all(form.complete for form in forms.values()))


def _form(
    question: Question, name: str, writing: Writing, clock: Clock, check_time: Callable[[], None], share: float
) -> ClosedForm:
    """The form in which one quantity is written; simplification takes this share of what is left of the time."""
    check_time()
    expression = casadi.densify(question.quantities[name].expression)
    with question.parameters.lock:
        plain = closed_form(expression, question.symbols, question.parameters, check_time)
    form = plain.simplified(share * clock.left)
    if writing.shared and plain.parts < form.parts:  # what is multiplied out has less in common
        form = replace(plain, complete=form.complete)
    if writing.short:
        form = form.short()
    # A letter of its own for every quantity: the meanings of all stand in one list.
    place = list(question.quantities).index(name)
    return form.shared(LETTERS[place % len(LETTERS)] * (1 + place // len(LETTERS))) if writing.shared else form
