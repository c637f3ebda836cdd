"""A pole of M y'' + D y' + K y = 0 with what the errors of the entries leave of it, and of its real part."""

from __future__ import annotations

import cmath
import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from kronbot.cached import cached_property
from kronbot.floats import Array
from kronbot.mechanics.linear.blocks import Block
from kronbot.mechanics.linear.matrix_polynomial import Polynomial
from kronbot.mechanics.linear.refinement import Steps, measured
from kronbot.records import dataclass

Complex = npt.NDArray[np.complex128]

# Errors below this share of a size are noise beside it; values below that share of their error tell nothing.
NOISE, HINT = 1e-9, 1e-3
# Added to the number of a group for the other root of a square.
APART = 1_000_000


@dataclass(frozen=True, eq=False)
class Refined:
    """Eigenvalues of polynomials, and how their vectors change with the entries."""

    polynomial: Polynomial
    steps: Steps
    lifts: tuple[Complex, Complex] | None

    @cached_property
    def _spread(self) -> Array:
        return self.polynomial.error(self.steps.values)

    @cached_property
    def _right(self) -> tuple[Complex, Array]:
        right, _, rest, _ = self.steps.vectors
        moved = (self._spread @ np.abs(right)[:, :, None])[:, :, 0]
        return rest if self.lifts is None else self.lifts[0] @ rest, moved

    @cached_property
    def _left(self) -> tuple[Complex, Array]:
        _, left, rest, _ = self.steps.vectors
        moved = (np.abs(left)[:, None] @ self._spread)[:, 0]
        return rest if self.lifts is None else rest @ self.lifts[1].conj().swapaxes(1, 2), moved

    @cached_property
    def _sides(self) -> Sequence[Complex]:
        sides = self.steps.vectors[:2]
        if self.lifts is None:
            return sides
        return [(lift @ side[:, :, None])[:, :, 0] for lift, side in zip(self.lifts, sides, strict=True)]

    def sides(self, place: int) -> tuple[Complex, Complex]:
        """The right and the left vector (n,) at a place."""
        right, left = self._sides
        return right[place], left[place]

    @cached_property
    def measured(self) -> list[tuple[float, float]]:
        """Backward errors and condition numbers for componentwise changes, one by one."""
        return list(zip(*(part.tolist() for part in measured(self.polynomial, self.steps)), strict=True))

    def right_errors(self, places: Sequence[int], rows: Array) -> Array:
        """Bounds (m, k) of what the errors of the entries change in ``rows`` (k x n) times x."""
        rest, moved = (part[places] for part in self._right)
        return np.asarray((np.abs(rows @ rest) @ moved[:, :, None])[:, :, 0])

    def left_errors(self, places: Sequence[int], columns: Array) -> Array:
        """Bounds (m, k) of what they change in y^H times ``columns`` (n x k)."""
        rest, moved = (part[places] for part in self._left)
        return np.asarray((moved[:, None] @ np.abs(rest @ columns))[:, 0])


def no_block(rates: bool) -> None:
    """Of poles that are alone."""


@dataclass(eq=False, slots=True)  # not frozen, which takes three times as long: there are many
class Pole:
    """A pole s of the upper half plane, with what gives its vectors in coordinates: L(s) x = 0, y^H L(s) = 0.

    ``error`` bounds |ds|, ``growth_error`` the error of its real part, to first order in the errors of the entries;
    ``refined`` has it at a ``place``, or its square, of which its relative error is a ``share``. ``count`` is
    how many of the 2n poles it stands for (a pair: 2; a free coordinate: 1 or 2), ``group`` numbers those that cannot
    be told apart, and ``block`` gives what they have in common (given whether rates are seen: of free coordinates
    vectors say all unless they are).
    """

    value: complex
    sides: Callable[[], tuple[Complex, Complex]]
    count: int
    group: int
    error: float = 0.0
    growth_error: float = 0.0
    share: float = 1.0
    refined: Refined | None = None
    place: int = 0
    block: Callable[[bool], Block | None] = no_block

    @property
    def right(self) -> Complex:
        """x (n,)."""
        return self.sides()[0]

    @property
    def left(self) -> Complex:
        """y (n,)."""
        return self.sides()[1]

    def among(self, count: int) -> Pole:
        """The same, with the first entries of x alone."""
        return replace(self, sides=lambda: (self.right[:count], self.left))

    @property
    def backward_error(self) -> float:
        """The least componentwise change, as a share, that makes it exact."""
        return 0.0 if self.refined is None else self.refined.measured[self.place][0]

    @property
    def condition(self) -> float:
        """By how much a share of componentwise changes grows in it."""
        return 0.0 if self.refined is None else self.share * self.refined.measured[self.place][1]

    @property
    def free(self) -> bool:
        """Whether it is the pole at zero of a direction without stiffness."""
        return self.refined is None


def without_noise(pole: Pole, largest: float) -> Pole:
    """A pole without what is below its own error, where this is noise: beside the ``largest`` pole one at zero, beside
    itself the real part of one that swings. The errors are wider by what is left out.
    """
    size, rate = abs(pole.value), abs(pole.value.real)
    if 0 < size <= pole.error and (pole.error <= NOISE * largest or size <= HINT * pole.error):
        value = 0j
    elif pole.value.imag and 0 < rate <= pole.growth_error <= NOISE * size:
        value = 1j * pole.value.imag
    else:
        return pole
    left = abs(pole.value - value)
    return replace(pole, value=value, error=pole.error + left, growth_error=pole.growth_error + rate)


def of_squares(made: list[Pole], symmetric: bool) -> list[Pole]:
    """The poles of poles' values s^2, a pair on an axis each where forces have a potential, else four."""
    many = Counter(pole.group for pole in made)
    return [each for pole in made for each in _of_square(pole, symmetric, many[pole.group] == 1)]


def _of_square(pole: Pole, symmetric: bool, alone: bool) -> list[Pole]:
    """The poles of a pole's value s^2: a pair on an axis where forces have a potential, else four."""
    square, sides, group = pole.value, pole.sides, pole.group
    root = cmath.sqrt(square)  # in the right half plane
    error = min(pole.error / abs(root), math.sqrt(pole.error)) if root else math.sqrt(pole.error)
    real = square.imag == 0 or symmetric
    known = pole.share / 2, pole.refined, pole.place, pole.block
    if real and square.real <= 0:
        certain = square.real < -pole.error and (symmetric or alone)
        return [Pole(1j * abs(root), sides, 2, group, error, 0.0 if certain else error, *known)]
    # Of one group only where no error tells them apart.
    other = group if abs(root) <= error else group + APART
    if real:
        size = complex(abs(root))
        return [Pole(-size, sides, 1, group, error, error, *known), Pole(size, sides, 1, other, error, error, *known)]
    mirrored = Pole(-root.conjugate(), lambda: (pole.right.conj(), pole.left.conj()), 2, other, error, error, *known)
    return [Pole(root, sides, 2, group, error, error, *known), mirrored]


def on_axis(made: list[Pole]) -> list[Pole]:
    """Poles of a conservative gyroscopic system lie symmetric to the imaginary axis: one whose error holds the axis,
    and no other one, is on it."""
    values, errors = np.array([pole.value for pole in made]), np.array([pole.error for pole in made])
    alone = (np.abs(values[:, None] - values) <= errors[:, None] + errors).sum(axis=1) == 1
    return [
        replace(pole, value=1j * pole.value.imag, growth_error=0.0)
        if single and pole.value.imag > pole.error and abs(pole.value.real) <= pole.error
        else pole
        for pole, single in zip(made, alone, strict=True)
    ]
