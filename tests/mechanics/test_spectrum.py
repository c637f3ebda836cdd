"""Poles of second-order systems against mpmath at 80 digits: none lost, all within their errors, slow ones right."""

import mpmath as mp
import numpy as np
import pytest
from exact_poles import poles as in_many_digits
from thinned import rare

import kronbot
from kronbot.description import limits
from kronbot.errors import ComputationError
from kronbot.mechanics.linear import spectrum
from kronbot.mechanics.linear.deflation import SecondOrder
from kronbot.mechanics.linear.null_spaces import null_space
from kronbot.mechanics.linear.refinement import plainly
from kronbot.mechanics.linear.spectrum import poles, spectra
from kronbot.mechanics.linear.stability import judge, keeps_energy_bounded

EYE, ZERO = np.eye, np.zeros


@pytest.fixture(autouse=True)
def many_digits():
    with mp.workdps(80):
        yield


def listed(found):
    """All 2n poles with their errors."""
    rows = []
    for pole in found:
        if pole.free:
            rows += [(0j, pole.error)] * pole.count
        else:
            rows += [(pole.value, pole.error), (pole.value.conjugate(), pole.error)][: pole.count]
    return sorted(rows, key=lambda row: -abs(row[0]))


def exact(M, D, K):
    return in_many_digits(*(mp.matrix(np.asarray(A, float).tolist()) for A in (M, D, K)))


def compared(M, D, K):
    """(found, error, exact) of every pole, fastest first; each exact one is taken once."""
    left, rows = exact(M, D, K), []
    found = listed(poles(SecondOrder.exact(*(np.asarray(A, float) for A in (M, D, K)))))
    assert len(found) == len(left) == 2 * len(M)
    for value, error in found:
        nearest = min(range(len(left)), key=lambda i: abs(left[i] - value))
        rows.append((value, error, left.pop(nearest)))
    return rows


def graded(rng, n, decades, kind):
    """M positive definite, K and D of a kind, scaled by random powers of ten on both sides."""

    def scaled(A, wide):
        scale = 10 ** rng.uniform(-wide, wide, n)
        return scale[:, None] * A * scale

    def normal():
        return rng.standard_normal((n, n))

    def positive():
        A = normal()
        return A @ A.T + 0.3 * EYE(n)

    stiffness = {"follower": lambda: normal() + 3 * EYE(n), "indefinite": lambda: (lambda A: A + A.T)(normal())}
    M = scaled(positive(), decades / 4)
    K = scaled(stiffness.get(kind, positive)(), decades / 2)
    damping = {"undamped": lambda: ZERO((n, n)), "gyroscopic": lambda: (lambda A: A - A.T)(normal())}
    return M, scaled(damping.get(kind, positive)(), decades / 3), K


@pytest.mark.parametrize("kind", ["undamped", "damped", "gyroscopic", "follower", "indefinite"])
@pytest.mark.parametrize("decades", [rare(0), rare(10), 20])
def test_graded_systems_against_many_digits(kind, decades):
    """Every pole within its error, and right to 1e-6 and far better, from the fastest to the slowest."""
    rng = np.random.default_rng(decades)
    for n in (2, 4):
        for value, error, true in compared(*graded(rng, n, decades, kind)):
            assert abs(value - true) <= error
            assert error <= 1e-9 * abs(true)


def test_bounds_are_no_larger_than_they_must_be():
    """Entries changed by their errors move some pole by a good part of its bound."""
    rng = np.random.default_rng(3)
    M, D, K = graded(rng, 4, 6, "damped")
    found = [pole for pole in poles(SecondOrder.exact(M, D, K)) if pole.value.imag > 0]
    best = np.zeros(len(found))
    for _ in range(6):
        changed = [mp.matrix((A * 1.0).tolist()) for A in (M, D, K)]
        for A in changed:
            for i in range(4):
                for j in range(4):
                    A[i, j] *= 1 + int(rng.choice([-1, 1])) * mp.mpf(2) ** -52
        values = in_many_digits(*changed)
        moved = [float(min(abs(v - pole.value) for v in values)) / pole.error for pole in found]
        best = np.maximum(best, moved)
    assert (best <= 1.001).all() and (best > 0.1).all()


