"""Strict YAML 1.2 with positions, and texts that mean harm."""

import pytest
import yaml
from thinned import rare
from waiting import bounded

from kronbot.description import limits
from kronbot.description.expressions.expression import Number
from kronbot.description.yaml import composing
from kronbot.description.yaml.composing import compose, compose_leniently
from kronbot.description.yaml.nodes import Mapping, Scalar, Sequence, find, place_of_key, place_of_value
from kronbot.description.yaml.source import Source
from kronbot.errors import DescriptionError


def source(text):
    return Source("f.yaml", text, None)


def value_of(text):
    node = find(compose(source(f"a: {text}\n")), ("a",))
    assert isinstance(node, Scalar)
    return node.value


def plain(node):
    if isinstance(node, Mapping):
        return {key: plain(value) for key, (_, value) in node.entries.items()}
    return [plain(item) for item in node.items] if isinstance(node, Sequence) else node.value


def lines(text):
    try:
        _, mistakes = compose_leniently(source(text))
    except DescriptionError as error:
        mistakes = error.mistakes
    return [str(mistake) for mistake in sorted(mistakes)]


@pytest.fixture(params=["C", "Python"])
def loader(request, monkeypatch):
    if request.param == "Python":
        monkeypatch.setattr(composing, "_LOADER", yaml.SafeLoader)
    elif not yaml.__with_libyaml__:
        pytest.skip("no libyaml")


@pytest.mark.parametrize(
    "text",
    [
        "1e5",
        "69e9",
        "1e-6",
        "1.0e5",
        "1.e5",
        "-.5e-3",
        "1.0e+5",
        "6.9E+10",
        ".5",
        "014",
        "0",
        "-3",
        "+7",
        "1.",
        "0x1F",
        "0o17",
    ],
)
def test_numbers_keep_their_text(text, loader):
    assert value_of(text) == Number(text)


@pytest.mark.parametrize(
    "text",
    [
        "yes",
        "no",
        "on",
        "off",
        "y",
        "n",
        "12:30",
        "1_000",
        "2021-01-01",
        "pi/2",
        "-pi/2",
        "1/2",
        "1,5",
        "e5",
        ".",
        "1e",
        "0b11",
        "0x",
        "-0x1F",
        "<<",
    ],
)
def test_everything_else_is_text(text, loader):
    assert value_of(text) == text


@pytest.mark.parametrize(("text", "value"), [("null", None), ("~", None), ("", None), ("true", True), ("False", False)])
def test_words_of_the_core_schema(text, value, loader):
    assert value_of(text) is value


@pytest.mark.parametrize("text", ["'1e5'", '"1e5"', '"true"', "''"])
def test_quoted_scalars_are_text(text, loader):
    assert value_of(text) == text[1:-1]


def test_keys_that_yaml_1_1_makes_bools_stay_text(loader):
    assert plain(compose(source("on: 1\nyes: 2\n<<: 3\n"))) == {
        "on": Number("1"),
        "yes": Number("2"),
        "<<": Number("3"),
    }


def test_positions_of_keys_and_values(loader):
    root = compose(source("a: 1\nb:\n  - {c: 2, d: x}\n  -   e\n"))
    assert place_of_value(root, ("a",)) == (1, 4)
    assert place_of_key(root, ("b",)) == (2, 1)
    assert place_of_key(root, ("b", 0, "d")) == (3, 12)
    assert place_of_value(root, ("b", 0, "d")) == (3, 15)
    assert place_of_value(root, ("b", 1)) == (4, 7)
    assert place_of_value(root, ("b", 0, "missing")) == (3, 5)
    assert place_of_value(root, ("b", 9)) == (2, 1)
    assert find(root, ("a", "x")) is None


def test_everything_refused_is_collected_with_its_place(loader):
    text = (
        "a: &x 1\n"  # anchor
        "b: [*x, .inf, -.INF, .nan]\n"  # alias, not finite
        "a: 2\n"  # duplicate
        "1: 2\n"  # number as key
        "true: 2\n"
        "? [p, q]\n"
        ": 3\n"
        "c: !!float 1\n"
        "d: {e: 1, e: 2}\n"
        "'1': fine\n"
    )
    assert lines(text) == [
        "f.yaml:1:4: anchors are not allowed: '&x' (use 'parameters')",
        "f.yaml:2:5: aliases are not allowed: '*x' (use 'parameters')",
        "f.yaml:2:9: '.inf' is no number a robot can have: finite numbers only",
        "f.yaml:2:15: '-.INF' is no number a robot can have: finite numbers only",
        "f.yaml:2:22: '.nan' is no number a robot can have: finite numbers only",
        "f.yaml:3:1: duplicate key 'a', first on line 1",
        "f.yaml:4:1: a key must be text, not the number 1",
        "f.yaml:5:1: a key must be text, not true, false or null",
        "f.yaml:6:3: a key must be text, not a list or a mapping",
        "f.yaml:8:4: tags are not allowed: 'tag:yaml.org,2002:float'",
        "f.yaml:9:11: duplicate key 'e', first on line 9",
    ]


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("a: [1\nb: 2\n", "2:", "expected"),
        ("a:\n\tb: 1\n", "2:1", "a tab"),
        ("a: b: c\n", "1:5", "':' is out of place"),
        ("a: @b\n", "1:4", "'@' cannot begin a value"),
        ("a: 'x\nb: 2\n", "3:1", "the quotes begun on line 1 are never closed"),
        ("a: 1\n---\nb: 2\n", "2:1", "more than one document"),
        ("# nothing\n", "1:1", "empty"),
    ],
)
def test_syntax_errors_are_one_line_with_a_place(text, place, words, loader):
    (line,) = lines(text)
    assert line.startswith(f"f.yaml:{place}")
    assert words in line


