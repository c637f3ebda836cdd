"""What a varied name means: a parameter, a coordinate, a rate, a load, an option of the question; and where it goes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from kronbot.description import described
from kronbot.description.choices import POSE, RPY
from kronbot.description.degrees import doubt_of
from kronbot.description.expressions.expression import ExpressionError, evaluate, parse
from kronbot.description.scalars import kind
from kronbot.description.sweeping import Sweep
from kronbot.description.wording import quote, unknown, unknown_name
from kronbot.errors import LONGEST_NAME, Argument, KronbotError, Mistake, StrangeValues, UsageError
from kronbot.mechanics.multibody.kinematics import frame
from kronbot.model.robot import Robot
from kronbot.questions.kinematics import FORMS
from kronbot.records import dataclass
from kronbot.sweeps.cases import Cases, Distribution, Value
from kronbot.sweeps.grammar import cases, factor, written

XYZ = ("x", "y", "z")
WRENCH = ("fx", "fy", "fz", "mx", "my", "mz")
# Arguments that hold several values, which are varied one by one.
GATHERED = {
    "q", "qd", "qdd", "delta", "tau", "angles", "force", "forces", "moments", "loads", "distributed", "calibration",
    "inverse", "progress", "lock", "inputs", "outputs", "robust", "follow", "through",
}  # fmt: skip
# Those that hold a value by name, each of which may be varied: to.q1, weights.q1_dot.
BY_NAME = ("to", "effort_limits", "limits", "weights", "effort", "noise", "deviation")
# Values that are told of as wrong.
TOLD = 10
# How spreadsheets know a formula.
_FORMULA = ("=", "+", "-", "@")
# Options of the command line whose name is another one than the argument's, hyphens apart.
_OPTIONS = {"in": "axes"}
# Columns of answers, and how what is given for them begins.
_OF_COLUMNS = {"angle": "", "torque": "tau."}
_RATES = {"qd": "rate", "qdd": "acceleration"}


@dataclass(frozen=True)
class Meaning:
    """What a name is, and the way to its value: the argument and keys or places in it; a parameter has no argument."""

    what: str
    argument: str | None
    keys: tuple[str | int, ...]
    # What the argument is where nothing is given, as far as the way goes.
    empty: object = None

    @property
    def number(self) -> bool:
        """Whether it takes numbers and expressions alone."""
        return self.what != "option"


def meanings(robot: Robot, accepted: Collection[str], names: Sequence[str]) -> list[Meaning]:
    """What each name means for a question that takes the ``accepted`` arguments.

    Raises UsageError for a name that means nothing, with what may have been meant, for one that means two things, and
    for two that mean the same.
    """
    known = dict(_known(robot, accepted))
    found: list[Meaning] = []
    for name in names:
        possible = len(name) <= LONGEST_NAME and name.isprintable()  # else messages would not name it either
        ways = [*_ways(robot, accepted, name)] if possible else []
        if possible and not ways:  # only of options: names of the file are spelt as they are
            option = _of_option(name)
            ways = [each for each in _ways(robot, accepted, option) if each.argument == option.partition(".")[0]]
        if not ways:
            column, _, joint = name.partition(".")
            if column in _OF_COLUMNS and (given := _OF_COLUMNS[column] + joint) in known:
                raise UsageError(f"{quote(name)} is a column of answers: what is varied is {given}")
            raise unknown(name, list(known), "there is nothing to vary called ", there="; there are")
        if len(ways) > 1:
            told = f"{quote(name)} means two things, {ways[0].what} and {ways[1].what}: rename one in the file"
            raise UsageError(told)
        if ways[0] in found:
            raise UsageError(f"{names[found.index(ways[0])]} and {name} are the same: leave one out")
        found += ways
    return found


def _known(robot: Robot, accepted: Collection[str]) -> Iterator[tuple[str, Meaning]]:
    """Names that can be listed, with their meanings; a name may come twice."""
    for name in robot.description.values:
        yield name, Meaning("parameter", None, (name,))
    if "q" in accepted:
        for name in robot.coordinates:
            yield name, Meaning("coordinate", "q", (name,), {})
    for word, what in _RATES.items():
        if word in accepted:
            for name, own in zip(robot.derivative_names([word])[word], robot.coordinates, strict=True):
                yield name, Meaning(what, word, (own,), {})
    if "tau" in accepted:
        for joint in robot.joints:
            yield f"tau.{joint.name}", Meaning("torque", "tau", (joint.name,), {})
    if "inverse" in accepted:
        for name in POSE:
            yield f"inverse.{name}", Meaning("target", "inverse", (name,), {})
    for i, axis in enumerate(XYZ):
        if "force" in accepted:
            yield f"force.{axis}", Meaning("load", "force", (i,), [0.0] * 3)
        for word in ("force", "moment"):
            if f"{word}s" in accepted:
                yield f"{word}.{axis}", Meaning("load", f"{word}s", (0, i), [[0.0] * 3])
    for word in BY_NAME:
        for joint in robot.joints if word in accepted else ():
            yield f"{word}.{joint.name}", Meaning("value", word, (joint.name,), {})
    for name in sorted({*accepted, "order"} - GATHERED - {*BY_NAME}):
        yield name, Meaning("option", name, ())


def _of_option(name: str) -> str:
    """The name of the argument where an option is meant as the command line has it: effort-limits.q1."""
    option, dot, rest = name.partition(".")
    return _OPTIONS.get(option, option.replace("-", "_")) + dot + rest


def _ways(robot: Robot, accepted: Collection[str], name: str) -> Iterator[Meaning]:
    yield from (meaning for known, meaning in _known(robot, accepted) if known == name)
    head, _, rest = name.partition(".")
    where, _, axis = rest.rpartition(".")
    own = (joint.name for joint in robot.joints)
    if head in BY_NAME and head in accepted and rest and rest not in own:
        yield Meaning("value", head, (rest,), {})
    if head == "load" and "loads" in accepted and axis in WRENCH:
        try:
            frame(robot, where)
        except KronbotError as error:
            raise UsageError(f"{name}: ", *error.args) from None
        yield Meaning("load", "loads", (where, WRENCH.index(axis)), {where: [0.0] * 6})
    if head == "distributed" and "distributed" in accepted and axis in WRENCH[:3]:
        beams = [link.name for link in robot.links if link.beam is not None]
        if where not in beams:
            raise unknown(where, beams, f"{name}: no flexible link ", there="; there are")
        yield Meaning("load", "distributed", (where, WRENCH.index(axis)), {where: [0.0] * 3})


# Arguments that give coordinates, their rates and torques values by name, beside the one that is varied.
_PLACED = {"q": ("q", "angles"), "qd": ("qd",), "qdd": ("qdd",), "tau": ("tau",)}


def free_angles(robot: Robot, arguments: Mapping[str, object], meant: Sequence[Meaning]) -> list[str]:
    """Columns of statics for the angles of joints whose torques are given."""
    tau = arguments.get("tau", ())
    free: set[object] = {each.keys[0] for each in meant if each.argument == "tau" and each.keys}
    free |= {*tau} if isinstance(tau, Mapping) else {joint.name for joint in robot.joints if tau}
    return [f"angle.{joint.name}" for joint in robot.joints if {joint.name, robot.coordinates[joint.driven]} & free]


def prepared(
    robot: Robot, arguments: Mapping[str, object], varied: Sequence[str], meant: Sequence[Meaning]
) -> dict[str, object]:
    """The fixed arguments with room for what is varied. Raises UsageError where they have rows, values of their own, or
    what is no value in its place."""
    made = dict(arguments)
    for name, each in zip(varied, meant, strict=True):
        for place in _PLACED.get(each.argument or "", ()):
            if isinstance(own := made.get(place), dict) and each.keys[0] in own:
                raise UsageError(f"{name} is varied, and has a value by ", Argument(place), ": leave one out")
    for each in meant:
        word = each.argument
        if word is None or not each.keys:
            continue
        given = made.get(word)
        if isinstance(each.empty, dict):
            named = _by_name(robot, word, given)
            inner = each.empty.get(each.keys[0])
            if isinstance(inner, list):
                own = named.get(str(each.keys[0]), inner)
                named[str(each.keys[0])] = [*own, *[0.0] * 6][: len(inner)] if isinstance(own, list) else own
            made[word] = named
        else:
            made[word] = each.empty if given is None else given
            if isinstance(given, list) and len(each.keys) > 1 and len(given) != 1:
                raise UsageError(Argument(word), f" has {len(given)} vectors: vary one, or take them as they are")
        if given is not None:
            _demand_value(robot, each, made[word])
    return made


def _demand_value(robot: Robot, meaning: Meaning, given: object) -> None:
    """Raise UsageError unless numbers or expressions stand where each case puts its own, or nothing."""
    place, word = given, Argument(str(meaning.argument))
    for key in meaning.keys:
        if isinstance(place, dict) and isinstance(key, str):
            place = place.get(key, 0.0)
        elif isinstance(place, list) and isinstance(key, int):
            if key >= len(place):
                raise UsageError(word, f": numbers are missing in the place of what is varied, {meaning.keys[-1]}")
            place = place[key]
        else:
            raise UsageError(word, f": {_none(place)}")
    # Limits have two.
    for value in place if isinstance(place, list) and meaning.what == "value" else [place]:
        if not isinstance(value, int | float | str) or isinstance(value, bool):
            raise UsageError(word, f": {_none(value)}")
        if isinstance(value, str) and (wrong := _wrong(robot, value)) is not None:
            raise UsageError(word, f": {wrong}")


def _none(value: object) -> str:
    return f"a number is wanted, not {value if isinstance(value, bool | int | float) else kind(value)}"


def _by_name(robot: Robot, word: str, given: object) -> dict[str, object]:
    """Values by name, also of what was given as a list of all coordinates or of the joints."""
    if given is None:
        return {}
    if isinstance(given, dict):
        return dict(given)
    forms: Iterable[Sequence[str]] = robot.coordinates, [joint.name for joint in robot.joints]
    if word in ("loads", "distributed") and isinstance(given, list):
        pairs = [each for each in given if isinstance(each, list) and len(each) == 2 and isinstance(each[0], str)]
        if len(loads := {each[0]: each[1] for each in pairs}) == len(given):
            return loads
        forms = ()
    for names in FORMS.values() if word == "inverse" else forms:
        if isinstance(given, list) and len(given) == len(names) and not any(isinstance(x, list) for x in given):
            return dict(zip(names, given, strict=True))
    raise UsageError(Argument(word), ": one point is wanted where a part of it is varied: values by name, or as a list")


def placed(base: Mapping[str, object], meant: Sequence[Meaning], values: Sequence[Value]) -> tuple[dict, dict]:  # type: ignore[type-arg]
    """Parameters and arguments of a case."""
    parameters: dict[str, Value] = {}
    arguments: dict[str, object] = dict(base)
    copied = set()
    for each, value in zip(meant, values, strict=True):
        if each.argument is None:
            parameters[str(each.keys[0])] = value
        elif not each.keys:
            arguments[each.argument] = whole(value)
        else:
            if each.argument not in copied:
                arguments[each.argument] = _copy(arguments[each.argument])
                copied.add(each.argument)
            place: object = arguments[each.argument]
            for key in each.keys[:-1]:
                place = place[key]  # type: ignore[index]
            place[each.keys[-1]] = value  # type: ignore[index]
    return parameters, arguments


def _copy(value: object) -> object:
    if isinstance(value, dict):
        return {key: _copy(each) for key, each in value.items()}
    return [_copy(each) for each in value] if isinstance(value, list) else value


def whole(value: Value) -> object:
    """An option's value; what is counted comes out of a range as a float."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return {"true": True, "false": False}.get(value, value) if isinstance(value, str) else value