def test_a_critically_damped_oscillator_has_a_double_pole_with_a_wide_error():
    """s = -1 twice: a rounding of the entries splits it by 1e-8, and the error says so."""
    for stiffness in (1.0, 1 + 1e-14, 1 - 1e-14):
        found = poles(SecondOrder.exact(EYE(1), 2 * EYE(1), stiffness * EYE(1)))
        assert sum(pole.count for pole in found) == 2
        for value, error, true in compared(EYE(1), 2 * EYE(1), stiffness * EYE(1)):
            assert abs(value - true) <= error < 1e-6
    assert str(judge(SecondOrder.exact(EYE(1), 2 * EYE(1), EYE(1)), found)) == "asymptotically stable"


def heavy_hub(damping):
    """Three equal light beams on a heavy hub: two equal poles, and a third beside them by 1e-9."""
    M = 0.01 * EYE(4)
    M[0], M[:, 0] = 0.003, 0.003
    M[0, 0] = 1e6
    return M, np.diag([damping, 0.1, 0.1, 0.1]) * (damping >= 0), np.diag([0, 1e4, 1e4, 1e4])


@pytest.mark.parametrize("damping", [-1, 0, 1])
def test_equal_beams_on_a_heavy_hub(damping):
    system = SecondOrder.exact(*heavy_hub(damping))
    found = poles(system)
    assert [pole.count for pole in found] == ([1, 1, 2, 2, 2] if damping == 1 else [2, 2, 2, 2])
    for value, error, true in compared(*heavy_hub(damping)):
        assert abs(value - true) <= error + 1e-60 and error <= 1e-14 * abs(value)
    word = {-1: "stable, undamped", 0: "asymptotically stable", 1: "asymptotically stable"}[damping]
    assert str(judge(system, found)) == word
    if damping == -1:
        assert all(pole.value.real == 0 and pole.growth_error == 0 for pole in found)


def test_two_joints_on_one_axis_leave_a_direction_free():
    """K = a [1, 1; 1, 1], up to its last digit: the pole at zero is exact, the other one is not disturbed."""
    M, K = np.array([[2, 0.1], [0.1, 1]]), np.full((2, 2), 1 / 3)
    K[1, 1] *= 1 + 4e-16
    omega = float(mp.sqrt(mp.mpf(1) / 3 * (M.sum() - 4 * 0.1) / (M[0, 0] * M[1, 1] - 0.01)))
    for D, counts in (
        (ZERO((2, 2)), [2, 2]),
        (np.diag([0.1, 0.2]), [1, 1, 2]),
        (np.full((2, 2), 0.1), [2, 2]),
        (np.array([[0.1, -0.1], [-0.1, 0.1]]), [1, 1, 2]),
    ):
        found = poles(SecondOrder.exact(M, D, K))
        assert found[0].value == 0 and found[0].free
        assert [pole.count for pole in found] == counts
        assert found[0].right / found[0].right[0] == pytest.approx([1, -1])
        if not D.any():
            assert found[1].value.imag == pytest.approx(omega, rel=1e-14)


def test_a_cyclic_coordinate_with_gyroscopic_terms_has_a_double_pole_at_zero():
    """Routh: its momentum is conserved, s^2 + 2 + 9 = 0 is left; damped it has one pole at zero."""
    D = np.array([[0.0, 3], [-3, 0]])
    found = poles(SecondOrder.exact(EYE(2), D, np.diag([0.0, 2])))
    assert [(pole.value.real, pole.count) for pole in found] == [(0, 2), (0, 2)]
    assert found[1].value.imag == pytest.approx(np.sqrt(11), rel=1e-15)
    D[0, 0] = 0.1
    found = poles(SecondOrder.exact(EYE(2), D, np.diag([0.0, 2])))
    assert [pole.count for pole in found] == [1, 1, 2]
    for value, error, true in compared(EYE(2), D, np.diag([0.0, 2])):
        assert abs(value - true) <= error


