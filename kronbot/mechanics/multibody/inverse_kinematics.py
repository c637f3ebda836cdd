"""Joint values that bring a frame to a pose: damped Newton steps on the exact Jacobian from many starts, within limits.

Levenberg's and Marquardt's method for 1/2 (|r - r*|^2 / L^2 + |theta|^2), where theta is the rotation vector from the
wanted to the present rotation and L the reach, the length of the way to the frame. J_R^T theta is the exact gradient of
1/2 |theta|^2, since the left Jacobian of a rotation leaves its own vector alone. The damping follows the gain ratio
(Nielsen 1999); joints at a limit that the gradient pushes against stay there.
"""

from __future__ import annotations

from fractions import Fraction

import casadi
import numpy as np
import numpy.typing as npt
from casadi import SX

from kronbot.cached import cached_property
from kronbot.compute.trace import Trace, traced
from kronbot.floats import Array, all_finite
from kronbot.mechanics.multibody.kinematics import Frame, relative_motion
from kronbot.mechanics.multibody.relative_motion import RelativeMotion
from kronbot.mechanics.multibody.rotations import rotation_vectors
from kronbot.model.robot import Robot
from kronbot.records import dataclass

PURPOSE = "kinematics"
# A pose that is reached, as a share of the reach and in rad; what rounding leaves of its errors, and of joints at 0,
# which are some times as far off.
REACHED, ROUNDING, NEAR_ZERO = 1e-9, 1e-14, 1e-13
# Steps from one start; a step that promises less than this share of what is left is the last.
STEPS, NOTHING = 300, 1e-13
# Damping at the start and at least, by the largest diagonal entry of J^T J at the start.
DAMPING, LEAST = 1e-3, 1e-12
# A step is taken where it gains this share of its promise.
GAIN = 1e-3
# Steps of Newton's from where the pose is reached: damped ones stop short where two joints nearly do the same.
LAST_STEPS = 10
# Solutions nearer to each other (rad, and share of the reach) are one: at a stretched arm, where two meet, a pose
# within REACHED leaves the square root of it open.
SAME = 1e-4
# Singular values of J below this share of the largest one are zero.
SINGULAR = 1e-7
# What follows joints by other fractions than those of so many turns is taken to be never where it was.
MOST_TURNS = 12

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Target:
    """The pose that is wanted of a frame: position (3,) in m, NaN where it is free; rotation (3, 3), None if free."""

    position: Array
    rotation: Array | None = None

    @property
    def rows(self) -> list[int]:
        """Which rows of [J_T; J_R] are about what is wanted."""
        return [*np.flatnonzero(~np.isnan(self.position)).tolist(), *(() if self.rotation is None else (3, 4, 5))]


@dataclass(frozen=True, eq=False)
class Found:
    """What became of each start: joint values q (N, m), how far the pose is (m and rad), steps taken, costs (N,)."""

    q: Array
    position: Array
    rotation: Array
    steps: npt.NDArray[np.int64]
    costs: Array

    def go_on(self, rows: npt.NDArray[np.intp], other: Found) -> None:
        """What became of some of the starts in a further search."""
        self.q[rows], self.position[rows], self.rotation[rows] = other.q, other.position, other.rotation
        self.steps[rows] += other.steps
        self.costs[rows] = other.costs


