"""SymPy's printers with this project's numbers and names: text, LaTeX, Python."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Self

from sympy import E, Expr, Symbol
from sympy.printing.latex import LatexPrinter
from sympy.printing.pycode import PythonCodePrinter
from sympy.printing.str import StrPrinter

from kronbot.compute.symbolic import naming
from kronbot.compute.symbolic.simplification import unbounded


class _Asking:
    """A printer that asks the time at every part, since one entry may be long."""

    check_time: Callable[[], None] = staticmethod(unbounded)

    def asking(self, check_time: Callable[[], None]) -> Self:
        """The same printer, which asks this."""
        self.check_time = check_time
        return self

    def _print(self, expression: Expr, **settings: Any) -> str:
        self.check_time()
        return str(super()._print(expression, **settings))  # type: ignore[misc]


class Text(_Asking, StrPrinter):  # type: ignore[misc]
    """Text with floats as ``repr`` writes them."""

    def _print_Float(self, number: Expr) -> str:
        return repr(float(number))

    def _print_Exp1(self, number: Expr) -> str:
        return "exp(1)"  # E may be a name


class Python(_Asking, PythonCodePrinter):  # type: ignore[misc]
    """Python with floats as ``repr`` writes them."""

    _print_Float = Text._print_Float


class Latex(_Asking, LatexPrinter):  # type: ignore[misc]
    """LaTeX with floats as numbers times powers of ten."""

    def _print_Float(self, number: Expr) -> str:
        mantissa, _, exponent = repr(float(number)).partition("e")
        return mantissa + (rf" \cdot 10^{{{int(exponent)}}}" if exponent else "")

    def _print_ExpBase(self, expression: Expr, exp: str | None = None) -> str:
        """Euler's number stands upright: e may be a name."""
        return str(self._do_exponent(rf"\mathrm{{e}}^{{{self._print(expression.args[0])}}}", exp))

    def _print(self, expression: Expr, **settings: Any) -> str:
        return r"\mathrm{e}" if expression is E else super()._print(expression, **settings)


def latex(symbols: Iterable[Symbol], spelling: Mapping[str, str], given: Mapping[Symbol, str]) -> Latex:
    """A printer that writes no two of the symbols alike: q1 and q_1 would both be q with the index 1.

    ``spelling`` are names of the robot file by those of the symbols, where they differ; some symbols are ``given``.
    """
    plain, written = Latex(), dict(given)
    taken = set(given.values())
    for symbol in sorted(symbols, key=lambda symbol: (len(symbol.name), symbol.name)):
        if symbol in given:
            continue
        name = spelling.get(symbol.name, symbol.name)
        text = naming.latex_name(name) or naming.joined(plain.doprint(Symbol(name)))
        written[symbol] = naming.latex_word(name) if text in taken else text
        taken.add(written[symbol])
    return Latex({"symbol_names": written})