def test_a_load_just_below_buckling_is_undecided_and_says_which_pole():
    """K at 1e-15 of singular: its error holds zero. At 1e-13 it is stable, at -1e-13 unstable."""
    for share, word in ((1e-13, "stable, undamped"), (2.3e-16, "undecided, pole 1"), (-1e-13, "unstable")):
        K = np.array([[1, 1], [1, 1 + share]])
        errors = [1e-16 * EYE(2), ZERO((2, 2)), np.full((2, 2), 5e-16)]
        system = SecondOrder(EYE(2), ZERO((2, 2)), K, *errors, ZERO((2, 0)))
        found = poles(system)
        assert str(judge(system, found)).startswith(word)
        # + and - at the very place of the true ones
        true = sorted(exact(EYE(2), ZERO((2, 2)), K), key=abs)
        assert abs(abs(found[0].value) - abs(true[0])) <= found[0].error


def test_dead_moments_are_not_judged_by_energy():
    """Nikolai's column: K = k 1 + t [0, 1; -1, 0] flutters for any t, though its symmetric part is positive."""
    for damping, word in ((0.0, "unstable"), (1e-3, "unstable"), (1.0, "asymptotically stable")):
        system = SecondOrder.exact(EYE(2), damping * EYE(2), np.array([[1, 0.05], [-0.05, 1]]))
        assert judge(system, poles(system)).word == word


@pytest.mark.parametrize("size", [1e-8, 1e-12])
def test_weak_damping_is_told_from_none(size):
    """Re s = -d/2 of a mode that damping hardly meets is far below a rounding of |s|, and known all the same."""
    K, D = np.diag([1.0, 1e8]), np.array([[1.0, 0], [0, 0]])
    M = np.array([[1, size], [size, 1]])
    system = SecondOrder.exact(M, D, K)
    found = poles(system)
    fast = max(exact(M, D, K), key=lambda s: (abs(s), s.imag))
    assert found[-1].value.real == pytest.approx(float(fast.real), rel=1e-6)
    assert found[-1].growth_error < 1e-2 * abs(found[-1].value.real)
    assert judge(system, found).word == "asymptotically stable"
    system = SecondOrder.exact(np.diag([1.0, 1]), D, K)
    assert judge(system, poles(system)).word == "stable"


def test_what_refining_leaves_of_damping_elsewhere_is_none():
    """An oscillator beside a damped pair decays by nothing, not by the 1e-88 that its vector has of the others."""
    rng = np.random.default_rng(0)
    M, D, K = (np.diag(diagonal) for diagonal in ([1.0, 1.0, 8e-3], [0.3, 0.9, 0.0], [0, 0, 0.4905]))
    for _ in range(4):
        A, B = rng.standard_normal((2, 2, 2))
        M[:2, :2], K[:2, :2] = A @ A.T + EYE(2), 100 * B @ B.T
        alone = [s for s in poles(SecondOrder.exact(M, D, K)) if abs(s.value - 1j * np.sqrt(0.4905 / 8e-3)) < 1e-12]
        assert [pole.value.real for pole in alone] == [0]


def test_a_pole_at_zero_that_is_not_taken_out_has_numbers_all_the_same():
    for K in (0.0, 1e-300):
        system = SecondOrder(EYE(1), EYE(1), K * EYE(1), *3 * [ZERO((1, 1))], ZERO((1, 0)))
        with np.errstate(invalid="raise", divide="raise"):
            found = poles(system)
        assert [pole.value.real for pole in found] == pytest.approx([-K, -1], abs=1e-299)
        assert all(np.isfinite([pole.error, pole.condition, pole.backward_error]).all() for pole in found)


