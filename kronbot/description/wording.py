"""How a message quotes what a user wrote, how it guesses what was meant."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from heapq import nlargest
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, Self

from kronbot.errors import Argument, UnknownName
from kronbot.kinds import is_a, kind_of

QUOTED_LENGTH: Final = 60
"""Longest text that is quoted whole, characters."""
PATH_LENGTH: Final = 200
"""Longest path that is shown whole, characters."""

# Units that people write behind numbers, and what they are in SI units.
UNITS: Final = {
    "um": "1e-6", "mm": "1e-3", "cm": "1e-2", "km": "1e3", "ms": "1e-3", "kN": "1e3", "MPa": "1e6", "GPa": "1e9",
    "rad": "1", "rpm": "pi/30", "Hz": "(2*pi)", "kg": "1", "Nm": "1",
}  # fmt: skip

# SI units that a parameter may be called, too.
BARE_UNITS: Final = ("m", "s", "N", "J", "W", "V", "Pa", "K")
TIME: Final = "; numbers do not change in time: a sinusoid, a step or a table does where it may stand (explain drives)"

_GUESSED_LENGTH = 64
_LIKENESS = 0.6
# Pairs of letters, of a word and of options, that are compared in full (0.2 us each at most).
_COMPARED = 1 << 15
# An option that is so much more alike than all others is the one that is meant.
_AHEAD = 0.25
# Fewest letters of an abbreviation.
_SHORTENED_LENGTH = 3

# Letters, dashes and signs that look like ASCII and are not what compatibility (NFKD) makes ASCII of; and the Latin
# letters with strokes, which do not decompose.
_LOOK_ALIKES = str.maketrans(
    # Cyrillic
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u043a\u0455\u0456\u0458\u0501\u04bb\u051b\u051d\u0475\u04cf\u043c\u0442"
    "\u0410\u0412\u0415\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0423\u0425\u0405\u0406\u0408\u051a\u051c\u0474\u04c0"
    # Greek
    "\u03b1\u03b3\u03b9\u03ba\u03bd\u03bf\u03c1\u03c4\u03c5\u03c7\u03c9\u03b7\u03f2\u03f3"
    "\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7\u03f9\u037f"
    # Latin letters and dashes
    "\u0131\u0142\u00f8\u0111\u0251\u0261\u0269\u2010\u2012\u2013\u2014\u2212",
    "aeopcyxksijdhqwvlmtABEKMHOPCTYXSIJQWVIayikvoptuxwncjABEZHIKMNOPTYXCJilodagi-----",
)
# ASCII letters and digits that are one line.
_STROKES = str.maketrans("1I|", "lll")


def quote(text: str) -> str:
    """``text`` in single quotes, clipped, control characters escaped (a file must not write to the terminal)."""
    return _escaped(cut(text, QUOTED_LENGTH))


def written(value: float) -> str:
    """A value as people write it, with all of its digits: 40, where Python says 40.0, and 1e+10."""
    short = f"{value:g}"
    return short if float(short) == value else repr(float(value)).removesuffix(".0")


def counted(count: int, what: str) -> str:
    """``1 row`` and ``2 rows``."""
    return f"{count} {what}{'s' * (count != 1)}"


def cut(text: str, signs: int) -> str:
    """The text, or its beginning where it has more signs."""
    return text if len(text) <= signs else f"{text[: signs - 3]}..."


def _escaped(text: str) -> str:
    return "'" + "".join(c if c.isprintable() else repr(c)[1:-1] for c in text) + "'"


def is_shown(character: str) -> bool:
    """Whether a character can stand in a line of text: it prints, is a space, or joins or parts letters as it must."""
    # NBSP and the wide space of Chinese do not count as printable; ZWNJ and ZWJ are part of Persian and Indic words.
    return character.isprintable() or character in "\xa0\u2007\u202f\u3000\u200c\u200d"


def named(character: str) -> str:
    """A character in quotes, and its name where one cannot be sure to see which it is."""
    if character.isascii():
        return quote(character)
    return f"{quote(character)} ({_unicode_name(character)})"


def unknown_name(name: str, known: Iterable[str]) -> str:
    """What to say of a name in an expression that nobody gave a value."""
    return f"unknown name {quote(name)}{meant_by(name, known)}"


def meant_by(name: str, known: Iterable[str]) -> str:
    """What was probably meant by such a name: units are the usual reason, and functions of time."""
    if name in UNITS:
        return f"; numbers are in SI units, which are not written: {UNITS[name]} in its place"
    if hint := did_you_mean(name, known):
        return hint
    if name in BARE_UNITS:
        return "; numbers are in SI units, which are not written"
    return TIME if name == "t" else ""


def unknown(
    name: str, known: Iterable[str], *before: str | Argument, behind: str = "", there: str = "; there are"
) -> UnknownName:
    """The refusal of a name, which stands between other words: what may have been meant, or what there is."""
    names = tuple(known)
    hint = did_you_mean(name, names) or f"{there} {listing(names) or 'none'}"
    error = UnknownName(*before, quote(name), behind + hint)
    error.name, error.known = name, names
    return error


def shown_path(name: str) -> str:
    """A file name for messages: bare, or in quotes with escapes where it would not print well.

    A long one lacks its middle: its end says which file of a deep folder is meant.
    """
    cut = name if len(name) <= PATH_LENGTH else f"{name[:57]}...{name[60 - PATH_LENGTH :]}"
    return cut if cut.isprintable() and cut else _escaped(cut)


class Entries(dict[str, Any]):
    """Entries by name, which nobody can change: copies and what comes out of a pickle are plain.

    Raises UnknownName, a KeyError that says what there is.
    """

    __slots__ = ()
    what = "entry"

    def __new__(cls, *given: Any, **named: Any) -> Self:
        """Filled as they are made: the initializer of a dict fills it again whenever it is called."""
        made = dict.__new__(cls)
        dict.update(made, *given, **named)
        return made

    def __missing__(self, name: object) -> Any:
        raise no_entry(name, self, self.what)

    def __reduce__(self) -> tuple[object, ...]:
        return dict, ({**self},)

    # A checker of types sees a Mapping wherever these stand.
    if not TYPE_CHECKING:
        # Does nothing, sooner than a function that does nothing.
        __init__ = object.__init__

        def _refuse(self, *given, **named):
            why = "what kronbot answers does not support item assignment: dict(...) makes a copy of one's own"
            raise TypeError(why)

        __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = _refuse


def no_entry(name: object, held: Iterable[str], what: str = "entry") -> UnknownName:
    """The refusal of a name that nothing has."""
    if is_a(name, str):
        return unknown(str.__str__(name), held, f"no {what} ")
    return UnknownName(f"entries have names: text is wanted, no {quote(kind_of(name))[1:-1]}")


def did_you_mean(word: str, options: Iterable[str], shown: Callable[[str], str] = str) -> str:
    """``"; did you mean 'x'?"`` for the option nearest to ``word``, or an empty string.

    What follows the word in a message. ``shown`` is how an option is written there.
    """
    known = list(options)
    # The beginning of a long word is not much like the whole, and meant all the same.
    begun = (option for option in known if len(word) >= _SHORTENED_LENGTH and _look(option).startswith(_look(word)))
    found = near(word, known) or list(islice(begun, 1))
    return meant(word, found[0], shown(found[0])) if found else ""


def near(word: str, options: Iterable[str], likeness: float = _LIKENESS) -> list[str]:
    """The option nearest to ``word`` and the next one, as far as they are alike.

    One alone where it differs by nothing but case, accents, letters that look the same or signs that are not seen, and
    where the next one is much less alike. What differs by l, 1 and I, or O and 0, alone goes before all others.
    """
    if len(word) > _GUESSED_LENGTH:
        return []
    plain, looks = _look(word), {_look(option): option for option in options}
    if plain in looks:
        return [looks[plain]]
    if same := [option for option in looks.values() if _stroke(option) == _stroke(word)]:
        return same[:2]
    nearest = nlargest(2, _alike(plain, looks, likeness))
    return [looks[look] for alike, look in nearest if alike >= nearest[0][0] - _AHEAD]


def _alike(word: str, options: Iterable[str], likeness: float) -> Iterator[tuple[float, str]]:
    """How much alike a word and options are, of those that are so much.

    The most promising ones first, by the letters that they share, and no more than there is time for.
    """
    from difflib import SequenceMatcher

    comparison, letters = SequenceMatcher(None, "", word), Counter(word)
    bounds = []
    for option in options:
        both = len(word) + len(option)
        if 2 * min(len(word), len(option)) >= likeness * both:
            shared = sum(min(count, option.count(letter)) for letter, count in letters.items())
            bounds.append((2 * shared / both, option))
    left = _COMPARED
    for bound, option in sorted(bounds, reverse=True):
        left -= len(word) * len(option)
        if bound < likeness or left < 0:
            return
        comparison.set_seq1(option)
        if (alike := comparison.ratio()) >= likeness:
            yield alike, option


def meant(word: str, option: str, shown: str = "") -> str:
    """``"; did you mean 'x'?"``, after the word in a message; before it what the eye does not see in the word."""
    odd = _foreign(word, option)
    hidden = _foreign(option, word) if not odd and _look(word) == _look(option) else ""
    return (
        (f": its {odd}" if odd else "")
        + f"; did you mean {quote(shown or option)}"
        + (f", whose {hidden}?" if hidden else "?")
    )


def _look(word: str) -> str:
    """What a word looks like: in small ASCII letters as far as there are such, without what is not seen."""
    if word.isascii():
        return word.casefold()
    import unicodedata

    letters = unicodedata.normalize("NFKD", word).translate(_LOOK_ALIKES)
    return "".join(c for c in letters if unicodedata.category(c) not in ("Mn", "Cf")).strip().casefold()


def _stroke(word: str) -> str:
    """The same where 1, l and I are one stroke, and 0 and O one circle."""
    return _look(word.translate(_STROKES)).replace("o", "0")


def _foreign(word: str, other: str) -> str:
    """``2nd letter is CYRILLIC SMALL LETTER A``: the first letter beyond ASCII that the other word does not have."""
    character = next((c for c in word if not c.isascii() and c not in other), None)
    if character is None:
        return ""
    places = [_ordinal(i) for i, c in enumerate(word, start=1) if c == character]
    what, many = "letter" if character.isalpha() else "character", len(places) > 1
    where = " and ".join(filter(None, (", ".join(places[:-1]), places[-1])))
    return f"{where} {what}{'s are' if many else ' is'} {_unicode_name(character)}"


def _ordinal(n: int) -> str:
    ending = "th" if n % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th")
    return f"{n}{ending}"


def _unicode_name(character: str) -> str:
    import unicodedata

    return unicodedata.name(character, f"U+{ord(character):04X}")


def listing(options: Iterable[str], most: int = 20) -> str:
    """The options one after the other, for "known are ..."; longer lists are cut."""
    names = list(options)
    shown = ", ".join(names[:most])
    return f"{shown}, ... ({len(names)} in all)" if len(names) > most else shown


def escaped(text: str) -> str:
    """Text without signs that could write to a terminal: a file must not."""
    return "".join(sign if sign.isprintable() else ascii(sign)[1:-1] for sign in text)
