"""Where the robots that come with kronbot are, and the file to start a new one from."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent.parent


def shipped_robots(package: Path = _PACKAGE) -> dict[str, Path]:
    """Files of the shipped robots by name, in alphabetical order.

    They are in ``robots`` inside an installed package, else beside it (an editable install does not see files that a
    build copies).
    """
    for folder in (package / "robots", package.parent / "robots"):
        files = {file.stem: file for file in folder.glob("*.yaml")}
        if files:
            return dict(sorted(files.items()))
    return {}


def starter() -> str:
    """The text of a commented robot file to start from."""
    return (Path(__file__).parent / "starter.yaml").read_text(encoding="utf-8")
