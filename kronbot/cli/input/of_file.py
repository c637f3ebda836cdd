"""What the robot file says of its sweep, beneath the options of the command line; mistakes in it have their place."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from kronbot.cli.input.cases import wrong_values
from kronbot.cli.input.given import arguments
from kronbot.cli.output.messages import untold
from kronbot.description.described import mistaken
from kronbot.description.sweeping import Sweep
from kronbot.description.wording import unknown
from kronbot.errors import Argument, DescriptionError, UsageError
from kronbot.records import dataclass

if TYPE_CHECKING:
    from kronbot.library.robot import Robot

# What a sweep varies and keeps, which file and command line say alike.
_PARTS = ("over", "cases", "sample", "seed", "indices", "keep")
# What only the command line can be wrong about.
_ELSEWHERE = {"output", "overwrite", "panels", "parameters", "resume", "scheduler", "workers"}
Wrong = tuple[tuple[str | int, ...], str, bool]  # a path in the file, what is wrong there, and whether it is its key


def left_out(name: str) -> bool:
    """Whether an option is not on the command line."""
    return click.get_current_context().get_parameter_source(name) == ParameterSource.DEFAULT


@dataclass(frozen=True)
class OfFile:
    """The sweep of a robot file, those of its options and parts that the command line leaves to it, and whether it says
    nothing else."""

    robot: Robot
    told: Sweep
    options: Mapping[str, Any]
    parts: Mapping[str, Any]
    alone: bool

    @classmethod
    def beneath(cls, robot: Robot, told: Sweep, asked: Mapping[str, Any]) -> OfFile:
        """What is left to the file of a command that asks so. Raises DescriptionError for options that are wrong."""
        context = click.get_current_context()
        own = [each for each in context.command.params if each.name in {*asked, "order"}]
        known = {each.opts[-1].removeprefix("--"): each for each in own}
        wrong: list[Wrong] = []
        options: dict[str, Any] = {}
        for name, text in told.options.items():
            path = ("sweep", "options", name)
            if name not in known:
                wrong.append((path, str(unknown(name, known, "no option ", there="; there are")), True))
                continue
            option = known[name]
            several = isinstance(text, tuple)
            given = text if several == option.multiple else (text,) if option.multiple else ",".join(text)
            try:
                value = option.process_value(context, given)
                with untold():  # until all options are known
                    arguments(robot.model, {str(option.name): value})
            except click.UsageError as error:
                wrong.append((path, error.message, False))
            except UsageError as error:
                wrong.append((path, str(error), False))
            else:
                if left_out(str(option.name)):
                    options[str(option.name)] = value
        if wrong:
            raise mistaken(robot.description, wrong)
        order = options.pop("order", None)
        alone = all(map(left_out, (*(str(each.name) for each in own), *_PARTS)))
        return cls(robot if order is None else robot.at_order(order), told, options, dict(cls._parts(told)), alone)

    @staticmethod
    def _parts(told: Sweep) -> Iterator[tuple[str, Any]]:
        if left_out("over") and left_out("cases"):
            yield "over", {name: list(each) if isinstance(each, tuple) else each for name, each in told.over.items()}
            yield "cases", {name: list(column) for name, column in told.cases.items()} or None
        for name in _PARTS[2:]:
            if left_out(name):
                yield name, getattr(told, name)

    def placed(self, error: UsageError, ask: Callable[..., object]) -> UsageError | DescriptionError:
        """An error with its place, where it is about the file: of each part that is refused by itself, or of the whole.

        ``ask`` is the question of the sweep, with other parts in place of its own.
        """
        if any(isinstance(part, Argument) and part.name in _ELSEWHERE for part in error.args):
            return error
        wrong = list(self._wrong(ask))
        if not wrong and self.alone:
            wrong = [(("sweep",), str(error), True)]
        return mistaken(self.robot.description, wrong) if wrong else error

    def _wrong(self, ask: Callable[..., object]) -> Iterator[Wrong]:
        from kronbot.sweeps.cases import Distribution
        from kronbot.sweeps.grammar import factor
        from kronbot.sweeps.work import Case

        def asked(name: str, values: object) -> object:
            sample = 1 if isinstance(factor(name, values), Distribution) else None
            return ask(over={name: values}, cases=None, sample=sample, indices=False, keep=None)

        right: dict[str, Any] = {}
        for part in ("over", "cases"):
            for name, values in (self.parts.get(part) or {}).items():
                if isinstance(values, str):
                    why = _refusal(asked, name, values)
                    wrong = [] if why is None else [(0, why)]
                    key = why == _refusal(asked, name, ["0"])
                else:
                    told = wrong_values(lambda column: asked(*next(iter(column.items()))), name, values, str)
                    wrong, key = [(row, why) for row, _, why in told], True
                for row, why in wrong:
                    path = ("sweep", part, name)
                    yield (*path, row - 1) if row else path, why, key and not row
                if not wrong:
                    right[name] = values
        drawn = any(isinstance(factor(name, values), Distribution) for name, values in right.items())
        some: dict[str, Any] = right or {"order": [self.robot.order]}
        for i, text in enumerate(self.parts.get("keep", ())):
            given = {"over": some, "cases": None, "sample": 1 if drawn else None, "indices": False, "keep": [text]}
            if (why := _refusal(lambda given=given: ask(**given))) is not None:
                yield ("sweep", "keep", i), why, False
        for name, value in self.options.items():
            with untold():
                case = Case({}, arguments(self.robot.model, {name: value}))
            if isinstance(answer := next(self.robot.answers(self.told.question, [case])), UsageError):
                yield ("sweep", "options", name), str(answer), False


def _refusal(ask: Callable[..., object], *given: object) -> str | None:
    """What a UsageError says, None where there is none."""
    try:
        ask(*given)
    except UsageError as error:
        return str(error)
    return None
