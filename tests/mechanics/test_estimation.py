"""Least squares with priors, bounds and losses, and what a Jacobian tells, against normal equations by hand."""

from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import least_squares

from kronbot.mechanics.estimation import knowledge
from kronbot.mechanics.estimation.beliefs import Beliefs, starts
from kronbot.mechanics.estimation.knowledge import Knowledge, following, outlying, unlikely
from kronbot.mechanics.estimation.least_squares import NoStart, fitted, solved
from kronbot.mechanics.estimation.plans import chosen
from kronbot.questions.fitting.words import ambiguous


def beliefs(start, lower=-np.inf, upper=np.inf, mean=np.nan, deviation=np.nan):
    whole = np.broadcast_arrays(np.array(start, dtype=float), lower, upper, mean, deviation)
    return Beliefs(*(np.array(each, dtype=float) for each in whole))


def linear(A, b):
    return lambda p: A @ p - b, lambda p: A


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(3)
    A = rng.normal(size=(30, 3)) * [1, 1e4, 1e-3]
    p = np.array([0.3, -2e-4, 700.0])
    return A, A @ p + rng.normal(size=30), p


def test_a_linear_problem_is_solved_by_its_normal_equations(problem):
    A, b, _ = problem
    fit = fitted(*linear(A, b), beliefs(np.zeros(3)), "linear")
    assert fit.converged
    np.testing.assert_allclose(fit.values, np.linalg.lstsq(A, b, rcond=None)[0], rtol=1e-9)
    known = Knowledge(fit.jacobian, np.ones(3), np.full(3, np.nan))
    np.testing.assert_allclose(known.covariance, np.linalg.inv(A.T @ A), rtol=1e-8)
    np.testing.assert_allclose(known.leverage(), np.diag(A @ np.linalg.inv(A.T @ A) @ A.T), atol=1e-12)
    assert known.rank == 3 and known.ambiguities == []


def test_standard_errors_are_numbers_where_their_squares_are_none(problem):
    A, _, _ = problem
    units = np.array([1e160, 1e-170, 1])
    near, far = (Knowledge(J, size, np.full(3, np.nan)) for J, size in ((A, np.ones(3)), (A / units, units)))
    np.testing.assert_allclose(far.errors, near.errors * units, rtol=1e-9)
    np.testing.assert_allclose(far.correlations, near.correlations, rtol=1e-9)


def test_priors_are_measurements_of_parameters(problem):
    A, b, p = problem
    mean, deviation = p * 1.1, np.abs(p) * 0.02
    fit = fitted(*linear(A, b), beliefs(p * 0, mean=mean, deviation=deviation), "linear")
    N = A.T @ A + np.diag(deviation**-2.0)
    np.testing.assert_allclose(fit.values, np.linalg.solve(N, A.T @ b + mean / deviation**2), rtol=1e-9)
    np.testing.assert_allclose(Knowledge(A, deviation, deviation).covariance, np.linalg.inv(N), rtol=1e-8)


def test_what_errors_do_not_know_is_at_home_wherever_a_search_begins(problem):
    A, b, _ = problem
    A = np.column_stack([A, np.zeros(30)])
    fit = fitted(*linear(A, b), beliefs([0.0, 0.0, 0.0, 5.0]), "linear", home=np.array([0, 0, 0, 3.0]))
    assert fit.values[3] == 3.0
    np.testing.assert_allclose(fit.values[:3], np.linalg.lstsq(A[:, :3], b, rcond=None)[0], rtol=1e-3)


def test_what_has_become_all_but_nothing_does_not_go_home():
    """Beside numbers of its own size a change of it is rounding: one as large as it was is not."""
    A, b = np.array([[3.0, 0], [1, 1e3], [1, -1e3]]), np.array([9.0, 3, 3])
    fit = fitted(*linear(A, b), beliefs([3.0, 1e-17]), "linear", home=np.array([1.0, 1.0]))
    assert fit.values == pytest.approx([3, 0], abs=1e-12) and np.abs(fit.errors).max() < 1e-12