def in_degrees(robot: Robot, meant: Mapping[str, Meaning], given: Mapping[str, object]) -> Iterator[str]:
    """What is to be said of the first angle that looks like degrees, of what is ``given`` by name."""
    units = dict(zip(robot.coordinates, robot.units, strict=True))
    turning = {
        word: {name for name, unit in units.items() if unit == "rad"} for word in ("q", "to", "limits", "deviation")
    }
    turning["inverse"] = {*RPY}
    for name, meaning in meant.items():
        if meaning.keys and meaning.keys[0] in turning.get(meaning.argument or "", ()):
            doubts = (doubt_of(name, number, text) for number, text in written(name, given[name]))
            if doubt := next(filter(None, doubts), None):
                yield doubt
                return


def doubts_of_file(robot: Robot, sweep: Sweep, accepted: Collection[str]) -> tuple[Mistake, ...]:
    """What is to be said of every name of the sweep of the robot's file, at its place: that it is refused, or that an
    angle looks like degrees."""
    told: list[tuple[tuple[str | int, ...], str, bool]] = []
    named = [("over", *each) for each in sweep.over.items()] + [("cases", *each) for each in sweep.cases.items()]
    for part, name, values in named:
        path, given = ("sweep", part, name), {name: list(values) if isinstance(values, tuple) else values}
        try:
            meant = meanings(robot, accepted, [name])
        except UsageError as error:
            told.append((path, str(error), True))
            continue
        try:
            drawn = isinstance(factor(name, given[name]), Distribution)
            made = cases(given, None, 1 if drawn else None, 0, False)
            strange = next(strange_values(robot, name, meant[0], made), None)
        except UsageError as error:
            told.append((path, str(error), False))
            continue
        if strange is not None:
            row, _, why = strange
            told.append(((*path, row - 1) if isinstance(values, tuple) else path, f"{name}: {why}", False))
        else:
            told += [(path, doubt, False) for doubt in in_degrees(robot, {name: meant[0]}, given)]
    return described.placed(robot.description, told)