def quickly(text, words):
    with bounded(5):
        mistakes = lines(text)
    assert words in mistakes[-1]
    return mistakes


def test_alias_bomb():
    levels = ["a: &a [x, x, x, x, x, x, x, x, x]"]
    levels += [f"{c}: &{c} [{', '.join(['*' + p] * 9)}]" for p, c in zip("abcdefgh", "bcdefghi", strict=False)]
    mistakes = quickly("\n".join(levels), "aliases are not allowed")
    assert len(mistakes) == 9 + 8 * 9


@pytest.mark.parametrize(
    "text", ["[" * 100_000, rare("{" * 3000), rare("- " * 50_000), "{a: " * 1000, "[" * 40 + "]" * 40]
)
def test_deep_nesting(text, loader):
    quickly(text, f"nested deeper than {limits.DEPTH}")


def test_the_allowed_depth_is_allowed(loader):
    assert not lines("[" * limits.DEPTH + "]" * limits.DEPTH)


@pytest.mark.parametrize("loader", ["C", rare("Python")], indirect=True)
def test_many_nodes(loader):
    assert not lines("[" + "1," * (limits.NODES - 1) + "]")
    quickly("[" + "1," * limits.NODES + "]", f"more than {limits.NODES} values")


def test_a_list_that_contains_itself():
    quickly("a: &a [1, *a]", "aliases")


def test_thousands_of_mistakes_are_counted():
    with pytest.raises(DescriptionError) as caught:
        compose(source("".join(f"{i}: 1\n" for i in range(3000))))
    assert len(caught.value.mistakes) == limits.MISTAKES + 1
    assert caught.value.mistakes[-1].message == "and 2900 more mistakes"


def test_a_key_without_its_colon_is_where_it_is(loader):
    """Not where the parser gave up, a line later; keys that are no text, and several in a row."""
    missing = "this is not YAML: ':' is missing after this key (text of several lines needs quotes)"
    assert lines("kronbot: 1\nname arm\nconvention: standard\n") == [f"f.yaml:2:1: {missing}"]
    (line,) = lines("links:\n  - name a\n    joint: 1\n")
    assert line.startswith("f.yaml:3:10: this is not YAML: a ':' is out of place (missing on the line before?")
    assert lines("a:\n  b: 1\nc\nd: 2\n") == [f"f.yaml:3:1: {missing}"]


def test_xml_is_told_from_yaml(loader):
    """Who gives a URDF learns what to do with it."""
    (line,) = lines('\n<?xml version="1.0"?>\n<robot name="a"/>\n')
    assert line == "f.yaml:1:1: this is XML, not YAML; kronbot convert makes a robot file from a URDF"
    assert not any("XML" in each for each in lines("<<: {a: 1}\nkronbot: 1\n"))


@pytest.mark.parametrize("loader", [yaml.SafeLoader, getattr(yaml, "CSafeLoader", yaml.SafeLoader)])
def test_a_header_of_another_version_is_refused_at_its_place(monkeypatch, loader):
    """yes and 017 would be other values; what is wrong below is told as well."""
    monkeypatch.setattr(composing, "_LOADER", loader)
    why = "in YAML 1.1 yes and 017 mean other things than in YAML 1.2, as which files are read"
    told = f"1: {why}: write %YAML 1.2, or leave the line out"
    assert lines("%YAML 1.1\n---\na: yes\na: 1\n") == [
        f"f.yaml:1:{told}",
        "f.yaml:4:1: duplicate key 'a', first on line 3",
    ]
    assert lines("# One.\r\n\r\n%TAG ! tag:\r\n%YAML 1.1\r\n---\r\na: 017\r\n") == [f"f.yaml:4:{told}"]
    for header in ("%YAML 1.2\n---\n", "%TAG ! tag:\n---\n", "---\n", ""):
        assert lines(f"{header}a: yes\n") == []