@pytest.mark.parametrize("seed", [0, *map(rare, range(1, 4))])
def test_growth_is_within_its_error_where_k_is_symmetric_but_for_rounding(seed):
    """Gyroscopic terms make shapes complex: what is skew in the last digits of K moves real parts then."""
    rng = np.random.default_rng(seed)
    G, K = rng.standard_normal((2, 3, 3))
    K = (K @ K.T + EYE(3)) * (1 + 1e-14 * np.sign(G - G.T))
    D = G - G.T + np.diag([1e-13, 0, 0])
    left = exact(EYE(3), D, K)
    errors = [1e-16 * np.abs(A) for A in (EYE(3), D)]
    for pole in poles(SecondOrder(EYE(3), D, K, *errors, 1e-14 * np.abs(K), ZERO((3, 0)))):
        nearest = min(left, key=lambda s: abs(s - pole.value))
        assert abs(nearest.real - pole.value.real) <= pole.growth_error < 1e-13


def test_ratios_of_undamped_systems_are_zero_to_the_last_bit():
    """With and without gyroscopic terms, also beside a rounding in K that is not symmetric."""
    rng = np.random.default_rng(1)
    for kind in ("undamped", "gyroscopic"):
        M, D, K = graded(rng, 5, 6, kind)
        K[0, 1] *= 1 + 4e-16
        system = SecondOrder.exact(M, D, K)
        found = poles(system)
        assert all(pole.value.real == 0 and pole.growth_error == 0 for pole in found)
        assert str(judge(system, found)) == "stable, undamped"


def test_many_equal_poles_of_many_coordinates():
    """Groups of twelve equal poles stay whole; all 2n are there."""
    n = 36
    rng = np.random.default_rng(0)
    turn = np.linalg.qr(rng.standard_normal((n, n)))[0]
    K = turn @ np.diag(np.repeat([1.0, 4.0, 1e6], 12)) @ turn.T
    found = poles(SecondOrder.exact(EYE(n), 0.02 * EYE(n), (K + K.T) / 2))
    assert sum(pole.count for pole in found) == 2 * n
    for omega, group in zip((1, 2, 1e3), np.split(np.array([pole.value for pole in found]), 3), strict=True):
        assert group == pytest.approx(complex(-0.01, np.sqrt(omega**2 - 1e-4)), rel=1e-8)


@pytest.mark.parametrize("beams", [4, 8])
def test_equal_beams_around_a_hub_keep_all_their_poles(beams):
    """A mode of two shapes: all beams but one swing against each other, undamped, at rounding's mercy."""
    coupling, rng = np.array([0.2, 0.05]), np.random.default_rng(beams)
    n = 1 + 2 * beams
    M = EYE(n) * 0.1
    M[0, 0] = 3.0
    M[0, 1:] = M[1:, 0] = np.tile(coupling, beams)
    K = np.diag([0.0, *np.tile([30.0, 1200.0], beams)])
    K[1:, 1:] *= 1 + 1e-16 * rng.standard_normal((n - 1, n - 1))
    found = poles(SecondOrder.exact(M, ZERO((n, n)), K))
    assert sum(pole.count for pole in found) == 2 * n
    values = np.array([pole.value for pole in found])
    for omega in np.sqrt([300.0, 12000.0]):
        assert (abs(values - 1j * omega) < 1e-10 * omega).sum() == beams - 1
    shapes = np.array([pole.right / abs(pole.right).max() for pole in found])
    assert np.linalg.matrix_rank(shapes, tol=1e-6) == n


