"""``kronbot fit``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from kronbot.cli.input import completion, fitting, options
from kronbot.cli.input.completion import STANDARD_INPUT
from kronbot.cli.input.option import LISTED, Whole, option
from kronbot.cli.input.options import Subject
from kronbot.cli.input.streams import table
from kronbot.cli.output.answers import Output
from kronbot.cli.output.files import ROBOT_SUFFIXES, check_robot_file, save
from kronbot.description import choices
from kronbot.description.described import MEASURED, VALIDATING
from kronbot.description.wording import shown_path as shown
from kronbot.description.yaml.source import STANDARD_INPUT_NAME
from kronbot.errors import ComputationError, DescriptionError, KronbotError, UsageError

if TYPE_CHECKING:
    from kronbot.questions.result import Result

ARRAYS = (
    "estimates", "standard_errors", "correlations", "singular_values", "combinations", "combined", "residuals",
    "validation", "searches", "synthetic",
)  # fmt: skip
FILES = {"data": MEASURED, "validate": VALIDATING, "candidates": "the file of candidates"}


@click.command(
    short_help="Parameters of the file from measurements: estimates, their errors, what the data cannot tell."
)
@options.subject_options
@option(
    "--data",
    metavar="FILE",
    help="A CSV file, a pipe or - for standard input: names in its header, a measurement in each row.",
)
@option(
    "--question",
    type=click.Choice(choices.FITTED),
    help="What was measured: statics (default) at rest, simulate in time, modes, or dynamics along motions.",
)
@option(
    "--columns",
    multiple=True,
    metavar="NAME=EXPRESSION,...",
    help="What a column of the question is in those of the data: endpoint.x='x_mm*1e-3'; may be repeated.",
)
@option(
    "--estimate",
    multiple=True,
    shell_complete=completion.parameter,
    metavar="NAME[=FROM:TO],...",
    help="A parameter to fit, with bounds; may be repeated. Default: all plain numbers in use.",
)
@option(
    "--prior",
    multiple=True,
    metavar="NAME=MEAN,DEVIATION,...",
    help="What is known of a parameter before; may be repeated.",
)
@option(
    "--sigma",
    multiple=True,
    metavar="COLUMN=NUMBER,...",
    help="What measurements are good for: position.hand=1e-4; may be repeated. Default: what their errors say.",
)
@option("--only", type=LISTED, metavar="COLUMNS", help="Fit these measured columns only: position.hand,torque.q1.")
@option("--fix", type=LISTED, metavar="NAMES", help="Parameters that stay as they are.")
@option("--validate", metavar="FILE|SHARE", help="Rows that are not fitted: a file, or a share of --data.")
@option(
    "--initial",
    type=click.Choice(choices.INITIALS),
    help="Where joints and bases begin: first row of a record (rows, default), robot file, or found.",
)
@option(
    "--offset",
    multiple=True,
    metavar="COLUMN=EXPRESSION,...",
    help="What a sensor adds, of parameters: curvature.g1=zero1; may be repeated.",
)
@option(
    "--delay",
    multiple=True,
    metavar="COLUMN=EXPRESSION,...",
    help="How late a sensor tells of motions, s, of parameters: endpoint=late; may be repeated.",
)
@option(
    "--differentiate",
    metavar="HZ",
    help="Rates and accelerations of dynamics from q and t, filtered without delay up to so many Hz.",
)
@option("--loss", type=click.Choice(choices.LOSSES), help="How large errors count; default: linear, squares.")
@option("--starts", type=Whole(1), metavar="N", help="Searches from drawn places; default: 1.")
@option("--seed", type=Whole(0, 2**32 - 1), metavar="N", help="Of what is drawn; default: 0.")
@option("--steps", type=Whole(1), metavar="N", help="Most steps of a search; default: 200.")
@option("--plan", type=Whole(1), metavar="N", help="Instead: the N rows (records) of --candidates that tell most.")
@option("--candidates", metavar="FILE", help="Rows that --plan chooses from; it matters which cells hold something.")
@option("--synthetic", type=Whole(2), metavar="N", help="Instead: bias and spread of fits to N draws of noise.")
@options.output_options(plot=True, report=True)
def fit(subject: Subject, out: Output, **asked: Any) -> None:
    """Find parameters of ROBOT with which its answers are nearest to measurements.

    Weighted least squares with exact derivatives. A row of --data holds what was given (q1, force.x, load.FRAME.fx) and
    what was measured, named as in answers: position.FRAME.x, rotation.FRAME.x (a rotation vector), torque.q1,
    curvature.g1, endpoint.x. With -o fitted.yaml the robot file with the new numbers, comments kept.

    \b
    Examples:
      kronbot fit arm.yaml --data poses.csv -o fitted.yaml
      kronbot fit arm.yaml --data poses.csv --estimate EI=1e3:1e6 --estimate l1,l2 --sigma position=1e-4
      kronbot fit arm.yaml --data swings.csv --question simulate --estimate m2,b --view report.html
      kronbot fit arm.yaml --data poses.csv --validate 0.3 --loss huber --plot fit.pdf
      kronbot fit canadarm --data sag.csv --estimate EI=1e4:1e6 --only position.upper
      kronbot fit arm.yaml --plan 12 --candidates rows.csv --sigma position=1e-4 -o chosen.csv
      kronbot fit arm.yaml --data gauges.csv --columns curvature.g1='mV*2.1e-5' --fix m --format json
    """
    unfitted = asked["plan"] is not None or asked["synthetic"] is not None
    if unfitted and out.output is not None and Path(out.output).suffix in ROBOT_SUFFIXES:
        raise UsageError(f"-o {shown(out.output)}: nothing is fitted, there is no robot file to write")
    fitted = out.output if out.output is not None and Path(out.output).suffix in ROBOT_SUFFIXES else None
    if fitted is not None:
        check_robot_file("-o", fitted, out.overwrite)
        out = replace(out, output=None)
    out.check(arrays=ARRAYS, also=() if unfitted else ROBOT_SUFFIXES)
    given = fitting.arguments(asked)
    robot = subject.load(out)
    if fitted is not None:
        from kronbot.description.yaml.rewriting import demand_numbers
        from kronbot.library.fit import fitted as chosen

        names, _ = chosen(robot.model, given.get("estimate"), given.get("fix"))
        demand_numbers(robot.description.source, [*dict.fromkeys([*robot.description.overrides, *names])])
    estimates: dict[str, float] = {}

    def ask(progress: Any) -> Any:
        source = robot.description.source
        named = {word: what for word, what in FILES.items() if isinstance(given.get(word), str)}
        tables = {word: table(source, given[word], f"--{word}", what) for word, what in named.items()}
        result = robot.fit(**{**given, **tables}, progress=progress)
        estimates.update(result.at.get("parameters", {}))
        return result

    stopped: KronbotError | None = None
    try:
        out.answer(f"fitting {robot.name}", ask)
    except KronbotError as error:
        if fitted is None or error.partial is None:
            raise
        stopped = error
        estimates.update(cast("Result", error.partial).at["parameters"])
    if fitted is not None:
        try:
            robot.with_parameters(**estimates)
        except DescriptionError:
            raise stopped or ComputationError(f"{shown(fitted)} is not written: no robot has these estimates") from None
        told = robot.description.robot.fit
        data = str(given["data"] if "data" in given or told is None else told.data)
        data = STANDARD_INPUT_NAME if data in STANDARD_INPUT else data
        how = "Fitted to" if stopped is None else "Incomplete, the best so far of a fit to"
        heading = f"{how} {shown(data)}; before:"
        save(fitted, robot.rewritten(cast("dict[str, float | str]", estimates), heading).encode())
    if stopped is not None:
        raise stopped
