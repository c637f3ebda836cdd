"""``kronbot schema``."""

from __future__ import annotations

import json
from pathlib import Path

import click

from kronbot.cli.input import options
from kronbot.cli.output.files import check_target, put
from kronbot.description.wording import shown_path as shown
from kronbot.errors import UsageError


@click.command(short_help="JSON Schema of the robot file, for editors that check and complete while one types.")
@options.output_option("Write to FILE (.json) instead of stdout.")
@options.overwrite_option("Let -o replace a file that is there.")
@options.message_options
def schema(output: str | None, overwrite: bool, quiet: bool) -> None:
    """Write the JSON Schema of the robot file: keys, what each may hold, units and defaults.

    Editors with a YAML language server use it where the first line of a robot file says

    \b
      # yaml-language-server: $schema=robot.schema.json

    with the path of the schema relative to the file. It knows the shape of a file; names, references, signs and
    physics are for "kronbot check".

    \b
    Examples:
      kronbot schema -o robot.schema.json
      kronbot schema | jq '."$defs".Flexible.properties | keys'
    """
    if output is not None and Path(output).suffix != ".json":  # other answers have other formats, too
        raise UsageError(f"-o {shown(output)}: a schema is a .json file")
    check_target(output, overwrite)

    from kronbot.description.json_schema import robot_file_schema

    put(output, json.dumps(robot_file_schema(), indent=2, ensure_ascii=False) + "\n")
