"""Files of cases: --cases FILE, a table whose header names what varies, a case in each row."""

from __future__ import annotations

import stat
from collections.abc import Mapping, Sequence
from pathlib import Path

from kronbot.description.wording import shown_path as shown
from kronbot.errors import UsageError, said

# Bytes of a file of cases, which are all in memory: a pipe may never end.
LARGEST = 1 << 26


def columns(name: str) -> Mapping[str, Sequence[object]]:
    """The columns of a file by their names. Raises UsageError where it cannot be read, or is no table of cases."""
    from kronbot.sweeps.grammar import table  # here, since help and completion need no NumPy

    place = f"--cases {shown(name)}"
    try:
        kind = Path(name).stat().st_mode
        if not stat.S_ISREG(kind) and not stat.S_ISFIFO(kind):
            raise UsageError(f"{place}: a file is wanted, or a pipe")
        with open(name, "rb") as file:
            content = file.read(LARGEST + 1)
        if len(content) > LARGEST:
            raise UsageError(f"{place}: larger than {LARGEST >> 20} MB: sweep it in parts")
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UsageError(f"{place}: not UTF-8 text: save the file with the encoding UTF-8") from None
    except (OSError, ValueError) as error:
        raise UsageError(f"{place}: {said(error, place=False)}") from None
    return table(text, name).columns
