"""Random and mutated files, a short run of what ``harness.py`` does for any number of them."""

import random

import pytest
from fuzzing import harness, strategies
from thinned import drawn, rare

from kronbot.description import Source, limits, load
from kronbot.description.yaml.source import decode
from kronbot.errors import DescriptionError


@pytest.mark.parametrize("count", [100, rare(250)])
def test_seeded_mutations_load_or_are_refused(count, tmp_path):
    """What is no robot ends as a list of mistakes, each in one line, and some are robots."""
    (tmp_path / "table.csv").write_bytes(strategies.TABLE)
    accepted = 0
    for number in range(count):
        content = strategies.robot_file(random.Random(f"test/{number}"))
        try:
            load(Source("r.yaml", decode("r.yaml", content), tmp_path))
            accepted += 1
        except DescriptionError as error:
            assert 1 <= len(error.mistakes) <= limits.MISTAKES + 1
            assert all(mistake.message.isprintable() for mistake in error.mistakes), number
    # A generator that breaks every file, or none, tests little.
    assert 0.08 < accepted / count < 0.75


@pytest.mark.parametrize("count", [20, rare(60)])
def test_seeded_mutations_on_the_command_line(count, worker, tmp_path):
    """Answers and refusals without a fault; the harness has the same for any number of files."""
    wrong = {}
    for number in range(count):
        arguments, content = harness.case("test", number, tmp_path)
        found, _ = harness.judged(worker, arguments, content)
        if found:
            wrong[number, *arguments[:1], *arguments[2:]] = found
    assert wrong == {}


@drawn(12, 29, strategies.robot_files() | strategies.files_with_any_text())
def test_any_file_loads_or_is_refused(content):
    """Nothing but a description error comes out, and its places are in the file."""
    try:
        load(Source("r.yaml", decode("r.yaml", content), None))
    except DescriptionError as error:
        lines = content.decode("utf-8", "replace").splitlines()
        for mistake in error.mistakes:
            assert 1 <= mistake.line <= len(lines) + 1
            assert mistake.column >= 1
            assert mistake.message.isprintable()


def test_the_harness_sees_faults():
    """Each kind of fault is told from a plain answer and a plain refusal."""

    def found(code, out="", err="", seconds=0.1, memory=0.0):
        answer = harness.Answer(code, out, err, seconds, memory)
        return harness.faults(answer, ["check", "r.yaml", "--format", "json"], b"a: 1\n")

    assert found(0, '{"a": 1.0}') == []
    assert found(3, err="r.yaml:1:1: wrong\n  1 | a: 1\n    | ^\nr.yaml:2:1: wrong") == []
    assert found(2, err="motion:1:1: wrong\nmotion:2:1: wrong") == []
    assert found(2, err="Usage: kronbot\nError: wrong") == []
    assert found(1, err="r.yaml:1:1: warning: odd\nError: wrong") == []
    for fault, text in (
        (found(4, err="Error: x"), "exit code 4"),
        (found(-1, err="Traceback (most recent call last):\n  File\nKeyError: 1"), "traceback: KeyError"),
        (found(1, err="Error: unexpected TypeError: x"), "unexpected error"),
        (found(0, "{}", "a.py:3: RuntimeWarning: overflow"), "a warning of Python"),
        (found(3, err="r.yaml:1:1: \x1b[31m"), "control characters"),
        (found(3, "{", "r.yaml:1:1: x"), "something on stdout"),
        (found(1), "an error without a message"),
        (found(2, err="x" * 2000), "a line of 2000 characters"),
        (found(3, err="wrong"), "no place"),
        (found(3, err="r.yaml:9:1: wrong"), "no such place"),
        (found(1, err="Error: a\nb"), "2 lines for one error"),
        (found(0, "[NaN]"), "no JSON: NaN"),
        (found(0, "[1]"), "no object"),
        (found(0, "{}", seconds=9), "slow: answered"),
        (found(3, err="r.yaml:1:1: x", seconds=9), "slow: refused"),
        (harness.faults(harness.Answer(1, "", "Error: x", 21.0, 0.0), ["modes"]), "slow: refused"),
        (found(0, "{}", memory=6e8), "memory: 600 MB"),
    ):
        assert len(fault) >= 1
        assert any(text in line for line in fault), (fault, text)


@pytest.mark.slow
def test_a_worker_that_hangs_or_dies_is_replaced():
    """Waiting ends, and the next command gets an answer."""
    one = harness.Worker(patience=0.0)
    assert "no answer" in one.ask(["--version"])
    one.patience = harness.PATIENCE
    assert one.ask(["--version"]).out.startswith("kronbot ")
    one.process.kill()
    one.process.wait()
    assert "died" in one.ask(["--version"])
    assert one.ask(["--version"]).code == 0
    one.close()
