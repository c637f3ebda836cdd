"""Names of symbols in closed forms: readable in text, as LaTeX and as Python identifiers."""

from __future__ import annotations

import keyword
import re
import unicodedata
from collections.abc import Collection, Iterable, Sequence
from itertools import count

from kronbot.description import limits
from kronbot.description.expressions.grammar import CONSTANTS, FUNCTIONS
from kronbot.description.wording import quote
from kronbot.errors import Argument, UsageError

# What names in C may begin with: single underscores, since others are the compiler's.
_C_PREFIX = re.compile(r"[A-Za-z](_?[A-Za-z0-9])*", re.ASCII)
_MODAL = re.compile(
    r"(?P<link>[^.]+)\.(?:(?P<direction>[^.]+)\.)?(?P<datum>[^.(]+)(?:\((?P<planes>\w),(?P<other>\w)\))?"
)
_PLAIN = re.compile(r"([^\W\d_]+?)_?(\d*)('*)")
# Letters that have a command in LaTeX.
_GREEK = re.compile(
    "alpha|beta|gamma|delta|epsilon|zeta|eta|theta|iota|kappa|lambda|mu|nu|xi|pi|rho|sigma|tau|upsilon|phi|chi|psi|omega"
    "|Gamma|Delta|Theta|Lambda|Xi|Pi|Sigma|Upsilon|Phi|Psi|Omega"
)
_JOINT = re.compile(r"q([1-9]\d*)")


def c_prefix(text: str) -> str:
    """What names in C are to begin with, as it is. Raises UsageError where no name can begin so."""
    if len(text) > limits.NAME_LENGTH or not _C_PREFIX.fullmatch(text):
        wanted = f"up to {limits.NAME_LENGTH} ASCII letters, digits, single underscores, a letter first"
        raise UsageError(Argument("prefix"), f" {quote(text)} is no C name: {wanted}")
    return text


def modal_names(keys: Iterable[str], taken: Iterable[str]) -> dict[str, str]:
    """Short names of modal data (Khang (68)-(71)): ``arm.v.X1(l)`` is X1 where that says enough.

    Where it does not, the direction or the link or both stand before it: v.X1, arm.X1, arm.v.X1. All data of a robot
    are named in one way; ``taken`` are names that mean something else.
    """
    used = set(taken)
    parts = {key: _modal_parts(key) for key in keys}
    for wanted in ((), ("direction",), ("link",), ("link", "direction")):
        names = {key: ".".join([*(part[word] for word in wanted), part["datum"]]) for key, part in parts.items()}
        if len(set(names.values())) == len(names) and not used & set(names.values()):
            break
    return names


def _modal_parts(key: str) -> dict[str, str]:
    match = _MODAL.match(key.removesuffix("(l)"))
    assert match is not None, key
    direction = match["direction"] or match["planes"] + match["other"]
    return {"link": match["link"], "direction": direction, "datum": match["datum"]}


def latex_name(name: str) -> str | None:
    """LaTeX of a generated name (upper.v1, X1', q1_dot) or one like a number's (pi); None for a plain name, which SymPy
    writes well."""
    for suffix, accent in (("_ddot", "ddot"), ("_dot", "dot")):
        if name.endswith(suffix) and name != suffix:
            stem = name.removesuffix(suffix)
            return rf"\{accent}{{{latex_name(stem) or latex_parts(stem)}}}"
    if name in CONSTANTS:
        return latex_word(name)
    if re.fullmatch(r"[A-Za-z]\w*", name, re.ASCII):
        return None
    return latex_parts(name)


def joined(latex: str) -> str:
    """Letters and digits that stand for one thing, as one word: mp would be read as m times p, I2y as I times 2 y."""
    return re.sub(r"^[A-Za-z][A-Za-z0-9]+", lambda letters: rf"\mathit{{{letters[0]}}}", latex)