@pytest.mark.parametrize("apart", [rare(1e-4), rare(1e-7), 1e-8, rare(1e-10), 1e-13])
def test_poles_near_each_other_are_right_however_near(apart):
    """Four squares of frequencies within some shares of each other, turned against the coordinates."""
    rng = np.random.default_rng(6)
    turn = np.linalg.qr(rng.standard_normal((4, 4)))[0]
    K = turn @ np.diag(4 * (1 + apart * np.array([0, 0.07, 0.9, 3]))) @ turn.T
    for D in (ZERO((4, 4)), 0.02 * K):
        for value, error, true in compared(EYE(4), (D + D.T) / 2, (K + K.T) / 2):
            assert abs(value - true) <= error < 1e-13 * abs(true)


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize(
    ("K", "D", "counts"),
    [
        # A momentum and an angle beside each other, gyroscopic and not symmetric: 2 + 1.
        ([[0, 0, 7], [0, 0, 0], [0, 0, 5]], [[2, 0, -3], [0, 0, 1], [3, -1, 0]], [1, 2]),
        # A force that a free coordinate makes: a chain of four.
        ([[0, 1, 0], [0, 0, 0], [0, 0, 4]], [[0, 0, 0], [0, 0, 0], [0, 0, 1]], [4]),
        ([[0, 1, 0], [0, 0, 0], [0, 0, 4]], [[0, 0, 0], [0, 1, 0], [0, 0, 1]], [3]),
        ([[0, 0], [0, 5]], [[2, 0.5], [0.5, 1]], [1]),
        ([[0, 0], [0, 5]], [[0, 0.5], [-0.5, 1]], [2]),
    ],
)
def test_poles_at_zero_are_counted_by_their_chains(K, D, counts, turned):
    """Against the rank of powers of the state matrix, in whole numbers; the others are right, none is near zero."""
    K, D = np.array(K, float), np.array(D, float)
    n = len(K)
    turn = EYE(n) + turned * np.diag(np.ones(n - 1), 1)  # free directions that are no coordinates
    M, D, K = turn.T @ turn, turn.T @ D @ turn, turn.T @ K @ turn
    found = poles(SecondOrder.exact(M, D, K))
    assert sorted(pole.count for pole in found if pole.free) == counts
    A = np.block([[ZERO((n, n)), EYE(n)], [-np.linalg.solve(M, K), -np.linalg.solve(M, D)]])
    assert 2 * n - np.linalg.matrix_rank(np.linalg.matrix_power(A, 2 * n), tol=1e-9) == sum(counts)
    left = sorted(exact(M, D, K), key=abs)[sum(counts) :]
    for value, error in listed(found)[: len(left)]:
        nearest = min(left, key=lambda s: abs(s - value))
        left.remove(nearest)
        assert abs(nearest - value) <= error < 1e-11 * abs(value)


@pytest.mark.parametrize("noise", [0.0, 5e-38])
def test_rounding_beside_zeros_of_damping_is_no_pole_at_zero(noise):
    """Momenta whose conservation a turn by pi in a float spoils beyond all digits: 3 + 1 + 1 zeros, not 6."""
    M, D, K = np.diag([4e-2, 2e-3, 3, 4e-4]), np.diag([3e2, 5e-5, 20, 0]), ZERO((4, 4))
    M[0, 3] = M[3, 0] = -1e-4
    D[0, 1:3], D[1:3, 0], K[0, 1:3] = -5e-5, -noise, 5e-7
    errors = [2e-16 * np.abs(A) for A in (M, D, K)]
    errors[1][1:3, 0] = 40 * noise
    found = listed(poles(SecondOrder(M, D, K, *errors, null_space(K, errors[2]))))
    assert not any(value for value, _ in found[3:])
    left = sorted(exact(M, D, K), key=lambda s: -abs(s))[:3]
    for (value, error), true in zip(found[:3], left, strict=True):
        assert abs(value - true) <= error < 1e-12 * abs(value)


def test_poles_that_never_settle_cost_no_other_one():
    """Three poles at zero that nothing takes out: those at zero are vague, the other three right to the last digits."""
    K, D = np.array([[0.0, 0, 7], [0, 0, 0], [0, 0, 5]]), np.array([[2.0, 0, -3], [0, 0, 1], [3, -1, 0]])
    system = SecondOrder(EYE(3), D, K, *(1e-16 * np.abs(A) for A in (EYE(3), D, K)), ZERO((3, 0)))
    with np.errstate(all="raise"):
        found = poles(system)
    assert sum(pole.count for pole in found) == 6
    for true in sorted(exact(EYE(3), D, K), key=abs)[3:]:
        best = min(found, key=lambda pole: min(abs(pole.value - true), abs(pole.value.conjugate() - true)))
        assert abs(abs(best.value) - abs(true)) <= best.error < 1e-13
    assert all(pole.error >= abs(pole.value) for pole in sorted(found, key=lambda pole: abs(pole.value))[:2])


