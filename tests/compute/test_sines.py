"""Sines and cosines of lanes: what stands in the derivation of ``sines``, against mpmath and against the C library."""

import ctypes
import math
import shutil
import subprocess

import mpmath
import numpy as np
import pytest
from thinned import rare

from kronbot.compute.code import lanes
from kronbot.compute.native import compiling, subjects
from kronbot.system.platform import host

COMPILERS = [each for each in compiling.COMPILERS[1:] if shutil.which(each)]
FEATURES = host.processor_features()
# Flags by the number of lanes.
WIDTHS = dict(each for words, each in subjects.REGISTERS.items() if FEATURES.issuperset(words))
pytestmark = pytest.mark.skipif(not COMPILERS or not WIDTHS, reason="needs GCC or Clang, and AVX2 or AVX-512")
# Angles by ``kind``: uniform; next to a multiple of pi/2; of all sizes; of all bits; the doubles around one multiple
# after the other. Those of which turn makes something else than sin and cos of the library are counted.
COMPARED = """
static unsigned long long state;
static double uniform(void)
{
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return (double)(long long)state * 0x1p-63;
}
static double angle(int kind, double span)
{
    double size = span * uniform();
    if (kind == 0) return size;
    if (kind == 1) return rint(size) * 0x1.921fb54442d18p0 * (1 + ldexp(uniform(), (int)(25 * uniform()) - 28));
    if (kind == 2) return ldexp(uniform(), (int)(60 * uniform()) - 40);
    union { unsigned long long bits; double number; } any = {(uniform(), state)};
    static unsigned long long walked;
    if (kind == 4) any.number = (1 + walked / 9 % (int)span) * 0x1.921fb54442d18p0, any.bits += (int)(walked++ % 9) - 4;
    return any.number;
}
static int same(double x, double y) { return __builtin_memcmp(&x, &y, 8) == 0 || x != x && y != y; }
__attribute__((visibility("default"))) long long different(int kind, double span, long long count)
{
    lanes angles[11], made[22];
    const lanes *x[11];
    lanes *y[11];
    long long result = 0;
    state = 88172645463325252 + kind;
    for (int i = 0; i < 11; i++) x[i] = angles + i, y[i] = made + 2 * i;
    for (; count > 0; count -= 11 * LANES) {
        for (int l = 0; l < 11 * LANES; l++) ((double *)angles)[l] = angle(kind, span);
        turn(x, y, 11);
        for (int i = 0; i < 11; i++) for (int l = 0; l < LANES; l++) {
            double one = ((double *)x[i])[l];
            result += !same(((double *)y[i])[l], sin(one)) || !same(((double *)y[i])[LANES + l], cos(one));
        }
    }
    return result;
}
"""
# What is known of an angle beside the result: the two parts of both numbers, and whether they are in doubt.
OPENED = """
__attribute__((visibility("default"))) void opened(const double *x, double *parts, double *doubts, long long count)
{
    for (long long k = 0; k < count; k += LANES) {
        lanes angle, s, c;
        for (int l = 0; l < LANES; l++) ((double *)&angle)[l] = x[k + l];
        unsigned long long lane = doubtful(angle, &s, &c);
        for (int l = 0; l < LANES; l++) {
            for (int i = 0; i < 4; i++) parts[4 * (k + l) + i] = ((double *)&seen[i])[l];
            doubts[2 * (k + l)] = lane >> l & 1, doubts[2 * (k + l) + 1] = lane >> 32 + l & 1;
        }
    }
}
"""


