"""From expression trees to the polynomials of :mod:`kronbot.compute.symbolic.simplification`.

The trees are SymPy's; they are read by their attributes only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from kronbot.compute.symbolic import trees
from kronbot.compute.symbolic.simplification import Basis, Number, Polynomial, plain
from kronbot.compute.symbolic.trees import Tree

CIRCULAR = ("sin", "cos")
MOST_REMEMBERED = 500_000
LARGEST_PRIME = 1000
# Angles of more operations are not looked into.
LONGEST_ANGLE = 200


class Reader:
    """Entries of one matrix as polynomials over their symbols, sines, cosines and roots, for some time (s).

    Anything else (a quotient by a sum, exp, a case distinction) is an atom as it stands. ``rounded`` says that a
    floating point number was read.
    """

    def __init__(self, entries: Sequence[Tree], inputs: Sequence[str], seconds: float) -> None:
        self.basis = Basis(seconds)
        self.terms: dict[Tree, int] = {}
        self.rounded = False
        self._known: dict[Tree, Polynomial] = {}
        self._remembered = 0
        parts = trees.parts(entries)
        # A sum that divides something is one atom wherever it stands, so that it can cancel.
        self._divisors = {part.base for part in parts if part.is_Pow and part.base.is_Add and part.exp.is_negative}
        # Numbers of atoms decide which one goes before a bracket: sines first, then inputs, then parameters.
        places = {name: place for place, name in enumerate(inputs)}
        symbols = sorted((p for p in parts if p.is_Symbol), key=lambda s: (places.get(s.name, len(places)), s.name))
        for symbol in symbols:
            self._term(symbol)
        arguments = dict.fromkeys(part.args[0] for part in parts if part.func.__name__ in CIRCULAR)
        for argument in sorted(filter(_short, arguments), key=str):
            self._angle(argument)
        for symbol in symbols:
            self.basis.atom(symbol)

    def polynomial(self, e: Tree) -> Polynomial:
        """The polynomial of an entry or of a part of one. Raises Unfinished."""
        if e in self._known:
            return self._known[e]
        if self._remembered > MOST_REMEMBERED:
            self._known.clear()
            self._remembered = 0
        self._known[e] = result = self._converted(e)
        self._remembered += len(result)
        return result

    def _converted(self, e: Tree) -> Polynomial:
        basis = self.basis
        if e.is_Rational or e.is_Float:
            return {0: self._number(e)} if e else {}
        if e.is_Add and e not in self._divisors:
            return basis.total(self.polynomial(term) for term in e.args)
        if e.is_Mul:
            result: Polynomial = {0: 1}
            for factor in sorted((self.polynomial(factor) for factor in e.args), key=len):
                result = basis.product(result, factor)
            return result
        if e.is_Pow and e.exp.is_Integer:
            inner: Polynomial = self.polynomial(e.base)
            if e.exp > 0:
                return basis.power(inner, int(e.exp))
            if len(inner) == 1:
                ((monomial, coefficient),) = inner.items()
                return {monomial * int(e.exp): plain(Fraction(coefficient) ** int(e.exp))}
        elif e.is_Pow and e.exp.is_Rational:
            return self._root(e.base, int(e.exp.p), int(e.exp.q))
        if e.func.__name__ in CIRCULAR:
            s, c, sign = self._angle(e.args[0])
            return {basis.monomial(s): sign} if e.func.__name__ == "sin" else {basis.monomial(c): 1}
        return {basis.monomial(basis.atom(e)): 1}

    def _root(self, base: Tree, numerator: int, degree: int) -> Polynomial:
        """base**(numerator/degree); roots of integers by their primes, so that sqrt(6) and sqrt(2) meet."""
        primes = [(base, 1)]
        if base.is_Integer and base > 0:
            primes = [(type(base)(prime), times) for prime, times in _primes(int(base))]
        monomial = 0
        for radicand, times in primes:
            atom = self.basis.atom(("root", radicand, degree))
            if atom not in self.basis.roots:
                self.basis.root(atom, degree, self.polynomial(radicand))
            monomial += self.basis.monomial(atom, times * numerator)
        return {monomial: 1}

    def _angle(self, argument: Tree) -> tuple[int, int, int]:
        """Atoms of sine and cosine of a linear form, and the sign of the sine."""
        factors = [(self._term(argument), Fraction(1))]
        if _short(argument):
            linear = argument.expand().as_coefficients_dict()
            factors = sorted((self._term(term), Fraction(self._number(factor))) for term, factor in linear.items())
        return self.basis.sine_and_cosine(tuple(factors))

    def _term(self, term: Tree) -> int:
        return self.terms.setdefault(term, len(self.terms))

    def _number(self, e: Tree) -> Number:
        if e.is_Float:
            self.rounded = True
            return plain(Fraction(float(e)))
        return plain(Fraction(int(e.p), int(e.q)))


def _short(argument: Tree) -> bool:
    return trees.operations(argument) <= LONGEST_ANGLE


def _primes(value: int) -> Iterator[tuple[int, int]]:
    """Small prime factors with their powers, then what is left."""
    for prime in range(2, LARGEST_PRIME):
        times = 0
        while value % prime == 0:
            value //= prime
            times += 1
        if times:
            yield prime, times
    if value > 1:
        yield value, 1
