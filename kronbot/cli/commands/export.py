"""``kronbot export``."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from kronbot.cli.input import options
from kronbot.cli.input.option import LISTED, option
from kronbot.cli.input.options import Subject
from kronbot.cli.output.answers import Output
from kronbot.cli.output.files import check_place, save_together
from kronbot.compute.symbolic.naming import c_prefix
from kronbot.description import choices
from kronbot.description.wording import shown_path as shown
from kronbot.errors import UsageError
from kronbot.records import dataclass

if TYPE_CHECKING:
    from kronbot.compute.code.routine import Package, Routine
    from kronbot.library.exporting import Export
    from kronbot.questions.result import Result

SUFFIXES = (".c", ".py", ".casadi")
CURES = {
    ".h": "the header is written beside the source: -o FILE.c",
    ".mat": "a state space is written by kronbot linearize ROBOT -o FILE.mat",
}


@dataclass(frozen=True)
class Target:
    """The file that ``-o`` names, and how C is to be written."""

    path: Path
    overwrite: bool
    real: str
    prefix: str | None

    def check(self) -> None:
        """Raise UsageError, before anything is read, where the suffix or an option does not fit."""
        suffix = self.path.suffix
        if suffix not in SUFFIXES:
            cure = CURES.get(suffix, f"the suffix decides what is written; it must be one of {', '.join(SUFFIXES)}")
            raise UsageError(f"-o {shown(str(self.path))}: {cure}")
        if suffix != ".c" and (self.real != "double" or self.prefix is not None):
            option = "--prefix" if self.prefix is not None else "--real"
            raise UsageError(f"{option} is for C: leave it out, or write to a .c file")
        if suffix == ".c" and not re.fullmatch(r"[\w .+-]+", self.path.name):
            raise UsageError(
                f"-o {shown(str(self.path))}: C code names this file: letters, digits, _ . + - and blanks are allowed"
            )
        if self.prefix is not None:
            c_prefix(self.prefix)

    def files(self, names: Sequence[str]) -> list[Path]:
        """The files that hold those functions. Raises UsageError where one cannot be written."""
        paths = [self.path]
        if self.path.suffix == ".c":
            paths += [self.path.with_suffix(".h")]
        elif self.path.suffix == ".py" and self.path.stem in sys.stdlib_module_names:
            raise UsageError(f"-o: a module {self.path.name} hides Python's own {self.path.stem}: give it another name")
        elif self.path.suffix == ".casadi" and len(names) > 1:
            paths = [self.path.with_name(f"{self.path.stem}.{name}.casadi") for name in names]
        for path in paths:
            check_place("-o", str(path), self.overwrite)
        return paths

    def contents(self, exported: Export, names: Sequence[str]) -> list[bytes]:
        """What the files of these names hold."""
        match self.path.suffix:
            case ".c":
                _, header = names
                return [text.encode() for text in exported.c(header, prefix=self.prefix, real=self.real)]
            case ".py":
                return [exported.python().encode()]
            case _:
                from kronbot.compute.code.routine import saved

                return [saved(routine) for routine in exported.package.routines]


@click.command(short_help="Functions of a robot as C, as a Python module or as CasADi files, free of kronbot.")
@options.subject_options
@option(
    "--of",
    type=LISTED,
    metavar="FUNCTIONS",
    default="",
    help="Names of functions separated by commas, or all of them; required.",
)
@option("-o", "--output", metavar="FILE", required=True, help="FILE.c (and FILE.h), FILE.py or FILE.casadi.")
@options.algorithm_option
@options.frame_options
@options.choice_option("--real", choices.REALS, "double", "Type of numbers in C.")
@option("--prefix", metavar="NAME", help="What C names begin with; default: made from the robot's name.")
@options.style_option("How to print the list of functions on stdout.")
@options.overwrite_option("Replace files that are there.")
@options.message_options
def export(
    subject: Subject,
    of: str,
    output: str,
    algorithm: str | None,
    frame: str,
    axes: str,
    real: str,
    prefix: str | None,
    style: str,
    overwrite: bool,
    quiet: bool,
) -> None:
    """Write functions of ROBOT to files that need no kronbot.

    \b
    forward_dynamics              q, qd, tau -> qdd (--algorithm)
    forward_dynamics_derivatives  q, qd, tau -> qdd, dqdd_dq, dqdd_dqd, dqdd_dtau
    inverse_dynamics              q, qd, qdd -> tau
    bias                          q, qd -> tau without accelerations
    mass_matrix                   q -> M
    pose                          q -> position, rotation (--frame)
    jacobian                      q -> J_T, J_R (--frame, --in)
    hessian                       q -> H_T, H_R (--frame, --in)
    energy                        q, qd -> kinetic, elastic, gravity
    linear_model                  q, qd, qdd, tau, force -> M_L, D_L, K_L, h_L

    C needs math.h alone, allocates nothing and is safe in many threads; its header documents every argument. Python
    needs nothing but math. A .casadi file is for casadi.Function.load; several functions make a file each,
    FILE.FUNCTION.casadi.

    The parameters of the file stay an input p, the last one, in the order of the file and with its values (or those
    of --set) as defaults. Those that it computes from others follow them; those that have shaped the code (angles
    at quarter turns, shapes made for a mass) are fixed. All other numbers are written into the code.

    C names begin with the robot's name in lower case: accents go, a run of other signs than ASCII letters and digits
    becomes one underscore; "robot" where nothing is left. Two exports in one program need a --prefix.

    \b
    Examples:
      kronbot export canadarm --of forward_dynamics,jacobian -o canadarm.c
      kronbot export puma560 --of all -o puma.py
      kronbot export spatial --of forward_dynamics_derivatives -o spatial.casadi
    """
    target = Target(Path(output), overwrite, real, prefix)
    target.check()
    from kronbot.library.arguments import names
    from kronbot.questions.export import FUNCTIONS

    if not of:
        raise UsageError(f"which functions? give --of all, or names with commas between of {', '.join(FUNCTIONS)}")
    out = Output(style, None, overwrite, quiet)
    model = subject.load(out)
    chosen = names(of, FUNCTIONS, "functions", "function")
    if not chosen:
        raise UsageError(f"--of {of!r} names no function; there are {', '.join(FUNCTIONS)}")
    paths = target.files(chosen)
    exported = model.export(*chosen, algorithm=algorithm, frame=frame, axes=axes)
    save_together([str(path) for path in paths], partial(target.contents, exported))
    out.render(_listing(exported.package, paths))


def _listing(package: Package, paths: list[Path]) -> Result:
    """One row a function, and what holds for all of them."""
    import numpy as np

    from kronbot.compute.code.documents import shape
    from kronbot.questions.result import Result

    def inputs(routine: Routine) -> str:
        return ", ".join(f"{word} {size}" for word, size in routine.inputs.items())

    def outputs(routine: Routine) -> str:
        return ", ".join(f"{word} {shape(routine, word)}" for word in routine.outputs)

    series = {
        "function": np.array([routine.name for routine in package.routines]),
        "operations": np.array([routine.operations for routine in package.routines], dtype=object),
        "inputs": np.array([inputs(routine) for routine in package.routines]),
        "outputs": np.array([outputs(routine) for routine in package.routines]),
    }
    summary = {"files": ", ".join(map(str, paths)), "coordinates": ", ".join(package.coordinates)}
    if package.parameters:
        summary["parameters"] = ", ".join(package.parameters)
    if package.fixed:
        summary["fixed_parameters"] = ", ".join(package.fixed)
    return Result("export", package.robot, package.order, series=series, summary=summary, warnings=package.told)
