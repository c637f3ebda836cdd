"""Chunks, whatever their order and their fate, make one table; nothing is computed twice."""

import random
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from lines import demand_same
from sweeps.cheap import Cheap, swept
from thinned import rare

from kronbot.errors import UsageError
from kronbot.sweeps import driver
from kronbot.sweeps.driver import Driver, gaps, in_order
from kronbot.sweeps.engines.interface import Lost
from kronbot.sweeps.work import Done, Parcel, versions


class Here:
    """An engine in this process: chunks come in any order, some of them are lost."""

    workers = 3

    def __init__(self, task, seed=None, loses=lambda span, count: False):
        self.task, self.spans, self.asked, self.lost = task, [], [], 0
        self.random, self.loses = random.Random(seed), loses

    def submit(self, span):
        self.asked.append(span)
        self.spans.append(span)

    def results(self):
        span = self.spans.pop(self.random.randrange(len(self.spans)) if self.random else 0)
        if self.loses(span, self.lost):
            self.lost += 1
            return [Lost(span)]
        return [self.task.done(*span)._replace(seconds=1e-3 * (span[1] - span[0]))]


def text(engine, spans=()):
    return b"".join(done.text for done in in_order(Driver(engine.task, engine, spans).chunks()))


@pytest.fixture(scope="module")
def task():
    return swept(Cheap(), {"EI": "0:1:5000"}).task


@pytest.mark.parametrize("seeds", [2, rare(4)])
def test_the_order_of_arrival_does_not_matter(seeds, task):
    whole = task.done(0, 5000).text
    for seed in range(seeds):
        engine = Here(task, seed)
        demand_same(text(engine), whole)
        assert sum(stop - start for start, stop in engine.asked) == 5000
        # They grow to what takes some tenths of a second, and there are few of them.
        assert len(engine.asked) < 60


def test_lost_chunks_are_split_until_the_case_is_found(task):
    engine = Here(task, 1, lambda span, lost: span[0] <= 1234 < span[1])
    rows = text(engine).splitlines()
    assert len(rows) == 5000
    assert [i for i, row in enumerate(rows) if b"three times" in row] == [1234]
    assert engine.asked.count((1234, 1235)) == driver.TRIES
    # A worker that ends for another reason costs no case.
    chance = random.Random(1)
    engine = Here(task, 2, lambda span, lost: lost < 5 and span[0] > 0 and chance.random() < 0.2)
    demand_same(text(engine), task.done(0, 5000).text)
    assert engine.lost == 5


def test_what_is_there_is_not_computed_again(task):
    spans = [(0, 1), (7, 100), (100, 900), (4999, 5000)]
    engine = Here(task, 3)
    found = sorted(Driver(task, engine, spans).chunks())
    assert sorted([*spans, *((done.start, done.stop) for done in found)])[-1][1] == 5000
    assert sum(done.stop - done.start for done in found) == 5000 - 1 - 93 - 800 - 1
    assert list(gaps(spans, 5000)) == [(1, 7), (900, 4999)]


def test_no_chunk_runs_far_ahead_of_the_first_one(task):
    class Slow(Here):
        def results(self):
            self.spans.sort()
            late = self.spans.pop(-1 if len(self.spans) > 1 else 0)
            return [self.task.done(*late)._replace(seconds=1.0)]

    many = swept(Cheap(), {"EI": "0:1:100000"}).task
    engine = Slow(many)
    front = far = 0
    waiting = set()
    for done in Driver(many, engine).chunks():
        waiting.add((done.start, done.stop))
        while following := [span for span in waiting if span[0] == front]:
            waiting -= set(following)
            front = following[0][1]
        far = max(far, done.stop - front)
        if front == 0 and done.stop > 50_000:
            pytest.fail("all was computed before the first case")
        if len(engine.asked) > 2000:
            break
    assert far < 2000


def test_a_question_that_is_refused_in_all_cases_is_refused_at_once():
    class Refusing(Cheap):
        def answers(self, question, cases):
            return (UsageError("no frame of that name") for _ in cases)

    engine = Here(swept(Refusing(), {"EI": "0:1:5000"}).task)
    with pytest.raises(UsageError, match="no frame of that name"):
        list(Driver(engine.task, engine).chunks())
    assert engine.asked == [(0, 1), (4999, 5000)]


def test_workers_of_other_versions_refuse(task):
    parcel = replace(Parcel.of(task), versions={**versions(), "numpy": "0.1"})
    with pytest.raises(
        UsageError, match=f"a worker has other versions: numpy 0.1 here and {versions()['numpy']} there"
    ):
        parcel.task()
    assert Parcel.of(task).task().done(0, 9).text == task.done(0, 9).text


def test_many_runs_get_the_best_native_code(monkeypatch):
    """Whatever a single one would be worth, unless the user says no; a few do not, and other questions neither."""
    from kronbot.compute.native import policy

    def used(question, count, choice):
        task = replace(swept(Cheap(), {"EI": f"1:2:{count}"}).task, question=question)
        found = []
        monkeypatch.setattr(type(task), "done", lambda *asked: found.append(policy.choice()) or Done(0, 1, b"", 0))
        with policy.native(choice):
            Parcel.of(task).done(0, 1)
        return found

    assert used("simulate", 20, "auto") == ["on"] and used("simulate", 20, "off") == ["off"]
    assert used("simulate", 19, "auto") == used("modes", 20, "auto") == ["auto"]


def test_a_sweep_is_computed_by_one_at_a_time(swept_here):
    """Who asks for its rows meanwhile, another thread or who is told of its progress, is told so."""
    met = []

    def asking(share):
        for ask in (lambda: [*sweep], sweep.result):
            with pytest.raises(UsageError, match="the sweep is being computed: ask for its rows when they are there"):
                ask()
        with ThreadPoolExecutor(1) as other:
            met.append(other.submit(list, sweep).exception())

    made = swept(Cheap(), {"EI": "0:8:9"}, 1)
    sweep = replace(made, progress=asking)
    assert len([*sweep]) == 9
    assert met and {type(error) for error in met} == {UsageError}
    assert sweep.result().series["case"].tolist() == [*range(1, 10)]
