"""Numbers, expressions, names and keys that are none, or stretch what a float holds."""

import json
import re

import pytest
from fuzzing.texts import GOOD, HEAD

from kronbot.description import limits

NO_NUMBERS = [
    "1e999", "-1e999", "1e-999", "1e99999", "1e-99999", "1" + "0" * 400, "9" * 1001, "0." + "0" * 400 + "1", ".inf",
    "-.INF", ".nan", "NaN", "inf", "-inf", "nan", "infinity", "1_000", "0b1", "1,5", "1.5.2", "1e", "0x", "12:30",
    "1e5f", "\uff11", "\u0663", "\xbd", "\xb2", "1\u22122", "\uff50\uff49", "\u03c0", "\u0440i", "1\u200b", "p\u0131",
    "1\u20281", "9**9**9", "9**9**9**9", "10**400", "2**64**64", "(9**64)**64", "1e300*1e300", "exp(1000)",
    "exp(exp(exp(9)))", "1/0", "0/0", "0**-1", "1/(pi-pi)", "sqrt(-1)", "(-1)**0.5", "(-8)**(1/3)", "().__class__",
    "pi.real", "(1).real", "1 .real", "pi.__class__.__base__.__subclasses__()", "__import__('os')",
    "open('/etc/passwd').read()", "sin.__globals__", "exec('1')", "print(1)", "abs(1)", "pow(2,3)", "max(1)",
    "int(1)", "sin", "sin()", "sin(1,2)", "sin(x=1)", "sin(*pi)", "sin(**pi)", "sin(sin)", "sin(1)(2)", "pi(2)",
    "deg(3)", "lambda: 1", "(lambda: 1)()", "f'{1}'", "f'{().__class__}'", "'a'*9", "'a'", "b''", "(x:=1)", "x=1",
    "[1][0]", "[1]", "{1}", "{1:2}", "(1,)", "()", "1 if 1 else 2", "not 1", "1 and 2", "1<2", "1==1", "1 is 1",
    "1//2", "7%3", "~1", "1|2", "1&2", "1^2", "1@2", "1<<99", "1j", "1jJ", "0x10*2", "1_0*2", "2pi", "pi pi", "1 2",
    "1+", "+", "**2", "1**", ";", "1;2", "1#2", "`1`", "$x", "?", "1!", "None", "True", "...", "await 1", "yield",
    "[x for x in y]", "x" * 1001, "-" * 200 + "1", "(" * 450 + "1" + ")" * 450, "sin(" * 180 + "1" + ")" * 180,
    "**".join(["2"] * 300), "1+" * 400, "unknown", "a" * 200, "a\\\n+1", "a\0b", "\x1b[31m", "EI", "",
]  # fmt: skip


def test_what_is_no_number(refused):
    """Quoted, and plain where YAML takes it as one value: every one is a mistake of its own, and none runs."""
    texts = [json.dumps(text) for text in NO_NUMBERS] + [t for t in NO_NUMBERS if re.fullmatch(r"[\w.(][\w.+*()-]*", t)]
    for first in range(0, len(texts), limits.MISTAKES):
        links = [
            f"  - {{name: l{i}, joint: {{type: fixed}}, pose: {{xyz: [{text}, 0, 0]}}}}\n"
            for i, text in enumerate(texts[first : first + limits.MISTAKES])
        ]
        lines = refused(f"{HEAD}links:\n{''.join(links)}")
        assert [int(line.split(":")[1]) for line in lines] == list(range(6, 6 + len(links)))


COMMANDS = ["check", "jacobian", "hessian", "dynamics", "linearize", "modes", "taylor"]


@pytest.mark.parametrize("command", COMMANDS)
def test_joints_that_move_no_mass(kron, tmp_path, command):
    """The file is right; what needs the inverse of the mass matrix says why there is none."""
    (tmp_path / "r.yaml").write_text(GOOD.replace("rigid: {mass: 1}", "rigid: {}"))
    answer = kron(command, tmp_path / "r.yaml", "--format", "json")
    assert answer.code in (0, 1)
    assert answer.code == 0 or "mass" in answer.err


@pytest.mark.parametrize("inertia", ["Ixx: -1", "Iyz: 1", "Ixy: 1e9", "Izz: 1e300"])
def test_bodies_that_cannot_be(kron, tmp_path, inertia):
    """Odd tensors are allowed with a warning, also as the tip mass of shapes that depend on it."""
    beam = "flexible: {mass: 1, EI: {y: 1, z: 1}, modes: {v: 1, w: 1}, shape: clamped-mass}"
    text = GOOD.replace("rigid: {mass: 1}", f"{beam}, payload: {{inertia: {{{inertia}}}}}").replace(
        "alpha: 0", "alpha: 1"
    )
    (tmp_path / "r.yaml").write_text(text)
    kron("check", tmp_path / "r.yaml", "--format", "json")


NO_NAMES = [
    "", " ", " a", "a b", "a.b", "a,b", "a/b", "a:b", "a|b", "a[0]", "a$b", "a%n", "{a}", "-a", "1a", "\u0661a",
    "e\u0301", "\u212b", "q\u200d", "q\u200b", "\u202ea", "a\u2028", "q\xad", "\ufeffa", "\u2167", "a\xb2",
    "\U0001f600", "\x1b[31m", "a\0", "a\n", "a" * 65, "a" * 100_000, "world", "endpoint", "a\u0301\u0302", "../a",
    "a'b", 'a"b', "`a`", "a\\b", "\ud800",
]  # fmt: skip


@pytest.mark.parametrize("name", NO_NAMES)
def test_what_is_no_name(refused, name):
    """Of a link; by place."""
    assert refused(GOOD.replace("name: arm", f"name: {json.dumps(name)}"))


@pytest.mark.parametrize("name", ["\xe4", "\u0430rm", "\u540d\u524d", "_", "a-b_c", "\uac00", "a\u0660"])
def test_names_from_other_alphabets(kron, tmp_path, name):
    """Letters and digits of any script, in normal form C, come back as they are."""
    (tmp_path / "r.yaml").write_text(GOOD.replace("q1", name), encoding="utf-8")
    answer = kron("jacobian", tmp_path / "r.yaml", "--format", "json")
    assert json.loads(answer.out)["arrays"]["J_T"]["columns"] == [name]


@pytest.mark.parametrize(
    "key",
    [
        "n\u0430me",
        "name\u200b",
        "\u202ename",
        "\uff2e\uff21\uff2d\uff25",
        "name ",
        "NAME",
        "n\xe0me",
        "na\\u006de\\u0000",
        "__class__",
        "<<",
    ],
)
def test_keys_that_look_like_known_ones(refused, key):
    """Are unknown, or refused as text."""
    lines = refused(GOOD.replace("name: arm", f'"{key}": arm'))
    assert "name" in lines[0]
