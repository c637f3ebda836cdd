"""How a motion comes to rest: settling time, overshoot, and what goes on vibrating, of what is sampled evenly."""

from __future__ import annotations

import numpy as np

from kronbot.floats import Array
from kronbot.records import dataclass

# Transforms are of so many times the samples, so that a parabola through three lines meets a peak.
FINER = 8
# Lines beside a peak that are its own (the main lobe of Hann's window is four lines wide).
LOBE = 2 * FINER
# Vibrations below this share of the largest one are not told apart from what leaks of it; so many are told.
SHARE, MOST = 0.02, 3
# What swings by less of the largest distance is an error of the run, by less of the places themselves their rounding.
NOISE, ROUNDING = 1e-5, 1e-14


def settling_time(times: Array, away: Array, band: float) -> float | None:
    """When a distance (N,) leaves a band for the last time, from the first of the times (s); None if it is outside at
    the end. Between samples it is straight.
    """
    outside = np.flatnonzero(away > band)
    if not len(outside):
        return 0.0
    k = int(outside[-1])
    if k == len(times) - 1:
        return None
    share = (away[k] - band) / (away[k] - away[k + 1])
    return float(times[k] + share * (times[k + 1] - times[k]) - times[0])


def overshoot(values: Array, first: float, last: float) -> float:
    """How far values (N,) on a way from the first to the last go beyond it, as a share of the way."""
    way = last - first
    return max(0.0, float(((values - last) / way).max()))


@dataclass(frozen=True)
class Residual:
    """What vibrates about a place: ``place`` (k,), largest distance from it, ``lines`` of frequency (rad/s) and
    amplitude, the largest first."""

    place: Array
    amplitude: float
    lines: list[tuple[float, float]]


def residual(times: Array, values: Array) -> Residual:
    """Of values (N, k) at even times (N,).

    Means and spectra are weighted by Hann's window 1 - cos, so that what has no whole number of periods leaks little. A
    vibration has to swing twice at least in the time, and more than what swings twice less, to be told from that.
    """
    window = 1 - np.cos(2 * np.pi * np.arange(len(times)) / (len(times) - 1))
    window /= window.sum()
    place = window @ values
    swinging = values - place
    amplitude = float(np.linalg.norm(swinging, axis=1).max())
    if amplitude <= ROUNDING * np.abs(values).max():
        return Residual(place, amplitude, [])
    size = FINER * len(times)
    spectrum = 2 * np.linalg.norm(np.fft.rfft(window[:, None] * swinging, size, axis=0), axis=1)
    step = 2 * np.pi / (size * (times[1] - times[0]))
    inner = np.arange(LOBE, len(spectrum) - 1)
    # A side lobe of what is slow has a larger one beside it.
    largest = np.lib.stride_tricks.sliding_window_view(np.pad(spectrum, LOBE), 2 * LOBE + 1).max(axis=1)
    peaks = inner[(spectrum[inner] > spectrum[inner - 1]) & (spectrum[inner] == largest[inner])]
    lines: list[tuple[float, float]] = []
    taken: list[int] = []
    for k in peaks[np.argsort(-spectrum[peaks], kind="stable")].tolist():
        if len(lines) == MOST or spectrum[k] <= (SHARE * lines[0][1] if lines else NOISE * amplitude):
            break
        if any(abs(k - other) < 2 * LOBE for other in taken):  # a side lobe
            continue
        before, at, after = np.log(np.maximum(spectrum[k - 1 : k + 2], np.finfo(float).tiny)).tolist()
        bend = before - 2 * at + after
        shift = 0.5 * (before - after) / bend if bend else 0.0
        lines.append((float(step * (k + shift)), float(np.exp(at - 0.25 * (before - after) * shift))))
        taken.append(k)
    return Residual(place, amplitude, lines)
