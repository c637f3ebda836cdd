"""Guesses at what was meant, and what they say of letters that only look right."""

import difflib
import random
import subprocess
import sys

import pytest

from kronbot.cli.main import run
from kronbot.description import Source, load
from kronbot.description.wording import counted, did_you_mean, near, shown_path, written
from kronbot.errors import DescriptionError

ARM = """\
kronbot: 1
name: arm
convention: standard
gravity: [0, 0, 0]
links:
  - name: boom
    joint: {type: revolute, name: q1}
    dh: {a: 1, d: 0, alpha: 0, theta: 0}
    flexible: {mass: 80, EI: {z: 1}, modes: {v: 1}}
"""


def mistakes(text):
    with pytest.raises(DescriptionError) as caught:
        load(Source("arm.yaml", text, None))
    return [mistake.message for mistake in caught.value.mistakes]


@pytest.mark.parametrize(
    ("word", "option", "hint"),
    [
        ("mas", "mass", "; did you mean 'mass'?"),
        ("m\u0430ss", "mass", ": its 2nd letter is CYRILLIC SMALL LETTER A; did you mean 'mass'?"),
        ("m\u0430s", "mass", ": its 2nd letter is CYRILLIC SMALL LETTER A; did you mean 'mass'?"),
        ("b\u043e\u043em", "boom", ": its 2nd and 3rd letters are CYRILLIC SMALL LETTER O; did you mean 'boom'?"),
        ("\u039cass", "mass", ": its 1st letter is GREEK CAPITAL LETTER MU; did you mean 'mass'?"),
        ("\uff4dass", "mass", ": its 1st letter is FULLWIDTH LATIN SMALL LETTER M; did you mean 'mass'?"),
        ("ma\u200bss", "mass", ": its 3rd character is ZERO WIDTH SPACE; did you mean 'mass'?"),
        ("\ufeffmass", "mass", ": its 1st character is ZERO WIDTH NO-BREAK SPACE; did you mean 'mass'?"),
        ("mass\xa0", "mass", ": its 5th character is NO-BREAK SPACE; did you mean 'mass'?"),
        ("spin\u2013up", "spin-up", ": its 5th character is EN DASH; did you mean 'spin-up'?"),
        # The other way round, and where both are of another script, of which nothing is strange.
        ("boom", "b\u043eom", "; did you mean 'b\u043eom', whose 2nd letter is CYRILLIC SMALL LETTER O?"),
        ("\u0441\u0442\u0440\u0435\u043b", "\u0441\u0442\u0440\u0435\u043b\u0430",
         "; did you mean '\u0441\u0442\u0440\u0435\u043b\u0430'?"),
        ("a" * 10 + "\u0430" * 3, "a" * 13,
         f": its 11th, 12th and 13th letters are CYRILLIC SMALL LETTER A; did you mean '{'a' * 13}'?"),
        ("q\u00b2", "gear", ""),
    ],
)  # fmt: skip
def test_letters_that_look_alike(word, option, hint):
    assert did_you_mean(word, ["length", option]) == hint


def test_one_alone_or_several():
    """What only looks the same is that one, however like the others are; else the two nearest."""
    assert near("l\u0435ngth", ["length", "lengths"]) == ["length"]
    assert near("Length", ["lengths", "length"]) == ["length"]
    assert near("lengt", ["lengths", "length", "mass"]) == ["length", "lengths"]
    # One stroke, one circle: also in names that are too short to be much alike.
    assert near("jl", ["j1", "j2"]) == near("jI", ["j1", "j2"]) == ["j1"]
    assert near("jlO", ["j1", "j10"]) == ["j10"]
    assert near("qO", ["q0", "q1"]) == ["q0"]
    assert near("q1", ["ql", "qI", "q2"]) == ["ql", "qI"]


def test_numbers_are_as_people_write_them():
    numbers = {-3.0: "-3", 40.0: "40", 0.1: "0.1", 1e10: "1e+10", 2 / 3: "0.6666666666666666", 12345678.0: "12345678"}
    assert [written(number) for number in numbers] == [*numbers.values()]
    assert [counted(count, "row") for count in (0, 1, 2)] == ["0 rows", "1 row", "2 rows"]


