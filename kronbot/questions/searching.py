"""The search for a plan: from several starts, on finer meshes until arms arrive, or for what stands in for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from typing import NoReturn, cast

import numpy as np

from kronbot.errors import ComputationError, Interrupted, KronbotError
from kronbot.floats import Array
from kronbot.mechanics.control.collocation import plan as collocated
from kronbot.mechanics.control.held import held
from kronbot.mechanics.control.planned import Plan
from kronbot.mechanics.control.wanted import Arm, Wanted
from kronbot.model.robot import Robot
from kronbot.questions import judgement, posed
from kronbot.questions.judgement import Wish
from kronbot.questions.keeping import Deadline
from kronbot.questions.result import Result
from kronbot.records import dataclass
from kronbot.system.interruption import Interruptions

# Intervals to begin with, how often they are halved, and what may be left at the end, as a share of the way.
INTERVALS, MESHES, ARRIVED = 40, 5, 1e-5
AHEAD = 0.995  # what is left to do behind each look at whether it goes on, for a guess
# Steps in which torques of a motion are held, until these bring the arm to its goal; how much better that motion is.
STEPS, BETTER = (320, 640, 1280), 4
# Of the shortest time that was seen, where that search is lost.
SLOWER = (1.02, 1.1, 1.3)
# How often a smooth motion in its place is hastened, with room for this growth, by a power of it: vibrations grow fast.
HASTENED, ROOMY, SPEED = 4, 1.1, 0.4
# Limits of what is not found are told where they are passed by more than this share, by a motion that is nearly one.
TOO_FAR, NEARLY = 1e-3, 1e-2
# Limits are drawn in by more than they were passed, and by at most this share of what is between them.
DRAWN, MOST_DRAWN, LEFT = 1.5, 0.1, 0.25
Passed = Mapping[str, float]


@dataclass(frozen=True)
class Candidate:
    """A plan of a ``wish``, which may be that of a step towards the one that was asked for.

    Where a simulation has judged it there is the ``run`` of the arm under it; ``missed`` is the worst arm's, ``left``
    the energy of every arm's vibration, ``passed`` how far columns go beyond their limits, as shares of these.
    """

    plan: Plan
    wish: Wish
    run: Result | None = None
    missed: float = np.inf
    left: Sequence[float] = ()
    passed: Passed = field(default_factory=dict)

    @property
    def shortcomings(self) -> list[str]:
        """What the simulation that has judged it says against it."""
        told = [f"misses its goal by {self.missed:.2g} of its way"] if self.missed > ARRIVED else []
        beyond = sorted(self.passed.items(), key=lambda item: -item[1])
        return told + [f"has {name} {share:.2g} of its limits beyond them" for name, share in beyond if share > ARRIVED]


@dataclass
class Search:
    """What a search has found: the ``best`` so far, which any search that is stopped leaves to whoever asks.

    The ``arm`` is the first one of those that it is sought for. A signal that is ``met``, or the ``deadline``, ends it.
    """

    met: Interruptions
    deadline: Deadline
    progress: Callable[[float], None]
    best: Candidate | None = None
    judged: bool = False
    arm: Arm | None = None
    stopped: str = "interrupted"
    lost: str = ""
    between: Sequence[float] = ()
    looks: int = 0

    def watch(self) -> None:
        """Raise what ends the search, if anything does; a search that goes on is seen to."""
        self.met.demand_none()
        self.deadline.demand()
        self.looks += 1
        self.progress(1 - AHEAD**self.looks)

    def search(self, robots: Sequence[Robot], wish: Wish) -> None:
        """Find one; that of least effort begins at the torques of a smooth motion, which stand where it is lost. Where
        the least time is lost a smooth motion takes a little more."""
        near: Candidate | None = None
        if wish.least == "effort" and not wish.follows:
            try:
                self._search(robots, replace(wish, least="nearest"), None)
                near = self.best
            except ComputationError:
                pass
        try:
            self._search(robots, wish, None if near is None else near.plan)
        except (ComputationError, Interrupted, KeyboardInterrupt) as error:
            self.best, self.lost = near or self.best, str(error)
            if isinstance(error, ComputationError) and wish.least == "time" and self.best is not None:
                self._slower(robots, wish, error)
            elif not isinstance(error, ComputationError):
                raise
            elif near is None:
                raise self._because(robots, wish, error) from None

    def _take(self, found: Candidate) -> None:
        """Let it be the best so far; a motion does not take the place of torques."""
        if self.best is None or self.best.wish.follows or not found.wish.follows:
            self.best = found

    def _collocated(self, arms: Sequence[Arm], wanted: Wanted, intervals: int, before: Plan | None, wish: Wish) -> Plan:
        """The best of a ``wish`` on these intervals; what a search that ends before has reached is better than none."""
        try:
            return collocated(arms, wanted, intervals, before, self.watch)
        except (ComputationError, Interrupted) as error:
            reached, best = cast("Plan | None", error.partial), self.best
            if reached is not None and (best is None or (best.run is None and reached.missed < best.plan.missed)):
                self._take(Candidate(reached, wish))
            raise

    def _because(self, robots: Sequence[Robot], wish: Wish, error: ComputationError) -> ComputationError:
        """Why there is no plan: the limits that the motion which passes them least passes, if there are any."""
        names = [*(f"torque.{joint.name}" for joint in robots[0].joints), *wish.limits]
        pairs = [*zip(wish.low.tolist(), wish.high.tolist(), strict=True), *wish.limits.values()]
        if wish.duration is None or wish.least == "residual" or self.judged or not np.isfinite(pairs).any():
            return error
        arms = [posed.arm(each, wish) for each in robots]
        boundless, wanted, sizes = posed.passing(robots[0], wish, arms[0])
        try:
            posed.demand_within(robots, arms, wish)
            free = collocated(arms, boundless, INTERVALS, None, self.watch)
            found = collocated(arms, _passing(wanted, free), INTERVALS, free, self.watch)
        except KronbotError as lost:
            self.met.demand_none()
            found = cast("Plan", lost.partial)
            if found is None or not len(found.excess) or found.missed > NEARLY:
                return error
        beyond = found.excess * np.append(wanted.scale, wanted.sizes)
        tiny = wish.follows and (wanted.scale > sizes[: len(wanted.scale)]).any()
        cure = ", or torques, which keep limits that splines of motions do not (drive torque)" if tiny else ""
        told = [
            f"{name} goes beyond its limits {low:g} and {high:g} by {much:.2g} or so"
            for name, (low, high), much, share in zip(names, pairs, beyond, beyond / sizes, strict=True)
            if share > TOO_FAR
        ]
        found_so = f"no plan is found: in {wish.duration:g} s {', '.join(told)}: more time, or wider limits"
        return ComputationError(found_so + cure) if told else error

    def _slower(self, robots: Sequence[Robot], wish: Wish, lost: ComputationError) -> None:
        """The smoothest motion, or its torques, in a little more than the shortest time that a search has seen."""
        assert self.best is not None
        seen, first = self.best, self.best.plan
        least = "change" if wish.follows else "nearest"
        if not wish.follows:
            moved, arm = replace(wish, follows=True), posed.arm(robots[0], wish)
            wanted = replace(posed.wanted(robots[0], moved, arm), whenever=wish.whenever)
            try:
                first = self._first([arm], wanted, None, moved, robots[0])
            except ComputationError as error:
                if error.partial is None:
                    raise lost from None
                first = cast("Plan", error.partial)
        for share in SLOWER:
            try:
                self._search(robots, replace(wish, duration=share * first.duration, least=least), first)
            except ComputationError:
                self.best = seen
            else:
                return self._hasten(robots, replace(wish, least=least))
        raise lost

    def _hasten(self, robots: Sequence[Robot], wish: Wish) -> None:
        """A motion that was found in less time, as far as its limits leave room and searches find it."""
        for _ in range(HASTENED):
            kept = self.best
            assert kept is not None and kept.run is not None
            if not ROOMY < (room := judgement.room(kept.run, posed.limits(robots[0], kept.wish))) < np.inf:
                return
            try:
                self._search(robots, replace(wish, duration=kept.plan.duration / room**SPEED), kept.plan)
            except ComputationError:
                self.best = kept
                return
            except (Interrupted, KeyboardInterrupt):
                self.best = kept
                raise

    def _search(self, robots: Sequence[Robot], wish: Wish, near: Plan | None) -> None:
        """Halve intervals, or draw limits in, until all arms arrive within them: a motion first for torques of one."""
        moved = replace(wish, follows=True, least="change") if wish.least == "nearest" else wish
        met, robot, arms = self.met, robots[0], list[Arm]()
        for each in robots:
            arms.append(posed.arm(each, wish))
            self.watch()
        self.arm = arms[0]
        posed.demand_within(robots, arms, wish)
        wanted, bounds, intervals = posed.wanted(robot, moved, arms[0]), posed.bounds(robot, moved), INTERVALS
        before, wanted = near, wanted if near is None else _passing(wanted, near)
        self.watch()
        finer, self.judged = 0, False
        for mesh in range(MESHES):
            try:
                with met.polled(), met.at_work(lambda: "interrupted in a step of the search that did not end in time"):
                    if mesh == 0:
                        before = self._first(arms, replace(wanted, whenever=wish.whenever), near, moved, robot)
                        whole = wanted = _passing(wanted, before)
                    if mesh > 0 or wish.whenever:
                        before = self._collocated(arms, wanted, intervals, before, moved)
            except Interrupted as error:
                self.stopped = str(error)
                raise
            assert before is not None
            better = BETTER if moved is not wish else 1
            found = self._judge(robots, arms, Candidate(before, moved), bounds, better)
            missed, passed = found.missed * better, found.passed
            if moved is not wish and _within(missed, passed):
                found = self._hold(robots, arms, wish, found, bounds, STEPS[min(finer, len(STEPS) - 1) :])
                missed, passed = found.missed, found.passed
                finer += 1
            if _within(missed, passed):
                return
            refined = missed > ARRIVED or max(passed.values(), default=0.0) > MOST_DRAWN
            share, wide = (LEFT, whole) if refined else (1.0, wanted)  # finer ones pass less
            efforts = [share * passed.get(f"torque.{joint.name}", 0.0) for joint in robot.joints]
            wanted = _tighter(wide, efforts, [share * passed[name] for name in wish.limits])
            intervals *= 2 if refined else 1
        _refuse(robot, wish, missed, passed, found.plan.intervals)

    def _first(self, arms: Sequence[Arm], wanted: Wanted, near: Plan | None, wish: Wish, robot: Robot) -> Plan:
        """The best on the first mesh. Least effort of torques, which is in many places, is sought from one ``near`` and
        from where the arm falls."""
        if wanted.whenever and near is None:  # at instants that are given first: from too far away it goes astray
            near = self._collocated(arms, replace(wanted, whenever=False), INTERVALS, None, wish)
        starts, found, lost = [near], list[Plan](), list[ComputationError]()
        if near is not None and wanted.least == "effort":
            nearest = replace(wanted, least="nearest", whenever=False)
            starts = [self._collocated(arms, nearest, INTERVALS, near, wish)]
        if wanted.least == "effort" and not wanted.follows:
            starts += posed.falling(robot, arms[0], wanted, INTERVALS)

        def effort(each: Plan) -> float:
            return float(np.square(each.inputs / wanted.scale).mean())

        for start in starts:
            try:
                found.append(self._collocated(arms, wanted, INTERVALS, start, wish))
                self._take(Candidate(min(found, key=effort), wish))
            except ComputationError as error:
                lost.append(error)
        if not found:
            raise lost[0]
        return min(found, key=effort)

    def _judge(
        self, robots: Sequence[Robot], arms: Sequence[Arm], found: Candidate, bounds: posed.Bounds, finer: int = 1
    ) -> Candidate:
        """Simulate the arms under a plan, the best so far."""
        plan, wish = found.plan, found.wish
        self._take(found)
        runs = [judgement.under(each, plan, wish, finer, self.watch) for each in robots]
        ways = [judgement.ways(arm, each, wish) for arm, each in zip(arms, robots, strict=True)]
        strayed = [judgement.strayed(each, run, plan, wish, ways[0]) for each, run in zip(robots, runs, strict=True)]
        ends = plan.ends if wish.least == "residual" else [(arm.goal, 0 * arm.goal) for arm in arms]
        missed = max(*map(judgement.missed, arms, robots, runs, ends, ways), *strayed)
        rests = map(judgement.ended, robots, runs)
        left = [float(a.residual.energy(*end)) for a, end in zip(arms, rests, strict=True) if a.residual]
        jumps = {} if wish.follows else judgement.jumps(arms[0], robots[0], runs[0], plan, wish)
        seen = [{name: run.series[name] for name in bounds} for run in runs]
        passed = {
            name: max(judgement.passed(columns[name], *pair) for columns in (*seen, jumps) if name in columns)
            for name, pair in bounds.items()
        }
        judged = Candidate(plan, wish, runs[0], missed, left, passed)
        self._take(judged)
        self.judged = True
        return judged

    def look(self, others: Sequence[Robot], wish: Wish) -> None:
        """How far other arms under the best plan are from rest at the end."""
        assert self.best is not None
        arms, still = [posed.arm(each, wish) for each in others], np.zeros(others[0].n if others else 0)
        runs = [judgement.under(each, self.best.plan, wish, 1, self.watch) for each in others]
        self.between = [
            judgement.missed(arm, robot, run, (arm.goal, still), judgement.ways(arm, robot, wish))
            for arm, robot, run in zip(arms, others, runs, strict=True)
        ]

    def _hold(
        self,
        robots: Sequence[Robot],
        arms: Sequence[Arm],
        wish: Wish,
        motion: Candidate,
        bounds: posed.Bounds,
        counts: Sequence[int],
    ) -> Candidate:
        """The torques of a motion that was simulated, in ever shorter steps until they do as well."""
        assert motion.run is not None
        series, names = motion.run.series, robots[0].coordinates
        q, qd = (np.column_stack([series[f"{name}{dot}"] for name in names]) for dot in ("", "_dot"))
        torques = np.column_stack([series[f"torque.{joint.name}"] for joint in robots[0].joints])
        for steps in counts:
            best = held(motion.plan, series["t"], q, qd, torques, steps)
            best = replace(best, inputs=np.clip(best.inputs, wish.low, wish.high))
            found = self._judge(robots, arms, Candidate(best, wish), bounds)
            if found.missed <= ARRIVED:
                break
        else:
            _refuse(robots[0], wish, found.missed, found.passed, steps)
        return found


def _passing(wanted: Wanted, plan: Plan) -> Wanted:
    """That passes its places at the instants of a plan."""
    places = [place for _, place in wanted.through]
    shares = [time / plan.duration for time in plan.instants]
    return replace(wanted, through=[*zip(shares, places, strict=True)])


def _within(missed: float, passed: Passed) -> bool:
    return missed <= ARRIVED and max(passed.values(), default=0.0) <= ARRIVED


def _tighter(wanted: Wanted, efforts: Sequence[float], others: Sequence[float]) -> Wanted:
    """Limits drawn in by what was beyond them between the stages, by shares, and a little more."""
    low, high = drawn_in(wanted.low, wanted.high, DRAWN * np.array(efforts) * wanted.scale)
    seen_low, seen_high = drawn_in(wanted.low_seen, wanted.high_seen, DRAWN * np.array(others) * wanted.sizes)
    return replace(wanted, low=low, high=high, low_seen=seen_low, high_seen=seen_high)


def drawn_in(low: Array, high: Array, inward: Array) -> tuple[Array, Array]:
    """Limits that are closer to each other; an arm that went astray does not take away more than a share of them."""
    inward = np.minimum(inward, MOST_DRAWN * (high - low))
    return low + inward, high - inward


def _refuse(robot: Robot, wish: Wish, missed: float, passed: Passed, intervals: int) -> NoReturn:
    if missed > ARRIVED:
        why = f"by {missed:.1g} of its way, {intervals} intervals"
        raise ComputationError(f"under the plan the arm misses its goal ({why}): {posed.too_fast(robot, wish.follows)}")
    name, beyond = max(passed.items(), key=lambda item: item[1])
    raise ComputationError(f"under the plan {name} goes beyond its limits, by {beyond:.1g} of them")