@pytest.mark.parametrize(("loss", "size"), [("huber", 1.345), ("cauchy", 2.385)])
def test_losses_are_those_of_scipy_and_leave_priors_alone(problem, loss, size):
    A, b, _ = problem
    b = b + 40 * (np.arange(30) % 7 == 0)
    fit = fitted(*linear(A, b), beliefs(np.zeros(3)), loss)
    scale = [1, 1e4, 1e-3]
    known = least_squares(
        lambda x: A / scale @ x - b, np.zeros(3), lambda x: A / scale, loss=loss, f_scale=size, xtol=1e-14, ftol=1e-14
    )
    np.testing.assert_allclose(fit.values * scale, known.x, rtol=1e-6)
    far = beliefs([50.0], mean=0.0, deviation=1.0)  # a prior 50 deviations away pulls as a square does
    one = fitted(lambda p: 0 * p, lambda p: 0 * np.eye(1), far, loss)
    assert one.cost == pytest.approx(0, abs=1e-12) and one.values == pytest.approx([0], abs=1e-6)


def test_bounds_hold_and_the_rest_is_known_with_what_lies_on_them_held(problem):
    A, b, p = problem
    free = np.linalg.lstsq(A, b, rcond=None)[0]
    fit = fitted(*linear(A, b), beliefs([0.0, 0.0, 0.0], upper=[free[0] / 2, np.inf, np.inf]), "linear")
    held = np.linalg.lstsq(A[:, 1:], b - A[:, 0] * free[0] / 2, rcond=None)[0]
    np.testing.assert_allclose(fit.values, [free[0] / 2, *held], rtol=1e-6)
    on = beliefs(fit.values, upper=[free[0] / 2, np.inf, np.inf]).at_bound(fit.values)
    known = Knowledge(A, np.abs(fit.values), np.full(3, np.nan), frozenset(np.flatnonzero(on)))
    assert on.tolist() == [True, False, False] and np.isnan(known.errors[0])
    np.testing.assert_allclose(known.covariance[1:, 1:], np.linalg.inv(A[:, 1:].T @ A[:, 1:]), rtol=1e-8)


def test_what_no_error_depends_on_is_told_whatever_the_units_are():
    rng = np.random.default_rng(0)
    base = rng.normal(size=(20, 3))
    # a alone; 0.8 b + 0.6 c; d never; e + 1e6 f
    J = np.column_stack([base[:, 0], 0.8 * base[:, 1], 0.6 * base[:, 1], 0 * base[:, 0], base[:, 2], 1e6 * base[:, 2]])
    known = Knowledge(J, np.array([1, 1, 1, 1, 1, 1e-6]), np.full(6, np.nan))
    assert known.rank == 3
    told = {group.places: [(each.places, each.shares) for each in group.known] for group in known.ambiguities}
    assert set(told) == {(1, 2), (3,), (4, 5)} and told[3,] == []
    ((places, shares),) = told[1, 2]
    assert places == (1, 2) and shares == pytest.approx((0.8, 0.6))
    assert told[4, 5][0][1] == pytest.approx((1e-6, 1))
    assert np.isfinite(known.errors).tolist() == [True, False, False, False, False, False]
    # A prior makes them known; the data still tell the same.
    whole = Knowledge(J, np.ones(6), np.ones(6))
    assert np.isfinite(whole.errors).all() and whole.rank == 3
    N = J.T @ J + np.eye(6)
    np.testing.assert_allclose(whole.errors[:4] ** 2, np.diag(np.linalg.inv(N))[:4], rtol=1e-8)


