"""The HTML of a page: what may run in it is named by its hash, and everything else is data."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from functools import cache
from html import escape
from pathlib import Path

from kronbot.errors import Argument, ComputationError
from kronbot.records import dataclass

FOLDER = Path(__file__).parent
# Bytes of a page: what mail and browsers take without a murmur.
MOST = 5_000_000
# The generated function of the robot is known to the page by this name.
SCENE = "window.kronbotScene"


def document(title: str, data: Mapping[str, object], scene: str, below: Still | None = None) -> str:
    """A page with its data (numbers, text, lists and mappings) and the function that says where the robot is.

    What does not move may stand ``below`` it. Raises ComputationError where it would be larger than MOST bytes, and for
    numbers that are none.
    """
    style, body, program = (part(name) for name in ("built/page.css", "page.html", "built/page.js"))
    begin = "<body>"
    if below is not None:
        style, body, begin = f"{style}{below.style}", f"{body}{below.html}", '<body class="long">'
    scripts = [f"{SCENE} = {scene};", program]
    policy = "; ".join([
        "default-src 'none'",
        f"script-src {' '.join(map(_hash, scripts))}",
        f"style-src {_hash(style)}",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
    ])  # fmt: skip
    try:
        text = json.dumps(data, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
    except ValueError:
        raise ComputationError("there are numbers that overflow: no page holds them; take smaller ones") from None
    page = "\n".join([
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{escape(title)}</title>\n<style>{style}</style>\n</head>\n{begin}\n{body}",
        f'<script type="application/json" id="data">{text}</script>',
        *(f"<script>{script}</script>" for script in scripts),
        "</body>\n</html>\n",
    ])  # fmt: skip
    demand_small(len(page.encode()))
    return page


def demand_small(size: int, about: str = "") -> None:
    """Raise ComputationError for a page of so many bytes, or ``about`` as many, where they are too many."""
    if size > MOST:
        told = f"a page of {about}{size / 1e6:.1f} MB is too large: take a lower "
        raise ComputationError(told, Argument("order"), ", or fewer rows or beams")


@dataclass(frozen=True)
class Still:
    """HTML in which nothing runs, and its style."""

    html: str
    style: str


def still(title: str, shown: Still) -> str:
    """A page in which nothing runs. Raises ComputationError beyond MOST bytes."""
    policy = f"default-src 'none'; style-src {_hash(shown.style)}; base-uri 'none'; form-action 'none'"
    page = "\n".join([
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{escape(title)}</title>\n<style>{shown.style}</style>\n</head>\n<body>\n{shown.html}\n</body>\n</html>\n",
    ])  # fmt: skip
    if len(page.encode()) > MOST:
        raise ComputationError(f"a page of {len(page.encode()) / 1e6:.1f} MB is too large: compare fewer columns")
    return page


@cache
def part(name: str) -> str:
    """A file of this folder that pages are made of."""
    return (FOLDER / name).read_bytes().decode()


def _hash(text: str) -> str:
    """As a Content-Security-Policy names a script or style: over its bytes as they are written."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
