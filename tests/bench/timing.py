"""Interleaved rounds of timing: on a machine that others use too, only ratios of neighbouring runs mean something."""

import statistics
import time
from dataclasses import dataclass

# An action is repeated within a round until it has taken about so long.
LEAST_SECONDS = 0.02


@dataclass(frozen=True)
class Times:
    """Seconds of one action in each round."""

    seconds: tuple[float, ...]

    @property
    def best(self):
        return min(self.seconds)

    @property
    def median(self):
        return statistics.median(self.seconds)

    def over(self, other):
        """Ratio to another action, round by round: median and quartiles."""
        ratios = [mine / theirs for mine, theirs in zip(self.seconds, other.seconds, strict=True)]
        return {"median": statistics.median(ratios), "quartiles": quartiles(ratios)}


def quartiles(values):
    """Lower and upper quartile; the extremes where there are less than four values."""
    if len(values) < 4:
        return [min(values), max(values)]
    low, _, high = statistics.quantiles(values, n=4, method="inclusive")
    return [low, high]


def timed(action, repetitions=1):
    """Seconds of one run, as the mean of some."""
    start = time.perf_counter()
    for _ in range(repetitions):
        action()
    return (time.perf_counter() - start) / repetitions


def interleaved(actions, rounds, warm=True):
    """Times of actions by name: every round runs each of them, beginning with another one each time.

    With ``warm`` a first run is thrown away; it also finds how often a short action is repeated in a round.
    """
    repetitions = dict.fromkeys(actions, 1)
    if warm:
        for name, action in actions.items():
            action()
            repetitions[name] = max(1, round(LEAST_SECONDS / max(timed(action), 1e-9)))
    seconds = {name: [] for name in actions}
    names = list(actions)
    for i in range(rounds):
        first = i % len(names)
        for name in names[first:] + names[:first]:
            seconds[name].append(timed(actions[name], repetitions[name]))
    return {name: Times(tuple(values)) for name, values in seconds.items()}