def test_poles_stand_in_the_order_of_their_size():
    """Those at zero first; of damped and undamped systems over many decades."""
    chance = np.random.default_rng(7)
    for damping in (0.0, 0.3):
        A = chance.normal(size=(6, 6))
        K = A @ np.diag(10.0 ** np.arange(-6, 6, 2)) @ A.T
        K[0, :] = K[:, 0] = 0.0
        B = chance.normal(size=(6, 6))
        found = poles(SecondOrder.exact(np.eye(6) + 0.1 * B @ B.T, damping * K, K))
        sizes = [abs(pole.value) for pole in found]
        assert sizes[0] == 0 and sizes == sorted(sizes)


@pytest.mark.parametrize("seeds", [range(1), rare(range(1, 2))])
@pytest.mark.parametrize("kind", [rare("undamped"), "gyroscopic", rare("damped")])
def test_free_directions_that_share_their_largest_entry_are_all_taken_out(kind, seeds):
    """K of small rank, exact in integers, scaled unevenly: no direction overwrites another, no energy is doubted."""
    for seed in seeds:
        rng = np.random.default_rng(seed)
        n = int(rng.integers(3, 6))
        B, G = (rng.integers(-3, 4, (rows, n)).astype(float) for rows in (int(rng.integers(1, n - 1)), n))
        scale = 3.0 ** rng.integers(0, 7, n)
        D = {"undamped": ZERO((n, n)), "gyroscopic": G - G.T, "damped": G[:1].T @ G[:1]}[kind]
        M, D, K = (scale[:, None] * A * scale for A in (np.diag(rng.integers(1, 80, n)), D, B.T @ B))
        for found, error, true in compared(M, D, K):
            assert abs(found - true) <= error + 1e-25
            assert error <= 1e-9 * abs(found)
        assert keeps_energy_bounded(SecondOrder.exact(M, D, K))


@pytest.mark.parametrize("free", [rare(0), rare(1), 2])
@pytest.mark.parametrize("damping", ["none", "modal", "any", "spinning"])
def test_many_systems_at_once_have_the_poles_of_each(free, damping, monkeypatch):
    """To the bit of those alone, and within the errors of those of which no first step is enough."""
    rng = np.random.default_rng(free)
    systems = []
    for _ in range(5):
        A, B = rng.normal(size=(2, 6, 6))
        M, K = A @ A.T + np.eye(6), np.diag(np.geomspace(1, 1e6, 6)) + B @ B.T
        D = {"none": 0 * M, "modal": 1e-3 * K, "any": B @ B.T, "spinning": A - A.T + B @ B.T}[damping]
        K[:free] = K[:, :free] = 0
        if damping == "modal":
            D[:free] = D[:, :free] = 0
        systems.append(SecondOrder.exact(M, D, K))
    together, alone = spectra(systems), [poles(system) for system in systems]
    monkeypatch.setattr(spectrum, "plainly", lambda after, sizes: np.zeros(sizes, dtype=bool))
    for system, *found in zip(systems, together, alone, strict=True):
        for one, other, wanted in zip(*found, poles(system), strict=True):
            assert one.value == other.value and one.error == other.error and (one.right == other.right).all()
            assert abs(one.value - wanted.value) <= 1e-3 * wanted.error + 1e-15 * abs(wanted.value)
            assert one.error == pytest.approx(wanted.error, rel=1e-6) and one.count == wanted.count
            moved = [each.refined and each.refined.right_errors([each.place], np.eye(6)) for each in (one, other)]
            assert np.array_equal(*moved)


def test_a_first_step_settles_what_is_plainly_simple_and_nothing_else(monkeypatch):
    """Not two equal oscillators, but the one beside them; not a critically damped one; a slow one beside a fast one."""
    judged = []
    monkeypatch.setattr(spectrum, "plainly", lambda *given: judged.append(plainly(*given)) or judged[-1])
    for D, K, plain in (
        ([0, 0, 0], [1, 1, 4], [False, False, True]),
        ([2, 0, 0], [1, 2, 4], [False, False, True, True]),
        ([0, 0, 0], [1e-20, 1, 4], [True, True, True]),
    ):
        assert sum(pole.count for pole in poles(SecondOrder.exact(np.eye(3), np.diag(D), np.diag(K)))) == 6
        assert sorted(judged.pop().ravel().tolist()) == plain