def test_a_look_alike_is_one_mistake():
    """The mass is there: nobody says that it is missing."""
    assert mistakes(ARM.replace("mass", "m\u0430ss")) == [
        "unknown key 'm\u0430ss': its 2nd letter is CYRILLIC SMALL LETTER A; did you mean 'mass'?"
    ]
    assert mistakes(ARM.replace("revolute", "rev\u043elute")) == [
        "'type' must be one of revolute, prismatic, fixed; not 'rev\u043elute': its 4th letter is "
        "CYRILLIC SMALL LETTER O; did you mean 'revolute'?"
    ]
    assert mistakes(ARM.replace("mass: 80", "mass: 2*l\u0435ngth")) == [
        "'\u0435' (CYRILLIC SMALL LETTER IE) is not allowed in an expression"
    ]
    assert mistakes(ARM.replace("boom", "bo\u200bom")) == [
        r"the name 'bo\u200bom' holds '\u200b' (ZERO WIDTH SPACE): letters, digits, _ and - are allowed"
    ]


def test_names_on_the_command_line(tmp_path, capsys):
    (tmp_path / "arm.yaml").write_text(ARM)
    assert run(["jacobian", str(tmp_path / "arm.yaml"), "--frame", "b\u043eom"]) == 2
    assert "its 2nd letter is CYRILLIC SMALL LETTER O; did you mean 'boom'?" in capsys.readouterr().err


def test_names_of_the_robot_are_one_line():
    """The first line of every table holds the name; a description may be longer."""
    place = "of text is wanted here, "
    assert mistakes(ARM.replace("name: arm", r'name: "a\nb"')) == [f"one line {place}without '\\n'"]
    assert mistakes(ARM.replace("name: arm", r'name: "a\e[2Jb"')) == [f"one line {place}without '\\x1b'"]
    assert mistakes(ARM.replace("name: arm", r'name: "a\u202Eb"')) == [
        f"one line {place}without '\\u202e' (RIGHT-TO-LEFT OVERRIDE)"
    ]
    assert mistakes(ARM.replace("name: arm", f"name: {'r' * 201}")) == [
        "one line of text of at most 200 characters is wanted here, not of 201"
    ]
    for name in ("r" * 200, "Bras n\xb0\xa03", "\u6a5f\u68b0\u3000\u81c2", "\u0645\u06cc\u200c\u0634\u0648\u062f"):
        assert load(Source("r", ARM.replace("name: arm", f'name: "{name}"'), None)).robot.name == name


@pytest.mark.parametrize("key", ["description", "source"])
def test_free_text(key):
    many = "an arm\n\tof two\n" * 100
    text = ARM + f"{key}: |\n" + "".join(f"  {line}\n" for line in many.splitlines())
    assert getattr(load(Source("r", text, None)).robot, key) == many
    assert mistakes(ARM + f'{key}: "a\\e[2Jb"\n') == ["text is wanted here, without '\\x1b'"]
    assert mistakes(ARM + f"{key}: {'r' * 4001}\n") == ["text of at most 4000 characters is wanted here, not of 4001"]


def test_what_guesses_need_comes_with_the_first_one():
    """Every command imports this module."""
    code = "import sys, kronbot.description.wording as w; w.quote('a'); print({'difflib'} & {*sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


def test_the_nearest_are_those_of_the_standard_library():
    draw = random.Random(1)
    words = list(dict.fromkeys("".join(draw.choices("abcd_1", k=draw.randint(1, 9))) for _ in range(200)))
    for word in words[:15]:
        options = [each for each in words if each != word]
        nearest = difflib.get_close_matches(word, options, 1, 0.6)
        least = max([0.6, *(difflib.SequenceMatcher(None, each, word).ratio() - 0.25 for each in nearest)])
        assert near(word, options) == (difflib.get_close_matches(word, options, 2, least) if nearest else [])


def test_long_names_that_are_much_alike_are_guessed_at_in_time(monkeypatch):
    """Of a hundred mistakes among four hundred names guesses took half a minute; the one that is meant is found."""
    draw, compared = random.Random(1), []

    def ratio(self, found=difflib.SequenceMatcher.ratio):
        compared.append(self.a)
        return found(self)

    monkeypatch.setattr(difflib.SequenceMatcher, "ratio", ratio)
    options = ["".join(draw.choices("ab", k=58)) for _ in range(400)]
    assert near(f"{options[7]}c", options)[0] == options[7]
    assert len(compared) < 10


def test_of_a_long_path_the_end_is_shown():
    """Which file of a deep folder it is; what does not print is escaped."""
    deep = f"/scratch{'/a_folder' * 40}/run-2.csv"
    cut = shown_path(deep)
    assert (len(cut), deep.startswith(cut[:57])) == (200, True) and deep.endswith(cut.partition("...")[2])
    assert shown_path(deep[-200:]) == deep[-200:]
    assert (shown_path(""), shown_path("a\n")) == ("''", r"'a\n'")
    assert shown_path(deep + "\n").endswith(r"/run-2.csv\n'")
