"""Sizes: of files, of robots, of answers that grow with a power of them."""

import json
import re

import pytest
from fuzzing.texts import GOOD, HEAD, chain

import kronbot
from kronbot.cli import main
from kronbot.compute.deferred import Deferred
from kronbot.description import limits
from kronbot.errors import ComputationError
from kronbot.mechanics.motion.integrators import Cvodes


def test_too_many_links(refused):
    """As many as the size allows."""
    links = "".join(f"  - {{name: l{i}, joint: {{type: fixed}}, pose: {{}}}}\n" for i in range(5000))
    assert len(f"{HEAD}links:\n{links}") < limits.TEXT_BYTES
    refused(f"{HEAD}links:\n{links}", f"more than {limits.NODES} values")
    refused(f"{HEAD}links:\n{'- {}' * 3}\n{'- 1' * 3}\n")
    refused(f"{HEAD}links: [{'{},' * (limits.LINKS + 1)}]", f"at most {limits.LINKS}")
    refused(f"{HEAD}links: [{'1,' * (limits.LINKS + 1)}]", f"at most {limits.LINKS}")
    refused(chain(limits.MOVING + 1), f"{limits.MOVING + 1} links with coordinates, at most {limits.MOVING}")


def test_too_many_coordinates(refused):
    """128 links with 64 modes in each direction; counts that no machine holds."""
    refused(chain(limits.MOVING, "v: 64, w: 64, torsion: 64"), f"at most {limits.COORDINATES}")
    for count in ("65", "1000000000", "9" * 30, "1" * 5000, "-1", "1e3", "1.0", "2/1", "'2'", "true", "0x40", "\u0662"):
        refused(chain(1, f"v: {count}"), f"a plain integer from 0 to {limits.MODES}")


def test_as_many_links_as_are_allowed(kron, tmp_path):
    """An answer, not a stack overflow."""
    (tmp_path / "r.yaml").write_text(chain(limits.MOVING))
    answer = kron("jacobian", tmp_path / "r.yaml", "--format", "json")
    assert answer.code == 0
    assert len(json.loads(answer.out)["arrays"]["J_T"]["columns"]) == limits.MOVING


