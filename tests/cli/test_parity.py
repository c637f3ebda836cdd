"""What the command line can ask is an argument of the library, and the other way round."""

import inspect
import pickle

import pytest

import kronbot
from kronbot.cli.commands.sweep import OPTIONS, QUESTIONS, command_of, named_in
from kronbot.cli.main import SECTIONS, run
from kronbot.cli.main import kronbot as program
from kronbot.cli.output.messages import _OPTIONS
from kronbot.compute.code import c_code
from kronbot.description import choices
from kronbot.description.fitting import Fit
from kronbot.description.sweeping import Sweep as Swept
from kronbot.description.validation import keys_of
from kronbot.errors import UsageError
from kronbot.library.exporting import Export
from kronbot.library.robot import Robot
from kronbot.library.sweep import Sweep
from kronbot.library.symbolic import Symbolic
from kronbot.mechanics.motion.integrators import INTEGRATORS
from kronbot.mechanics.multibody.recursion import ALGORITHMS
from kronbot.questions.result import Result

# Where an answer goes, and what is told on the way, is each face's own; so is the compiler.
OF_COMMANDS = {"output", "format", "array", "quiet", "debug", "overwrite", "native", "latex", "help"}
OF_LIBRARY = {"self", "progress", "array", "file", "overwrite", "header", "source"}
# The words for the same thing: those of messages, and robot and formulas, which the library has methods for.
WORDS = {option: argument for argument, option in _OPTIONS.items()} | {"symbolic": "style", "report": "view"}
ABOUT_ROBOT = [kronbot.load]
FORMULAS = [Robot.symbolic]
FUNCTIONS = {
    "kinematics": [Robot.kinematics, *FORMULAS, Symbolic.kinematics, Result.plot, Result.view],
    "jacobian": [Robot.jacobian, *FORMULAS, Symbolic.jacobian, Result.plot, Result.view],
    "hessian": [Robot.hessian, *FORMULAS, Symbolic.hessian],
    "dynamics": [Robot.dynamics, *FORMULAS, Symbolic.dynamics],
    "linearize": [
        Robot.linearize, Robot.linearize_along, Robot.with_motion, *FORMULAS, Symbolic.linearize,
        Result.plot, Result.view,
    ],
    "export": [Robot.export, Export.c],
    "check": [Robot.check],
    "taylor": [Robot.taylor],
    "modes": [Robot.modes, Result.plot, Result.view],
    "simulate": [Robot.simulate, Result.plot, Result.view],
    "statics": [Robot.statics, Result.plot, Result.view],
    "complexity": [Robot.complexity],
    "design": [Robot.design, Result.plot],
    "plan": [Robot.plan, Result.plot, Result.view],
    "fit": [Robot.fit, Result.plot, Result.view],
    "view": [Robot.view],
}  # fmt: skip
# The picture of a linear model alone is about a pair.
PAIRED = {"linearize"}


def worded(command, parameter):
    """An option in the word of the library; what ``taylor`` expands is no function."""
    option = max(parameter.opts, key=len).lstrip("-")
    return option if (command, option) == ("taylor", "of") else WORDS.get(option, option)


def options(command):
    """Those that are about a question."""
    return {worded(command, parameter) for parameter in program.commands[command].params} - OF_COMMANDS


def arguments(command):
    """The arguments of the functions that a command stands for; of pictures that there are some."""
    words = set()
    for function in [*ABOUT_ROBOT, *FUNCTIONS[command]]:
        words |= inspect.signature(function).parameters.keys()
        words |= {function.__name__} if function in (Result.plot, Result.view) else set()
    return words - OF_LIBRARY - (set() if command in PAIRED else {"pair"})


@pytest.mark.parametrize("command", FUNCTIONS)
def test_both_faces_ask_the_same(command):
    assert options(command) == arguments(command)


@pytest.mark.parametrize("command", sorted(FUNCTIONS.keys() - {"view"}))
def test_options_that_are_arguments_elsewhere_are_told_so(command):
    """Of load, of the answer, of the question along a motion: no argument by name is an error of Python's."""
    question = getattr(kronbot.load("canadarm"), command)
    for word in (options(command) | {"order"}) - inspect.signature(question).parameters.keys() - {"functions", "robot"}:
        with pytest.raises(UsageError, match=rf"^{command} has no argument '{word}': .*\(\)"):
            question(**{word: None})
    with pytest.raises(UsageError, match=rf"^{command} has no argument 'qq'"):
        question(qq=1)
    first = next(iter(inspect.signature(question).parameters), None)
    if first is not None:
        with pytest.raises(UsageError, match=f"^{command} has '{first}' twice"):
            question(None, **{first: None})