@dataclass(frozen=True, eq=False)
class InverseKinematics:
    """One frame seen from another one, the pose it is to have, and the coordinates ``held`` (n,) of all that stays."""

    robot: Robot
    of: Frame
    to: Frame
    target: Target
    held: Array

    @cached_property
    def places(self) -> tuple[int, ...]:
        """Places of the joints that move what is wanted; the others stay as they are held."""
        return tuple(place for place, _ in self._moving)

    @cached_property
    def carried(self) -> Array:
        """By how much a joint moves every coordinate (m, n): shafts keep their twist, beams and tilts stay."""
        return np.array([row for _, row in self._moving]).reshape(-1, self.robot.n)

    @cached_property
    def _moving(self) -> list[tuple[int, Array]]:
        _, motion = self._motion
        J = casadi.vertcat(motion.J_T, motion.J_R)[self.target.rows, :]
        on_the_way = {place for _, step in motion.chain for place in step.places if not J[:, place].is_zero()}
        joints = self.robot.joints
        rates = self.robot.undeformed_rates(np.eye(self.robot.n)[[joint.driven for joint in joints]])
        rows = zip((joint.index for joint in joints), rates, strict=True)
        return [(place, row) for place, row in rows if on_the_way & set(np.flatnonzero(row).tolist())]

    @cached_property
    def reach(self) -> float:
        """The length of the way from one frame to the other (m), 1 where it has none."""
        return float(self._trace(self.held)["reach"][0]) or 1.0

    @cached_property
    def turning(self) -> Flags:
        """Which of the joints (m,) are revolute."""
        return np.array([self.robot.units[i] == "rad" for i in self.places], dtype=bool)

    @cached_property
    def units(self) -> Array:
        """What of each joint's values counts as 1 (m,): 1 rad, and the reach."""
        return np.where(self.turning, 1.0, self.reach)

    @cached_property
    def period(self) -> Array:
        """After which way of each joint (m,) all joints are where they were, those that follow it too; infinite: never.

        One that follows a joint by a half is there after two turns, one that slides with it never.
        """
        robot = self.robot
        period = np.where(self.turning, 2 * np.pi, np.inf)
        for joint in robot.followers:
            shares = self.carried @ robot.parameters.evaluate_all(robot.row(joint.shares).T, PURPOSE)
            for i in np.flatnonzero(np.isfinite(period) & (shares != 0)):
                turns = Fraction(float(shares[i])).limit_denominator(MOST_TURNS)
                repeats = joint.revolute and abs(float(turns) - shares[i]) <= REACHED
                period[i] = np.lcm(round(period[i] / np.pi), 2 * turns.denominator) * np.pi if repeats else np.inf
        return period

    @cached_property
    def limits(self) -> tuple[Array, Array]:
        """Smallest and largest values (m,) of the joints, also for the sake of those that follow one; else infinite."""
        low, high = np.full(len(self.places), -np.inf), np.full(len(self.places), np.inf)
        for _, shares, ends in self._bounds:
            (first, *others) = np.flatnonzero(shares).tolist()
            if not others:
                least, most = sorted(end / shares[first] for end in ends)
                low[first], high[first] = max(low[first], least), min(high[first], most)
        return low, high

    @cached_property
    def _bounds(self) -> list[tuple[str, Array, tuple[float, float]]]:
        """Joints with limits, by their shares (m,) of the joints that move, and the ends of shares times these."""
        found = []
        for each in self.robot.limits:
            shares = self.carried @ each.row
            rest = float(each.values(self.held) - shares @ self.held[list(self.places)])
            if shares.any():
                found.append((each.joint, shares, (each.low - rest, each.high - rest)))
        return found

    def beyond(self, q: Array) -> list[str]:
        """Joints that are beyond their limits at q (m,), as those that follow several may be."""
        return [
            name
            for name, shares, (low, high) in self._bounds
            if not low - REACHED * (1 + abs(low)) <= q @ shares <= high + REACHED * (1 + abs(high))
        ]

    @cached_property
    def start(self) -> Array:
        """The joint values (m,) that are held, moved into their limits."""
        return np.clip(self.held[list(self.places)], *self.limits)

    def starts(self, count: int) -> Array:
        """Where the search begins (count, m): at the values held, and spread over the limits, the same every time.

        Of joints without limits over a whole turn (as many as bring back what follows), or the reach to both sides.
        """
        low, high = self.limits
        around = np.where(np.isinf(self.period), np.pi, self.period / 2)
        middle, wide = np.where(self.turning, 0.0, self.start), np.where(self.turning, around, self.reach)
        low, high = np.where(np.isinf(low), middle - wide, low), np.where(np.isinf(high), middle + wide, high)
        drawn = np.random.default_rng(0).uniform(size=(count - 1, len(low)))
        return np.vstack([self.start, low + (high - low) * drawn])

    def search(self, starts: Array) -> Found:
        """Where Levenberg and Marquardt's method leads from each start (N, m); none depends on the others.

        First as if joints could turn without end, since limits are what it gets caught at; where that leads to no
        posture within the limits, once more within them.
        """
        low, high = self.limits
        found = self._descended(starts, np.where(self.turning, -np.inf, low), np.where(self.turning, np.inf, high))
        again = np.flatnonzero(((found.q < low) | (found.q > high)).any(axis=1))
        if len(again):
            found.go_on(again, self._descended(starts[again], low, high))
        return found

    def _descended(self, starts: Array, low: Array, high: Array) -> Found:
        """The same between limits (m,)."""
        count = len(starts)
        ends = low, high
        low, high = low / self.units, high / self.units
        x = starts / self.units
        e, J = self._errors(x)
        costs, steps = _half_squares(e), np.zeros(count, dtype=np.int64)
        largest = np.maximum((J * J).sum(axis=1).max(axis=1, initial=0.0), SINGULAR)
        damping = DAMPING * largest
        growth = np.full(count, 2.0)
        going = np.flatnonzero(costs > ROUNDING**2)
        for _ in range(STEPS if self.places else 0):
            if not len(going):
                break
            now, J_now = x[going], J[going]
            gradient = (J_now.swapaxes(-2, -1) @ e[going][..., None])[..., 0]
            held = ((now <= low) & (gradient > 0)) | ((now >= high) & (gradient < 0))
            step = np.clip(now - _damped(J_now, gradient, held, damping[going]), low, high) - now
            change = (J_now @ step[..., None])[..., 0]
            promised = -(gradient * step).sum(axis=1) - _half_squares(change)
            steps[going] += 1
            e_then, J_then = self._errors(now + step)
            gain = (costs[going] - _half_squares(e_then)) / np.where(promised > 0, promised, np.inf)
            taken = gain > GAIN
            rows = going[taken]
            x[rows] += step[taken]
            e[rows], J[rows] = e_then[taken], J_then[taken]
            ended = np.abs(promised) <= NOTHING * costs[going]  # negative where limits have cut a step
            costs[rows] = _half_squares(e[rows])
            eased = np.maximum(1 / 3, 1 - (2 * np.minimum(gain, 1.0) - 1) ** 3)
            damping[going] = np.maximum(damping[going] * np.where(taken, eased, growth[going]), LEAST * largest[going])
            growth[going] = np.where(taken, 2.0, 2 * growth[going])
            going = going[~ended & (costs[going] > ROUNDING**2)]
        rows = np.flatnonzero((costs > ROUNDING**2) & (costs <= REACHED**2))
        now, e_now, J_now = x[rows], e[rows], J[rows]
        for _ in range(LAST_STEPS if len(rows) else 0):
            now = np.clip(now - (np.linalg.pinv(all_finite(J_now), SINGULAR) @ e_now[..., None])[..., 0], low, high)
            e_now, J_now = self._errors(now)
            nearer = (cost := _half_squares(e_now)) < costs[rows]
            x[rows[nearer]], e[rows[nearer]], costs[rows[nearer]] = now[nearer], e_now[nearer], cost[nearer]
        position, rotation = self._sizes(np.where(costs[:, None] > ROUNDING**2, e, 0.0))
        return Found(self._nearest(np.clip(x * self.units, *ends)), position, rotation, steps, costs)

    def reached(self, found: Found) -> Flags:
        """Which starts (N,) have led to the pose."""
        there = (found.position <= REACHED * self.reach) & (found.rotation <= REACHED)
        return np.array([well and not self.beyond(q) for well, q in zip(there, found.q, strict=True)], dtype=bool)

    def solutions(self, found: Found) -> list[list[int]]:
        """The starts that have led to the pose, one list for each of the solutions, the one nearest to the start first.

        Revolute joints are compared modulo their periods.
        """
        away, reached = np.linalg.norm((found.q - self.start) / self.units, axis=1), self.reached(found)
        groups: list[list[int]] = []
        for i in np.lexsort((np.arange(len(away)), away)).tolist():
            if reached[i]:
                same = (group for group in groups if self._apart(found.q[i] - found.q[group[0]]) < SAME)
                group = next(same, None)
                groups.append([i]) if group is None else group.append(i)
        return groups

    def idle_directions(self, q: Array) -> npt.NDArray[np.int64]:
        """Numbers (N,) of directions in which the joints at q (N, m) may move while the pose stays, to first order."""
        sizes = np.linalg.svd(all_finite(self._errors(q / self.units)[1]), compute_uv=False)
        ranks = (sizes > SINGULAR * sizes.max(axis=1, keepdims=True, initial=0.0)).sum(axis=1)
        return np.asarray(len(self.places) - ranks)

    def whole(self, q: Array) -> Array:
        """All coordinates (..., n) where the joints are at q (..., m)."""
        places = list(self.places)
        found = self.held + (q - self.held[places]) @ self.carried
        found[..., places] = q
        return found

    @cached_property
    def _motion(self) -> tuple[SX, RelativeMotion]:
        def moving() -> tuple[SX, RelativeMotion]:
            q = SX.sym("q", self.robot.n)
            return q, relative_motion(self.robot, q, self.of, self.to)

        return self.robot.kept((PURPOSE, self.of, self.to), moving)

    @cached_property
    def _trace(self) -> Trace:
        def outputs() -> tuple[dict[str, SX], dict[str, SX]]:
            q, motion = self._motion
            J = casadi.vertcat(motion.J_T, motion.J_R)
            return {"q": q}, {"r": motion.pose.r, "R": motion.pose.R, "J": J, "reach": motion.way}

        return traced(self.robot, ("inverse", self.of, self.to), PURPOSE, outputs)

    def _errors(self, x: Array) -> tuple[Array, Array]:
        """What is left to the pose (k, rows), by the reach and in rad, and its derivative by x = q / units."""
        values, rows = self._trace.rows(self.whole(x * self.units)), self.target.rows
        e, J = np.zeros((len(x), 6)), values["J"].reshape(len(x), 6, self.robot.n) @ self.carried.T * self.units
        e[:, :3] = (values["r"] - self.target.position) / self.reach
        J[:, :3] /= self.reach
        if self.target.rotation is not None:
            e[:, 3:] = rotation_vectors(values["R"] @ self.target.rotation.T)
        return e[:, rows], J[:, rows]

    def _sizes(self, e: Array) -> tuple[Array, Array]:
        """Distances (m) and angles (rad) of errors (k, rows)."""
        turning = np.array(self.target.rows) >= 3
        return self.reach * np.linalg.norm(e[:, ~turning], axis=1), np.linalg.norm(e[:, turning], axis=1)

    def _nearest(self, q: Array) -> Array:
        """The same postures (N, m) with revolute joints whole periods nearer to the start, within their limits; 0 where
        rounding leaves a joint beside it.
        """
        low, high = self.limits
        repeats = np.isfinite(self.period)
        whole = np.where(repeats, self.period, 1.0)
        least, most = np.ceil((low - q) / whole), np.floor((high - q) / whole)
        turns = np.clip(np.round((self.start - q) / whole), least, most)
        nearer = q + whole * np.where(repeats & (least <= most), turns, 0.0)
        return np.where(np.abs(nearer) > NEAR_ZERO * self.units, nearer, 0.0)

    def _apart(self, change: Array) -> float:
        """The largest change (m,) of a joint, whole periods left out."""
        whole = np.where(np.isfinite(self.period), self.period, 1.0)
        left = np.where(np.isfinite(self.period), change - whole * np.round(change / whole), change / self.units)
        return float(np.abs(left).max(initial=0.0))


def _damped(J: Array, gradient: Array, held: Flags, damping: Array) -> Array:
    """(J^T J + damping 1)^-1 gradient (k, m), without the variables that are held."""
    free = np.where(held, 0.0, 1.0)
    J = J * free[:, None, :]
    A = J.swapaxes(-2, -1) @ J + damping[:, None, None] * np.eye(J.shape[-1])
    return np.asarray(np.linalg.solve(A, (gradient * free)[..., None])[..., 0])


def _half_squares(vectors: Array) -> Array:
    """1/2 |v|^2 of vectors (k, m)."""
    return np.asarray((vectors * vectors).sum(axis=-1) / 2)
