"""Values of options that are none."""

import pytest
from fuzzing.texts import GOOD

MANY = ",".join(["0"] * 1_000_000)
NO_VALUES = [
    "1,2", "x", "q1", "q1=", "=1", "q2=1", "q1=1,q1=1", "q1=1,2", "1;2", "nan", "inf", "1e999", "9**9**9", "1/0",
    "sqrt(-1)", "().x", "__import__('os')", "f'{1}'", "lambda: 1", "(x:=1)", "\uff11", "q1=\u0661", "@",
    "@nosuch.csv", "@/dev/zero", "@/", "\x1b[31m", "\udcff", "a" * 100_000, "-" * 5000 + "1", "(" * 5000,
    "q1=" * 5000, MANY, "q1=1," * 30_000, ",", "1,", "  , ",
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("option", ["--q", "--qd", "--qdd"])
def test_values_of_coordinates(refused, option):
    """Wrong usage, in one line that does not repeat all of a long value."""
    for text in NO_VALUES:
        refused(GOOD, command="dynamics", options=[option, text], code=2)


@pytest.mark.parametrize("option", ["--duration", "--step", "--rtol", "--atol"])
def test_quantities(refused, option):
    """Numbers that are no positive length of time, and settings that would never end."""
    numbers = [
        "0",
        "-1",
        "nan",
        "inf",
        "1e999",
        "1/0",
        "x",
        "",
        " ",
        "q1",
        "9**9**9",
        "().x",
        "\uff11",
        "\x1b[31m",
        "a" * 100_000,
    ]
    for text in numbers:
        refused(GOOD, command="simulate", options=[f"{option}={text}"], code=2)


NO_SETTINGS = [
    "EI", "EI=", "=1", "=", "", "EI=x", "EI=EI", "EI=EI+1", "EI=nan", "EI=1e999", "EI=1/0", "EI=9**9**9",
    "EI=().__class__", "EI=__import__('os')", "EI=f'{1}'", "EI=lambda: 1", "EI=(x:=1)", "EI=\uff11", "EI=1=2",
    "EI=[1]", "EI=*a", "EI={a: 1}", "\u0415I=1", "E\u200bI=1", "pi=3", "q1=1", "x" * 100_000 + "=1",
    "EI=" + "1" * 100_000, "EI=" + "(" * 990, "EI='1'", "EI=\x1b[31m", "EI=-1", "EI=\udcff",
]  # fmt: skip


def test_settings(refused):
    """Of parameters: expressions over the others; a value that the file forbids is a fault of the file's text."""
    text = f"{GOOD.replace('mass: 1', 'mass: EI')}parameters: {{EI: 1}}\n"
    for setting in NO_SETTINGS:
        refused(text, options=["--set", setting], code=3 if setting == "EI=-1" else 2)
    refused(text, options=["--set", "EI=1"] * 5000 + ["--set", "x=1"], code=2)
    refused(text, options=[word for i in range(5000) for word in ("--set", f"EI{i}=1")], code=2)
    refused(GOOD, "no parameters", options=["--set", "EI=1"], code=2)


NO_MOTIONS = [
    "q1", "[]", "{}", "1", "q1: 1", "q1: {}", "q1: {type: x}", "q2: {type: cycloidal, rate: 1, half_period: 1}",
    "q1: {type: table}", "q1: {type: table, file: ../t.csv}", "q1: {type: table, file: /etc/passwd}",
    "q1: {type: table, file: nosuch.csv}", "q1: {type: cycloidal, rate: 1, half_period: 0}",
    "q1: {type: cycloidal, rate: 1e999, half_period: 1}", "q1: {type: cycloidal, rate: 9**9**9, half_period: 1}",
    "q1: {type: cycloidal, rate: ().x, half_period: 1}", "q1: &a {type: *a}",
    "q1: !!python/object/apply:os.system ['false']", "q1: *a", "[" * 5000, "{a: " * 5000, "- " * 5000,
    "q1: {type: sinusoid, amplitude: 1, frequency: x}", "q1: {a: 1, a: 2}", "a: 1\n---\nb: 1",
    "%YAML 9.9\n---\nq1: {}", "\x1b[31m", "q1: \udcff", "\ufeff", "#", " ", "a" * 1_000_000, "a: 1\n" * 100_000,
    "[" + "1," * 100_000 + "]", "\x85", "q1:\t{}",
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(NO_MOTIONS)))
def test_motions(refused, number):
    """YAML on the command line is read as strictly as in a file, and no larger."""
    assert refused(GOOD, command="linearize", options=["--motion", NO_MOTIONS[number]], code=2)


NO_FRAMES = [
    "", " ", "x", "arm:x", "com:", "com:x", ":root", "base-to:", "base-to:arm", "base-to:x,y", "arm:root:root",
    "\x1b[31m", "a" * 100_000, "\udcff", "base-to:" + "arm," * 10_000, "\uff41rm", "..", "endpoint ",
]  # fmt: skip


def test_other_options(refused):
    """Names of frames, arrays, joints, files; each wrong one is one line."""
    for text in NO_FRAMES:
        refused(GOOD, command="jacobian", options=["--frame", text], code=2)
        refused(GOOD, command="jacobian", options=["--array", text], code=2)
    for text in ("x", "q1,x", "a" * 100_000, "q1," * 10_000 + "x", "\x1b[31m", "\udcff"):
        refused(GOOD, command="linearize", options=["--lock", text], code=2)
        refused(GOOD, command="linearize", options=["--inputs", text], code=2)
        refused(GOOD, command="linearize", options=["--tau", text], code=2)
        refused(GOOD, command="linearize", options=["--force", text], code=2)
    for text in (
        "x",
        "x.exe",
        "/nosuch/x.json",
        "/dev/full",
        "/",
        "",
        "a" * 5000 + ".json",
        "\0.json",
        "\ud800.json",
    ):
        refused(GOOD, options=["-o", text], code=2)
