"""The command ``kronbot``: its subcommands, and what errors look like and end with."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence

import click

from kronbot import __version__
from kronbot.cli.check import check
from kronbot.cli.convert import convert
from kronbot.cli.dynamics import dynamics
from kronbot.cli.hessian import hessian
from kronbot.cli.jacobian import jacobian
from kronbot.cli.linearize import linearize
from kronbot.cli.modes import modes
from kronbot.cli.simulate import simulate
from kronbot.cli.statics import statics
from kronbot.cli.taylor import taylor
from kronbot.compute.interruption import interruptions
from kronbot.errors import DescriptionError, Interrupted, KronbotError

DEBUG = "kronbot.debug"


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "--version", message="kronbot %(version)s")
def kronbot() -> None:
    """Answers about rigid and flexible robots that are described in one YAML file.

    ROBOT is a path, "-" for standard input, or the name of a shipped robot such as canadarm.

    \b
    Exit codes: 0 done, 1 the computation failed, 2 wrong usage, 3 the robot file is wrong, 130 interrupted.
    """


for command in (check, convert, dynamics, hessian, jacobian, linearize, modes, simulate, statics, taylor):
    kronbot.add_command(command)


def run(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code; every error becomes a message on stderr."""
    with interruptions() as met:
        return _run(arguments, met)


def _run(arguments: Sequence[str], met: list[int]) -> int:
    debug = "--debug" in arguments
    try:
        with kronbot.make_context("kronbot", list(arguments)) as context:
            kronbot.invoke(context)
        sys.stdout.flush()
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except BrokenPipeError:
        # The reader of a pipe has gone (| head): nothing is wrong, and nobody is there to be told.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (KeyboardInterrupt, click.Abort):
        return _fail(Interrupted("interrupted"), debug)
    except KronbotError as error:
        return _fail(error, debug)
    except OSError as error:
        return _fail(KronbotError(f"cannot write the answer: {error.strerror or error}"), debug)
    except Exception as error:
        if met:
            return _fail(Interrupted("interrupted"), debug)
        hint = "" if debug else "; run again with --debug and report what it prints"
        return _fail(KronbotError(f"unexpected {type(error).__name__}: {error}{hint}"), debug)
    return 0


def _fail(error: KronbotError, debug: bool) -> int:
    if debug:
        traceback.print_exc()
    # Mistakes of a file stand as file:line:column: message, for editors to jump to.
    click.echo(str(error) if isinstance(error, DescriptionError) else f"Error: {error}", err=True)
    return error.exit_code
