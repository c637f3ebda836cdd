"""A search for parameters on its way: rows that are fitted, rows that judge, and the best that there is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import field, replace

import numpy as np

from kronbot.cached import cached_property
from kronbot.errors import Argument, ComputationError, UsageError
from kronbot.floats import Array
from kronbot.mechanics.estimation.beliefs import Beliefs, starts
from kronbot.mechanics.estimation.knowledge import RANK, Knowledge
from kronbot.mechanics.estimation.least_squares import SETTLED, Fit, NoStart, fitted, solved
from kronbot.mechanics.estimation.losses import counted
from kronbot.mechanics.static.tangent import Flags
from kronbot.model.robot import Robot
from kronbot.model.variation import Variation
from kronbot.questions.fitting.answers import Answers, begun, demand_answers, demand_derivatives, lost
from kronbot.questions.fitting.data import Named
from kronbot.questions.fitting.differentiated import differentiated
from kronbot.questions.fitting.dynamics import DynamicAnswers
from kronbot.questions.fitting.inquiry import Inquiry
from kronbot.questions.fitting.modes import ModalAnswers
from kronbot.questions.fitting.noise import Noise
from kronbot.questions.fitting.orientations import with_rotations
from kronbot.questions.fitting.parts import InParts
from kronbot.questions.fitting.shifts import Shifted, Shifts
from kronbot.questions.fitting.simulate import SimulatedAnswers
from kronbot.questions.fitting.smoothed import Smoothed
from kronbot.questions.fitting.sorting import Sorted, drawn
from kronbot.questions.fitting.statics import StaticAnswers
from kronbot.questions.fitting.units import doubts, other_inputs
from kronbot.records import dataclass

# Rounds in which sigmas that nobody gave follow from the errors, and the change that ends them.
ROUNDS, STEADY = 12, 1e-3
# Times that steps are chosen anew where a search has ended, and the share of the errors that this is to change at most.
ANEW, SAME = 4, 1e-6
# Derivatives of weighted errors below this have no squares.
TINY = 1e-150
NEARER = "give ", Argument("parameters"), " values that are nearer, or leave such rows out"


READERS: Mapping[str, Callable[[Variation, Named, Sequence[str]], tuple[Answers, Sorted]]] = {
    "statics": StaticAnswers.read,
    "modes": ModalAnswers.read,
    "dynamics": DynamicAnswers.read,
}


def read(variation: Variation, named: Named, inquiry: Inquiry, only: Sequence[str]) -> tuple[Answers, Sorted]:
    """What the question of an inquiry says at the rows of a table. Raises UsageError for columns that do not fit."""
    answers: Answers
    named, passing = with_rotations(named), None
    if inquiry.differentiate is not None:
        if inquiry.question != "dynamics":
            raise UsageError(Argument("differentiate"), ": only rows of dynamics have rates; leave it out")
        named, passing = differentiated(variation.robot, named, inquiry.differentiate)
    if inquiry.question == "simulate":
        answers, told = SimulatedAnswers.read(variation, named, only, inquiry.initial, inquiry.delay, inquiry.offset)
    elif inquiry.delay:
        raise UsageError(Argument("delay"), f": only motions have a time; leave it out for {inquiry.question}")
    else:
        answers, told = READERS[inquiry.question](variation, named, only)
        answers = InParts.of_many(answers, len(told.rows))
    if passing is not None:
        answers, told = Smoothed.of_rows(answers, told, passing)
    if inquiry.offset:
        answers = Shifted.of_columns(answers, Shifts.read(variation, inquiry.offset, told, "offset"), told)
    return answers, told


@dataclass
class Search:
    """A fit on its way: rows to fit and rows to validate with, and the best that there is.

    ``slopes`` are the last values at which derivatives of the errors were asked for, and these; ``meant`` asks about
    units of inputs, where a search ends with poor errors. ``estimates`` are what was found, on bounds exactly,
    but where errors tell it ``apart`` from these. ``beyond`` are rows without an answer where it was told why.
    """

    robot: Robot
    inquiry: Inquiry
    progress: Callable[[float], None]
    variation: Variation
    answers: Answers
    told: Sorted
    check: tuple[Answers, Sorted] | None
    noise: Noise
    notes: list[str]
    slopes: tuple[Array, Array]
    meant: list[str] = field(default_factory=list)
    best: tuple[float, Array] | None = None
    evaluations: int = 0
    beyond: str = ""
    found: Fit = field(init=False)
    tried: list[tuple[float, bool]] = field(default_factory=list)
    _known: tuple[Fit, Knowledge] | None = None

    @staticmethod
    def of(robot: Robot, inquiry: Inquiry, progress: Callable[[float], None]) -> Search:
        """Ready to run."""
        assert inquiry.data is not None, "rows are wanted"
        variation = inquiry.variation(robot, inquiry.data)
        answers, told = read(variation, inquiry.data, inquiry, inquiry.only)
        asked, notes = inquiry, list(told.notes)
        check = None
        if isinstance(inquiry.validation, float):
            rows = drawn(told, inquiry.validation, inquiry.seed)
            check = answers.of(np.flatnonzero(rows)), told.some(rows)
            answers, told = answers.of(np.flatnonzero(~rows)), told.some(~rows)
        elif inquiry.validation is not None:
            names = [column.name for column in told.columns]
            check = read(variation, inquiry.validation, asked, names)
            notes += check[1].notes
        inquiry = inquiry.with_beside(answers)
        noise = Noise.of(told, inquiry.sigma, inquiry.loss)
        notes += inquiry.unmeasured(told)
        errors, J = begun(variation, answers, told, inquiry.beliefs.start)
        notes += doubts(variation.robot, told, errors)

        def again(rows: Named) -> Array:
            plain = replace(asked, differentiate=None, initial="rows")
            return read(variation, rows, plain, asked.only)[0].errors(asked.beliefs.start)

        meant = [*other_inputs(variation.robot, told, errors, again)]
        noise.begin(errors)
        present = ~np.isnan(told.measured)
        weights = noise.weights(present)
        weighted = J * weights[:, None]
        if 0 < np.abs(weighted).max(initial=0.0) < TINY:
            small = "derivatives of errors over their sigmas are too small for sums of squares"
            cure = ("give smaller ones to ", Argument("sigma")) if inquiry.sigma else NEARER
            raise ComputationError(f"{small}: ", *cure)
        known = inquiry.beliefs.measured(errors[present] * weights, weighted)
        inquiry, first = replace(inquiry, beliefs=known), (known.start, J)
        return Search(robot, inquiry, progress, variation, answers, told, check, noise, notes, first, meant)

    @property
    def present(self) -> Flags:
        """Where something was measured (N, columns)."""
        return ~np.isnan(self.told.measured)

    def run(self) -> None:
        """Search from every start, with sigmas that follow from the errors where nobody has given them."""
        beliefs, inquiry = self.inquiry.beliefs, self.inquiry
        points = starts(beliefs, inquiry.starts, inquiry.seed) if inquiry.starts > 1 else beliefs.start[None]
        for round_ in range(ROUNDS if self.noise.unknown else 1):
            fits = []
            for point in points:
                try:
                    fits.append(self._search(beliefs.begun(point)))
                except NoStart:  # of the first one we know
                    self.tried.append((np.inf, False))
            if not fits:
                raise self._lost()
            self.found = min(fits, key=lambda each: each.cost)
            self.tried = self.tried if inquiry.starts > 1 and round_ else [(each.cost, each.converged) for each in fits]
            points = self.found.values[None]
            if not self.noise.unknown or self.noise.follow(self.unweighted, self.leverages) < STEADY:
                break
            self.best = np.inf, self.found.values  # costs are others now
        if self.noise.unknown:
            try:
                self.found = self._search(beliefs.begun(self.found.values))
            except NoStart:
                raise self._lost() from None
        self._land()

    def _lost(self) -> ComputationError:
        """Why squares of errors, or of their derivatives, are not finite where a search begins."""
        demand_derivatives(self.slopes[1], self.variation.names)
        sigma, prior = bool(self.inquiry.sigma), bool(self.inquiry.beliefs.informed.any())
        begins = "at values where a search begins"
        demand_answers(self.answers.errors(self.slopes[0]), self.told, self.answers.reason, begins)
        if not sigma and not prior:
            return ComputationError(
                f"errors, or their derivatives, are too large for sums of squares {begins}; ", *NEARER
            )
        what = " or ".join(["errors over their sigmas"] * sigma + ["those of priors"] * prior)
        cures = [Argument("sigma")] * sigma + [" and "] * (sigma and prior) + [Argument("prior")] * prior
        return ComputationError(f"{what} are too large: give larger ones to ", *cures)

    def _search(self, beliefs: Beliefs) -> Fit:
        present = self.present
        weights = self.noise.weights(present)

        def errors(values: Array) -> Array:
            found = np.full(len(weights), np.inf)
            with suppress(np.linalg.LinAlgError):  # of a matrix that the first values make regular
                if np.isfinite(values).all():  # which those of a step from numbers too far apart are not
                    everywhere = self.answers.errors(values)
                    found = everywhere[present] * weights
                    if self.answers.reason:
                        self.beyond = lost(everywhere, self.told, self.answers.reason)
            self.evaluations += 1
            self.progress(1 - 0.93**self.evaluations)
            cost = float(found @ found)
            if np.isfinite(cost) and (self.best is None or cost < self.best[0]):
                self.best = cost, values.copy()
            return np.asarray(found)

        def jacobian(values: Array) -> Array:
            return self._jacobian(values) * weights[:, None]

        self.weights = weights
        if self.direct:
            return solved(errors, jacobian, beliefs)

        inquiry, home, accuracy = self.inquiry, self.inquiry.beliefs.start, self.answers.accuracy

        def searched(start: Beliefs, used: int) -> Fit:
            found = fitted(errors, jacobian, start, inquiry.loss, inquiry.steps - used, home, accuracy)
            return replace(found, steps=found.steps + used)

        found, rounds = searched(beliefs, 0), ANEW if accuracy > RANK else 0
        while rounds and (found.converged or found.promised) and found.steps < inquiry.steps:
            rounds -= 1
            self.answers.rest()  # steps follow from where the search has ended, not from where it began
            changes = errors(found.values) - found.errors
            if not SAME * np.linalg.norm(found.errors) < np.linalg.norm(changes) < np.inf:
                break
            found = searched(beliefs.begun(found.values), found.steps)
        return found

    def _jacobian(self, values: Array) -> Array:
        """Derivatives of the errors that are there; those of the last values are known."""
        if not np.array_equal(self.slopes[0], values):
            self.slopes = values.copy(), self.answers.jacobian(values)
        return self.slopes[1]

    weights: Array = field(init=False)
    estimates: Array = field(init=False)
    apart: bool = False

    @cached_property
    def direct(self) -> bool:
        """Whether one linear least squares is the answer."""
        beliefs = self.inquiry.beliefs
        bounded = np.isfinite(beliefs.lower).any() or np.isfinite(beliefs.upper).any()
        return self.inquiry.loss == "linear" and not bounded and self.answers.linear

    @property
    def unweighted(self) -> Array:
        """Errors (N, columns) at the end of the search."""
        errors = np.full(self.told.measured.shape, np.nan)
        errors[self.present] = self.found.errors / self.weights
        return errors

    @property
    def leverages(self) -> Array:
        """The same of leverages."""
        found = np.full(self.told.measured.shape, np.nan)
        found[self.present] = self.knowledge.leverage()
        return found

    @property
    def knowledge(self) -> Knowledge:
        """What is known where the search has ended."""
        beliefs, found = self.inquiry.beliefs, self.found
        if self._known is None or self._known[0] is not found:
            held = frozenset(np.flatnonzero(beliefs.at_bound(found.values) & ~self.apart).tolist())
            plain = self.inquiry.loss == "linear"
            counted = found.jacobian if plain else found.jacobian * np.sqrt(found.weights)[:, None]
            scale = beliefs.begun(found.values).scale
            self._known = found, Knowledge(counted, scale, beliefs.deviation, held, self.answers.accuracy)
        return self._known[1]

    @cached_property
    def judged(self) -> Array:
        """Where errors of the rows that validate are told: what was found, and what only their own records tell of."""
        assert self.check is not None, "rows validate"
        answers, told = self.check
        found, count = self.found.values, len(self.variation.names)
        known = dict(zip(self.inquiry.names, found, strict=True)) if isinstance(self.inquiry.validation, float) else {}
        values = np.array([*found[:count], *(known.get(name, value) for name, value in answers.beside.items())])
        own = np.array([count + i for i, name in enumerate(answers.beside) if name not in known], dtype=int)
        if not len(own):
            return values
        present = ~np.isnan(told.measured)
        weights = self.noise.weights(present)

        def whole(x: Array) -> Array:
            there = values.copy()
            there[own] = x
            return there

        def errors(x: Array) -> Array:
            return np.asarray(answers.errors(whole(x))[present] * weights)

        def jacobian(x: Array) -> Array:
            return answers.jacobian(whole(x))[:, own] * weights[:, None]

        none, far = np.full(len(own), np.nan), np.full(len(own), np.inf)
        with suppress(NoStart):
            beliefs = Beliefs(values[own], -far, far, none, none)
            asked = self.inquiry.loss, self.inquiry.steps, None, answers.accuracy
            values = whole(fitted(errors, jacobian, beliefs, *asked).values)
            self.notes.append("where records that validate begin was found from these")
        return values

    def halt(self) -> None:
        """Let the best so far be what was found, with the sigmas of its errors where nobody has given them."""
        assert self.best is not None, "something was evaluated"
        values = self.best[1]
        errors, J = self.answers.errors(values)[self.present], self._jacobian(values)
        self._stay(values, errors, J)
        for _ in range(ROUNDS if self.noise.unknown else 0):
            change = self.noise.follow(self.unweighted, self.leverages)
            self._stay(values, errors, J)
            if change < STEADY:
                break
        self._land()

    def _land(self) -> None:
        """Let what lies on a bound, inside of which a search stays, be exactly there, unless errors tell it apart.

        With a compliance of 0 all but statics have another structure, to which what they answer beside it leads: there
        errors stay what they are.
        """
        found, estimates = self.found, self.inquiry.beliefs.landed(self.found.values)
        self.estimates = estimates
        if np.array_equal(estimates, found.values):
            return
        try:
            errors = self.answers.errors(estimates)[self.present] * self.weights
        except (ComputationError, ValueError, np.linalg.LinAlgError):  # of another structure, or of a singular matrix
            return
        noise = max(1.0, float(np.linalg.norm(found.errors)) / max(len(errors), 1) ** 0.5)
        change = float(np.linalg.norm(errors - found.errors))
        if change <= SETTLED * noise:
            J, counts = self._jacobian(estimates) * self.weights[:, None], counted(errors, self.inquiry.loss)
            self.found = replace(found, values=estimates, errors=errors, jacobian=J, weights=counts)
        elif np.isfinite(change):
            self.estimates, self.apart, self._known = found.values, True, None

    def _stay(self, values: Array, errors: Array, J: Array) -> None:
        """Let values be what was found, where there are such errors (M,) and derivatives (M, k) of them."""
        self.weights = self.noise.weights(self.present)
        found = errors * self.weights
        counts, cost = counted(found, self.inquiry.loss), float(found @ found) / 2
        self.found = Fit(values, found, J * self.weights[:, None], cost, counts, False, self.evaluations)
