"""Who hands chunks of cases to an engine, and gets them back: their size, how many are under way, lost ones again."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator
from dataclasses import field
from threading import Lock

from kronbot.errors import Interrupted, UsageError
from kronbot.records import dataclass
from kronbot.sweeps.engines.interface import Engine, Lost
from kronbot.sweeps.work import Done, Task

# A chunk takes so long (s): enough to forget its way, few enough to lose little; longer where many workers share the
# scheduler, which takes some milliseconds for each.
SECONDS, WAY = 0.3, 0.004
# Chunks grow by no more than this, and no further than that, for the memory of the rows.
GROWTH, LARGEST = 8, 10_000
# Chunks under way for each worker; and how many beyond the first unfinished one may be computed.
AHEAD, LEAD = 2, 16
# A case that ends its worker so often is not tried again.
TRIES = 3
LETHAL = "the process that computed this case ended without an answer, three times"

Span = tuple[int, int]


@dataclass
class Driver:
    """A sweep under way: ``spans`` of cases are done already, in order."""

    task: Task
    engine: Engine
    spans: Iterable[Span] = ()
    progress: Callable[[float], None] = lambda share: None
    _todo: list[Span] = field(default_factory=list)
    _tried: dict[int, int] = field(default_factory=dict)
    _beyond: list[Span] = field(default_factory=list)
    _front: int = 0
    _under_way: int = 0
    _size: int = 1

    def chunks(self) -> Iterator[Done]:
        """The chunks as they come. Raises UsageError where the first and the last case are refused alike."""
        count = self.task.cases.count
        self._beyond = sorted(self.spans)
        self._todo = list(gaps(self._beyond, count))
        heapq.heapify(self._todo)
        finished = count - sum(stop - start for start, stop in self._todo)
        self._advance()
        if self._todo and self._todo[0][0] == 0:
            for end in self._first(count):
                finished += end.stop - end.start
                yield end
        while self._todo or self._under_way:
            self._submit()
            for found in self.engine.results():
                done = self._again(found) if isinstance(found, Lost) else found
                self._under_way -= 1
                if done is None:
                    continue
                self._measure(done)
                self._finish(done)
                finished += done.stop - done.start
                yield done
                self.progress(finished / count)

    def _first(self, count: int) -> Iterator[Done]:
        """The first case, whose refusal is one of them all where the last one is refused alike."""
        ends = [self._alone(0)]
        if ends[0].refused is not None and count > 1:
            ends.append(self._alone(count - 1))
        if ends[0].refused is not None and ends[0].refused == ends[-1].refused:
            raise UsageError(*ends[0].refused)
        for done in ends:
            self._finish(done)
            yield done

    def _alone(self, place: int) -> Done:
        """One case, while nothing else is under way."""
        while True:
            self._cut(place)
            self.engine.submit((place, place + 1))
            for found in self.engine.results():
                done = self._again(found) if isinstance(found, Lost) else found
                if done is not None:
                    return done

    def _cut(self, place: int) -> None:
        """Take one case out of what is to be done."""
        start, stop = next(span for span in self._todo if span[0] <= place < span[1])
        self._todo.remove((start, stop))
        self._todo += [span for span in ((start, place), (place + 1, stop)) if span[0] < span[1]]
        heapq.heapify(self._todo)

    def _submit(self) -> None:
        slots = AHEAD * self.engine.workers
        while self._todo and self._under_way < slots:
            start, stop = self._todo[0]
            if self._under_way and start - self._front > LEAD * slots * self._size:
                break
            heapq.heappop(self._todo)
            left = stop - start
            size = max(1, min(self._size, -(-left // slots)))
            if size < left:
                heapq.heappush(self._todo, (start + size, stop))
            self.engine.submit((start, start + min(size, left)))
            self._under_way += 1

    def _again(self, lost: Lost) -> Done | None:
        """What becomes of a chunk whose worker has ended: halves of it, or a row that says so."""
        start, stop = lost.span
        if stop - start > 1:
            middle = (start + stop) // 2
            for half in ((start, middle), (middle, stop)):
                heapq.heappush(self._todo, half)
            return None
        self._tried[start] = self._tried.get(start, 0) + 1
        if self._tried[start] < TRIES:
            heapq.heappush(self._todo, (start, stop))
            return None
        return Done(start, stop, self.task.failed(start, LETHAL).encode(), 1, starved=True)

    def _measure(self, done: Done) -> None:
        """The size of the next chunks, by what this one has taken; the first ones of a worker take longer."""
        if done.seconds > 0:
            wanted = max(SECONDS, WAY * self.engine.workers)
            fitting = int((done.stop - done.start) * wanted / done.seconds)
            self._size = max(1, min(fitting, GROWTH * self._size, LARGEST))

    def _finish(self, done: Done) -> None:
        heapq.heappush(self._beyond, (done.start, done.stop))
        self._advance()

    def _advance(self) -> None:
        while self._beyond and self._beyond[0][0] <= self._front:
            self._front = max(self._front, heapq.heappop(self._beyond)[1])


def gaps(spans: Iterable[Span], count: int) -> Iterator[Span]:
    """What sorted spans leave of 0 ... count."""
    at = 0
    for start, stop in spans:
        if start > at:
            yield at, start
        at = max(at, stop)
    if at < count:
        yield at, count


def in_order(chunks: Iterable[Done]) -> Iterator[Done]:
    """Chunks of all cases as they come, in the order of these."""
    waiting: dict[int, Done] = {}
    front = 0
    for done in chunks:
        waiting[done.start] = done
        while front in waiting:
            ready = waiting.pop(front)
            front = ready.stop
            yield ready


class Remembered:
    """Chunks that are remembered, for whoever asks again, and so is the error that ended them.

    Iterating raises UsageError while somebody else waits for the next one: another thread, or who is told the progress.
    """

    def __init__(self, chunks: Iterator[Done]) -> None:
        self._coming, self._there = chunks, list[Done]()
        self._error: BaseException | None = None
        self._turn = Lock()

    @property
    def interrupted(self) -> bool:
        """Whether a Ctrl-C has ended them."""
        return isinstance(self._error, KeyboardInterrupt | Interrupted)

    def __reduce__(self) -> tuple[object, ...]:
        """What is there, of chunks that have all come."""
        return Remembered, (iter(tuple(self)),)

    def __iter__(self) -> Iterator[Done]:
        i = 0
        while True:
            while i >= len(self._there):
                if self._error is not None:
                    raise self._error
                if not self._turn.acquire(blocking=False):
                    raise UsageError("the sweep is being computed: ask for its rows when they are there")
                try:
                    if i >= len(self._there):  # else they have come meanwhile
                        self._there.append(next(self._coming))
                except StopIteration:
                    return
                except BaseException as error:
                    self._error = error
                    raise
                finally:
                    self._turn.release()
            yield self._there[i]
            i += 1
