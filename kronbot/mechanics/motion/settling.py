"""How a motion comes to rest: settling time, overshoot, and what goes on vibrating, of what is sampled evenly."""

from __future__ import annotations

from itertools import combinations, permutations
from typing import NamedTuple

import numpy as np

from kronbot.floats import Array
from kronbot.mechanics.motion.exponentials import ABOVE, PIECES, Exponentials, exponentials, farthest, hann, rest, way
from kronbot.records import dataclass

# Transforms are of so many times the samples, so that a parabola through three lines meets a peak.
FINER = 8
# Lines beside a peak that are its own (the main lobe of Hann's window is four lines wide); side lobes are 0.027 of it.
LOBE, LEAK = 2 * FINER, 0.1
# Vibrations below this share of the largest one are not told apart from what leaks of it; so many are told.
SHARE, MOST = 0.02, 3
# What vibrates does so, too, without the first of so many parts of the time.
PARTS = 4
# A swing of less than SEEN periods in the time may be no line; of less than LEAST nobody tells it from what creeps. It
# is looked for among exponentials where it is such a part of the whole.
SEEN, LEAST, PART = 4.0, 0.05, 0.1
# A place that is as near as this share of the largest distance is known. A vibration is one of the exponentials that
# turns nearly as much, which miss no more than a share of it; so many swings tell how large it begins, and so many
# samples at least. Where more fits are compared, they meet values by such a share, or by such a one of what is told.
PLACED, SAME, LEFT, FIRST, FEWEST, MET, OF_IT = 0.02, 0.1, 0.003, 2.4, 32, 0.01, 0.25
GONE = 2.0  # what turns by less of its decay leaves too little after a swing (e^-pi) to be told from what else there is
TURNS = 3  # what goes there and back more often than this swings
TURNED = np.pi / 2 * PIECES  # the angle in all of the time by which pieces turn by a quarter each
# Exponents of an amplitude over the time: of what is the same in all of it, and of what is gone in half of it, as long
# as that has so many periods; by so much more or less, in logarithms, the middle is none of an exponent.
EVEN, FADED, FADING, UNEVEN = 0.01, 4.0, 5, 0.3
# What swings by less of the largest distance is an error of the run, by less of the places themselves their rounding.
NOISE, ROUNDING = 1e-5, 1e-14


def settling_time(times: Array, away: Array, band: float, swing: float) -> float | None:
    """When a distance (N,) leaves a band for the last time, from the first of the times (s); None if it is outside at
    the end, or has been inside for less than a ``swing`` (s) then. Between samples it is straight.
    """
    outside = np.flatnonzero(away > band)
    if not len(outside):
        return 0.0
    k = int(outside[-1])
    if k == len(times) - 1:
        return None
    share = (away[k] - band) / (away[k] - away[k + 1])
    left = float(times[k] + share * (times[k + 1] - times[k]))
    return left - float(times[0]) if times[-1] - left >= swing else None


def overshoot(beyond: Array, way: float) -> float:
    """How far distances (N,) from the end of a way go beyond it, as a share of the way."""
    return max(0.0, float((beyond / way).max()))


class Line(NamedTuple):
    """A vibration: frequency (rad/s), amplitude where it is largest, and whether that is known, or a mean is told."""

    frequency: float
    size: float
    known: bool = True


@dataclass(frozen=True)
class Vibrations:
    """What vibrates about a ``mean`` (k,), largest distance from it, and ``lines``, the largest first; and the ``few``
    swings, if any, of which there are too few in the time for a line."""

    mean: Array
    amplitude: float
    lines: list[Line]
    few: Line | None = None

    def swing(self, band: float) -> float:
        """Half the longest period (s) of what swings out of a band: for so long, and no longer, it may stay inside.

        Two that are out of it together, and inside while one takes from the other, are so for half a beat.
        """
        swings = [*self.lines, Line(self.few.frequency, self.amplitude)] if self.few else self.lines
        beats = (
            Line(abs(one.frequency - other.frequency), one.size + other.size)
            for one, other in combinations(self.lines, 2)
            if abs(one.size - other.size) < band < one.size + other.size
        )
        return max((np.pi / each.frequency for each in (*swings, *beats) if 2 * each.size > band), default=0.0)