def test_what_is_told_by_less_than_errors_of_what_was_computed_is_not_told():
    """a - b is seen by 1e-8 of what a + b is: to 1e-9 the data tell both, to 1e-7 the priors alone tell a - b."""
    rng = np.random.default_rng(2)
    U = np.linalg.qr(rng.normal(size=(20, 3)))[0]
    J = U @ np.diag([1e3, 1e3, 1e-5]) @ np.array([[1.0, 1, 0], [0, 0, 1], [1, -1, 0]])
    ones, none = np.ones(3), np.full(3, np.nan)
    assert Knowledge(J, ones, none).rank == 3 and np.isfinite(Knowledge(J, ones, none).errors).all()
    known = Knowledge(J, ones, none, accuracy=1e-7)
    assert known.rank == 2 and np.isfinite(known.errors).tolist() == [False, False, True]
    ((places, shares),) = [(each.places, each.shares) for each in known.ambiguities[0].known]
    assert places == (0, 1) and shares == pytest.approx((0.5**0.5, 0.5**0.5))
    assert known.singular_values[-1] == pytest.approx(1e-5 * 2**0.5, rel=1e-6)
    np.testing.assert_allclose(known.leverage(), (U[:, :2] ** 2).sum(axis=1), atol=1e-9)
    believed = Knowledge(J, ones, 1e-3 * ones, accuracy=1e-7)
    assert believed.errors[:2] == pytest.approx([1e-3 * (2 / 3) ** 0.5] * 2) and believed.rank == 2

    def errors(p):
        """Off by 10 along what the third column of U sees, for which a - b would have to be 1e6."""
        return J @ (p - [1.0, 2, 3]) + 10 * U[:, 2]

    start = beliefs(np.zeros(3))
    assert abs(fitted(errors, lambda p: J, start, "linear").values[0]) > 1e5
    found = fitted(errors, lambda p: J, start, "linear", accuracy=1e-7)
    assert found.converged and found.values == pytest.approx([1.5, 1.5, 3], abs=1e-6)


def test_combinations_of_many_are_reduced():
    """Of a + b, b + c two combinations are known: no more parameters stand in each than must."""
    J = np.array([[1.0, 1, 0], [0, 1, 1], [1, 2, 1], [2, 2, 0]])
    (group,) = Knowledge(J, np.ones(3), np.full(3, np.nan)).ambiguities
    assert group.places == (0, 1, 2) and sorted(len(each.places) for each in group.known) == [2, 2]
    for each in group.known:
        row = np.zeros(3)
        row[list(each.places)] = each.shares
        assert abs(row @ [1, -1, 1]) < 1e-12


def test_triangles_have_the_squares_of_their_matrix(monkeypatch):
    rng = np.random.default_rng(7)
    J, e = rng.normal(size=(50, 4)) * [1, 1e6, 1e-6, 1], rng.normal(size=50)
    J[:, 3] = J[:, 0] + 1e-7 * J[:, 3]
    monkeypatch.setattr(knowledge, "BLOCK", 13)
    R, A = knowledge.triangle(J, e), np.column_stack([J, e])
    assert R.shape == (5, 5)
    norms = np.sqrt((A**2).sum(axis=0))
    np.testing.assert_allclose((R / norms).T @ (R / norms), (A / norms).T @ (A / norms), atol=1e-13)
    known = knowledge.Knowledge(J, np.ones(4), np.array([np.nan, np.nan, 1e6, np.nan]))
    whole = np.concatenate([J, [[0, 0, 1e-6, 0]]])
    np.testing.assert_allclose(known.leverage(), (np.linalg.qr(whole)[0][:-1] ** 2).sum(axis=1), rtol=1e-6)


def test_fewer_measurements_than_parameters():
    known = Knowledge(np.array([[1.0, 2, 3]]), np.ones(3), np.full(3, np.nan))
    assert known.rank == 1 and np.isnan(known.errors).all()


def test_few_errors_may_be_large_by_chance():
    """Of four degrees of freedom one and a half times sigma is, sum of squares 9 beside 13.3; of forty it is not."""
    assert not unlikely(1.5, 4) and unlikely(1.85, 4) and unlikely(1.5, 40)


