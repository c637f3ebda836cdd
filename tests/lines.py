"""Long texts that should be the same, told apart by the first line that differs and not by all of them."""

from itertools import zip_longest

SHOWN = 200  # signs of a line


def demand_same(found, wanted):
    """Two texts, or bytes, are equal."""
    if found == wanted:
        return
    pairs = zip_longest(found.splitlines(), wanted.splitlines())
    row, (ours, theirs) = next(
        ((row, pair) for row, pair in enumerate(pairs, 1) if pair[0] != pair[1]), (0, ("ends of lines", ""))
    )
    raise AssertionError(f"line {row}: {ours!r:.{SHOWN}} in place of {theirs!r:.{SHOWN}}")