@dataclass(frozen=True)
class Residual:
    """What is left about a place: ``place`` (k,), the largest distance from it, and ``lines``, the largest first; how
    far off the place may be, its ``error``, and whether it is ``known``. Where it is not, what swings too seldom in the
    time to tell how far, and about which place, is ``slow`` (rad/s), else 0."""

    place: Array
    amplitude: float
    lines: list[Line]
    error: float = 0.0
    known: bool = True
    slow: float = 0.0


def residual(values: Array, found: Vibrations, wanted: float = np.inf) -> Residual:
    """Of (N, k) values, what vibrates in them, and about which place, to an error that is ``wanted`` if it may be."""
    if found.amplitude <= NOISE * np.abs(values).max():
        return Residual(found.mean, found.amplitude, found.lines)
    (place, error), few = rest(values, wanted), found.few
    # A vibration that bends its wave has its mean elsewhere, by as much as its second harmonic and more.
    doubled = (
        two.size
        for one, two in permutations(found.lines, 2)
        if abs(two.frequency - 2 * one.frequency) < LEFT * two.frequency and two.size > SAME * one.size
    )
    error = max(error, *doubled, 0.0)
    if error > PLACED * found.amplitude:
        return Residual(place, _away(values, place), found.lines, error, False, few.frequency if few else 0.0)
    lines = found.lines
    if few and few.known:
        lines = [few, *(line for line in lines if line.size > SHARE * few.size)]
    return Residual(place, _away(values, place), lines[:MOST], error)


