"""What the driver of a sweep asks of an engine."""

from __future__ import annotations

from collections.abc import Iterable
from types import TracebackType
from typing import Protocol, Self

from kronbot.records import dataclass
from kronbot.sweeps.work import Done


@dataclass(frozen=True)
class Lost:
    """A chunk whose worker has ended without an answer."""

    span: tuple[int, int]


class Engine(Protocol):
    """Workers that compute chunks of one task; leaving its context ends what is under way."""

    @property
    def workers(self) -> int:
        """How many there are now, at least 1."""

    def submit(self, span: tuple[int, int]) -> None:
        """Have a chunk computed: cases start ... stop - 1."""

    def results(self) -> Iterable[Done | Lost]:
        """What has come, waited for until there is something.

        Raises UsageError where a worker refuses the task, ComputationError where there are no workers any more.
        """

    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...
