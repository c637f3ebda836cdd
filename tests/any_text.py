"""Text of any characters, without the tables of Unicode, which hypothesis makes for itself in some seconds."""

from hypothesis import strategies as st

# ASCII, and what is beyond it on either side of the halves of surrogate pairs.
ANY = (0, 0x7F), (0x80, 0xD7FF), (0xE000, 0x10FFFF)
PRINTABLE = (0x20, 0x7E), (0xA1, 0xD7A3), (0x1F300, 0x1F5FF)


def any_text(min_size=0, max_size=40, printable=False):
    """Of ASCII for a third; where it is to be printable of most scripts, and of pictures."""
    letters = st.one_of(*(st.integers(*each) for each in (PRINTABLE if printable else ANY))).map(chr)
    letters = letters.filter(str.isprintable) if printable else letters
    return st.lists(letters, min_size=min_size, max_size=max_size).map("".join)
