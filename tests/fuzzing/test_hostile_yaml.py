"""YAML that means harm, and what is no YAML at all."""

import gzip
import random

import pytest
from fuzzing.texts import GOOD
from thinned import thinned

from kronbot.description import limits

LEVELS = "abcdefghi"
BOMBS = {
    "aliases": "\n".join(
        ["a: &a [x, x, x, x, x, x, x, x, x]"]
        + [f"{c}: &{c} [{', '.join(['*' + p] * 9)}]" for p, c in zip(LEVELS, LEVELS[1:], strict=False)]
    ),
    "merges": "\n".join(
        ["a: &a {x: 1, y: 2}"]
        + [f"{c}: &{c} {{<<: [{', '.join(['*' + p] * 9)}]}}" for p, c in zip(LEVELS, LEVELS[1:], strict=False)]
    ),
    "a list in itself": "a: &a [1, *a]",
    "a mapping in itself": "&a {b: *a}",
    "lists": "[" * 100_000,
    "closed lists": "[" * 40 + "]" * 40,
    "mappings": "{" * 100_000,
    "mappings with keys": "{a: " * 5000,
    "block mappings": "".join(" " * i + "a:\n" for i in range(600)),
    "block lists": "- " * 100_000,
    "complex keys": "? " * 100_000,
    "lists as keys": "{[" * 2000,
    "anchors": "a: " + "&a " * 50_000,
    "tags": "a: " + "!!str " * 40_000,
    "colons": "a: " * 80_000,
    "quotes": '"' * 250_001,
    "backslashes": 'a: "' + "\\" * 250_000,
    "a block scalar": "a: |\n" + " x\n" * 80_000,
    "a folded scalar": "a: >\n" + " x\n\n" * 60_000,
    "spaces": "a:" + " " * 250_000 + "1",
    "empty lines": "a:" + "\n" * 250_000 + "1",
    "comments": "#\n" * 130_000,
    "one comment": "#" * 260_000,
    "a long word": "a" * 260_000,
    "a long key": "a" * 200_000 + ": 1",
    "commas": "[" + "," * 250_000 + "]",
    "items": "[" + "1," * 120_000 + "]",
    "lines": "- 1\n" * 60_000,
    "the same key": "a: 1\n" * 9000,
    "unknown keys": "".join(f"a{i}: 1\n" for i in range(9000)),
    "numbers as keys": "".join(f"{i}: 1\n" for i in range(9000)),
    "keys like known ones": GOOD + "".join(f"motio{i}: 1\n" for i in range(9000)),
    "unicode escapes": 'a: "' + "\\u00e9" * 40_000 + '"',
    "surrogates": 'a: "\\ud800"',
    "escaped control characters": 'a: "\\0\\a\\e[31m"',
    "wide characters": "a: " + "\U0001f600" * 60_000,
    "combining characters": "name: a" + "\u0301" * 100_000,
}


@pytest.mark.parametrize(
    "name", thinned(list(BOMBS), BOMBS.keys() - {"keys like known ones", "numbers as keys", "unknown keys"})
)
def test_bombs(refused, name):
    """No work or memory that grows faster than the text, and no more lines than can be read."""
    assert len(refused(BOMBS[name])) <= limits.MISTAKES + 1


NO_TEXT = {
    "empty": b"",
    "blank": b" \n\n ",
    "only a mark": b"\xef\xbb\xbf",
    "only comments": b"# nothing\n# at all\n",
    "only a directive": b"%YAML 1.2\n",
    "only a document start": b"---\n",
    "UTF-16": GOOD.encode("utf-16"),
    "UTF-16 without mark": GOOD.encode("utf-16-le"),
    "UTF-32": GOOD.encode("utf-32"),
    "Latin-1": GOOD.replace("name: r", "name: \xe4").encode("latin-1"),
    "overlong UTF-8": GOOD.encode().replace(b"name: r", b"name: \xc0\xaf"),
    "surrogate in UTF-8": GOOD.encode().replace(b"name: r", b"name: \xed\xa0\x80"),
    "zeros": b"\0" * 1000,
    "random": random.Random(0).randbytes(1000),
    "gzip": gzip.compress(GOOD.encode(), mtime=0),
    "ELF": b"\x7fELF\x02\x01\x01" + bytes(100),
    "PNG": b"\x89PNG\r\n\x1a\n",
    "PDF": b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n",
    "JSON": b'{"kronbot": 1}',
    "XML": b'<?xml version="1.0"?><!DOCTYPE r [<!ENTITY a "x">]><robot name="r">&a;</robot>',
    "HTML": b"<!doctype html><p>404</p>",
    "INI": b"[robot]\nkronbot = 1\n",
    "a number": b"1",
    "a word": b"robot",
    "a list": b"- kronbot: 1\n",
    "null": b"~",
    "two documents": (GOOD + "---\n" + GOOD).encode(),
    "a second document": GOOD.encode() + b"---\n",
    "text after the end": GOOD.encode() + b"...\nx\n",
    "an old directive": b"%YAML 9.9\n---\n" + GOOD.encode(),
    "a broken directive": b"%YAML x\n---\n" + GOOD.encode(),
    "tabs": GOOD.replace("  - ", "\t- ").encode(),
    "a Python object": GOOD.encode() + b"motion: !!python/object/apply:os.system ['false']\n",
    "a Python name": GOOD.encode() + b"motion: !!python/name:os.system\n",
    "a binary tag": GOOD.encode() + b"motion: !!binary aGVsbG8=\n",
    "a set": GOOD.encode() + b"motion: !!set {a, b}\n",
    "a local tag": GOOD.encode() + b"motion: !include /etc/passwd\n",
    "a tag of its own": b"%TAG ! tag:x,2000:\n---\n" + GOOD.encode() + b"motion: !y {}\n",
    "terminal escapes": GOOD.encode() + b"\x1b]0;x\x07: 1\n",
    "escapes in quotes": GOOD.encode() + b'"\\e[31mx": 1\n',
    "a right-to-left mark": GOOD.encode() + "\u202emotion: {}\n".encode(),
    "line separators in a key": GOOD.encode() + b'"a\\Lb\\Pc\\Nd": 1\n',
}


@pytest.mark.parametrize("name", NO_TEXT)
def test_files_that_are_no_robot(refused, name):
    """Exit code 3, with a place."""
    assert refused(NO_TEXT[name])


def test_a_byte_order_mark_and_line_ends_are_no_fault(kron, tmp_path):
    """As editors on Windows write them."""
    (tmp_path / "r.yaml").write_bytes(b"\xef\xbb\xbf" + GOOD.replace("\n", "\r\n").encode())
    assert kron("check", tmp_path / "r.yaml").code == 0
