"""Where programs are looked for that this one starts."""

from __future__ import annotations

import os


def search_path() -> str:
    """The folders of PATH that are absolute: what is in the current folder, or beneath it, anybody may have laid there.

    Where none is left it leads nowhere: an empty one would be the current folder.
    """
    known = os.environ.get("PATH", os.defpath).split(os.pathsep)
    return os.pathsep.join(filter(os.path.isabs, known)) or os.devnull
