"""The page of a fit: parameters with their errors, what is correlated, measured against computed, residuals.

Nothing runs in it: all is text, tables and SVG, and its policy names the style alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

import numpy as np

from kronbot.floats import Array
from kronbot.plots.page.document import Still, part, still
from kronbot.questions.result import Result
from kronbot.questions.tables import summarized, units_of_rows

# Of a diagram, pixels, and room for the labels of its axes.
WIDTH, HEIGHT, LEFT, BELOW, ABOVE = 330, 230, 58, 34, 22
# Points of a diagram; of more, these are drawn: evenly, and the largest residuals.
MOST = 1500
BINS = 31
# Side of a square of the correlation map, pixels, and parameters that fit into one.
SQUARE, LARGEST = 18, 60

# Columns of points in space.
PLACED = ("position.", "endpoint.")


def alone(result: Result) -> str:
    """The page of what ``fit`` has found, or planned."""
    head = [f"<h1>fit of {escape(result.robot)}, order {escape(str(result.order))}</h1>"]
    if result.warnings:
        head.append(f"<ul>{''.join(f'<li>{escape(each)}</li>' for each in result.warnings)}</ul>")
    found = below(result, head)
    return still(f"fit of {result.robot}", Still(found.html, f"{part('alone.css')}{found.style}"))


def below(result: Result, head: Sequence[str] = ()) -> Still:
    """It below a robot that moves, which has title and warnings above."""
    body = ['<article id="report">', *head]
    body += _table("Summary", ("", ""), [*summarized(result)])
    if "estimates" in result.arrays:
        body.extend(_estimates(result))
    if "correlations" in result.arrays:
        body.extend(_correlations(result.arrays["correlations"].rows, result["correlations"]))
    for name, title in (("residuals", "Residuals of fitted rows"), ("validation", "Residuals of validation rows")):
        if name in result.arrays:
            array = result.arrays[name]
            numbers = np.asarray(array.values, dtype=float)
            beside = units_of_rows(array)
            named = zip(array.rows, *beside, numbers, strict=True)
            rows = [[*names, *map(_number, values)] for *names, values in named]
            body += _table(title, ("column", *("unit" for _ in beside), *(array.columns or ())), rows)
    if "residual" in result.series:
        body.extend(_places_in_space(result))
        body.extend(_columns(result))
    return Still("\n".join([*body, "</article>"]), part("report.css"))


def _estimates(result: Result) -> Iterator[str]:
    names = result.arrays["estimates"].rows
    errors = dict(zip(result.arrays["standard_errors"].rows, result["standard_errors"], strict=True))
    rows = [
        (name, _number(start), _number(value), _number(errors[name]) if name in errors else "not known")
        for name, (start, value) in zip(names, result["estimates"], strict=True)
    ]
    yield from _table("Parameters", ("", "start", "estimate", "standard error"), rows)


def _table(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield f"<h2>{escape(title)}</h2><table><tr>{''.join(f'<th>{escape(each)}</th>' for each in head)}</tr>"
    for row in rows:
        yield f"<tr>{''.join(f'<td>{escape(each)}</td>' for each in row)}</tr>"
    yield "</table>"


def _correlations(names: Sequence[str], R: Array) -> Iterator[str]:
    """A map of them: blue where both grow together, red where one grows as the other falls."""
    yield "<h2>Correlations</h2>"
    count = len(names)
    if count > LARGEST:
        yield f"<p>{count} parameters are too many for a map.</p>"
        return
    left = 8 * max(map(len, names))
    side = SQUARE * count
    yield f'<svg width="{left + side + 4}" height="{side + left}" role="img" aria-label="correlations">'
    for i, name in enumerate(names):
        y = SQUARE * i
        yield f'<text x="{left - 4}" y="{y + 13}" text-anchor="end">{escape(name)}</text>'
        yield f'<text transform="translate({left + y + 13} {side + 4}) rotate(90)">{escape(name)}</text>'
        for j in range(count):
            r = float(R[i, j])
            told = f"{name}, {names[j]}: {r:.3f}"
            kind = "plus" if r > 0 else "minus"
            yield (
                f'<rect class="{kind}" fill-opacity="{min(abs(r), 1):.3f}" x="{left + SQUARE * j}" y="{y}" '
                f'width="{SQUARE - 1}" height="{SQUARE - 1}"><title>{escape(told)}</title></rect>'
            )
    yield "</svg>"


def _places_in_space(result: Result) -> Iterator[str]:
    """Measured points beside computed ones, seen along the axes, of what was measured in two or three directions."""
    series = result.series
    column, row = np.asarray(series["column"]).astype(str), np.asarray(series["row"])
    measured, residual = np.asarray(series["measured"], dtype=float), np.asarray(series["residual"], dtype=float)
    fitted = np.asarray(series["fitted"], dtype=float) > 0
    found: list[str] = []
    for stem in dict.fromkeys(name.rpartition(".")[0] for name in column.tolist() if name.startswith(PLACED)):
        own = {axis: np.flatnonzero(column == f"{stem}.{axis}") for axis in "xyz"}
        for x, y in ("xy", "xz", "yz"):
            _, one, other = np.intersect1d(row[own[x]], row[own[y]], return_indices=True)
            rows = np.array([own[x][one], own[y][other]])
            if rows.size:
                rows = rows[:, np.unique(np.linspace(0, rows.shape[1] - 1, min(MOST, rows.shape[1])).astype(int))]
                kinds = ["fit" if each else "held" for each in fitted[rows[0]]]
                found.append(_plane(f"{stem}: {y} by {x} [m]", measured[rows], measured[rows] + residual[rows], kinds))
    if found:
        yield "<h2>Where points are</h2><p>Dots are measured, crosses computed.</p>"
        yield from found


def _plane(title: str, measured: Array, computed: Array, kinds: Sequence[str]) -> str:
    """Points (2, N) to one scale in both directions."""
    both = np.hstack([measured, computed])
    middle, reach = (both.max(axis=1) + both.min(axis=1)) / 2, 0.55 * float(np.ptp(both, axis=1).max()) or 1.0
    wide = reach * (WIDTH - LEFT) / (HEIGHT - BELOW - ABOVE)
    x, y = (middle[0] - wide, middle[0] + wide), (middle[1] - reach, middle[1] + reach)
    parts = [_frame(title, x, y)]
    for kind, (a, b), (c, d) in zip(kinds, *(_on_paper(each, x, y) for each in (measured, computed)), strict=True):
        parts.append(f'<circle class="{kind}" cx="{a:.1f}" cy="{b:.1f}" r="2.6"/>')
        parts.append(f'<path class="axis" d="M{c - 3:.1f} {d - 3:.1f}l6 6m0 -6l-6 6"/>')
    return f"<figure>{''.join(parts)}</svg></figure>"


def _on_paper(points: Array, x: tuple[float, float], y: tuple[float, float]) -> Array:
    return np.column_stack([_places(points[0], *x, LEFT, WIDTH), _places(points[1], *y, HEIGHT - BELOW, ABOVE)])


def _columns(result: Result) -> Iterator[str]:
    series = result.series
    column, fitted = np.asarray(series["column"]), np.asarray(series["fitted"], dtype=float) > 0
    measured, residual = np.asarray(series["measured"], dtype=float), np.asarray(series["residual"], dtype=float)
    row = np.asarray(series["row"], dtype=float)
    yield "<h2>By column</h2>"
    if not fitted.all():
        yield "<p>Rows that validate have the other colour.</p>"
    for name, unit in dict(zip(column.tolist(), np.asarray(series["unit"]).tolist(), strict=True)).items():
        own = np.flatnonzero(column == name)
        few = _few(own, residual)
        kinds = ["fit" if each else "held" for each in fitted[few]]
        computed = measured[few] + residual[few]
        yield f"<h3>{escape(f'{name} [{unit}]')}</h3>"
        if len(few) < len(own):
            yield f"<p>{len(few)} of {len(own)} points are drawn, the largest residuals among them.</p>"
        yield _points("measured", "computed", measured[few], computed, kinds, diagonal=True)
        yield _points("row", "computed less measured", row[few], residual[few], kinds)
        yield _histogram(residual[own])


def _few(rows: np.ndarray, residual: Array) -> np.ndarray:
    if len(rows) <= MOST:
        return rows
    even = rows[np.linspace(0, len(rows) - 1, MOST - MOST // 5).astype(int)]
    large = rows[np.argsort(-np.abs(residual[rows]), kind="stable")[: MOST // 5]]
    return np.unique(np.concatenate([even, large]))


def _points(x_name: str, y_name: str, x: Array, y: Array, kinds: Sequence[str], diagonal: bool = False) -> str:
    low, high = _span(np.concatenate([x, y]) if diagonal else x)
    down, up = (low, high) if diagonal else _span(y)
    parts = [_frame(f"{y_name} by {x_name}", (low, high), (down, up))]
    if diagonal:
        parts.append(f'<line class="even" x1="{LEFT}" y1="{HEIGHT - BELOW}" x2="{WIDTH}" y2="{ABOVE}"/>')
    across, over = _places(x, low, high, LEFT, WIDTH), _places(y, down, up, HEIGHT - BELOW, ABOVE)
    parts += [
        f'<circle class="{kind}" cx="{a:.1f}" cy="{b:.1f}" r="2.2"/>'
        for kind, a, b in zip(kinds, across, over, strict=True)
    ]
    return f"<figure>{''.join(parts)}</svg></figure>"


def _histogram(values: Array) -> str:
    low, high = _span(values)
    counts, ends = np.histogram(values, bins=min(BINS, max(5, int(np.sqrt(len(values))))), range=(low, high))
    most = max(int(counts.max()), 1)
    parts = [_frame("how many, by computed less measured", (low, high), (0.0, float(most)))]
    left = _places(ends, low, high, LEFT, WIDTH)
    for count, begin, end in zip(counts, left, left[1:], strict=False):
        tall, wide = (HEIGHT - BELOW - ABOVE) * count / most, max(end - begin - 1, 0.5)
        place = f'x="{begin:.1f}" y="{HEIGHT - BELOW - tall:.1f}" width="{wide:.1f}" height="{tall:.1f}"'
        parts.append(f'<rect class="fit" {place}/>')
    return f"<figure>{''.join(parts)}</svg></figure>"


def _frame(title: str, x: tuple[float, float], y: tuple[float, float]) -> str:
    """The beginning of a diagram: its title, axes, and numbers along them."""
    parts = [
        f'<svg width="{WIDTH + 10}" height="{HEIGHT}" role="img" aria-label="{escape(title)}">',
        f'<text x="{LEFT}" y="13">{escape(title)}</text>',
        f'<path class="axis" d="M{LEFT} {ABOVE}V{HEIGHT - BELOW}H{WIDTH}"/>',
    ]
    for value in _ticks(*x):
        (at,) = _places(np.array([value]), *x, LEFT, WIDTH)
        parts.append(f'<path class="grid" d="M{at:.1f} {ABOVE}V{HEIGHT - BELOW}"/>')
        parts.append(f'<text x="{at:.1f}" y="{HEIGHT - BELOW + 15}" text-anchor="middle">{value:.4g}</text>')
    for value in _ticks(*y):
        (at,) = _places(np.array([value]), *y, HEIGHT - BELOW, ABOVE)
        parts.append(f'<path class="grid" d="M{LEFT} {at:.1f}H{WIDTH}"/>')
        parts.append(f'<text x="{LEFT - 5}" y="{at + 4:.1f}" text-anchor="end">{value:.3g}</text>')
    return "".join(parts)


def _span(values: Array) -> tuple[float, float]:
    low, high = float(values.min()), float(values.max())
    room = 0.05 * (high - low) or 0.05 * abs(high) or 1.0
    return low - room, high + room


def _places(values: Array, low: float, high: float, begin: float, end: float) -> Array:
    return np.asarray(begin + (values - low) / (high - low) * (end - begin))


def _ticks(low: float, high: float) -> list[float]:
    """Round numbers between two, four or so."""
    raw = (high - low) / 4
    power = 10.0 ** np.floor(np.log10(raw))
    step = power * next(each for each in (1, 2, 5, 10) if each * power >= raw)
    return [float(i * step) for i in range(int(np.ceil(low / step)), int(np.floor(high / step)) + 1)]


def _number(value: object) -> str:
    if isinstance(value, float | np.floating):
        return f"{value:.6g}"
    return "yes" if value is True else "no" if value is False else str(value)
