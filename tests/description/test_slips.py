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


KINDS = "cycloidal, spin-up, polynomial, trapezoid, via-points, sinusoid, table"


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
        "r:12:3: missing key 'degree' in 'q1'",
        f"r:12:14: 'type' must be one of {KINDS}; not 'polynomal'; did you "
        "mean 'polynomial'?",
        "r:12:38: unknown name 'degrees' in '60*degrees'; did you mean 'deg'?",
    ]  # fmt: skip


def test_nobody_knows_which_kind_is_meant():
    assert found(("type: polynomial, from: 0", "type: straight, from: zero")) == [
        f"r:12:14: 'type' must be one of {KINDS}; not 'straight'"
    ]


@pytest.mark.parametrize(
    ("right", "wrong", "others"),
    [
        ("mass: 2", "mas: -2", ["r:10:21: 'mass' must be greater than 0, it is -2"]),
        ("mass: 2", "mas: 1 kg", ["r:10:21: '1 kg' is not an expression (write 1; units are SI)"]),
        ("alpha: 0", "alfa: 0", []),  # and nobody misses alpha
        ("EI: {z: EI}", "ei: {z: EJ}", ["r:10:33: unknown name 'EJ'"]),
        ("flexible:", "flexibel:", []),
        ("flexible: {mass", "flexibel: {mas", ["r:10:16: unknown key 'mas'; did you mean 'mass'?"]),
        ("parameters:", "parameter:", []),  # and EI is known
        ("parameters: {EI: 1e4}", "parameter: {EI: 2*EI}", ["r:5:17: the parameter 'EI' is defined by itself"]),
        ("type: revolute, name: q1", "type: revolut", ["r:8:5: missing key 'name': a revolute joint has one",
                                                       "r:12:3: unknown joint 'q1'"]),
        ("links:", "link:", []),
        ("duration: 2, degree: 5", "duratoin: 0, degree: 4", ["r:12:52: 'duration' must be greater than 0, it is 0",
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
        "r:9:5: missing keys 'alpha', 'theta' in 'dh'",
        "r:9:22: unknown key 'alpheta'; did you mean 'alpha'?",
    ]


def test_a_motion_of_the_command_line():
    with pytest.raises(MotionError) as caught:
        load(Source("r", ARM, None), {}, "q1: {type: sinusiod, amplitud: one, frequency: 1}")
    assert [str(mistake) for mistake in caught.value.mistakes] == [
        f"motion:1:12: 'type' must be one of {KINDS}; not 'sinusiod'; did you mean 'sinusoid'?",
        "motion:1:22: unknown key 'amplitud'; did you mean 'amplitude'?",
        "motion:1:32: unknown name 'one'",
    ]


def test_guesses_at_very_many_slips_end():
    """With the mistakes that are shown."""
    keys = ", ".join(f"mass{i}: 0" for i in range(5000))
    mistakes = found(("mass: 2", keys))
    assert len(mistakes) == 101
    assert mistakes[-1].endswith("more mistakes")


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ("flexible: {length: 1, mass: 1, density: 2700}",
         "9:36: unknown key 'density': a beam has no material and no section, but mass (kg, rho*A*l), "
         "EI: {y: E*Iy, z: E*Iz} and GJ: G*J (N m^2)"),
        ("flexible: {length: 1, mass: 1, E: 2}",  # which is nothing like EI, and not judged as such
         "9:36: unknown key 'E': a beam has no material and no section, but mass (kg, rho*A*l), "
         "EI: {y: E*Iy, z: E*Iz} and GJ: G*J (N m^2)"),
        ("flexible: {length: 1, mass: 1, v: 2}", "9:36: unknown key 'v': it belongs in 'modes'"),
        ("flexible: {length: 1, mass: 1, payload: {}}",
         "9:36: unknown key 'payload': it belongs in the link, beside 'flexible'"),
        ("rigid: {rho: 2700}",
         "9:13: unknown key 'rho': a body has no material and no shape, but mass (kg), com (m) and inertia (kg m^2)"),
        ("rigid: {Izz: 2}", "9:13: unknown key 'Izz': it belongs in 'inertia'"),
        ("payload: {center-of-mass: [1, 0, 0]}",
         "9:15: unknown key 'center-of-mass': the centre of mass is com: [x, y, z] (m)"),
        ("flexible: {mass: 1, length: 1, modes: {v: 1, theta: 1}, EI: {z: 1}}",
         "9:50: unknown key 'theta': it is called torsion here"),
        ("mass: 2", "9:5: unknown key 'mass': it belongs in 'rigid', 'flexible', 'hub' or 'payload'"),
        ("Density: 2", "9:5: unknown key 'Density': the mass of a link (kg) stands in its 'rigid' or 'flexible'"),
    ],
)  # fmt: skip
def test_words_of_other_programs_and_keys_that_belong_inside(keys, message):
    text = "kronbot: 1\nname: r\ngravity: [0, 0, 0]\nlinks:\n"
    text += f"  - name: a\n    joint: {{type: fixed}}\n\n    pose: {{}}\n    {keys}\n"
    with pytest.raises(DescriptionError) as caught:
        load(Source("r", text, None))
    told = [str(mistake).partition(":")[2] for mistake in caught.value.mistakes]
    assert [words for words in told if "missing" not in words] == [message]


def test_what_is_missing_is_told_at_the_key_that_should_hold_it():
    """Not at the first of its other keys, which is in a block on the next line and right."""
    beam = "flexible:\n      mass: 2\n      EI:\n        z: EI\n      modes: {v: 2, w: 1, torsion: 1}"
    assert found(("flexible: {mass: 2, EI: {z: EI}, modes: {v: 2}}", beam)) == [
        "r:10:5: missing key 'GJ' in 'flexible', which must be greater than 0, because 'torsion' has modes",
        "r:12:7: missing key 'EI.y' in 'flexible', which must be greater than 0, because 'w' has modes",
    ]
    motion = "q1:\n    type: polynomial\n    from: 0\n    to: 1\n    duration: 2"
    assert found(("q1: {type: polynomial, from: 0, to: 1, duration: 2, degree: 5}", motion)) == [
        "r:12:3: missing key 'degree' in 'q1'"
    ]


FOREIGN = """\
kronbot: 1
name: r
gravity: 9.81
convention: DH
links:
  - name: a
    joint: {type: continuous, name: q1, axis: [0, 0, 1], limit: [-1, 1], dynamics: {damping: 1}}
    pose: {xyz: [0, 0, 1]}
    inertial: {mass: 1}
  - name: b
    joint: {type: R, name: q2}
    dh: {a: 1, alpha: 0, d: 0, theta: 0, offset: 1}
    rigid: {m: 1, I: 2}
motion: {q2: {type: sin, amplitude: 1, frequency: 2}}
simulate: {t_end: 1, dt: 0.1, solver: ode45, controller: pd}
"""


def test_words_of_other_programs_have_a_cure():
    """Of URDF, MATLAB and the like: each mistake says what the same is here, and none follows from another."""
    with pytest.raises(DescriptionError) as refused:
        load(Source("r", FOREIGN, None))
    told = [mistake.message for mistake in refused.value.mistakes]
    cures = [
        "write gravity: [0, 0, -9.81]", "did you mean 'standard'?", "did you mean 'revolute'?",
        "turns about z of its frame",
        "limits: [LOWER, UPPER]", "friction: {coulomb: }", "a rigid body is rigid: {mass: ", "did you mean 'revolute'?",
        "add it to theta", "it is called mass here", "it is inertia: {Ixx: ",
        "did you mean 'sinusoid'?",
        "it is called duration here", "it is called step here", "simulate is asked for solver",
        "it is drive: {q1: {pd: ",
    ]  # fmt: skip
    assert len(told) == len(cures)
    for message, cure in zip(told, cures, strict=True):
        assert cure in message


def test_a_mapping_where_a_list_of_mappings_is_wanted():
    (told,) = found(("motion:\n", "statics: {loads: {upper: [0, 0, 1]}}\nmotion:\n"))
    assert told.endswith("a list of mappings with keys frame, force, moment is wanted here, not a mapping")


def test_options_of_commands_in_blocks_of_the_file():
    """Where they go; what stands below them is not judged."""
    told = found(
        ("links:", "fit: {data: n.csv, estimate: [EI, x/], prior: {EI: [15, foo]}, parameters: {EI: {min: 5}}}\nlinks:")
    )
    assert told == [
        "r:6:20: unknown key 'estimate': what is fitted stands in parameters: {EI: , L: {from: 0, to: 1}}",
        "r:6:40: unknown key 'prior': it stands in parameters: {EI: {prior: [MEAN, DEVIATION]}}",
        "r:6:82: unknown key 'min': bounds are from: 5 and to: 30 here",
    ]
    told = found(("links:", "sweep: {question: modes, set: {EI: 3}, order: 1, workers: 2}\nlinks:"))
    assert told == [
        "r:6:26: unknown key 'set': values stand in the file's 'parameters', beside this block",
        "r:6:40: unknown key 'order': options of the question stand in options: {order: 1}, each as it is written "
        "behind the command",
        "r:6:50: unknown key 'workers': it is asked behind the command, not in the file",
    ]
