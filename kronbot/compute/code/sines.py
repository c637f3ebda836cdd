"""C for sines and cosines of lanes with the bits of the C library, which is asked only where these are in doubt.

In glibc from 2.28 on sin, cos and sincos round the sum of two numbers, which lacks at most d (below) of the exact
result; newer versions round the exact one. Here both are computed as a + b, a the double nearest to it, with errors of
some 2^-62. Where the middle between a and its neighbour is farther from a + b than that error and d, the library's
result is a, too. About one in 30 is nearer: these lanes are given to the library, as are angles beyond 1e5 and NaN.

d, by the steps of s_sin.c, with or without contraction into fused operations (which only leaves roundings out): Results
from 1/8 on are a table's sine or cosine of the nearest multiple of 1/128 and a correction below 2^-8, in which three
roundings matter: of the argument's rest s, of its product with the table's entry, and of the sum, each 2^-62 at most,
and other steps together 2^-67. So d = 3.1 2^-62. Cosines of arguments in two parts, which are larger than 0.65, round s
twice, once more where it reaches 2^-8: d = 4.3 2^-62. Smaller sines are polynomials x + t with t < 0.00265 x, in which
six roundings matter: d = 6 2^-53 0.00265 x, 1/31 of half the distance of two doubles.

The error of a + b: k is the whole number next to 2 x / pi, r = x - k pi/2 with pi/2 in three parts. The first product
is subtracted without rounding: all are multiples of 2^-53 and the difference is less than 1. The second is known with
its error, and so is its difference from the first, a multiple of its last place. With u = r^2,

    sin r = r + r u (s + p(u)),    cos r = 1 + u (u (c + q(u)) - 1/2),

where p(0) = q(0) = 0, the best ones with such s and c: they err by 2^-63.2 r and 2^-69. But for p and q all are pairs
of numbers. Roundings of p make at most 0.53 2^-60 u r up to 1/2 and 1.12 2^-60 u r above: half its last place, and u
times that of its first coefficient. Those of q make 0.6 2^-62. With d, in units of 2^-62, beside half the distance of
doubles, and as parts of it:

    sines to 1/8                               0.034
    sines to 1/4          3.1 + 0.12 of  64    0.051
    sines to 1/2          3.1 + 0.55 of 128    0.029
    sines to sqrt(1/2)    4.3 + 2.6  of 256    0.027
    cosines               4.3 + 0.6  of 256    0.020

Safe is a b of at most half the distance times (1 - part): where a + b / (1 - part) is rounded to a. Below powers of two
distances are half as large, and the sum is judged by these. Zeros, and angles whose sine is the angle, are safe. So
near to other multiples of pi/2 that results are below 2^-30, the library's own pi/2 counts, of 2^-109: it is asked. All
this is for rounding to nearest, and for x86-64, where nothing is more precise than a double for a while.
"""

from __future__ import annotations

