"""What somebody asks of a fit: the data, parameters with what is known of them, and what is said of columns."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import field, replace

from kronbot.description.expressions.expression import Expression
from kronbot.description.wording import listing, unknown
from kronbot.errors import Argument
from kronbot.mechanics.estimation.beliefs import Beliefs
from kronbot.mechanics.estimation.least_squares import STEPS
from kronbot.model.build import compliant
from kronbot.model.robot import Robot
from kronbot.model.variation import Variation
from kronbot.questions.fitting.answers import Answers
from kronbot.questions.fitting.data import Named
from kronbot.questions.fitting.sorting import Sorted, keys, matches
from kronbot.records import dataclass


@dataclass(frozen=True)
class Inquiry:
    """What is asked: the data, which parameters with what is known of them, and how errors count.

    ``validation`` is a table of rows, or the share of rows drawn with the ``seed``, that are not fitted. ``sigma`` has
    keys of columns, ``only`` keys of those that are used, ``starts`` is the number of searches. ``offset`` is what
    sensors add, and ``delay`` how late they are (s), by keys of columns. ``differentiate`` is the cut-off (Hz) of what
    makes rates from coordinates. ``filed`` are those of sigma, offset and delay that the robot's file says, ``idle``
    the parameters that are left out since nothing in it depends on them.
    """

    question: str
    data: Named | None
    names: tuple[str, ...]
    beliefs: Beliefs
    sigma: Mapping[str, float] = field(default_factory=dict)
    only: Sequence[str] = ()
    validation: Named | float | None = None
    loss: str = "linear"
    starts: int = 1
    seed: int = 0
    steps: int = STEPS
    initial: str = "rows"
    offset: Mapping[str, Expression] = field(default_factory=dict)
    delay: Mapping[str, Expression] = field(default_factory=dict)
    differentiate: float | None = None
    filed: Collection[str] = ()
    idle: Sequence[str] = ()

    def with_beside(self, answers: Answers) -> Inquiry:
        """The same for what is to be found beside the parameters, too."""
        beside = answers.beside
        return replace(self, names=(*self.names, *beside), beliefs=self.beliefs.joined([*beside.values()]))

    def variation(self, robot: Robot, rows: Named) -> Variation:
        """A robot at any values of the parameters, for such rows: gauges may need numbers that others do without."""
        subject = compliant(robot) if self.question == "statics" else robot
        return Variation.of(subject, self.names, (rows.kinds, tuple(self.only)))

    def unmeasured(self, *tables: Sorted) -> Iterator[str]:
        """What the robot's file says of columns that none of the tables has: it may serve others, too; and parameters
        on which nothing depends.

        Raises UsageError where an argument says it.
        """
        if self.idle:
            verb, them = ("are", "them") if len(self.idle) > 1 else ("is", "it")
            yield f"{listing(self.idle)} {verb} not fitted: nothing in the file depends on {them}"
        names = [*dict.fromkeys(name for told in tables for name in told.compared)]
        for word, given in {"sigma": self.sigma, "offset": self.offset, "delay": self.delay}.items():
            idle = [key for key in given if not any(matches(key, name) for name in names)]
            if idle and word not in self.filed:
                raise unknown(idle[0], keys(names), Argument(word), ": no measured column ")
            if idle:
                yield f"the file's {word} of {listing(idle)} changes nothing: no such column is measured in these data"