def strange_values(robot: Robot, name: str, meaning: Meaning, cases: Cases) -> Iterator[tuple[int, str, str]]:
    """The listed values that can be no numbers, because they are no expressions over the parameters, or no words,
    because they begin as formulas of spreadsheets, which run them: the row of each, its name, and what is wrong."""
    known: dict[Value, str | None] = {}
    for row, value in enumerate(cases.listed(name), 1):
        if isinstance(value, str) or (isinstance(value, bool) and meaning.number):
            wrong = known[value] if value in known else known.setdefault(value, _refused(robot, meaning, value))
            if wrong is not None:
                yield row, name, wrong


def strange(wrong: Sequence[tuple[int, str, str]], of_cases: Collection[str]) -> StrangeValues:
    """The error for values that can be none, with their rows where they are ``of_cases``."""
    told = [
        f"row {row} of the cases, {name}: {why}" if name in of_cases else f"{name}: {why}" for row, name, why in wrong
    ]
    told = list(dict.fromkeys(told))
    error = StrangeValues("\n".join(told[:TOLD] + ["and more"] * (len(told) > TOLD)))
    error.values = wrong
    return error


def _refused(robot: Robot, meaning: Meaning, value: bool | str) -> str | None:
    if meaning.number:
        return _wrong(robot, value)
    if isinstance(value, bool) or not value.startswith(_FORMULA) or _wrong(robot, value) is None:
        return None
    return f"{quote(value)} is no number, and no word begins with {value[0]}"


def _wrong(robot: Robot, value: bool | str) -> str | None:
    if isinstance(value, bool):
        return _none(value)
    try:
        expression = parse(value)
        strange = sorted(expression.names - robot.description.values.keys())
        if not expression.names:
            evaluate(expression, {})
    except ExpressionError as error:
        return error.of(value)
    return unknown_name(strange[0], robot.description.values) if strange else None