# turn(x, y, count) puts sines and cosines of angles x[i] into y[i][0] and y[i][1]. Lanes of 8 angles that are in doubt
# are bits of one number, and come after all is done: a branch that is guessed wrong waits for what it depends on.
TEXT = """
#if defined(__GLIBC__) && defined(__x86_64__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 28) \\
    && (LANES == 8 && defined(__AVX512F__) || LANES == 4 && defined(__AVX2__) && defined(__FMA__))
#define FUSED(name, op) static inline lanes name(lanes x, lanes y, lanes z) \\
    { __asm__(op " %2, %1, %0" : "+v"(z) : "v"(x), "v"(y)); return z; }
FUSED(madd, "vfmadd231pd")
FUSED(msub, "vfmsub231pd")
#if LANES == 8
#define TEST(name, op, kind) static inline unsigned name(kind x, kind y) \\
    { unsigned short k; __asm__(op " %2, %1, %0" : "=k"(k) : "v"(x), "v"(y)); return k; }
TEST(differ, "vcmppd $4,", lanes)
TEST(beyond, "vcmppd $22,", lanes)
TEST(common, "vptestmq", mask)
#else
static inline unsigned lowest(mask x)
{
    unsigned k;
    __asm__("vmovmskpd %1, %0" : "=r"(k) : "x"(x << 63));
    return k;
}
static inline unsigned differ(lanes x, lanes y) { return lowest(x != y); }
static inline unsigned beyond(lanes x, lanes y) { return lowest(~(x <= y)); }
static inline unsigned common(mask x, mask y) { return lowest(x & y); }
#endif
static inline __attribute__((always_inline)) unsigned long long doubtful(lanes x, lanes *sine, lanes *cosine)
{
    const mask sign = (mask)spread(-0.0), one = (mask)spread(0.0) + 1;
    const lanes shift = spread(0x1.8p52), size = (lanes)((mask)x & ~sign);
    const lanes turns = madd(size, spread(0x1.45f306dc9c883p-1), shift), k = turns - shift;
    const mask n = (mask)turns, odd = n & one;
    lanes r = madd(k, spread(-0x1.921fb54442d18p+0), size), p = k * 0x1.1a62633145c07p-54, r0 = r - p;
    lanes r1 = r - r0 - p - madd(k, spread(-0x1.f1976b7ed8fbcp-110), msub(k, spread(0x1.1a62633145c07p-54), p));
    lanes u = r0 * r0, u1 = madd(r0 + r0, r1, msub(r0, r0, u));
    p = madd(spread(-0x1.9f70b2b838dc6p-41), u, spread(0x1.6108b35747955p-33));
    p = madd(p, u, spread(-0x1.ae642ad587917p-26));
    p = madd(p, u, spread(0x1.71de3a32a9110p-19));
    p = madd(p, u, spread(-0x1.a01a019ffdba1p-13));
    p = madd(p, u, spread(0x1.1111111111067p-7));
    p = madd(u, p, u1 * p);
    lanes w = p + -0x1.5555555555555p-3, w1 = -0x1.5555555555555p-3 - w + p;
    lanes g = u * w, g1 = madd(u1, w, madd(u, w1, msub(u, w, g)));
    lanes h = r0 * g, h1 = madd(r1, g, madd(r0, g1, msub(r0, g, h)));
    lanes a = r0 + h, b = r0 - a + h + (r1 + h1), s = a + b, s1 = a - s + b;
    p = madd(spread(0x1.9c323a98f1f9cp-45), u, spread(-0x1.93713a7cb3085p-37));
    p = madd(p, u, spread(0x1.1eed6d03908c9p-29));
    p = madd(p, u, spread(-0x1.27e4fb58371c2p-22));
    p = madd(p, u, spread(0x1.a01a019ffb54bp-16));
    p = madd(p, u, spread(-0x1.6c16c16c16b2ap-10)) * u;
    w = p + 0x1.5555555555555p-5, w1 = 0x1.5555555555555p-5 - w + p;
    g = u * w, g1 = madd(u1, w, madd(u, w1, msub(u, w, g)));
    w = g - 0.5, w1 = -0.5 - w + g + g1;
    g = u * w, g1 = madd(u1, w, madd(u, w1, msub(u, w, g)));
    a = g + 1, b = 1 - a + g + g1;
    lanes c = a + b, c1 = a - c + b;
    lanes wide = where(u < spread(0.0645), spread(1 / (1 - 0.051) - 1 / (1 - 0.029))) + 1 / (1 - 0.029);
    unsigned long long in_s = differ(s, madd(s1, wide, s)), in_c = differ(c, madd(c1, spread(1 / (1 - 0.02)), c));
    in_s |= differ(k, spread(0.0)) & ~beyond((lanes)((mask)s & ~sign), spread(0x1p-30));
    unsigned long long far = beyond(size, spread(1e5)), other = common(odd, odd) & (in_s ^ in_c);
    mask swap = ((mask)s ^ (mask)c) & -odd;
    *sine = (lanes)((mask)s ^ swap ^ ((n << 62 ^ (mask)x) & sign));
    *cosine = (lanes)((mask)c ^ swap ^ ((n + one) << 62 & sign));
    return in_s ^ other | far | (in_c ^ other | far) << 32;
}
#define AGAIN(name, lane, k) for (; lane; lane &= lane - 1) { \\
    int i = __builtin_ctzll(lane) / 8, l = __builtin_ctzll(lane) % 8; \\
    ((double *)&y[i][k])[l] = name(((double *)x[i])[l]); }
static void turn(const lanes *const *x, lanes *const *y, int count)
{
    for (; count > 0; count -= 8, x += 8, y += 8) {
        unsigned long long in_s = 0, in_c = 0;
        for (int i = 0; i < 8 && i < count; i++) {
            unsigned long long lane = doubtful(*x[i], &y[i][0], &y[i][1]);
            in_s |= (lane & 255) << 8 * i, in_c |= lane >> 32 << 8 * i;
        }
        AGAIN(sin, in_s, 0)
        AGAIN(cos, in_c, 1)
    }
}
static lanes turned(lanes x, lanes *y)
{
    const lanes *from = &x;
    lanes both[2], *to = both;
    turn(&from, &to, 1);
    *y = both[1];
    return both[0];
}
static lanes all_sin(lanes x) { return turned(x, &x); }
static lanes all_cos(lanes x) { turned(x, &x); return x; }
#else
static lanes turned(lanes x, lanes *y)
{
    double *s = (double *)&x, *c = (double *)y;
    for (int l = 0; l < LANES; l++) {
#ifdef __GLIBC__
        sincos(s[l], &s[l], &c[l]);
#else
        c[l] = cos(s[l]);
        s[l] = sin(s[l]);
#endif
    }
    return x;
}
static void turn(const lanes *const *x, lanes *const *y, int count)
{
    for (int i = 0; i < count; i++) y[i][0] = turned(*x[i], &y[i][1]);
}
UNARY(sin)
UNARY(cos)
#endif
""".strip()
