"""The question ``fit``: what is measured, which parameters it is for, and what is known of them before."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import IO, TypeAlias

import numpy as np
import numpy.typing as npt

from kronbot.description.checks.rules import file_fault, nearest_file
from kronbot.description.choices import FITTED, INITIALS, LOSSES
from kronbot.description.described import mistaken
from kronbot.description.expressions.expression import Expression, ExpressionError, parse
from kronbot.description.fitting import Fit
from kronbot.description.wording import listing, quote, unknown
from kronbot.errors import Argument, UsageError
from kronbot.floats import Array
from kronbot.kinds import is_a
from kronbot.library import arguments
from kronbot.library.arguments import NumberLike
from kronbot.mechanics.estimation.beliefs import Beliefs
from kronbot.model.robot import Robot
from kronbot.questions.fitting.data import LARGEST, Columns, Named, Table, beside, read, sheet
from kronbot.questions.fitting.inquiry import Inquiry

# Columns by name (of numbers, None or NaN where nothing was measured), a DataFrame, the path of a CSV file or an open
# one (sys.stdin).
Data: TypeAlias = Mapping[str, npt.ArrayLike] | str | IO[str] | IO[bytes]
# Names, or by name bounds, None for those there are not.
Estimated: TypeAlias = str | Sequence[str] | Mapping[str, tuple[NumberLike | None, NumberLike | None] | None]
# Most searches, and most steps of one.
MOST_STARTS, MOST_STEPS = 10_000, 100_000
# Most parameters of one fit.
MOST_FITTED = 2000
# Most rows of a plan, and draws of noise.
MOST_ROWS = 100_000


def inquiry(
    robot: Robot,
    data: object,
    *,
    question: object,
    columns: object,
    estimate: object,
    prior: object,
    sigma: object,
    only: object,
    fix: object,
    validate: object,
    initial: object,
    offset: object,
    delay: object,
    differentiate: object,
    loss: object,
    starts: object,
    seed: object,
    steps: object,
    planned: bool = False,
) -> Inquiry:
    """What is asked; what is None the file says; a plan needs no data. Raises UsageError for what is not there."""
    told = robot.file.fit or Fit()
    expressions = _expressions(told.columns if columns is None else columns)
    known = robot.description.values
    offsets = told.offset if offset is None else _of_parameters(robot, offset, "offset")
    delays = told.delay if delay is None else _of_parameters(robot, delay, "delay")
    idle = [] if estimate is not None or told.parameters else _idle(robot, (*offsets.values(), *delays.values()))
    names, bounds = fitted(robot, estimate, fix, idle)
    priors: dict[str, object] = {name: each.prior for name, each in told.parameters.items() if each and each.prior}
    priors = {name: [str(part) for part in priors[name]] for name in names if name in priors}  # type: ignore[attr-defined]
    if prior is not None:
        priors |= arguments.pairs(prior, "prior")
    _demand_fitted(robot, priors, names, "prior")
    if data is None and told.data is None and not planned:
        raise UsageError("measurements are wanted: ", Argument("data", "FILE"))
    rows: Table | None = None
    if data is not None or told.data is not None:
        rows = _beside(robot, "data", str(told.data)) if data is None else table(data, "data")
    held: float | Named | None = None
    if validate is None and told.validate is not None:
        try:
            validate = float(told.validate)
        except ValueError:
            held = Named.of(_beside(robot, "validate", told.validate), expressions)
    if is_a(validate, int | float) and not is_a(validate, bool):
        held = arguments.number(validate, known, "validate")
        if not 0 < held < 1:
            raise UsageError(Argument("validate"), f": a share between 0 and 1 is wanted, or data, not {held:g}")
    elif validate is not None:
        held = Named.of(table(validate, "validate"), expressions)
    of_file = {key: str(each) for key, each in told.sigma.items()}
    sigmas = of_file if sigma is None else arguments.pairs(sigma, "sigma")
    cutoff = differentiate if differentiate is not None or told.differentiate is None else str(told.differentiate)
    return Inquiry(
        arguments.choice(told.question if question is None else question, FITTED, "question"),
        None if rows is None else Named.of(rows, expressions),
        tuple(names),
        _beliefs(robot, names, bounds, priors),
        {key: arguments.positive(value, known, f"sigma of {key}") for key, value in sigmas.items()},
        arguments.texts(told.only if only is None else only, "only"),
        held,
        arguments.choice(told.loss if loss is None else loss, LOSSES, "loss"),
        arguments.count(told.starts if starts is None else starts, "starts", 1, MOST_STARTS),
        arguments.count(told.seed if seed is None else seed, "seed", 0, 2**32 - 1),
        arguments.count(told.steps if steps is None else steps, "steps", 1, MOST_STEPS),
        arguments.choice(told.initial if initial is None else initial, INITIALS, "initial"),
        offsets,
        delays,
        None if cutoff is None else arguments.positive(cutoff, known, "differentiate"),
        [word for word, each in {"sigma": sigma, "offset": offset, "delay": delay}.items() if each is None],
        idle,
    )


def demand_heeded(asked: Inquiry, given: Mapping[str, object], planned: bool, drawn: bool) -> None:
    """Raise UsageError for arguments ``given`` that change nothing: of a plan, of what is drawn, or of a fit."""
    if asked.question != "simulate" and given["initial"] is not None:
        raise UsageError(Argument("initial"), f": only motions begin somewhere; leave it out for {asked.question}")
    for word in ("validate", "starts", "steps", "loss") if planned else ("validate",) if drawn else ():
        if given[word] is not None:
            what = "a plan fits nothing" if planned else "rows without their noise are all fitted"
            raise UsageError(f"{what}: leave out ", Argument(word))
    if given["seed"] is not None and (planned or not (drawn or asked.starts > 1 or is_a(asked.validation, float))):
        cure = ("",) if planned else (", or add ", Argument("starts"), ", or a share to ", Argument("validate"))
        raise UsageError("nothing is drawn: leave out ", Argument("seed"), *cure)


def table(data: object, word: str) -> Table:
    """The table that somebody means. Raises UsageError."""
    if not arguments.is_named(data) and (held := arguments.read(data, word, LARGEST)) is not None:
        return sheet(*held)
    if not arguments.is_named(data):
        return read(arguments.path(data, word), word)
    columns = {name: _column(each, f"{word} {name}") for name, each in arguments.pairs(data, word).items()}
    lengths = {len(column) for column in columns.values()}
    if len(lengths) != 1 or 0 in lengths:
        raise UsageError(Argument(word), ": columns of equally many numbers are wanted, one at least")
    return Columns(columns, word)


def candidates(robot: Robot, given: object, columns: object) -> Named:
    """The rows among which a plan chooses. Raises UsageError."""
    if given is None:
        raise UsageError("a plan chooses among rows: give them to ", Argument("candidates"))
    told = robot.file.fit or Fit()
    return Named.of(table(given, "candidates"), _expressions(told.columns if columns is None else columns))


def _beside(robot: Robot, word: str, name: str) -> Table:
    """Measurements that a robot file names. Raises DescriptionError where they are not beside it."""
    source = robot.description.source
    place = source.place or source.folder
    fault = file_fault(name, place)
    if fault or source.folder is None:
        raise mistaken(robot.description, [(("fit", word), fault + nearest_file(name, place), False)])
    return beside(source.folder, name, source.place)


def _column(values: object, word: str) -> Array:
    """A column of numbers, NaN where there is none."""
    values, hidden = arguments.numbers_and_mask(values, word)
    plain = arguments.array_like(values, word)
    arguments.demand_room(plain, word, 2)
    if is_a(plain, np.ndarray) and plain.dtype.kind in "iuf":
        made = np.array(plain, dtype=float)
    else:
        listed = arguments.entries(plain, word)
        with arguments.asking(values, word):
            missing = [each is None or (not arguments.is_list(each) and bool(each != each)) for each in listed]
        filled = [0.0 if gone else each for each, gone in zip(listed, missing, strict=True)]
        made = np.where(missing, np.nan, arguments.array(filled, {}, word, 1))
    if made.ndim != 1:
        raise UsageError(Argument(word), f": a column of numbers is wanted, not {arguments.shown(made)}")
    if hidden is not None:  # what is under a mask is looked at as all else, and was not measured
        made[hidden] = np.nan
    if np.isinf(made).any():
        raise UsageError(Argument(word), ": a value is not finite; None or NaN stands where nothing was measured")
    return made


def _expressions(columns: object) -> dict[str, str]:
    given = {} if columns is None else arguments.pairs(columns, "columns")
    return {name: arguments.text(text, f"columns of {name}") for name, text in given.items()}


def _of_parameters(robot: Robot, given: object, word: str) -> dict[str, Expression]:
    """By key of columns an expression of parameters."""
    found, definitions = {}, robot.parameters.definitions
    for key, text in arguments.pairs(given, word).items():
        written = text if is_a(text, str) else repr(arguments.number(text, {}, f"{word} of {key}"))
        try:
            found[key] = parse(written)
        except ExpressionError as error:
            raise UsageError(Argument(word), f" {quote(key)[1:-1]}: {error.of(written, 'an expression')}") from None
        for name in sorted(found[key].names):
            if name not in definitions:
                raise unknown(name, definitions, Argument(word), f" {quote(key)[1:-1]}: no parameter ")
    return found


def _idle(robot: Robot, more: Sequence[Expression]) -> list[str]:
    """Plain numbers on which nothing in the file depends, nor ``more``: no answer tells of them."""
    definitions, idle = robot.parameters.definitions, {*robot.description.unused}
    waiting = set[str]().union(*(each.names for each in more))
    while waiting := waiting & idle:
        idle -= waiting
        found = (definitions[name] for name in waiting)
        waiting = set[str]().union(*(each.names for each in found if each is not None))
    return [name for name, each in definitions.items() if name in idle and (each is None or each.constant)]


def fitted(
    robot: Robot, estimate: object, fix: object, idle: Collection[str] = ()
) -> tuple[list[str], dict[str, object]]:
    """The parameters that are fitted, in the order of the file, and what is said of the bounds of all that might be.

    The file fixes none that ``estimate`` names; ``idle`` ones are left out. Raises UsageError where none is left, and
    for more than MOST_FITTED.
    """
    told = robot.file.fit or Fit()
    names, bounds = _estimated(robot, estimate, told)
    of_file = () if estimate is not None else [told.fix] if is_a(told.fix, str) else told.fix
    fixed = of_file if fix is None else arguments.listed(fix, names, "fix")
    if fix is not None:
        _demand_fitted(robot, fixed, names, "fix")
    left = [name for name in names if name not in fixed and name not in idle]
    if len(left) > MOST_FITTED:
        cure = "name those that matter in ", Argument("estimate")
        raise UsageError(f"{len(left)} parameters are too many to fit, {MOST_FITTED} is the limit: ", *cure)
    if not left:
        held = listing(name for name in names if name in fixed)
        if idle and not held:
            why: list[str | Argument] = [f"nothing in the file depends on {listing(idle)}"]
        elif not names:
            why = ["give one to ", Argument("estimate")]
        elif fix is None:
            why = [f"the file's fix holds {held}; name one in ", Argument("estimate")]
        else:
            why = [Argument("fix"), f" holds {held}; leave it out, or name others in ", Argument("estimate")]
        raise UsageError("no parameter is left to fit: ", *why)
    return left, bounds


def _demand_fitted(robot: Robot, given: Iterable[str], names: Collection[str], word: str) -> None:
    """Raise UsageError for the first name that is none of the parameters ``names`` that are fitted."""
    for name in given:
        if name not in names and name in robot.description.values:
            told = f": {name} is not fitted: it stays as it is; fitted are {listing(names) or 'none'}"
            raise UsageError(Argument(word), told)
        if name not in names:
            raise unknown(name, names, Argument(word), ": no parameter that is fitted ")


def _estimated(robot: Robot, estimate: object, told: Fit) -> tuple[list[str], dict[str, object]]:
    """The parameters to fit in the order of the file, and what is said of their bounds."""
    definitions = robot.parameters.definitions
    of_file: dict[str, object] = {
        name: None if each is None or each.least is each.most is None else (_text(each.least), _text(each.most))
        for name, each in told.parameters.items()
    }
    if estimate is None and of_file:
        bounds = of_file
    elif estimate is None:
        bounds = {name: None for name, each in definitions.items() if each is None or each.constant}
        if not bounds:
            raise UsageError("the robot has no parameters to fit: put some under 'parameters' in its file")
    else:
        estimate = arguments.own(estimate)
        if is_a(estimate, str) and "=" in estimate:
            cure = f"{{{quote(estimate.partition('=')[0])}: (least, most)}}, not the text {quote(estimate)}"
            raise UsageError(Argument("estimate"), f": give bounds by name, {cure}")
        named = arguments.is_named(estimate)
        given = arguments.pairs(estimate, "estimate") if named else {}
        listed = given if named else arguments.names(estimate, definitions, "estimate", "parameter")
        bounds = {name: of_file.get(name) if given.get(name) is None else given[name] for name in listed}
    for name in bounds:
        if name not in definitions:
            raise unknown(name, definitions, Argument("estimate"), ": no parameter ")
        definition = definitions[name]
        if definition is not None and not definition.constant:
            why = f": {name} is {quote(definition.text)[1:-1]}; fit {listing(sorted(definition.names))} instead"
            raise UsageError(Argument("estimate"), why)
    return [name for name in definitions if name in bounds], bounds


def _beliefs(robot: Robot, names: Sequence[str], bounds: Mapping[str, object], priors: Mapping[str, object]) -> Beliefs:
    known = robot.description.values
    lower, upper, mean, deviation, start = (np.full(len(names), np.nan) for _ in range(5))
    free = []
    for i, name in enumerate(names):
        lower[i], upper[i] = _bounds(bounds[name], known, name)
        if name in priors:
            mean[i], deviation[i] = _pair(priors[name], known, f"prior of {name}", "a mean and a deviation")
            if not deviation[i] > 0:
                raise UsageError(f"prior of {name}: the standard deviation must be positive, not {deviation[i]:g}")
        value = known[name]
        middle = (lower[i] + upper[i]) / 2 if np.isfinite(lower[i]) and np.isfinite(upper[i]) else np.nan
        start[i] = next(
            (each for each in (np.nan if value is None else value, mean[i], middle) if each == each), np.nan
        )
        if np.isnan(start[i]):
            free.append(name)
    if free:
        robot.parameters.require(set(free), "fit")
    outside = [
        f"{name} begins at {first:.6g}, which lies outside the bounds {least:.6g} and {most:.6g}"
        for name, first, least, most in zip(names, start.tolist(), lower.tolist(), upper.tolist(), strict=True)
        if not least <= first <= most
    ]
    if outside:
        raise UsageError(f"{'; '.join(outside)}: give other bounds, or a first value within them")
    return Beliefs(start, lower, upper, mean, deviation)


def _text(expression: Expression | None) -> str | None:
    return None if expression is None else expression.text


def _bounds(given: object, known: Mapping[str, float | None], name: str) -> tuple[float, float]:
    if given is None:
        return -np.inf, np.inf
    low, high = _two(given, f"bounds of {name}", "two ends")
    least = -np.inf if low is None else arguments.number(low, known, f"bounds of {name}")
    most = np.inf if high is None else arguments.number(high, known, f"bounds of {name}")
    if not least < most:
        raise UsageError(f"bounds of {name}: {least:g} is not less than {most:g}")
    return least, most


def _pair(given: object, known: Mapping[str, float | None], word: str, what: str) -> tuple[float, float]:
    first, second = _two(given, word, what)
    return arguments.number(first, known, word), arguments.number(second, known, word)


def _two(given: object, word: str, what: str) -> tuple[object, object]:
    both = arguments.entries(given, word)
    if len(both) != 2:
        raise UsageError(Argument(word), f": two numbers are wanted, {what}, not {len(both)}")
    return both[0], both[1]
