"""Files that answers are written to: checked before anything is computed, written whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from kronbot.errors import KronbotError, UsageError

SUFFIXES = (".json", ".csv", ".npz", ".mat", ".tex")


def check_target(output: str | None, overwrite: bool) -> None:
    """Raise UsageError, before anything is computed, where ``-o`` names what cannot be written."""
    if output is None or output == "-":
        return
    path = Path(output)
    if path.suffix not in SUFFIXES:
        raise UsageError(f"-o {output}: the suffix decides the format; it must be one of {', '.join(SUFFIXES)}")
    if path.exists() and not overwrite:
        raise UsageError(f"-o {output}: the file is there already; --overwrite replaces it")
    if not path.parent.is_dir():
        raise UsageError(f"-o {output}: there is no folder {str(path.parent)!r}")


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file whole or not at all: a temporary file beside it, then a rename."""
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=".kronbot-")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
            mask = os.umask(0)
            os.umask(mask)
            os.chmod(name, 0o666 & ~mask)
            os.replace(name, path)
        except BaseException:
            os.unlink(name)
            raise
    except OSError as error:
        raise KronbotError(f"cannot write {path}: {error.strerror}") from None
