"""``kronbot robots``."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Mapping, Sequence

import click

from kronbot.cli.input import options
from kronbot.cli.input.completion import shipped
from kronbot.cli.output.files import heard, tell
from kronbot.errors import UsageError
from kronbot.version import __version__

Columns = Mapping[str, Sequence[str | int]]

_MODELINE = re.compile(r"# yaml-language-server: \$schema=(\S+)")


@click.command(short_help="The shipped robots, or the file of one of them to start from.")
@click.argument("name", metavar="[NAME]", required=False, shell_complete=shipped)
@options.style_option()
@options.message_options
def robots(name: str | None, style: str, quiet: bool) -> None:
    """List the robots that come with kronbot: joints, modal coordinates, what they are.

    With NAME print that robot's file, to start one's own from it; other files that it needs are named on stderr.

    \b
    Examples:
      kronbot robots
      kronbot robots canadarm > mine.yaml
      kronbot robots --format csv | cut -d, -f1 | tail -n +2 | xargs -n1 kronbot check -q
    """
    if name is None:
        click.echo(_WRITERS[style](_survey()), nl=False)
        return
    if style != "table":
        raise UsageError(f"--format {style} is for the list: leave out NAME to get it")
    text, needed = _file(name)
    with heard():
        click.echo(text, nl=False)
    if needed:
        tell(f"{name}: beside a copy belong {', '.join(needed)}")


def _survey() -> Columns:
    """The shipped robots: names, numbers of joint and modal coordinates, what they are."""
    from kronbot import description
    from kronbot.description import names

    # By path: a file of such a name in the current folder would come before the shipped robot.
    paths = description.shipped_robots()
    files = {name: description.load(description.read(str(path))).robot for name, path in paths.items()}
    joints = [len(names.joints(file)) for file in files.values()]
    # All but those of a floating base, which are no deformations.
    others = [len(set(names.coordinates(file, "2")) - set(names.of_base(file))) for file in files.values()]
    return {
        "robot": list(files),
        "joints": joints,
        "modal_coordinates": [n - rigid for n, rigid in zip(others, joints, strict=True)],
        "description": [file.description or "" for file in files.values()],
    }


def _file(name: str) -> tuple[str, list[str]]:
    """The text of a shipped robot's file, and what belongs beside it."""
    from kronbot import description
    from kronbot.description.wording import unknown

    known = description.shipped_robots()
    if name not in known:
        raise unknown(name, known, "no shipped robot ")
    source = description.read(str(known[name]))
    schemas = [f"{file} (kronbot schema -o {file})" for file in _MODELINE.findall(source.text)]
    tables = [f"{file} (in {known[name].parent})" for file in description.load(source).tables]
    return source.text, schemas + tables


def _as_table(columns: Columns) -> str:
    """Text to the left, numbers to the right."""
    shown = []
    for name, values in columns.items():
        texts = [name, *map(str, values)]
        width = max(map(len, texts))
        right = all(isinstance(value, int) for value in values)
        shown.append([text.rjust(width) if right else text.ljust(width) for text in texts])
    return "".join("  ".join(row).rstrip() + "\n" for row in zip(*shown, strict=True))


def _as_json(columns: Columns) -> str:
    content = {"kronbot": __version__, "command": "robots", "series": columns}
    return json.dumps(content, ensure_ascii=False) + "\n"


def _as_csv(columns: Columns) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return text.getvalue()


_WRITERS = {"table": _as_table, "json": _as_json, "csv": _as_csv}
