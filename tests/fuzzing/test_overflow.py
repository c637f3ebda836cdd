"""What a float, a matrix or the memory does not hold: an answer without NaN, or one message soon."""

import re
from itertools import product

import pytest
from fuzzing import harness
from fuzzing.texts import GOOD, chain
from thinned import rare, thinned

from kronbot.description import limits

EXTREMES = ["1e308", "1e155", "1e50", "5e-324", "1e-160", "-1e308"]
FEW = ["1e308"]
COMMANDS = ["check", "jacobian", "hessian", "dynamics", "linearize", "modes", "taylor"]
HUGE = chain(12, "v: 16, w: 16, torsion: 16")


TEXTS = {"rigid": GOOD, "flexible": chain(1, "v: 1, torsion: 1")}
OFTEN = [("rigid", command) for command in COMMANDS] + [("flexible", "check")]


@pytest.mark.parametrize(("kind", "command"), thinned(list(product(TEXTS, COMMANDS)), OFTEN))
def test_extreme_numbers(kron, tmp_path, kind, command):
    """What a float holds may overflow on the way, in the file or in an option."""
    text = TEXTS[kind]
    path = tmp_path / "r.yaml"
    numbers = [key for key in ("a: 1", "mass: 1", "y: 1", "GJ: 1", "-9.81") if key in text]
    for old in numbers:
        for extreme in EXTREMES if text == GOOD else FEW:
            path.write_text(text.replace(old, re.sub("-?[0-9.]+$", extreme, old)))
            kron(command, path, "--order", "1", "--format", "json")
    path.write_text(text)
    if command != "check":
        assert kron(command, path, "--q", "1e12", "--format", "json").code in (0, 1)
        assert kron(command, path, "--q", "1e308", "--format", "json").code == 2


@pytest.mark.parametrize(
    ("command", "text", "words"),
    [
        rare("hessian", HUGE, "1,037,232 entries"),
        ("dynamics", chain(101), "1,030,301 entries"),
        ("modes", chain(1, "v: 33"), "33 of them of link 'l0'"),
        ("linearize", chain(1, "v: 33"), "33 of them of link 'l0'"),
        rare("modes --order 1", chain(1, "v: 64, w: 64"), "128 of them of link 'l0'"),
        rare("simulate --duration 1", chain(17, "v: 32"), "too large at order 2"),
    ],
)
def test_answers_too_large_to_hold(worker, tmp_path, command, text, words):
    """Powers of the number of coordinates: refused as soon as there is a model."""
    name, *options = command.split()
    (tmp_path / "r.yaml").write_text(text)
    answer = worker.ask([name, str(tmp_path / "r.yaml"), *options, "--format", "json"])
    assert (answer.code, answer.out) == (1, "")
    assert words in answer.err
    assert answer.memory < harness.MEMORY


def test_rows_of_many_coordinates(refused):
    """A million rows are allowed, a million rows of hundreds of columns are not."""
    options = ["--duration", "900", "--step", "1e-3"]
    refused(chain(100), "rows are the limit", command="simulate", options=options, code=2)


@pytest.mark.slow
@pytest.mark.parametrize("drive", ["torque: {file: t.csv}", "motion: {type: table, file: t.csv}"])
def test_long_tables(refused, tmp_path, drive):
    """A million rows that are right: refused before a curve is laid through them."""
    (tmp_path / "t.csv").write_text("".join(f"{i},{i % 7}\n" for i in range(1_000_000)))
    text = f"{GOOD}simulate: {{duration: 1, drive: {{q1: {{{drive}}}}}}}\n"
    refused(text, f"more than {limits.TABLE_ROWS} rows", command="simulate")


def test_a_huge_cell(refused, tmp_path):
    """Longer than the reader of CSV files takes."""
    (tmp_path / "rows.csv").write_bytes(b"a" * 1_000_000 + b"\n1\n")
    refused(GOOD, "rows.csv", command="jacobian", options=["--q", f"@{tmp_path / 'rows.csv'}"], code=2)


def test_thousands_of_angles(refused):
    """Evaluated together; their product is too many."""
    angles = ", ".join(f"q{i}: [{', '.join(map(str, range(300)))}]" for i in range(9))
    refused(f"{chain(9)}statics: {{angles: {{{angles}}}}}\n", "is the limit", command="statics", code=2)


def test_gains_that_overflow(refused, tmp_path):
    """Products of gains and inverse inertia: what of them is no number goes to no eigenvalue routine."""
    (tmp_path / "gains.csv").write_text(",torque,q1\nat,0,1e308\ntorque.q1,1e308,-1e308\n")
    text = GOOD.replace("mass: 1", "mass: 0.01") + "control: {state_feedback: {K: gains.csv}}\n"
    refused(text, "is not finite", command="linearize", options=("--closed-loop",), code=1)


def test_loads_that_overflow(kron, tmp_path):
    """Where the path ends LAPACK is asked how far beams would turn, and may go on for ever with infinity."""
    path = tmp_path / "r.yaml"
    path.write_text(chain(1, "v: 2"))
    answer = kron("statics", path, "--forces", "1e308,1e308,1e308", "--format", "json")
    assert answer.code == 1 and "no stable path of equilibria" in answer.err