def latex_word(name: str) -> str:
    """A whole name as one upright word; no two names are written alike."""
    return rf"\mathrm{{{_escaped(name)}}}"


def latex_parts(name: str) -> str:
    """A dotted name as a letter with an index, the parts before the last dot as words in the index."""
    *owners, last = name.split(".")
    match = _PLAIN.fullmatch(last)
    letter, digits, primes = match.groups() if match else (last, "", "")
    if _GREEK.fullmatch(letter):
        letter = rf"\{letter}"
    elif len(letter) > 1:
        letter = joined(letter) if letter.isascii() and letter.isalnum() else latex_word(letter)
    index = ",".join([*([digits] if digits else []), *map(latex_word, owners)])
    return letter + (f"_{{{index}}}" if index else "") + primes


def _escaped(word: str) -> str:
    return word.replace("_", r"\_").replace("-", r"\text{-}")


def readable(names: Iterable[str]) -> dict[str, str]:
    """Names as words that mean nothing else in formulas, no two alike: a-b would be a difference, pi a number, and sin
    a function; they are a_b, pi_ and sin_, with one more _ where that is a name already."""
    names = list(names)
    others = [name for name in names if "-" in name or name in (*CONSTANTS, *FUNCTIONS)]
    words = {name: name for name in names if name not in others}
    used = {*words, *CONSTANTS, *FUNCTIONS}
    for name in others:
        words[name] = _fresh(name.replace("-", "_"), used)
    return words


def identifiers(names: Iterable[str]) -> dict[str, str]:
    """Names as different Python identifiers: upper.v1 is upper_v1, X1' is X1_prime."""
    result: dict[str, str] = {}
    used = {"math", "abs", "max", "min", "__debug__"}
    for name in names:
        plain = unicodedata.normalize("NFKC", name)  # as Python reads them
        plain = plain.replace("''", "_second").replace("'", "_prime")
        word = "".join(letter if f"_{letter}".isidentifier() else "_" for letter in plain)
        if keyword.iskeyword(word) or not word.isidentifier():
            word = f"{word}_" if keyword.iskeyword(word) else f"_{word}"
        result[name] = _fresh(word, used)
    return result


def short_call(letter: str, words: Sequence[str], inputs: Iterable[str], names: Sequence[str]) -> tuple[str, str]:
    """s or c of the sum of some coordinates, as text of their ``words`` among those of all ``inputs`` and as LaTeX of
    their ``names``: s23, s_{23}; s_shoulder_elbow.

    Digits stand for the coordinates q1, q2, ...; they are kept apart by ``_`` where one has two digits, and words by
    one more ``_`` than stand together in any.
    """
    numbers = [match[1] for name in names if (match := _JOINT.fullmatch(name))]
    if len(numbers) < len(names):
        index = " + ".join(latex_name(name) or latex_parts(name) for name in names)
        apart = max((len(line) for word in inputs for line in re.findall("_+", word)), default=0) + 1
        return f"{letter}_{('_' * apart).join(words)}", f"{letter}_{{{index}}}"
    long = any(len(name) > 2 for name in inputs if _JOINT.fullmatch(name))
    return letter + ("_" if long else "").join(numbers), f"{letter}_{{{(',' if long else '').join(numbers)}}}"


def distinct(names: Collection[str], taken: Collection[str]) -> dict[str, str]:
    """Names with ``_`` after those that mean something else already: a parameter may be called like a joint."""
    used = set(taken) | set(names)
    return {name: _fresh(name, used) if name in taken else name for name in names}


def _fresh(word: str, used: set[str]) -> str:
    """The word, with ``_`` behind it until it is not among those used, of which it is one then."""
    while word in used:
        word += "_"
    used.add(word)
    return word


def unused(taken: Collection[str], letter: str) -> Iterable[str]:
    """x0, x1, ... without the names that are taken."""
    return (name for number in count() if (name := f"{letter}{number}") not in taken)
