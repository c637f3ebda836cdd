"""Other values of parameters are judged as if the file was loaded with them, though only what has read them is."""

import pytest
from thinned import rare, thinned

from kronbot.description import Source, load
from kronbot.description.checks.report import View
from kronbot.description.described import with_overrides
from kronbot.errors import KronbotError

# Every number that the checks look at is a parameter.
TEXT = """
kronbot: 1
name: all
convention: standard
gravity: [0, g, 0]
parameters: {NAMES}
links:
  - name: first
    joint: {type: revolute, name: q1, damping: b, rotor_inertia: Jr, gear: N, limits: [low, high]}
    dh: {a: l, d: 0, alpha: tilt, theta: turn}
    flexible: {mass: m, EI: {y: EIy, z: EIz}, GJ: GJ, polar_inertia: Jp, root: r, modes: {v: 2, w: 1, torsion: 1},
               damping: {ratio: [z1, z2, 0, 0]}}
    payload: {mass: mp, com: [0, 0, 0], inertia: {Ixx: Ixx, Iyy: Iyy, Izz: Izz, Ixy: Ixy}}
  - name: second
    joint: {type: prismatic, name: q2}
    pose: {xyz: [off, 0, 0], rpy: [roll, 0, 0]}
    flexible: {mass: m, length: l2, EI: {y: EIy, z: EIz}, modes: {v: 1}, shape: clamped-mass, damping: {alpha: al}}
    payload: {mass: mp, inertia: {Ixx: Ixx, Iyy: Iyy, Izz: Izz, Ixy: Ixy}}
  - name: third
    joint: {type: revolute, name: q3}
    pose: {xyz: [off, 0, 0]}
    rigid: {mass: mp, inertia: {Izz: Izz}}
motion:
  q1: {type: cycloidal, from: a0, to: 1, duration: T}
simulate: {duration: D, step: s, drive: {q3: {pd: {kp: kp, kd: 1, target: 7.5}}}}
statics: {angles: {q1: [al, 1]}, gauges: [{name: g1, link: first, x: x}]}
"""
GOOD = (
    "g: -9.81, b: 0.1, Jr: 0.1, N: 10, low: -1, high: 1, l: 1, tilt: 0.1, turn: 0, m: 1, EIy: 500, EIz: "
    "500, GJ: 100, Jp: 0.1, r: 0.1, z1: 0.01, z2: 0.02, mp: 1, Ixx: 0.1, Iyy: 0.1, Izz: 0.1, Ixy: 0, off: "
    "0.3, roll: 0, l2: 0.5, al: 0, a0: 0, T: 1, D: 1, s: 0.1, kp: 1, x: 0.2"
)
NAMES = [pair.partition(":")[0] for pair in GOOD.split(", ")]
OTHERS = (-1, 0, 0.05, 0.5, 7.5, 1e4)


SOURCE = Source("all.yaml", TEXT.replace("NAMES", GOOD), None)


def told(make):
    try:
        return [str(each) for each in make().warnings]
    except KronbotError as error:
        return str(error)


MOTION = "q1: {type: spin-up, rate: a0, duration: T}"


@pytest.mark.parametrize(
    ("name", "motion"),
    [
        *thinned([(name, None) for name in NAMES[::2]], [(name, None) for name in NAMES[::4]]),
        rare("T", MOTION),
        ("a0", MOTION),
    ],
)
def test_other_values_are_judged_as_by_loading(name, motion):
    base = load(SOURCE, motion=motion)
    for value in OTHERS:
        text = {name: repr(value)}
        once = told(lambda text=text: with_overrides(base, text))
        assert once == told(lambda text=text: load(SOURCE, text, motion)), text
    # On the way over another value.
    once = with_overrides(base, {"EIz": "1"})
    assert told(lambda: with_overrides(once, {name: "0.05"})) == told(
        lambda: load(SOURCE, {"EIz": "1", name: "0.05"}, motion)
    )


def test_every_check_is_met():
    """Those values make mistakes and warnings of many kinds."""
    base = load(SOURCE)
    said = {str(told(lambda n=n, v=v: with_overrides(base, {n: repr(v)}))) for n in NAMES for v in OTHERS}
    for words in ("at least 0", "greater than 0", "ascend", "'gear' must not be 0", "in degrees?", "no body can have",
                  "a damping ratio", "would bend this beam", "once more", "gauge must be on the beam",
                  "has inertia and no mass", "clamped-mass"):  # fmt: skip
        assert any(words in each for each in said), words


def test_little_is_read_again(monkeypatch):
    """Of a chain of fifty links that of the one whose number changes."""
    names = ", ".join(f"m{i}: 1" for i in range(50))
    links = "".join(
        f"  - name: l{i}\n    joint: {{type: revolute, name: q{i}}}\n    dh: {{a: 1, d: 0, alpha: 0, theta: 0}}\n"
        f"    rigid: {{mass: m{i}, inertia: {{Izz: 0.1}}}}\n"
        for i in range(50)
    )
    head = "kronbot: 1\nname: chain\nconvention: standard\ngravity: [0, 0, 0]\n"
    base = load(Source("chain.yaml", f"{head}parameters: {{{names}}}\nlinks:\n{links}", None))
    with_overrides(base, {"m7": "2"})
    read, number = [], View.number
    monkeypatch.setattr(View, "number", lambda view, default=0.0: read.append(view) or number(view, default))
    with_overrides(base, {"m7": "3"})
    assert 0 < len(read) < 20