def test_every_question_is_compared():
    """Also those that no section of the help calls a question."""
    assert set(SECTIONS["Questions"]) <= {*FUNCTIONS, "sweep"}
    told = {name: getattr(each, "__annotations__", {}).get("return") for name, each in vars(Robot).items()}
    answers = {name for name, kind in told.items() if kind == "Result"}
    assert answers - {"linearize_along"} == FUNCTIONS.keys() - {"export", "view"}


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_sweep_has_the_options_of_its_question(question):
    """But those of formulas, and of the robot's own picture; they are arguments of the library by the same words."""
    swept = {parameter.name for parameter in command_of(question).params}
    own = {parameter.name for parameter in program.commands[question].params}
    formulas = {"symbolic", "latex", "short", "cse", "seconds"} if "symbolic" in own else set()
    assert swept == (own - formulas - {"array", "pair"}) | named_in(OPTIONS).keys()


def test_sweeps_ask_the_same():
    """The output of a sweep is the library's too."""
    words = inspect.signature(Robot.sweep).parameters.keys() - {"self", "question", "progress", "options"}
    assert named_in(OPTIONS).keys() - {"style", "quiet", "debug", "panels", "view", "open"} - words == set()
    assert words - named_in(OPTIONS).keys() == set()
    assert inspect.signature(Sweep.plot).parameters.keys() == inspect.signature(Result.plot).parameters.keys() - {
        "pair"
    }
    assert inspect.signature(Sweep.view).parameters.keys() == inspect.signature(Result.view).parameters.keys()


@pytest.mark.parametrize("command", FUNCTIONS)
def test_defaults_are_one(command):
    """Where both faces have one; what loads the robot goes before the question, whose None is that robot's own."""
    signatures = [inspect.signature(function) for function in [*ABOUT_ROBOT, *FUNCTIONS[command]]]
    given = {name: each.default for signature in reversed(signatures) for name, each in signature.parameters.items()}
    for parameter in program.commands[command].params:
        name = worded(command, parameter)
        if isinstance(parameter.default, str | float) and name in given and name not in OF_COMMANDS:
            default = given[name]
            wanted = ",".join(default) if isinstance(default, tuple) else default
            assert parameter.default == wanted or wanted is inspect.Parameter.empty, name


def test_choices_stand_once():
    """What tables of functions are keyed by are the words that both faces know."""
    assert (tuple(ALGORITHMS), tuple(INTEGRATORS)) == (choices.ALGORITHMS, choices.INTEGRATORS)
    assert tuple(c_code.REALS) == choices.REALS


@pytest.mark.parametrize(
    ("ask", "name", "known"),
    [
        (lambda robot: robot.linearize(lock="q9"), "q9", ("q1", "q2", "q3")),
        (lambda robot: robot.jacobian({"q9": 0}), "q9", kronbot.load("canadarm").coordinates),
        (lambda robot: robot.simulate(solver="euler"), "euler", choices.INTEGRATORS),
        (lambda robot: robot.jacobian()["M"], "M", ("J_T", "J_R")),
    ],
)
def test_unknown_names_are_data(ask, name, known):
    with pytest.raises(UsageError) as refused:
        ask(kronbot.load("canadarm"))
    error = pickle.loads(pickle.dumps(refused.value))
    assert (error.name, tuple(error.known)) == (name, tuple(known))


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["--equilibrium", "--tau", "q1=1"], "leave out --tau and --qdd"),
        (["--force", "1,2"], "--force: 3 numbers are wanted, not 2"),
        (["--force", "1,2,x"], "--force: 'x' is not a number"),
        (["--lock", "q9"], "--lock: no joint 'q9'; there are q1, q2, q3"),
        (["--outputs", "gauge"], "--outputs: no output 'gauge'; did you mean 'gauges'?"),
    ],
)
def test_the_command_line_words_what_the_library_refuses(given, words, capsys):
    assert run(["linearize", "stacker-numeric", *given]) == 2
    assert words in capsys.readouterr().err


def test_files_tell_where_options_of_their_blocks_go():
    """Every option of a command that a file's block can hold otherwise, or not at all, has a cure there."""
    common = {"help", "quiet", "debug", "open", "overwrite", "latex"}
    for block, commands in ((Fit, [program.commands["fit"]]), (Swept, [command_of(name) for name in QUESTIONS])):
        names = {each for command in commands for param in command.params for each in param.opts}
        words = {name[2:].replace("-", "_") for name in names if name.startswith("--")} - common
        assert words <= {*block.foreign, *keys_of(block)}
