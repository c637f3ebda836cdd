"""From the text of a robot file to its description: reading, schema, rules, and every mistake at once."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from itertools import chain
from types import MappingProxyType

from kronbot.description.checks.judgements import Judgements
from kronbot.description.checks.quantities import check_quantities
from kronbot.description.checks.report import Report, View
from kronbot.description.checks.rules import check_rules
from kronbot.description.described import Description, checksum
from kronbot.description.expressions.expression import (
    CONSTANTS,
    CycleError,
    Expression,
    ExpressionError,
    Number,
    evaluate,
    parse,
    resolve_each,
)
from kronbot.description.in_time import TimeTable, VectorTable
from kronbot.description.mistakes import first_of, quoting, with_lines
from kronbot.description.moving import TableMotion
from kronbot.description.schema import RobotFile, TableFile
from kronbot.description.table import Table, read_table
from kronbot.description.validation import Validator
from kronbot.description.wording import Entries, did_you_mean, listing, quote, unknown_name
from kronbot.description.yaml.composing import compose, compose_leniently
from kronbot.description.yaml.nodes import Mapping as MappingNode
from kronbot.description.yaml.nodes import Node, Scalar, find
from kronbot.description.yaml.nodes import Sequence as SequenceNode
from kronbot.description.yaml.source import Source
from kronbot.errors import Argument, DescriptionError, Mistake, MotionError, UsageError
from kronbot.system.sealed import demand_same

NOTHING: Mapping[str, str] = MappingProxyType({})
NO_TABLES: Mapping[str, Table] = MappingProxyType({})
_WORD = re.compile(r"[A-Za-z_]\w*")


def load(
    source: Source,
    overrides: Mapping[str, str] = NOTHING,
    motion: str | None = None,
    tables: Mapping[str, Table] = NO_TABLES,
) -> Description:
    """The description in ``source``; ``overrides`` replace parameters by expressions over the other parameters.

    ``motion`` is YAML text that takes the place of the file's ``motion``; ``tables`` are files that were read already,
    by name. Raises DescriptionError with every mistake of the file or of the first table with any, MotionError with
    every mistake of the motion, UsageError for an override that is wrong.
    """
    with quoting(source.text.splitlines()):
        described = _load(source, overrides, None, tables)
    described = _with_tables(described)
    if motion is None:
        return described
    try:
        with quoting(motion.splitlines()):
            moved = _load(source, overrides, compose(Source("motion", motion, source.folder)), described.tables)
    except DescriptionError as error:
        # The file alone is right, so that what is wrong now is wrong in the motion.
        raise MotionError(replace(mistake, file="motion") for mistake in error.mistakes) from None
    # Those of the file, whose places are in its text, and of the motion.
    lines = motion.splitlines()
    new = [each for each in moved.warnings if each not in described.warnings and each.line <= len(lines)]
    told = with_lines((replace(each, file="motion", text=None) for each in new), lines)
    return _with_tables(replace(moved, warnings=(*described.warnings, *told), motion=motion))


def overriding(described: Description, changed: Mapping[str, str]) -> Description:
    """:func:`kronbot.description.described.with_overrides`."""
    overrides = {**described.overrides, **changed}
    judgements, quantities = described.judgements, described.quantities
    root = _overridden(described.tree, overrides)
    report = Report(described.source.name, root)
    values = _values(root, report, overrides)
    for each in () if report.found else judgements:  # at last that of the file, whose warnings count
        report = each.at(values)
        if report.found:
            break
    moved = {name for name, value in values.items() if value != described.values[name]}
    touched = [each for each in quantities if not moved.isdisjoint(each.names)]
    if report.found or not _have_values(touched, values):
        return load(described.source, overrides, described.motion, described.tables)
    parameters = Entries({**described.robot.parameters, **{name: parse(text) for name, text in overrides.items()}})
    of_tables = (each for each in described.warnings if each.file != described.source.name)
    robot, warnings = (
        replace(described.robot, parameters=parameters),
        (*_warnings(report, described.source), *of_tables),
    )
    other = replace(described, robot=robot, values=values, warnings=warnings, overrides=overrides)
    vars(other).update(tree=described.tree, judgements=judgements, quantities=quantities)
    return other


def judgements_of(described: Description) -> tuple[Judgements, ...]:
    """:attr:`Description.judgements`."""
    trees = [described.tree]
    if described.motion is not None:
        trees.insert(0, _moved(described.tree, compose(Source("motion", described.motion, described.source.folder))))
    return tuple(Judgements(check_quantities, described.source.name, tree, described.values) for tree in trees)


def quantities_of(described: Description) -> tuple[Expression, ...]:
    """:attr:`Description.quantities`."""
    return tuple(each for each in _expressions(replace(described.robot, parameters={})) if each.names)


def unused_of(described: Description) -> tuple[str, ...]:
    """:attr:`Description.unused`."""
    root = described.tree
    definitions = _definitions(root), dict[str, Expression | None](described.robot.parameters)
    depending = [{name: said.names for name, said in each.items() if said is not None} for each in definitions]
    # Texts and keys of these may name parameters; a motion that another one stands for is in the file all the same.
    worded = ("sweep", "fit", *(["motion"] if described.motion is not None else []))
    sections = (node for node in (find(root, (word,)) for word in worded) if node is not None)
    waiting = {*chain.from_iterable(map(_words, sections))}.union(*(each.names for each in described.quantities))
    used = set[str]()
    while waiting:
        used |= waiting
        waiting = set[str]().union(*(each.get(name, ()) for name in waiting for each in depending)) - used
    return tuple(name for name in described.values if name not in used)


def again(
    then: str, source: Source, overrides: Mapping[str, str], motion: str | None, tables: Mapping[str, Table]
) -> Description:
    """A description from a pickle. Raises UsageError for a changed one."""
    demand_same("a robot", then, checksum(source, overrides, motion, tables))
    return load(source, overrides, motion, tables)


def _with_tables(described: Description) -> Description:
    """With the tables that the file names, checked for what they are used for (shapes: when the length is known)."""
    robot, source, tables = described.robot, described.source, dict(described.tables)
    told = [*described.warnings]

    def table(file: str) -> Table:
        return tables.get(file) or tables.setdefault(file, read_table(source.folder, file, source.place))

    for link in robot.links:
        if link.flexible is not None and isinstance(link.flexible.shape, TableFile):
            table(link.flexible.shape.file)
    drives = robot.simulate.by_joint
    turning = {link.joint.name for link in robot.links if link.joint.type == "revolute"}
    for joint, motion in (*robot.motion.items(), *((joint, drive.motion) for joint, drive in drives.items())):
        if isinstance(motion, TableMotion):
            table(motion.file).of_joint(motion, joint, joint in turning)
            told += table(motion.file).turned(motion, joint) if joint in turning else ()
    if robot.control.state_feedback is not None:
        table(robot.control.state_feedback.K).gains()
        if robot.control.state_feedback.estimator is not None:
            table(robot.control.state_feedback.estimator).filter()
    for joint, drive in drives.items():
        if isinstance(drive.torque, TimeTable):
            table(drive.torque.file).torque(*drive.torque.columns(f"torque.{joint}"))
    for given in (each for push in robot.simulate.forces for each in (push.force, push.moment)):
        if isinstance(given, VectorTable):
            table(given.file).vector()
    for element in robot.elements:
        if isinstance(element.force, TimeTable):
            table(element.force.file).force(*element.force.columns(f"force.{element.name}"))
    return replace(described, tables=tables, warnings=tuple(dict.fromkeys(told)))


def _load(
    source: Source, overrides: Mapping[str, str], motion: Node | None, tables: Mapping[str, Table]
) -> Description:
    root, mistakes = compose_leniently(source)
    root = _overridden(root if motion is None else _moved(root, motion), overrides)
    report = Report(source.name, root, mistakes)
    validator = Validator(report, lambda mended: _values(mended, report, overrides))
    robot: RobotFile | None = validator.read(RobotFile)
    values = dict(validator.values)
    view = View(report, values, (), report.root)
    check_rules(view, source.place or source.folder, tables)
    check_quantities(view)
    report.raise_mistakes()
    if robot is None:
        raise AssertionError("the schema refused the file without a mistake")
    return Description(robot, values, _warnings(report, source), source, overrides, tables=tables)


def _warnings(report: Report, source: Source) -> tuple[Mistake, ...]:
    """Those of a report, with the lines that they are about."""
    return with_lines(first_of(report.warnings, "warning"), source.text.splitlines()) if report.warnings else ()


def _moved(root: Node, motion: Node) -> Node:
    """The tree with another motion."""
    if not isinstance(root, MappingNode):
        return root
    place = Scalar("motion", motion.line, motion.column)
    return MappingNode({**root.entries, "motion": (place, motion)}, root.line, root.column)


def _expressions(said: object) -> Iterator[Expression]:
    """Those in a part of a description."""
    if isinstance(said, Expression):
        yield said
    elif isinstance(said, tuple | Mapping):
        for entry in said.values() if isinstance(said, Mapping) else said:
            yield from _expressions(entry)
    elif is_dataclass(said):
        for entry in fields(said):
            yield from _expressions(getattr(said, entry.name))


def _words(node: Node) -> Iterator[str]:
    """What may be names of parameters in a part of the tree: in its texts and its keys."""
    match node:
        case MappingNode(entries=entries):
            for key, value in entries.values():
                yield from _words(key)
                yield from _words(value)
        case Scalar(value=value):
            yield from _WORD.findall(value) if isinstance(value, str) else ()
        case _:
            for item in node.items:
                yield from _words(item)


def _have_values(expressions: Iterable[Expression], values: Mapping[str, float | None]) -> bool:
    """Whether all that depend on no free parameter are finite real numbers."""
    known = {name: value for name, value in values.items() if value is not None}
    try:
        for expression in expressions:
            if expression.names <= known.keys():
                evaluate(expression, known)
    except ExpressionError:
        return False
    return True


def _joints(root: Node) -> set[object]:
    """The names of joints in a tree that nobody has checked."""
    links = find(root, ("links",))
    named = [find(link, ("joint", "name")) for link in links.items] if isinstance(links, SequenceNode) else []
    return {name.value for name in named if isinstance(name, Scalar)}


def _overridden(root: Node, overrides: Mapping[str, str]) -> Node:
    """The tree with other expressions in its parameters, each at the place of the one it replaces."""
    parameters = find(root, ("parameters",))
    declared = parameters.entries if isinstance(parameters, MappingNode) else {}
    replaced = dict(declared)
    for name, text in overrides.items():
        if name not in declared:
            if name in _joints(root):
                raise UsageError(
                    f"{quote(name)} is a joint and no parameter: ", Argument("q"), " tells where it stands"
                )
            known = f" (parameters: {listing(declared)})" if declared else " (the robot has no parameters)"
            raise UsageError(f"unknown parameter {quote(name)}{did_you_mean(name, declared) or known}")
        try:
            unknown = sorted(parse(text).names - declared.keys())
        except ExpressionError as error:
            raise UsageError(f"the value of parameter {quote(name)}: {error.message}") from None
        if unknown:
            wrong = unknown_name(unknown[0], (*declared, *CONSTANTS))
            raise UsageError(f"the value of parameter {quote(name)}: {wrong}")
        key, old = declared[name]
        replaced[name] = (key, Scalar(text, old.line, old.column))
    if not overrides or not isinstance(root, MappingNode) or not isinstance(parameters, MappingNode):
        return root
    key = root.entries["parameters"][0]
    changed = MappingNode(replaced, parameters.line, parameters.column)
    return MappingNode({**root.entries, "parameters": (key, changed)}, root.line, root.column)


def _definitions(root: Node) -> dict[str, Expression | None]:
    """What the parameters are; None for free ones, and for those without sense (the schema says what is wrong)."""
    parameters = find(root, ("parameters",))
    entries = parameters.entries if isinstance(parameters, MappingNode) else {}
    definitions: dict[str, Expression | None] = dict.fromkeys(entries)
    for name, (_, node) in entries.items():
        if isinstance(node, Scalar) and isinstance(node.value, str | Number):
            try:
                expression = parse(node.value)
            except ExpressionError:
                continue
            if expression.names <= entries.keys():
                definitions[name] = expression
    return definitions


def _values(root: Node, report: Report, overrides: Mapping[str, str]) -> dict[str, float | None]:
    """Values of the parameters; those without sense count as free."""
    values, mistakes = resolve_each(_definitions(root))
    for name, mistake in mistakes.items():
        guilty = set(mistake.cycle) if isinstance(mistake, CycleError) else {name}
        if guilty & overrides.keys():
            raise UsageError(f"the value of parameter {quote(name)}: {mistake.message}")
        report.value(("parameters", name), mistake.message)
    return values
