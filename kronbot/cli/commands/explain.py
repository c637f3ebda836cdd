"""``kronbot explain``."""

from __future__ import annotations

import re
from pathlib import Path

import click
from click.shell_completion import CompletionItem

from kronbot.cli.input import options
from kronbot.errors import UsageError

FOLDER = Path(__file__).parents[1] / "explanations"
KINDS = {"commands": "Commands", "topics": "Topics"}


def topics(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
    """Completion of what there are texts about, with their titles."""
    return [CompletionItem(name, help=title) for name, title in titles().items() if name.startswith(incomplete)]


@click.command(short_help="The model behind an answer: assumptions, equations, papers, limits.")
@click.argument("topic", metavar="[TOPIC]", required=False, shell_complete=topics)
@options.message_options
def explain(topic: str | None, quiet: bool) -> None:
    """Say what stands behind an answer: assumptions, equations and papers, what was corrected, limits.

    TOPIC is a command or a subject; without one they are listed.

    \b
    Examples:
      kronbot explain
      kronbot explain orders
      kronbot explain linearize
    """
    click.echo(contents() if topic is None else text(topic), nl=False)


def titles(kind: str = "*") -> dict[str, str]:
    """What each text is about, by its name: of commands, of topics, or of all."""
    return {path.stem: _read(path).split("\n", 1)[0].partition(": ")[2] for path in sorted(FOLDER.glob(f"{kind}/*.md"))}


def text(topic: str) -> str:
    """The text on a topic. Raises UsageError that guesses what was meant."""
    from kronbot.description.wording import did_you_mean, listing, meant, quote

    found = list(FOLDER.glob("*/*.md"))
    for path in found:
        if path.stem == topic.casefold():
            return _read(path)
    names = [path.stem for path in found]
    words = re.split(r"[\W_]+", topic.casefold())[::-1]  # what is meant stands last: robot-file
    whole = next((word for word in words if word in names), None)
    hint = meant(topic, whole) if whole else did_you_mean(topic, names)
    word = re.compile(rf"\b{re.escape(topic)}\b", re.IGNORECASE)
    inside = sorted(path.stem for path in found if word.search(_read(path)))
    if inside:
        hint += f"; it is in: {listing(inside)}"
    raise UsageError(f"no explanation of {quote(topic)}{hint or '; kronbot explain lists what there is'}")


def contents() -> str:
    """The list of all texts."""
    lists = {heading: titles(kind) for kind, heading in KINDS.items()}
    width = max(len(name) for listed in lists.values() for name in listed)
    lines = []
    for heading, listed in lists.items():
        lines += ["", f"{heading}:", *(f"  {name.ljust(width)}  {title}" for name, title in listed.items())]
    return "\n".join([*lines[1:], "", "kronbot explain NAME shows one."]) + "\n"


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8")