def vibrations(times: Array, values: Array) -> Vibrations:
    """Of values (N, k) at even times (N,).

    Spectra are weighted by Hann's window 1 - cos, so that what has no whole number of periods leaks little. A vibration
    has to swing twice at least in the time to have a line. Where none is half of what there is, the largest of the
    exponentials in it is looked for, that swings.

    Spectra are those of second differences, in which what creeps is as much smaller, beside a vibration, as the square
    of its rate over the frequency: a large way leaks over small vibrations no longer.

    From one sample to the next, the spectrum of one vibration, damped or not, turns by its frequency everywhere, side
    lobes too (reassignment: Kodera, Gendrin and de Villedary 1978). So a peak is a vibration if it turns by its own
    frequency, to the distance of two lines that can be told apart, in all of the time and in the later part of it, and
    lines beside it do so, too; peaks that are left of what creeps do not, and those of jolts turn each by its own.
    """
    count = len(times)
    mean, largest = hann(count) @ values, float(np.abs(values).max())
    amplitude = _away(values, mean)
    if amplitude <= ROUNDING * largest:
        return Vibrations(mean, amplitude, [])
    step, line, bent = float(times[1] - times[0]), 2 * np.pi / (FINER * count), np.diff(values, n=2, axis=0)
    window = hann(len(bent) - 1)[:, None]
    now, then = (np.fft.rfft(window * each, FINER * count, axis=0) for each in (bent[:-1], bent[1:]))
    spectrum, turned = 2 * np.linalg.norm(now, axis=1), np.angle((now.conj() * then).sum(axis=1))
    # A vibration of angle a a sample is (2 sin(a / 2))^2 as large in them.
    angles: Array = line * np.arange(1.0, len(spectrum))
    swings = np.append(0.0, spectrum[1:] / _bending(angles))
    inner = np.arange(LOBE, len(spectrum) - 1)
    # A side lobe of what is slow has a larger one beside it.
    highest = np.lib.stride_tricks.sliding_window_view(np.pad(spectrum, LOBE), 2 * LOBE + 1).max(axis=1)
    own = np.abs(turned[inner] - line * inner) < FINER * line
    for beside in (inner - FINER, np.minimum(inner + FINER, len(turned) - 1)):
        own &= np.abs(turned[beside] - turned[inner]) < FINER * line / 2
    peaks = inner[own & (spectrum[inner] > spectrum[inner - 1]) & (spectrum[inner] == highest[inner])]
    lines: list[Line] = []
    taken: list[int] = []
    most = 0.0
    for k in peaks[np.argsort(-swings[peaks], kind="stable")].tolist():
        if len(lines) == MOST or swings[k] <= (SHARE * most if lines else NOISE * amplitude):
            break
        if any(abs(k - other) < 2 * LOBE and spectrum[k] < LEAK * spectrum[other] for other in taken):
            continue  # a side lobe
        if not _vibrates(bent[count // PARTS :], line * k):
            continue
        before, at, after = np.log(np.maximum(spectrum[k - 1 : k + 2], np.finfo(float).tiny)).tolist()
        bend = before - 2 * at + after
        shift = 0.5 * (before - after) / bend if bend else 0.0
        angle = line * (k + shift)
        size = float(np.exp(at - 0.25 * (before - after) * shift) / _bending(angle))
        size *= float(2 * farthest(now[k]) / spectrum[k])
        most = max(most, size)
        first = max(FEWEST, int(FIRST * 2 * np.pi / angle) + 2)
        larger = _begins(values, angle) or _begins(values[:first], angle)
        if larger is None and (longer := _larger(bent, angle)):
            larger = longer * size
        lines.append(Line(float(angle / step), larger or size, known=larger is not None))
        taken.append(k)
        bent = bent - _wave(bent, angle)  # beside which smaller ones are looked for
    if agreed := _agreed(values, amplitude):  # which are too near one another for lines, too, or soon gone
        near = [(each.frequency, each.frequency * step) for each in lines]  # as good, where fits differ by as much
        told = (
            Line(next((w for w, a in near if abs(a - turn) < apart), turn / step), size) for turn, size, apart in agreed
        )
        own = LOBE * line / step
        lines = [*told, *(each for each in lines if all(abs(each.frequency - a / step) > own for a, _, _ in agreed))]
    lines.sort(key=lambda line: -line.size)
    lines = [each for each in lines if each.size > SHARE * lines[0].size][:MOST]
    few = None
    if (not lines or 2 * lines[0].size < amplitude) and amplitude > NOISE * largest:
        few = _few_swings(values, step, amplitude)
    if few and any(line.frequency < 2 * few.frequency for line in lines):
        few = None
    if not few and any(
        _turns(each, 4 * sum(line.size for line in lines)) > TURNS for each in values[count // PARTS :].T
    ):
        lines = []  # of what swings, but by no frequency: they are not the largest
    return Vibrations(mean, amplitude, lines, few)


def _away(values: Array, place: Array) -> float:
    """The largest distance of (N, k) values from a place (k,)."""
    return float(np.linalg.norm(values - place, axis=1).max())


def _agreed(values: Array, amplitude: float) -> list[tuple[float, float, float]]:
    """Angles (rad) a sample of what vibrates in (N, k) values for a swing and more, sizes at first, and by how much
    angles differ, where few and more exponentials and those of the first three quarters tell the same."""
    more, few = exponentials(values, ABOVE)
    (sooner,) = exponentials(values[: 3 * len(values) // 4], ABOVE[:1])
    missed, found = max(few.missed, more.missed, sooner.missed), []
    for rate, size in zip(more.rates.tolist(), more.sizes.tolist(), strict=True):
        if not 2 * np.pi < rate.imag * len(values) < TURNED or rate.imag < GONE * abs(rate.real):
            continue
        if missed > max(MET * amplitude, OF_IT * size) or size > way(values):
            continue
        if (apart := max(_apart(each, rate, size) for each in (few, sooner))) < SAME / 2 * abs(rate):
            found.append((rate.imag, size, apart))
    return found


def _apart(others: Exponentials, rate: complex, size: float) -> float:
    """How far from a rate the nearest of others is that are nearly as large."""
    alike = np.abs(others.sizes - size) < SAME / 2 * size
    return float(np.abs(others.rates - rate)[alike].min(initial=np.inf))


def _few_swings(values: Array, step: float, amplitude: float) -> Line | None:
    """The largest part of (N, k) values, a ``step`` (s) apart, that swings less than SEEN times; None where it is no
    PART of all. What is gone as it turns swings nowhere."""
    ((_, rates, sizes, missed),) = exponentials(values, ABOVE[-1:])
    swings = rates.imag * len(values) / (2 * np.pi)
    few = (swings > LEAST) & (swings < SEEN) & (rates.imag > GONE * np.abs(rates.real)) & (sizes > PART * amplitude)
    if not few.any():
        return None
    k = int(np.argmax(np.where(few, sizes, 0)))
    return Line(float(rates.imag[k]) / step, float(sizes[k]), known=missed < LEFT * amplitude)


def _turns(values: Array, least: float) -> int:
    """How often values (N,) go there and back again by more than is ``least``."""
    slopes = np.sign(np.diff(values))
    ends = values[np.flatnonzero(np.append(slopes[1:] * slopes[:-1] <= 0, True)) + 1].tolist()
    low = high = float(values[0])
    turns = way = 0
    for value in ends:
        low, high = min(low, value), max(high, value)
        if way <= 0 and value - low > least:
            turns, way, high = turns + 1, 1, value
        elif way >= 0 and high - value > least:
            turns, way, low = turns + 1, -1, value
    return turns


def _begins(values: Array, angle: float) -> float | None:
    """How far at first swings what turns by an angle a sample in (N, k) values; None where few and more exponentials
    do not tell the same, or pieces are so long that it turns on by more than half a turn."""
    if angle * len(values) > np.pi * PIECES:
        return None
    found = []
    for _, rates, sizes, missed in exponentials(values, ABOVE):
        size = float(sizes[np.abs(rates.imag - angle) < SAME * angle].max(initial=0.0))
        if missed > LEFT * size or size > way(values):
            return None
        found.append(size)
    return found[0] if min(found) > (1 - SAME / 2) * max(found) > 0 else None


def _bending(angle: Array | float) -> Array:
    return np.asarray((2 * np.sin(np.asarray(angle) / 2)) ** 2)


def _wave(values: Array, angle: float) -> Array:
    """What is in (N, k) values at an angle a sample."""
    wave = np.exp(1j * angle * np.arange(len(values)))[:, None]
    found: Array = 2 * ((hann(len(values)) @ (wave.conj() * values)) * wave).real
    return found


def _larger(values: Array, angle: float) -> float | None:
    """How many times as large as its mean by Hann's window, in (N, k) values, a vibration of an angle a sample is where
    it is largest; None where it is gone before that tells.

    Its amplitudes in halves tell the exponent s of N samples, by which the mean of exp(-s u), 0 < u < 1, is

        (1 - exp(-s)) / s * 4 pi^2 / (s^2 + 4 pi^2).

    Of what decays within the first samples the mean over these is taken. Where the half in the middle does not lie
    between the others, as of two that beat, it is none of an exponent, and not larger.
    """
    whole = _swing(values, angle)
    while True:
        half = len(values) // 2
        parts = (values[:half], values[half // 2 : half // 2 + half], values[-half:])
        first, middle, last = (max(_swing(each, angle), np.finfo(float).tiny) for each in parts)
        s = 2 * float(np.log(first / last))
        if s < FADED or half * angle < 2 * np.pi * FADING:
            break
        values = values[:half]
    if abs(s) > FADED:
        return None
    if abs(s) < EVEN or abs(np.log(middle**2 / (first * last))) > UNEVEN:
        return 1.0
    mean = -np.expm1(-abs(s)) / abs(s) * 4 * np.pi**2 / (s**2 + 4 * np.pi**2)
    return float(_swing(values, angle) / mean / whole)


def _swing(values: Array, angle: float) -> float:
    """The amplitude, by Hann's window, of what is in (N, k) values at an angle a sample."""
    return 2 * float(farthest((hann(len(values)) * np.exp(-1j * angle * np.arange(len(values)))) @ values))


def _vibrates(values: Array, angle: float) -> bool:
    """Whether what is in (N, k) values at an angle a sample turns by it, and so at angles beside it."""
    apart = 2 * np.pi / len(values)
    at, *beside = (_turned(values, angle + shift) for shift in (0.0, -apart, apart))
    return abs(at - angle) < apart and all(abs(each - at) < apart / 2 for each in beside)


def _turned(swinging: Array, angle: float) -> float:
    """The angle (rad) by which what is in (N, k) values at an angle a sample turns from one sample to the next."""
    window = hann(len(swinging) - 1)
    turning = window * np.exp(-1j * angle * np.arange(len(window)))
    now, then = (turning @ (each - window @ each) for each in (swinging[:-1], swinging[1:]))
    return float(np.angle(np.vdot(now, then)))