def test_words_of_one_group_say_nothing_of_another():
    """Many sums of one group are counted with it, and what else is unknown has nothing to do with them."""
    rng = np.random.default_rng(1)
    J = np.column_stack([rng.normal(size=(8, 10)), np.zeros(8)])
    names = [f"p{i}" for i in range(11)]
    many, blind = ambiguous(Knowledge(J, np.ones(11), np.full(11, np.nan)).ambiguities, names, False)
    assert many.endswith("8 sums, those of the array combinations; 2 combinations of them are left open")
    assert blind == "these data tell nothing of p10"


def test_an_outlying_row_is_found_among_chance():
    rng = np.random.default_rng(1)
    errors, rows = rng.normal(size=200), np.repeat(np.arange(1, 101), 2)
    assert outlying(errors, np.zeros(200), rows) == []
    errors[[70, 71]] += 5
    assert outlying(errors, np.zeros(200), rows) == [36]


def test_errors_that_are_not_finite_shorten_a_step_and_are_no_start():
    def root(p):
        with np.errstate(invalid="ignore"):
            return np.sqrt(p) - 0.1

    fit = fitted(root, lambda p: np.diag(0.5 / np.sqrt(p)), beliefs([9.0]), "linear")
    assert fit.values == pytest.approx([0.01])
    with pytest.raises(NoStart):
        fitted(root, lambda p: np.diag(p), beliefs([-1.0]), "linear")


def test_a_search_ends_well_only_where_derivatives_agree_with_errors(problem):
    """Derivatives of the other sign name no better step; a prior that is sharp leaves the rest its way; what grows
    beyond all bounds, and errors that are rounding, end well."""
    A, b, _ = problem
    start = beliefs([1.0, -3e-4, 500.0])
    right = fitted(lambda p: A @ p - b, lambda p: A, start, "linear")
    assert right.converged and right.promised == 0
    for loss in ("linear", "huber", "cauchy"):
        wrong = fitted(lambda p: A @ p - b, lambda p: -A, start, loss)
        assert not wrong.converged and wrong.values == pytest.approx(start.start, rel=1e-6)
        root = np.sqrt(wrong.weights)
        e, J = (A @ wrong.values - b) * root, A * root[:, None]
        g = J.T @ e
        assert 0.01 < wrong.promised == pytest.approx(g @ np.linalg.solve(J.T @ J, g) / (e @ e), rel=1e-5)
    sharp = beliefs([1.0, 1e-4, 500.0], mean=[np.nan, 1e-4, np.nan], deviation=[np.nan, 1e-15, np.nan])
    held = fitted(lambda p: A @ p - b, lambda p: A, sharp, "linear")
    left = np.linalg.lstsq(A[:, [0, 2]], b - 1e-4 * A[:, 1], rcond=None)[0]
    assert held.converged and held.values[[0, 2]] == pytest.approx(left, rel=1e-4)
    far = fitted(lambda p: 1 + 1 / p, lambda p: np.diag(-1 / p**2), beliefs([1.0], lower=0.1), "linear")
    assert far.converged and far.values > 1e3
    exact = A @ right.values
    assert fitted(lambda p: A @ p - exact, lambda p: A, start, "linear").converged


def _turned(p):
    """Where a link of the length p[1] whose zero is p[0] has its end (x, y), for four angles, in units of sigma."""
    angles = np.array([0, 0.3, 0.8, 1.2]) + p[0]
    return 1e4 * p[1] * np.concatenate([np.cos(angles), np.sin(angles)])


def _turned_slope(p):
    e = _turned(p)
    return np.column_stack([np.concatenate([-e[4:], e[:4]]), e / p[1]])


