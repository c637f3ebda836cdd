"""The command ``kronbot``: its subcommands, and what errors look like and end with."""

from __future__ import annotations

import errno
import os
import sys
import warnings
from collections.abc import Iterable, Iterator, MutableMapping, Sequence
from contextlib import suppress
from importlib import import_module
from typing import cast

import click

from kronbot.cli.input import completion, habits
from kronbot.cli.output.files import LOST, demand_heard, demand_own_names
from kronbot.cli.output.messages import show_error, worded
from kronbot.description.wording import escaped
from kronbot.errors import Interrupted, KronbotError, out_of_memory, said
from kronbot.system import limits
from kronbot.system.interruption import SIGNALS, Interruptions, interruptions
from kronbot.version import __version__

# Characters of a message that people can be asked to read.
LONGEST = 600

# Every command is in the module of its name, which is imported when it is asked for; its line in the help stands here.
SECTIONS = {
    "Questions": {
        "kinematics": "Where frames are and how they are turned: matrices, angles, quaternions; as formulas.",
        "jacobian": "Jacobians of translation and rotation of any frame, as numbers or formulas.",
        "hessian": "Hessians of any frame (Khang derivatives of the Jacobians), as numbers or formulas.",
        "dynamics": "Equations of motion: M, C, C*, dM/dq, g, K, D, tau, as numbers or formulas.",
        "taylor": "Taylor expansions of M, C*, g, Jacobians and positions to any order.",
        "linearize": "Linear model about a point, an equilibrium or a motion: matrices, state space, modes.",
        "modes": "Natural frequencies and shapes, joints locked and free, at any posture and spin rate.",
        "statics": "Equilibria under gravity and dead loads: torques, deflections, curvatures, compliance.",
        "simulate": "Motion of the driven robot in time, with its energy balance.",
        "design": "State feedback about an equilibrium: LQR or poles, Kalman filter, margins; input shapers.",
        "plan": "Motions from rest to rest that the flexible arm can do: least effort or time.",
        "fit": "Parameters of the file from measurements: estimates, their errors, what the data cannot tell.",
        "view": "A page with the robot in 3D, and sliders for its joints and beams.",
        "sweep": "One question in many cases: parameters, postures, loads, draws; on all cores or a cluster.",
    },
    "Robot files": {
        "robots": "The shipped robots, or the file of one of them to start from.",
        "init": "A commented robot file to start from.",
        "check": "What the file describes: masses, lengths, coordinates, natural frequencies, warnings.",
        "convert": "A robot file from a URDF: rigid links, poses in place of Denavit-Hartenberg rows.",
        "schema": "JSON Schema of the robot file, for editors that check and complete while one types.",
    },
    "More": {
        "export": "Functions of a robot as C, as a Python module or as CasADi files, free of kronbot.",
        "complexity": "Operations that dynamics and Jacobian take, also of longer and longer chains.",
        "explain": "The model behind an answer: assumptions, equations, papers, limits.",
        "cache": "Compiled functions and known robots: where they are kept, and how to remove them.",
    },
}


class Commands(MutableMapping[str, click.Command]):
    """Commands by name, each imported when it is asked for."""

    def __init__(self, names: Iterable[str]) -> None:
        self._known: dict[str, click.Command | None] = dict.fromkeys(names)

    def __getitem__(self, name: str) -> click.Command:
        command = self._known[name]
        if command is None:
            command = self._known[name] = getattr(import_module(f"kronbot.cli.commands.{name}"), name)
        return cast("click.Command", command)

    def __setitem__(self, name: str, command: click.Command) -> None:
        self._known[name] = command

    def __delitem__(self, name: str) -> None:
        del self._known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)


