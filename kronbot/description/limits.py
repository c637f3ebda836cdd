"""Every limit on what a robot file may hold, in one place: hostile or broken input ends early, with a message."""

from __future__ import annotations

from typing import Final

TEXT_BYTES: Final = 256 * 1024
"""Largest robot file, bytes; a reader takes no more than this plus one byte."""

TABLE_BYTES: Final = 16 * 1024 * 1024
"""Largest table file (CSV), bytes."""

NODES: Final = 20_000
"""Most YAML nodes, counted while composing."""

DEPTH: Final = 32
"""Deepest nesting of YAML collections."""

LINKS: Final = 1000
"""Most links of a robot."""

ELEMENTS: Final = 100
"""Most massless elements of a robot."""

VIA: Final = 32
"""Most points that one of them goes over."""

MOVING: Final = 128
"""Most links with coordinates: a joint that moves, or modes."""

MODES: Final = 64
"""Most modes in one direction of one link."""

COORDINATES: Final = 1000
"""Most generalized coordinates of a robot."""

MISTAKES: Final = 100
"""Mistakes listed; the rest is counted."""

EXPRESSION_LENGTH: Final = 1000
"""Longest expression, characters."""

EXPRESSION_DEPTH: Final = 100
"""Deepest nesting of an expression; a sum or product of many terms counts once."""

EXPONENT_DIGITS: Final = 4
"""Most digits in the decimal exponent of a literal: beyond that an exact fraction would fill the memory."""

INTEGER_POWER: Final = 64
"""Largest integer power taken in exact arithmetic."""

EXACT_BITS: Final = 8192
"""Largest numerator or denominator kept exactly; beyond it arithmetic goes on in floating point."""

LARGEST: Final = 1e12
"""Largest coordinates, and times of motions (rad, m, s): a double tells such an angle from the next to 1e-4."""

NAME_LENGTH: Final = 64
"""Longest name of a link, joint, gauge or parameter, characters."""

ROBOT_NAME_LENGTH: Final = 200
"""Longest name of a robot, characters."""

TEXT_LENGTH: Final = 4000
"""Longest free text (``description``, ``source``), characters."""

FILES: Final = 300
"""Most files of a folder among which one that is not there is looked for, to guess what was meant."""

TABLE_ROWS: Final = 100_000
"""Most rows of a table of a motion or a torque: a spline through them takes two seconds."""

VIA_POINTS: Final = 100
"""Most points of a spline motion: every one is a piece of the trace."""

SHAPERS: Final = 3
"""Most input shapers of one motion: the impulses of all of them multiply, up to 64."""

SHAPE_ROWS: Final = 10_000
"""Most rows of a table of shapes."""

SHAPE_COLUMNS: Final = 3 * MODES + 1
"""Most columns of a table of shapes: x, and every mode of every direction."""

CASES: Final = 200_000
"""Most load cases or rows of a question that takes milliseconds and a kilobyte for each: more is a mistyped range."""
