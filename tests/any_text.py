"""Text of any characters, without the tables of Unicode, which hypothesis makes for itself in some seconds."""

from hypothesis import strategies as st


def any_text(min_size=0, max_size=40, without=""):
    """A third of ASCII; no halves of surrogate pairs."""
    letters = st.integers(0, 0x7F) | st.integers(0x80, 0xD7FF) | st.integers(0xE000, 0x10FFFF)
    letters = letters.map(chr).filter(lambda letter: letter not in without)
    return st.lists(letters, min_size=min_size, max_size=max_size).map("".join)