@pytest.mark.parametrize("seed", [0, *map(rare, range(1, 4))])
def test_growth_of_a_mode_of_little_mass_is_within_its_error(seed):
    """x^H M x is what is left of far larger numbers, and its errors are those of the growth rate."""
    rng = np.random.default_rng(seed)
    T = rng.normal(size=(4, 4))
    M, K = (T.T @ np.diag(sizes) @ T for sizes in ([1, 2, 3, 1e-9], [1, 2, 5, 100]))
    M, K = (M + M.T) / 2, (K + K.T) / 2
    D = 1e-9 * EYE(4)
    left = exact(M, D, K)
    for pole in poles(SecondOrder.exact(M, D, K)):
        true = min(left, key=lambda s: abs(s - pole.value))
        assert abs(true.real - pole.value.real) <= pole.growth_error <= pole.error


@pytest.mark.parametrize("share", [1e-9, 1e-8, 5e-8])
def test_what_a_first_step_leaves_of_its_way_is_within_the_errors(share, monkeypatch):
    """The square of the step, 2.5e-15 of the pole at most: more than the errors of entries that are nearly exact."""
    rough = spectrum.rough
    monkeypatch.setattr(spectrum, "rough", lambda *a: (s := rough(*a))._replace(values=s.values * (1 + share)))
    M, D, K = np.array([[26.0, 0.1, 0.3], [0.1, 2, 0.5], [0.3, 0.5, 1]]), 0.02 * EYE(3), np.diag([-7.0, 9, -4])
    left = exact(M, D, K)
    for s, error in listed(poles(SecondOrder.exact(M, D, K))):
        assert min(abs(each - s) for each in left) <= error


@pytest.mark.parametrize("reciprocal", [True, False])
def test_vectors_are_right_however_rough_the_start(reciprocal, monkeypatch):
    """A step from 1e-9 beside takes the vectors along: those of a start that is right, within their errors."""
    rng = np.random.default_rng(0)
    A, B = rng.normal(size=(2, 4, 4))
    K = np.diag([1.0, 30, 400, 5000]) + (0 if reciprocal else A - A.T)
    system = SecondOrder.exact(np.eye(4) + 0.1 * A @ A.T, 1e-3 * B @ B.T, K)

    def vectors():
        return np.array([[side / side[0] for side in (pole.right, pole.left)] for pole in poles(system)])

    right = vectors()
    rough = spectrum.rough
    monkeypatch.setattr(spectrum, "rough", lambda *a: (s := rough(*a))._replace(values=s.values * (1 + 1e-9)))
    assert vectors() == pytest.approx(right, rel=1e-14, abs=1e-14)


@pytest.mark.parametrize("seed", [0, *map(rare, range(1, 4))])
def test_growth_of_poles_that_never_settle_is_within_its_error(seed):
    """Two double poles at zero that nothing takes out: vectors of no pole say nothing of how it grows."""
    T = np.random.default_rng(seed).integers(-3, 4, (3, 3)) + 4 * EYE(3)
    M, D, K = (T.T @ A @ T for A in (EYE(3), np.diag([0, 0, 1e-6]), np.diag([0, 0, 1e4])))
    left = exact(M, D, K)
    for pole in poles(SecondOrder(M, D, K, *(1e-16 * np.abs(A) for A in (M, D, K)), ZERO((3, 0)))):
        true = min(left, key=lambda s: abs(s - pole.value))
        assert abs(true - pole.value) <= pole.error
        assert abs(true.real - pole.value.real) <= pole.growth_error


@pytest.mark.parametrize("seed", range(4))
def test_poles_that_cannot_be_told_apart_may_grow_at_any_rate_of_their_space(seed):
    """K = M: any vectors will do, and a damping far below a rounding of the pole chooses those that it likes."""
    rng = np.random.default_rng(seed)
    A, D = rng.normal(size=(2, 3, 3))
    M, D = A @ A.T + EYE(3), 1e-18 * D
    left = [s for s in exact(M, D, M) if s.imag > 0]
    found = poles(SecondOrder.exact(M, D, M))
    assert len({pole.group for pole in found}) == 1
    for pole in found:
        assert all(abs(s.real - pole.value.real) <= pole.growth_error < 1e-17 for s in left)


