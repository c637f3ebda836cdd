"""Slips are mended in passing: all that is wrong is found in one go, and each mistake is told once."""

import pytest

from kronbot.description import Source, load
from kronbot.errors import DescriptionError, MotionError

ARM = """\
kronbot: 1
name: arm
convention: standard
gravity: [0, 0, 0]
parameters: {EI: 1e4}
links:
  - name: upper
    joint: {type: revolute, name: q1}
    dh: {a: 1, d: 0, alpha: 0, theta: 0}
    flexible: {mass: 2, EI: {z: EI}, modes: {v: 2}}
motion:
  q1: {type: polynomial, from: 0, to: 1, duration: 2, degree: 5}
"""


def found(*changes):
    text = ARM
    for right, wrong in changes:
        assert text.count(right) == 1
        text = text.replace(right, wrong)
    with pytest.raises(DescriptionError) as caught:
        load(Source("r", text, None))
    return [str(mistake) for mistake in caught.value.mistakes]


def test_what_is_wrong_with_the_kind_that_is_meant():
    assert found(("{type: polynomial, from: 0, to: 1, duration: 2, degree: 5}",
                  "{type: polynomal, from: 0, to: 60*degrees, duration: 2}")) == [
        "r:12:7: missing key 'degree' in 'q1'",
        "r:12:14: 'type' must be one of cycloidal, spin-up, polynomial, sinusoid, table; not 'polynomal'; did you "
        "mean 'polynomial'?",
        "r:12:38: unknown name 'degrees' in '60*degrees'; did you mean 'deg'?",
    ]  # fmt: skip


def test_nobody_knows_which_kind_is_meant():
    assert found(("type: polynomial, from: 0", "type: straight, from: zero")) == [
        "r:12:14: 'type' must be one of cycloidal, spin-up, polynomial, sinusoid, table; not 'straight'"
    ]


@pytest.mark.parametrize(
    ("right", "wrong", "others"),
    [
        ("mass: 2", "mas: -2", ["r:10:21: 'mass' must be greater than 0, it is -2.0"]),
        ("mass: 2", "mas: 1 kg", ["r:10:21: '1 kg' is not an expression"]),
        ("alpha: 0", "alfa: 0", []),  # and nobody misses alpha
        ("EI: {z: EI}", "ei: {z: EJ}", ["r:10:33: unknown name 'EJ'"]),
        ("flexible:", "flexibel:", []),
        ("flexible: {mass", "flexibel: {mas", ["r:10:16: unknown key 'mas'; did you mean 'mass'?"]),
        ("parameters:", "parameter:", []),  # and EI is known
        ("parameters: {EI: 1e4}", "parameter: {EI: 2*EI}", ["r:5:17: the parameter 'EI' is defined by itself"]),
        ("type: revolute, name: q1", "type: revolut", ["r:8:12: missing key 'name': a revolute joint has one",
                                                       "r:12:3: unknown joint 'q1'"]),
        ("links:", "link:", []),
        ("duration: 2, degree: 5", "duratoin: 0, degree: 4", ["r:12:52: 'duration' must be greater than 0, it is 0.0",
                                                              "r:12:63: 3 or 5 is wanted here, not '4'"]),
    ],
)  # fmt: skip
def test_what_stands_under_a_misspelt_key_is_judged(right, wrong, others):
    mistakes = found((right, wrong))
    told = [mistake for mistake in mistakes if "did you mean" in mistake]
    assert told and [mistake for mistake in mistakes if mistake not in told or mistake in others] == others


def test_two_slips_for_one_key():
    """One of them is the key; of the other nobody knows."""
    assert found(("mass: 2", "mas: 2, masss: 3")) == [
        "r:10:16: unknown key 'mas'; did you mean 'mass'?",
        "r:10:24: unknown key 'masss'; did you mean 'mass'?",
    ]


def test_two_keys_that_may_be_meant():
    """Both are as like: nothing is mended, and what is missing is told."""
    assert found(("{a: 1, d: 0, alpha: 0, theta: 0}", "{a: 1, d: 0, alpheta: 0}")) == [
        "r:9:9: missing keys 'alpha', 'theta' in 'dh'",
        "r:9:22: unknown key 'alpheta'; did you mean 'alpha'?",
    ]


def test_a_motion_of_the_command_line():
    with pytest.raises(MotionError) as caught:
        load(Source("r", ARM, None), {}, "q1: {type: sinusiod, amplitud: one, frequency: 1}")
    assert [str(mistake) for mistake in caught.value.mistakes] == [
        "motion:1:12: 'type' must be one of cycloidal, spin-up, polynomial, sinusoid, table; not 'sinusiod'; did you "
        "mean 'sinusoid'?",
        "motion:1:22: unknown key 'amplitud'; did you mean 'amplitude'?",
        "motion:1:32: unknown name 'one'",
    ]


def test_guesses_at_very_many_slips_end():
    """With the mistakes that are shown."""
    keys = ", ".join(f"mass{i}: 0" for i in range(5000))
    mistakes = found(("mass: 2", keys))
    assert len(mistakes) == 101
    assert mistakes[-1].endswith("more mistakes")
