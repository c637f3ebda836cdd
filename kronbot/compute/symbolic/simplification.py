"""Short forms of sums of products of sines and cosines; knows integers and fractions, and nothing of SymPy.

An expression is a Laurent polynomial over numbered *atoms* (symbols, sines, cosines, roots): a dict from monomials to
rational coefficients. A monomial is one integer with a field of bits an atom that holds its exponent, so that products
of monomials are sums of integers. Everything here can stop between two terms, which a call into SymPy cannot.
"""

from __future__ import annotations

import math
import time
from collections.abc import Hashable, Iterable, Iterator
from fractions import Fraction

Number = int | Fraction
Polynomial = dict[int, Number]
Angle = tuple[tuple[int, Fraction], ...]
"""A linear form: numbers of terms (any meaning) in ascending order, with their factors."""
Factors = tuple[tuple[int, int], ...]
Nested = list[tuple[Number, Factors, "Nested | None"]]
"""A sum of coefficient * atoms to exponents * (a sum in brackets, or nothing)."""

FIELD = 16
HALF = 1 << (FIELD - 1)
MASK = (1 << FIELD) - 1
# Past these an entry is left as it stands: nobody reads a formula of 20,000 terms; products in one multiplication.
MOST_TERMS, MOST_PRODUCTS = 20_000, 500_000
# Twos in the denominator of what only numbers of mode shapes bring in; the share of them that rounding leaves.
FLOAT_DENOMINATOR, CANCELLED = 1 << 30, 2.0**-44


class Unfinished(Exception):
    """The time is up, or an expression is too long to be written out."""


class Clock:
    """Runs for some time (s) from now."""

    def __init__(self, seconds: float) -> None:
        self.end = time.monotonic() + seconds

    @property
    def left(self) -> float:
        """What is left, s; negative when the time is up."""
        return self.end - time.monotonic()

    def check_time(self) -> None:
        """Raise Unfinished when the time is up."""
        if self.left < 0.0:
            raise Unfinished


def unbounded() -> None:
    """A check of time that lets everything take its own."""