@pytest.mark.parametrize(
    ("start", "mean", "deviation"),
    [
        *(([tiny, 0.9], np.nan, np.nan) for tiny in (6.1e-17, 1e-300, 1e-12, -1e-9, 1e-6)),
        *(([0.1, 0.9], [mean, np.nan], [vague, np.nan]) for mean in (0.1, 0) for vague in (1e10, 1e18, 1e160, 1e308)),
        *(([0.0, 0.9], [0, np.nan], [vague, np.nan]) for vague in (1e10, 1e18, 1e160, 1e308)),
        ([0.1, 0.9], [np.nan, 1], [np.nan, 1e14]),
    ],
)
def test_starts_near_0_and_vague_priors_are_as_none(start, mean, deviation):
    """They are no size of what a parameter may change by, and what errors tell of the others is none of theirs."""
    right = np.array([0.02, 0.91])
    known = beliefs(start, lower=[-1, 0], upper=[1e100, np.inf], mean=mean, deviation=deviation)

    def errors(p):
        return _turned(p) - _turned(right)

    known = known.measured(errors(known.start), _turned_slope(known.start))
    fit = fitted(errors, _turned_slope, known, "linear")
    assert fit.converged and fit.values == pytest.approx(right, rel=1e-6)
    told = Knowledge(fit.jacobian, known.scale, known.deviation)
    assert told.rank == 2 and told.errors == pytest.approx([0.5e-4 / 0.91, 0.5e-4], rel=1e-6)


@pytest.mark.parametrize("far", [1e9, 3e9, 1e12, 1e100])
def test_a_prior_far_from_the_start_is_reached(far):
    """Though each step takes less of such a cost than ends a search; the others are where errors want them."""

    def errors(p):
        return 1e3 * (np.array([1, 2, 3]) * p[1] ** 2 - np.array([4, 8, 12]))

    def slope(p):
        return 2e3 * np.outer([1, 2, 3], [0, p[1]])

    known = beliefs([1.0, 0.9], mean=[far, np.nan], deviation=[1e-9 * far, np.nan])
    fit = fitted(errors, slope, known.measured(errors(known.start), slope(known.start)), "linear")
    assert fit.converged and fit.values == pytest.approx([far, 2], rel=1e-8)


@pytest.mark.parametrize("start", [[1, 1, 1], [1e11, 1, 1], [1, 1e14, -1e20], [1e120, 1e140, 1e-20]])
def test_a_linear_problem_has_no_start(problem, start):
    A, b, p = problem
    known = beliefs(start)
    fit = solved(*linear(A, b), known.measured(A @ known.start - b, A))
    right = np.linalg.lstsq(A, b, rcond=None)[0]
    assert fit.values == pytest.approx(right, rel=1e-9)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # what SciPy makes of squares of 1e200
@pytest.mark.parametrize("start", [[1, -1, 1], [1e12, -1, 1], [1, -1e14, 1], [1e100, -1, 1e-12], [1e30, -1e30, 1e30]])
def test_a_search_from_far_away_ends_where_one_from_nearby_does(problem, start):
    """Neither a bound that was near by the scale of the start, nor what errors felt nothing of there, stays behind."""
    A, b, p = problem
    known = beliefs(start, lower=[0, -np.inf, 0])
    fit = fitted(*linear(A, b), known.measured(A @ known.start - b, A), "linear", home=known.start)
    right = np.linalg.lstsq(A, b, rcond=None)[0]
    assert fit.converged and fit.values == pytest.approx(right, rel=1e-6)


def test_starts_are_the_first_value_and_draws_within_bounds():
    known = beliefs([1.0, 2.0, 0.0], lower=[0, -np.inf, -5], upper=[4, np.inf, 5], mean=[np.nan, 7, np.nan])
    known = Beliefs(known.start, known.lower, known.upper, known.mean, np.array([np.nan, 0.5, np.nan]))
    points = starts(known, 65, 7)
    assert points.shape == (65, 3) and points[0].tolist() == [1, 2, 0]
    assert ((points >= known.lower) & (points <= known.upper)).all()
    assert points[1:, 1].mean() == pytest.approx(7, abs=0.02) and points[1:, 1].std() == pytest.approx(0.5, abs=0.05)
    assert points[1:, 2].min() < -4 and points[1:, 2].max() > 4
    assert (points == starts(known, 65, 7)).all() and not (points == starts(known, 65, 8)).all()