@pytest.mark.parametrize("share", [0.2, 0.05])
def test_errors_hold_what_entries_do_to_two_poles_near_each_other(share):
    """Beside critical damping that is more than first order says, by 6 % here."""
    gap, zero = 2.0**-20, ZERO((1, 1))
    found = poles(SecondOrder(EYE(1), 2 * EYE(1), (1 - gap) * EYE(1), zero, zero, share * gap * EYE(1), ZERO((1, 0))))
    root = mp.sqrt(gap * (1 - mp.mpf(share)))
    for pole, s in zip(sorted(found, key=lambda pole: pole.value.real), (-1 - root, -1 + root), strict=True):
        assert abs(pole.value - s) <= pole.error * (1 + 1e-9) <= 2 * share * np.sqrt(gap)


@pytest.mark.slow
def test_a_mass_matrix_that_is_lost_in_its_errors_has_no_poles(monkeypatch):
    """Of an angle of 1e15 rad, as joints that follow others may have, no digit of M is known: that is told, where
    dividing by s went on for ever. One of 1e12 rad is known to 1e-4, and what that moves to what a bound by entries
    tells."""
    arm = kronbot.load("canadarm")
    monkeypatch.setattr(limits, "LARGEST", 1e15)
    with pytest.raises(ComputationError, match="case 2: no poles: errors of the mass matrix"):
        arm.modes(q=[[0, 1, 0], [0, 1e15, 0]])
    known, near = (arm.modes(q=[0, angle, 0]).arrays for angle in (1e12, np.nextafter(1e12, 2e12)))
    error = known["accuracy_locked"].values[0, 0]
    moved = abs(known["frequencies_locked"].values[0] - near["frequencies_locked"].values[0])
    assert moved < error < 1000 * moved


FIVE_BAR = """
kronbot: 1
name: five-bar
gravity: [0, -9.81, 0]
links:
  - {name: l-1, joint: {type: revolute, name: l1}, pose: {xyz: [-0.1, 0, 0]}, rigid: {mass: 0.3, com: [0.1, 0, 0]}}
  - {name: l-2, joint: {type: revolute, name: l2}, pose: {xyz: [0.2, 0, 0]}, rigid: {mass: 0.3, com: [0.15, 0, 0]}}
  - name: r-1
    parent: world
    joint: {type: revolute, name: r1}
    pose: {xyz: [0.1, 0, 0]}
    rigid: {mass: 0.3, com: [0.1, 0, 0]}
  - {name: r-2, joint: {type: revolute, name: r2}, pose: {xyz: [0.2, 0, 0]}, rigid: {mass: 0.3, com: [0.15, 0, 0]}}
elements:
  - {name: pin, type: spring, between: [l-2, r-2], points: [[0.3, 0, 0], [0.3, 0, 0]], stiffness: 1e5, rest: 0,
     damping: 20}
"""


def test_a_direction_that_one_digit_in_eight_gives_parts_poles_that_are_apart():
    """A damper 1e-9 m long: its direction is known to 1e-7. Where numbers are moved by 4e-12 of themselves it turns by
    4e-3, and bends: that was taken for rounding, and two poles for one."""
    found = kronbot.loads(FIVE_BAR).linearize(q=[2.2, -1.46884486, 0.9, 1.48766182])
    known = exact(*(found[word] for word in ("M_L", "D_L", "K_L")))
    errors, poles = found.arrays["accuracy"].values[:, 0], found.arrays["poles"].values
    slow = [(pole, error) for pole, error in zip(poles, errors, strict=True) if abs(pole) < 100]
    assert len({pole for pole, _ in slow}) == 4
    for pole, error in slow:
        nearest = min(float(abs(mp.mpc(pole) - s)) for s in known)
        assert nearest <= error < 0.01
