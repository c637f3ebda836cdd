"""``kronbot convert``."""

from __future__ import annotations

import click

from kronbot.cli.input import options
from kronbot.cli.input.option import option
from kronbot.cli.output.files import check_robot_file, keep_apart, put, tell
from kronbot.description.wording import shown_path as shown


@click.command(short_help="A robot file from a URDF: rigid links, poses in place of Denavit-Hartenberg rows.")
@click.argument("urdf", metavar="URDF")
@options.output_option("Write to FILE (.yaml or .yml) instead of stdout.")
@options.overwrite_option("Let -o replace a file that is there.")
@option(
    "--tip", metavar="LINK", help="Link of the URDF whose frame is the endpoint; default: the only or deepest leaf."
)
@options.message_options
def convert(urdf: str, output: str | None, overwrite: bool, tip: str | None, quiet: bool) -> None:
    """Write a robot file from URDF, a path or "-" for standard input.

    A tree of revolute, continuous, prismatic, fixed, floating (a floating base, else six joints) and planar joints
    (three) is carried with its masses, limits, damping, friction and mimic joints. What is not (meshes, limits of
    torque and speed) is listed on stderr and on top of the file. Links can then be made flexible by hand.

    \b
    Examples:
      kronbot convert arm.urdf -o arm.yaml
      kronbot convert arm.urdf --tip tool0 | kronbot check -
      xacro arm.urdf.xacro | kronbot convert - -o arm.yaml
    """
    if output is not None:
        check_robot_file("-o", output, overwrite)
    keep_apart(urdf, "the URDF")

    from kronbot.description.mistakes import quoting
    from kronbot.description.urdf.elements import read_xml
    from kronbot.description.urdf.reading import URDF_BYTES, parse_urdf
    from kronbot.description.urdf.translation import translate

    source = read_xml(urdf, URDF_BYTES)
    with quoting(source.text.split("\n")):
        translation = translate(parse_urdf(source), tip)
    for note in translation.notes:
        tell(f"{shown(source.name)}: {note}")
    put(output, translation.text)
