"""Text around formulas that are strings already: a matrix in LaTeX, the source of a Python function."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence


def latex_matrix(entries: Sequence[Sequence[str]]) -> str:
    """A matrix in square brackets, one row a line."""
    rows = [" & ".join(row) for row in entries]
    return "\\begin{bmatrix}\n" + " \\\\\n".join(rows) + "\n\\end{bmatrix}"


def python_function(
    name: str,
    inputs: Sequence[str],
    parameters: Mapping[str, float | None],
    assignments: Iterable[tuple[str, str]],
    entries: Iterable[Iterable[str]],
) -> str:
    """Source of a function of inputs and of parameters by name (default: their values), which returns nested lists."""
    keywords = [word if value is None else f"{word}={value!r}" for word, value in parameters.items()]
    signature = ", ".join([*inputs, *(["*", *keywords] if keywords else [])])
    lines = ["import math", "", "", f"def {name}({signature}):"]
    lines += [f"    {word} = {meaning}" for word, meaning in assignments]
    lines += ["    return [", *(f"        [{', '.join(row)}]," for row in entries), "    ]", ""]
    return "\n".join(lines)