def _of_planar_arms(q):
    """How the tip (x, y) of an arm of two links goes with its lengths and the zeros of its joints, at angles (N, 2)."""
    a, b = q[:, 0], q.sum(axis=1)
    x = [np.cos(a), np.cos(b), -np.sin(a) - np.sin(b), -np.sin(b)]
    y = [np.sin(a), np.sin(b), np.cos(a) + np.cos(b), np.cos(b)]
    return np.array([x, y]).transpose(2, 0, 1)


def test_a_plan_is_the_best_of_all_where_all_can_be_tried():
    rng = np.random.default_rng(6)
    blocks = rng.normal(size=(9, 2, 3)) * [1, 1e5, 1e-4]

    def information(rows):
        J = blocks[list(rows)].reshape(-1, 3) * [1, 1e-5, 1e4]
        return np.linalg.slogdet(J.T @ J)[1]

    best = max(combinations(range(9), 4), key=information)
    assert chosen(blocks, np.zeros((3, 3)), 4) == list(best)
    lost = []
    for _ in range(12):  # no single exchange leads on from where the first ones end: several beginnings are wanted
        J = _of_planar_arms(rng.uniform(-2, 2, (12, 2)))
        sizes = {rows: np.linalg.slogdet(sum(J[i].T @ J[i] for i in rows))[1] for rows in combinations(range(12), 4)}
        lost.append(max(sizes.values()) - sizes[tuple(chosen(J, np.zeros((4, 4)), 4))])
    assert np.count_nonzero(np.array(lost) < 1e-9) >= 10 and np.exp(-max(lost) / 4) > 0.999
    # Where much is known of the first two, rows that tell of the third.
    alone = np.zeros((6, 1, 3))
    alone[range(6), 0, [0, 1, 2, 0, 1, 2]] = [1, 1, 1, 2, 2, 1.5]
    assert chosen(alone, np.diag([100.0, 100, 0]), 2) == [2, 5]


def test_what_the_data_do_not_see_takes_no_degree_of_freedom():
    """Leverages and the rank count the same: a column of rounding, and one that is made of others, are told nothing."""
    rng = np.random.default_rng(7)
    A = rng.normal(size=(24, 4)) * [1e2, 1e5, 1.0, 1e3]
    whole = np.column_stack([A, 1e-13 * rng.normal(size=24), A[:, 0] - 3 * A[:, 2]])
    known = Knowledge(whole, np.ones(6), np.full(6, np.nan))
    assert known.rank == 4
    np.testing.assert_allclose(known.leverage(), Knowledge(A, np.ones(4), np.full(4, np.nan)).leverage(), atol=1e-9)


def test_errors_follow_one_another_where_chance_does_not_make_it():
    """Of independent ones, however large each is, none do of a thousand; between records there are no neighbours."""
    rng, none = np.random.default_rng(5), np.zeros(200)
    sizes = np.exp(3 * np.sin(np.arange(200) / 30))
    alone = [
        rng.normal(size=200),
        rng.standard_cauchy(200),
        rng.normal(size=200) * sizes,
        np.sign(rng.normal(size=200)),
    ]
    assert not any(following(each * rng.choice([-1, 1], 200), none, none) for each in alone for _ in range(250))
    # Where e = 0.8 e before + white, as of a drift.
    drifting = np.convolve(rng.normal(size=200), 0.8 ** np.arange(200))[:200]
    by_hand = np.corrcoef(drifting[:-1], drifting[1:])[0, 1]
    assert following(drifting, none, none) == pytest.approx(by_hand, abs=0.05) and by_hand > 0.6
    assert following(drifting, none, np.arange(200)) == following(drifting[:6], none[:6], none[:6]) == 0
    # A fit with nearly as many parameters correlates what it leaves.
    assert following(drifting, np.full(200, 0.9), none) == 0
    pairs = np.repeat(rng.normal(size=100), 2)
    assert following(pairs, none, np.repeat(np.arange(100), 2)) == pytest.approx(1)