def library(tmp_path, compiler, width, own, text=lanes.HEAD):
    """Compiled as loops over rows are."""
    (tmp_path / "sines.c").write_text(f"#define LANES {width}\n{text}\n{own}")
    flags = [*compiling.FLAGS, "-O1", "-fexpensive-optimizations", *WIDTHS[width]]
    command = [compiler, *flags, "sines.c", "-o", "sines.so", "-lm"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    return ctypes.CDLL(str(tmp_path / "sines.so"))


@pytest.mark.parametrize("count", [10_000, rare(500_000)])
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("compiler", COMPILERS)
def test_no_bit_is_another_one(tmp_path, compiler, width, count):
    made = library(tmp_path, compiler, width, COMPARED).different
    made.argtypes, made.restype = (ctypes.c_int, ctypes.c_double, ctypes.c_longlong), ctypes.c_longlong
    spans = [
        *((0, span) for span in (0.13, 0.3, 0.9, 3.2, 1e3, 2e5)),
        (1, 10.0),
        (1, 6e4),
        (2, 0.0),
        (3, 0.0),
        (4, 6e4),
    ]
    assert [span for span in spans if made(*span, count)] == []


def opened(tmp_path, angles):
    """Nearest doubles of |sin r| and |cos r|, what they lack, and doubts of sine and cosine, (N, 2) each."""
    function = "static inline __attribute__((always_inline)) unsigned long long doubtful("
    text = lanes.HEAD.replace(function, f"static lanes seen[4];\n{function}")
    text, width = (
        text.replace("    mask swap", "    seen[0] = s, seen[1] = c, seen[2] = s1, seen[3] = c1;\n    mask swap"),
        max(WIDTHS),
    )
    made = library(tmp_path, COMPILERS[0], width, OPENED, text).opened
    assert len(angles) % width == 0
    parts, doubts = np.empty((len(angles), 4)), np.empty((len(angles), 2))
    made.argtypes = (*(ctypes.c_void_p,) * 3, ctypes.c_longlong)
    made(angles.ctypes.data, parts.ctypes.data, doubts.ctypes.data, len(angles))
    return parts[:, :2], parts[:, 2:], doubts


def exact(angle):
    """|sin r| and |cos r| to 200 bits, and whether they are |cos x| and |sin x|."""
    k = int(mpmath.nint(abs(mpmath.mpf(angle)) * 2 / mpmath.pi))
    r = abs(mpmath.mpf(angle)) - k * mpmath.pi / 2
    return [abs(mpmath.sin(r)), mpmath.cos(r)], bool(k % 2)


# Rows of the table: up to which value, what a + b and the C library may lack at most, in units of 2^-62, and whether it
# is for cosines; of the first one in parts of half a distance.
ROWS = [
    (1 / 8, 0.0022, 0.0318, False),
    (1 / 4, 0.12, 3.1, False),
    (1 / 2, 0.55, 3.1, False),
    (0.7072, 2.6, 4.3, False),
    (1, 0.6, 4.3, True),
]


@pytest.mark.parametrize("count", [24, rare(400)])
def test_errors_are_what_was_derived(tmp_path, count):
    """Of a + b, and of the library before it rounds, where a middle is near and elsewhere. Few are in doubt, and
    neither zeros nor tiny angles: joints that stand still cost what others do. Next to multiples of pi/2 more are."""
    rng = np.random.default_rng(7)
    spans = [1e-6, 0.1, 0.26, 0.55, 0.8, 3.2, 50.0, 1e5]
    near = np.arange(1, 41) * (np.pi / 2) * (1 + rng.uniform(-1, 1, 40) * 10.0 ** rng.uniform(-16, -3, 40))
    tiny = [0.0, -0.0, 5e-324, -1e-310, 1e-300, 1e-100, -1e-17, 1e-9]
    huge = [np.nan, np.inf, -np.inf, 1.00001e5, -1e22, 1e300, 2e5, 1e308]
    angles = np.concatenate([tiny, huge, near, *(rng.uniform(-span, span, count) for span in spans)])
    found, rest, doubts = opened(tmp_path, angles)
    assert not doubts[:8].any() and doubts[8:16].all() and 0.01 < doubts[56:].mean() < 0.06
    wrong, tried = list[object](), set[float]()
    with mpmath.workprec(200):
        for angle, numbers, lows in zip(angles[16:], found[16:], rest[16:], strict=True):
            values, other = exact(angle)
            theirs = [abs(math.sin(angle)), abs(math.cos(angle))][:: -1 if other else 1]
            for cosine, value in enumerate(values):
                row = next(row for row in ROWS if row[3] == cosine and value <= row[0])
                below = float(value) if mpmath.mpf(float(value)) <= value else math.nextafter(float(value), 0.0)
                half = math.ulp(below) / 2 * 2.0**62
                unit = half if row is ROWS[0] else 1.0
                size = mpmath.mpf(numbers[cosine]) + mpmath.mpf(lows[cosine])
                errors = [
                    float(abs(abs(size) - value)) * 2.0**62 / unit,
                    (float(abs(theirs[cosine] - value)) * 2.0**62 - half) / unit,
                ]
                tried.add(row[0])
                if errors[0] > row[1] or errors[1] > row[2] or abs(lows[cosine]) > half * 2.0**-62:
                    wrong.append((angle, row, errors))
    assert wrong == [] and tried == {row[0] for row in ROWS}
