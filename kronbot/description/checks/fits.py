"""Checks of what a file says of its fit: names of parameters, bounds, priors, sigmas, expressions of columns."""

from __future__ import annotations

from kronbot.description.checks.judgements import part
from kronbot.description.checks.report import View
from kronbot.description.expressions.expression import ExpressionError, parse
from kronbot.description.wording import listing, quote, written
from kronbot.description.yaml.nodes import Scalar


def check_names(root: View) -> None:
    """Report parameters that are not there or follow from others, and columns that are no expressions."""
    fit, known = root["fit"], root["parameters"]
    for name in fit["parameters"].keys:
        view = fit["parameters"][name]
        if name not in known.keys:
            guess = view.report.guess(name, known.keys) or f"; there are {listing(known.keys) or 'none'}"
            view.refuse_key(f"unknown parameter {quote(name)}{guess}")
        elif others := _names(known[name]):
            view.refuse_key(f"{name} follows from {listing(sorted(others))}: fit these instead")
    fixed = fit["fix"]
    for view in fixed.items or (fixed,):
        if view.text is not None and view.text not in known.keys:
            view.refuse(f"unknown parameter {quote(view.text)}{view.report.guess(view.text, known.keys)}")
    for view in fit["columns"].entries:
        if view.text is not None:
            try:
                parse(view.text, quoted=True)
            except ExpressionError as error:
                view.refuse(
                    error.of(view.text, "an expression of columns, of which names of other signs stand in quotes")
                )


def check_numbers(root: View) -> None:
    """Report bounds without room, deviations and sigmas that are not positive, counts that are 0."""
    for view in root["fit"]["parameters"].entries:
        _bounds(view)
    for view in root["fit"]["sigma"].entries:
        _positive(view)
    for word in ("starts", "steps"):
        view = root["fit"][word]
        if view.node is not None and not view.count:
            view.refuse(f"{word} must be a positive integer")


@part
def _bounds(view: View) -> None:
    least, most = view["from"].number(None), view["to"].number(None)
    if least is not None and most is not None and not least < most:
        view["to"].refuse(f"the upper bound {written(most)} must lie above the lower one, {written(least)}")
    if view["prior"].items[1:]:
        _positive(view["prior"][1])


@part
def _positive(view: View) -> None:
    value = view.number(None)
    if value is not None and not value > 0:
        view.refuse(f"a standard deviation is positive, not {value:g}")


def _names(definition: View) -> frozenset[str]:
    """The parameters that one is defined by."""
    node = definition.node
    if not isinstance(node, Scalar) or not isinstance(node.value, str):
        return frozenset()
    try:
        return parse(node.value).names
    except ExpressionError:
        return frozenset()