class Basis(Clock):
    """The atoms of polynomials and the arithmetic on them, until the time is up (``seconds`` from now)."""

    def __init__(self, seconds: float) -> None:
        super().__init__(seconds)
        self.keys: list[Hashable] = []
        self.numbers: dict[Hashable, int] = {}
        self.angles: dict[Angle, tuple[int, int]] = {}
        self.roots: dict[int, tuple[int, Polynomial]] = {}
        self._bias = 0

    def atom(self, key: Hashable) -> int:
        """Number of the atom with this key; new keys get the next number."""
        if key not in self.numbers:
            self.numbers[key] = len(self.keys)
            self._bias += HALF << (FIELD * len(self.keys))
            self.keys.append(key)
        return self.numbers[key]

    def monomial(self, atom: int, exponent: int = 1) -> int:
        """An atom to an exponent (a number below 2**15 either way)."""
        return exponent << (FIELD * atom)

    def sine_and_cosine(self, angle: Angle) -> tuple[int, int, int]:
        """Atoms of an angle as (s, c) and the sign of the sine: the first factor of an angle is kept positive."""
        sign = 1
        if angle[0][1] < 0:
            sign, angle = -1, tuple((term, -factor) for term, factor in angle)
        if angle not in self.angles:
            self.angles[angle] = self.atom(("sin", angle)), self.atom(("cos", angle))
        return *self.angles[angle], sign

    def root(self, atom: int, degree: int, radicand: Polynomial) -> None:
        """Let powers of an atom from ``degree`` on be replaced by powers of the radicand."""
        self.roots[atom] = degree, radicand

    def exponent(self, monomial: int, atom: int) -> int:
        """Exponent of an atom in a monomial."""
        return ((monomial + self._bias) >> (FIELD * atom) & MASK) - HALF

    def factors(self, monomial: int) -> Factors:
        """The atoms of a monomial in the order of their numbers, with exponents."""
        rest, found, atom = monomial + self._bias, [], 0
        while rest:
            exponent = (rest & MASK) - HALF
            if exponent:
                found.append((atom, exponent))
            rest >>= FIELD
            atom += 1
        return tuple(found)

    def total(self, polynomials: Iterable[Polynomial]) -> Polynomial:
        """The sum. Raises Unfinished."""
        result: Polynomial = {}
        for polynomial in polynomials:
            for monomial, coefficient in polynomial.items():
                _add(result, monomial, coefficient)
        if len(result) > MOST_TERMS:
            raise Unfinished
        self.check_time()
        return result

    def product(self, a: Polynomial, b: Polynomial) -> Polynomial:
        """The product. Raises Unfinished."""
        if len(a) * len(b) > MOST_PRODUCTS:
            raise Unfinished
        result: Polynomial = {}
        for m, p in a.items():
            self.check_time()
            for n, r in b.items():
                _add(result, m + n, p * r)
        if len(result) > MOST_TERMS:
            raise Unfinished
        return result

    def power(self, a: Polynomial, exponent: int) -> Polynomial:
        """The power with an exponent >= 0. Raises Unfinished."""
        result: Polynomial = {0: 1}
        for _ in range(exponent):
            result = self.product(result, a)
        return result

    def shortest(self, polynomial: Polynomial) -> Polynomial:
        """The polynomial with the fewest terms that sin^2 + cos^2 = 1 and the sums of angles lead to.

        Three orders of the same steps, because none is best for all robots: sums of angles lie open in positions and
        Jacobians, squares hide them in body frames and mass matrices. Raises Unfinished.
        """
        plain = self._reduced(polynomial)
        canonical = self._squares(plain, canonical=True)
        if not canonical:
            return canonical
        candidates = [self._settled(plain), self._settled(canonical), self._settled(self._squares(plain))]
        return min(candidates, key=lambda p: (len(p), sum(len(self.factors(m)) for m in p)))

    def _settled(self, polynomial: Polynomial) -> Polynomial:
        """Steps repeated until they change nothing; each leaves fewer terms, or it is not taken."""
        while True:
            size = len(polynomial)
            polynomial = self._squares(self._sums(polynomial))
            if len(polynomial) >= size:
                return polynomial

    def _reduced(self, polynomial: Polynomial) -> Polynomial:
        """Powers of roots carried out: sqrt(3)^2 = 3."""
        for atom, (degree, radicand) in self.roots.items():
            parts: list[Polynomial] = []
            for monomial, coefficient in polynomial.items():
                times, rest = divmod(self.exponent(monomial, atom), degree)
                if times > 0:
                    base = monomial - self.monomial(atom, times * degree)
                    parts.append(self.product({base: coefficient}, self.power(radicand, times)))
                else:
                    parts.append({monomial: coefficient})
            polynomial = self.total(parts)
        return polynomial

    def _squares(self, polynomial: Polynomial, canonical: bool = False) -> Polynomial:
        """sin^2 + cos^2 = 1 for one angle after the other, each time the writing with the fewest terms.

        ``canonical`` has no square of a sine left, so that what is zero becomes zero.
        """
        for angle in self._present(polynomial):
            self.check_time()
            s, c = self.angles[angle]
            result: Polynomial = {}
            groups: dict[int, dict[tuple[int, int], Number]] = {}
            S, C = self.monomial(s, 2), self.monomial(c, 2)
            for monomial, coefficient in polynomial.items():
                i, j = self.exponent(monomial, s), self.exponent(monomial, c)
                if i < 0 or j < 0:
                    _add(result, monomial, coefficient)
                else:
                    base = monomial - i // 2 * S - j // 2 * C
                    groups.setdefault(base, {})[i // 2, j // 2] = coefficient
            for base, squares in groups.items():
                for (i, j), coefficient in _fewest(squares, canonical).items():
                    _add(result, base + i * S + j * C, coefficient)
            polynomial = result
        return polynomial

    def _sums(self, polynomial: Polynomial) -> Polynomial:
        """cos a cos b - sin a sin b = cos(a + b) and its three sisters, wherever both terms are there."""
        polynomial = dict(polynomial)
        done: set[tuple[Angle, Angle]] = set()
        while True:
            present = self._present(polynomial)
            pairs = [(a, b) for k, a in enumerate(present) for b in present[k + 1 :] if (a, b) not in done]
            if not pairs:
                return polynomial
            for a, b in pairs:
                self.check_time()
                done.add((a, b))
                self._join(polynomial, a, b)

    def _present(self, polynomial: Polynomial) -> list[Angle]:
        used = {atom for monomial in polynomial for atom, _ in self.factors(monomial)}
        return sorted(angle for angle, (s, c) in self.angles.items() if s in used or c in used)

    def _join(self, polynomial: Polynomial, a: Angle, b: Angle) -> None:
        """Replace, in place, pairs of terms that differ by products of the sines and cosines of two angles."""
        (sa, ca), (sb, cb) = self.angles[a], self.angles[b]
        Sa, Ca, Sb, Cb = (self.monomial(atom) for atom in (sa, ca, sb, cb))
        for monomial, first in list(polynomial.items()):
            if monomial not in polynomial or self.exponent(monomial, cb) < 1:
                continue
            for own, other, even in ((Ca, Sa, True), (Sa, Ca, False)):
                if self.exponent(monomial, ca if even else sa) < 1:
                    continue
                rest = monomial - own - Cb
                partner = rest + other + Sb
                second = polynomial.get(partner, 0)
                if abs(second) != abs(first):
                    continue
                # cc -+ ss = cos(a +- b), sc +- cs = sin(a +- b)
                positive = (first == second) is not even
                s, c, sign = self.sine_and_cosine(_combined(a, b, 1 if positive else -1))
                del polynomial[monomial], polynomial[partner]
                _add(polynomial, rest + self.monomial(c if even else s), first if even else first * sign)
                break

    def nested(self, polynomial: Polynomial) -> Nested:
        """Brackets around what terms have in common, the atom of most terms first (a greedy Horner scheme)."""
        return self._nested({self.factors(monomial): c for monomial, c in polynomial.items()})

    def flat(self, polynomial: Polynomial) -> Nested:
        """The plain sum of the terms."""
        return [(c, self.factors(monomial), None) for monomial, c in polynomial.items()]

    def _nested(self, terms: dict[Factors, Number]) -> Nested:
        self.check_time()
        if len(terms) < 2:
            return [(c, factors, None) for factors, c in terms.items()]
        common = _common(terms)
        number = _common_number(list(terms.values()))
        if common or number != 1:
            inner = {_divided(factors, common): plain(Fraction(c) / number) for factors, c in terms.items()}
            return [(number, common, self._nested(inner))]
        counts: dict[int, int] = {}
        for factors in terms:
            for atom, _ in factors:
                counts[atom] = counts.get(atom, 0) + 1
        atom = min(counts, key=lambda a: (-counts[a], a))
        if counts[atom] < 2:
            return [(c, factors, None) for factors, c in terms.items()]
        having = {factors: c for factors, c in terms.items() if any(a == atom and e > 0 for a, e in factors)}
        if len(having) < 2:  # the atom stands in denominators
            having = {factors: c for factors, c in terms.items() if any(a == atom and e < 0 for a, e in factors)}
        if len(having) in (0, 1, len(terms)):
            return [(c, factors, None) for factors, c in terms.items()]
        rest = {factors: c for factors, c in terms.items() if factors not in having}
        return self._nested(having) + self._nested(rest)


def _add(polynomial: Polynomial, monomial: int, coefficient: Number) -> None:
    total = polynomial.get(monomial, 0) + coefficient
    twos = total.denominator & -total.denominator
    if total and (twos < FLOAT_DENOMINATOR or abs(float(total)) > CANCELLED * abs(float(coefficient))):
        polynomial[monomial] = total
    else:
        polynomial.pop(monomial, None)


def _combined(a: Angle, b: Angle, sign: int) -> Angle:
    terms = dict(a)
    for term, factor in b:
        terms[term] = terms.get(term, Fraction(0)) + sign * factor
    return tuple((term, factor) for term, factor in sorted(terms.items()) if factor)


def _fewest(squares: dict[tuple[int, int], Number], canonical: bool) -> dict[tuple[int, int], Number]:
    """Coefficients of (sin^2)^i (cos^2)^j, the fewest: as they are, in cos^2, in sin^2, or of one degree."""
    if not canonical and len(squares) == 1:
        return squares
    if not any(i for i, _ in squares) and (canonical or not any(j for _, j in squares)):
        return squares
    degree = max(i + j for i, j in squares)
    in_c: list[Number] = [0] * (degree + 1)
    in_s, both = list(in_c), list(in_c)
    for (i, j), coefficient in squares.items():
        for k in range(i + 1):
            in_c[j + k] += coefficient * math.comb(i, k) * (-1) ** k
        for k in range(j + 1):
            in_s[i + k] += coefficient * math.comb(j, k) * (-1) ** k
        missing = degree - i - j
        for k in range(missing + 1):
            both[i + k] += coefficient * math.comb(missing, k)
    cosines = {(0, k): value for k, value in enumerate(in_c) if value}
    if canonical:
        return cosines
    sines = {(k, 0): value for k, value in enumerate(in_s) if value}
    mixed = {(k, degree - k): value for k, value in enumerate(both) if value}
    return min((squares, cosines, sines, mixed), key=len)


def _common(terms: Iterable[Factors]) -> Factors:
    """Atoms of every term, to the smallest of their exponents (of one sign)."""
    iterator: Iterator[Factors] = iter(terms)
    common = dict(next(iterator))
    for factors in iterator:
        own = dict(factors)
        for atom, exponent in list(common.items()):
            other = own.get(atom, 0)
            if exponent * other <= 0:
                del common[atom]
            else:
                common[atom] = min(exponent, other, key=abs)
        if not common:
            break
    return tuple(common.items())


def _common_number(coefficients: list[Number]) -> Number:
    """A factor that leaves integers, or ones; negative where most of the terms are."""
    size: Number = 1
    first = coefficients[0]
    if all(c in (first, -first) for c in coefficients):
        size = first if first > 0 else -first
    elif all(c.denominator == 1 for c in coefficients):
        size = math.gcd(*(c.numerator for c in coefficients))
    negative = sum(c < 0 for c in coefficients)
    return -size if 2 * negative > len(coefficients) else size


def plain(value: Fraction) -> Number:
    """Whole numbers as int, which computes faster."""
    return value.numerator if value.denominator == 1 else value


def _divided(factors: Factors, divisor: Factors) -> Factors:
    by = dict(divisor)
    quotient = ((atom, exponent - by.get(atom, 0)) for atom, exponent in factors)
    return tuple((atom, exponent) for atom, exponent in quotient if exponent)