class Sections(click.Group):
    """Lists its commands by what they are for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All names, in the order of the sections."""
        return list(self.commands)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that is called, or what it is called here."""
        if args[0] not in self.commands and (meant := habits.command(args[0])):
            raise click.UsageError(f"No such command {args[0]!r}. Did you mean {meant!r}?", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """A list of commands under each heading."""
        width = max(map(len, self.commands))
        for heading, lines in SECTIONS.items():
            with formatter.section(heading):
                formatter.write_dl([(name.ljust(width), line) for name, line in lines.items()])


@click.group(
    cls=Sections,
    commands=Commands(name for names in SECTIONS.values() for name in names),
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, "--version", message="kronbot %(version)s")
def kronbot() -> None:
    """Answers about rigid and flexible robots that are described in one YAML file.

    ROBOT is a path, "-" for standard input, or the name of a shipped robot such as canadarm.

    \b
    Exit codes: 0 done, 1 the computation failed, 2 wrong usage,
    3 the robot file is wrong, 130 interrupted, 143, 129 and 152 ended by SIGTERM, SIGHUP, SIGXCPU.
    """


def run(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code; every error becomes a message on stderr."""
    if asked := os.environ.get(completion.VARIABLE):
        return completion.answer(kronbot, asked)
    with interruptions(SIGNALS) as met:
        return _run(arguments, met)


def _run(arguments: Sequence[str], met: Interruptions) -> int:
    debug = "--debug" in arguments
    if debug:
        import logging

        class Plain(logging.Formatter):
            """What compilers and paths say must neither write to the terminal nor flood it."""

            def format(self, record: logging.LogRecord) -> str:
                return escaped(_short(super().format(record)))

        told: set[str] = set()

        def fresh(record: logging.LogRecord) -> bool:
            """Every function that could have been native has the same reason not to be."""
            text, before = record.getMessage(), len(told)
            told.add(text)
            return len(told) > before

        handler = logging.StreamHandler()
        handler.addFilter(fresh)
        handler.setFormatter(Plain())
        logging.basicConfig(handlers=[handler])
        logging.getLogger("kronbot").setLevel(logging.DEBUG)
    error: BaseException | None = None
    try:
        with kronbot.make_context("kronbot", list(arguments)) as context, warnings.catch_warnings():
            # What overflows is seen in the answer.
            warnings.simplefilter("ignore", RuntimeWarning)
            kronbot.invoke(context)
            sys.stdout.flush()
            demand_own_names()
            demand_heard()
    except (KeyboardInterrupt, Exception) as raised:
        error = raised
    if met or isinstance(error, KeyboardInterrupt | click.Abort):
        # Something may have swallowed the exception, made another of it, or gone on without what it was doing.
        if not isinstance(error, Interrupted):  # with what could be saved
            interrupted = Interrupted(met.doing())
            interrupted.__cause__ = error
            error = interrupted
        error.exit_code = met.code if met else Interrupted.exit_code
    return 0 if error is None else _end(error, debug)


def _end(error: BaseException, debug: bool) -> int:
    """Tell an error, and return the exit code for it."""
    match error:
        case click.exceptions.Exit():
            return error.exit_code
        case click.ClickException():
            habits.cure(error)
            if not isinstance(error, click.exceptions.NoArgsIsHelpError):
                error.message = _short(error.message)  # type: ignore[misc]
            with suppress(OSError):
                error.show()
            return error.exit_code
        case BrokenPipeError():
            # The reader of a pipe has gone (| head): nothing is wrong, and nobody is there to be told.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0
        case KronbotError():
            return _fail(error, debug)
        case OSError(errno=errno.EBADF):
            return _fail(KronbotError(LOST), debug)
        case OSError():
            told = KronbotError(said(error) if error.filename else f"cannot write the answer: {said(error)}")
        case _ if limit := limits.met(error):
            told = KronbotError(limit)
        case _ if out_of_memory(error):
            told = KronbotError(f"{said(error)}: ask for less at a time")
        case _:
            hint = "" if debug else "; run again with --debug and report what it prints"
            told = KronbotError(f"unexpected {type(error).__name__}: {error}{hint}")
    told.__cause__ = error
    return _fail(told, debug)


def _fail(error: KronbotError, debug: bool) -> int:
    error.args = (_short(worded(error)),)
    with suppress(OSError):  # stderr is full: the exit code still tells
        if debug:
            import traceback  # here, since few commands fail

            traceback.print_exception(error)
        show_error(error)
    return error.exit_code


def _short(message: str) -> str:
    """A message that repeats a very long value, without its middle."""
    return message if len(message) <= LONGEST else f"{message[: LONGEST // 2]} ... {message[-LONGEST // 2 :]}"