# What is asked for a Jacobian is checked, too; statics traces all bodies twice.
@pytest.mark.slow
@pytest.mark.parametrize(
    ("links", "command"), [(limits.LINKS, ["jacobian"]), (limits.LINKS // 4, ["statics", "--q", "q0=0.1"])]
)
def test_links_without_coordinates(kron, tmp_path, links, command):
    """Hundreds, of which one moves: nothing grows with their square, nothing overflows."""
    fixed = "".join(
        f"  - {{name: f{i}, joint: {{type: fixed}}, pose: {{xyz: [0.1, 0, 0]}}, rigid: {{mass: 1}}}}\n"
        for i in range(links - 1)
    )
    (tmp_path / "r.yaml").write_text(chain(1) + fixed)
    answer = kron(*command[:1], tmp_path / "r.yaml", *command[1:], "--format", "json")
    assert answer.code == 0
    if command == ["jacobian"]:  # about the axis of the joint, at the end of all links
        assert json.loads(answer.out)["arrays"]["J_T"]["values"][1][0] == pytest.approx(1 + 0.1 * (links - 1))


def test_powers_of_taylor(refused):
    """n^k columns; and more terms than the option takes."""
    refused(chain(12), "the limit is", command="taylor", options=["--terms", "12"], code=1)
    for terms in ("30", "-1", "1e9", "9" * 300, "9" * 300 + "x", "pi"):
        refused(GOOD, command="taylor", options=["--terms", terms], code=2)


@pytest.mark.parametrize(
    ("duration", "step"), [("1e3", "1e-300"), ("1e3", "1e-9"), ("1e3", "5e-324"), ("1e308", "1"), ("1e3", "1e-4")]
)
def test_rows_of_a_simulation(refused, duration, step):
    """Refused before the run."""
    refused(GOOD, command="simulate", options=["--duration", duration, "--step", step], code=2)


def test_cases_of_a_sweep(refused):
    """A range of too many angles, and ranges whose product is too many: 10^9 and 10^16 cases."""
    three = chain(3)
    refused(three, "is the limit", command="statics", options=["--angles", "q0=0:1:1e-9"], code=2)
    ranges = [word for i in range(3) for word in ("--angles", f"q{i}=0:1:1e-3")]
    refused(three, "is the limit", command="statics", options=ranges, code=2)
    angles = ", ".join(f"q{i}: [{', '.join(map(str, range(60)))}]" for i in range(9))
    refused(f"{chain(9)}statics: {{angles: {{{angles}}}}}\n", "is the limit", command="statics", code=2)


@pytest.mark.slow
def test_thousands_of_warnings(kron, tmp_path):
    """The first, and how many more there are."""
    links = "".join(
        f"  - {{name: l{i}, joint: {{type: fixed}}, dh: {{a: 1, d: 0, alpha: 90, theta: 0}}}}\n" for i in range(900)
    )
    (tmp_path / "r.yaml").write_text(f"{HEAD}links:\n{links}")
    answer = kron("check", tmp_path / "r.yaml", "--format", "json")
    assert answer.code == 0
    warnings = [line for line in answer.err.splitlines() if ": warning: " in line]
    assert len(warnings) == 2  # of one kind
    assert warnings[-1].endswith(f": warning: and {900 - limits.MISTAKES} more warnings")


@pytest.mark.slow
def test_tables_of_parameters(refused, kron, tmp_path):
    """Long chains, circles and doubling definitions end; their values stay exact only as long as that is cheap."""
    count = 2500  # beyond what Python lets functions call each other
    chained = "".join(f"  p{i}: p{i - 1} + 1\n" for i in range(1, count))
    (tmp_path / "r.yaml").write_text(f"{GOOD}parameters:\n  p0: 1\n{chained}")
    assert kron("check", tmp_path / "r.yaml").code == 0
    doubled = "".join(f"  p{i}: p{i - 1}*p{i - 1}\n" for i in range(1, count))
    refused(f"{GOOD}parameters:\n  p0: 3\n{doubled}", "too large")
    (tmp_path / "r.yaml").write_text(f"{GOOD}parameters:\n  p0: 1/3\n{doubled}")
    kron("check", tmp_path / "r.yaml")
    circle = "".join(f"  p{i}: p{(i + 1) % count}\n" for i in range(count))
    refused(f"{GOOD}parameters:\n{circle}", "in a circle")
    sums = ["+".join(f"p{j}" for j in range(max(0, i - 100), i)) or "1" for i in range(count // 10)]
    crossed = "".join(f"  p{i}: {text}\n" for i, text in enumerate(sums))
    refused(f"{GOOD}parameters:\n{crossed}x: 1\n", "unknown key")


NO_MEMORY = "this takes more memory than there is: ask for less at a time"
OF_CASADI = RuntimeError(".../function.cpp:156: Error calling SXFunction::init for 'tmp_symvar': std::bad_alloc")


@pytest.mark.parametrize("error", [MemoryError(), MemoryError("std::bad_alloc"), OF_CASADI])
def test_memory_that_is_not_there(error, monkeypatch, capsys):
    """One line that says so."""
    monkeypatch.setattr(main.kronbot, "invoke", lambda context: (_ for _ in ()).throw(error))
    assert main.run(["check", "khang"]) == 1
    assert capsys.readouterr().err == f"Error: {NO_MEMORY}\n"


def test_memory_that_is_not_there_while_a_motion_is_integrated(monkeypatch):
    """It is not what integrators give up for, nor where another one is tried."""
    monkeypatch.setattr(Cvodes, "_call", lambda *given: (_ for _ in ()).throw(OF_CASADI))
    with pytest.raises(ComputationError, match=re.escape(NO_MEMORY)):
        kronbot.loads(GOOD).simulate(0.01)


def test_memory_that_is_not_there_when_somebody_looks():
    def computed():
        raise OF_CASADI

    with pytest.raises(ComputationError, match=re.escape(NO_MEMORY)):
        Deferred(computed).found()


@pytest.mark.slow
def test_convergence_that_cannot_come_through(refused):
    """Said before the first of its models is traced."""
    refused(chain(2, "v: 1, w: 1"), "take fewer modes", command="modes", options=["--convergence", "64"], code=1)
