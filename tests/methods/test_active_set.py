"""Methods that keep an active set: certificates, rates, drift, checkpoints, and the weights themselves."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from tests.methods.properties import check_certificates, check_resumption
from tests.problems import PROBLEMS, case

import frankwolfe as fw
from frankwolfe.atoms import Atom, OneHot, Sparse
from frankwolfe.methods.active_set import active_set
from frankwolfe.methods.active_set.active_set import ActiveSet
from frankwolfe.methods.active_set.atom_bundle import Bundle
from frankwolfe.methods.active_set.away import AwayFrankWolfe
from frankwolfe.methods.active_set.blended import BlendedConditionalGradients
from frankwolfe.methods.active_set.blended_pairwise import BlendedPairwise
from frankwolfe.methods.active_set.fully_corrective import FullyCorrective
from frankwolfe.methods.active_set.lazy import Lazy
from frankwolfe.methods.active_set.pairwise import PairwiseFrankWolfe
from frankwolfe.methods.step_sizes import Averaging
from frankwolfe.points import Point
from frankwolfe.problem import Problem

METHODS = {
    "away": AwayFrankWolfe(),
    "pairwise": PairwiseFrankWolfe(),
    "bpcg": BlendedPairwise(),
    "bcg": BlendedConditionalGradients(),
    "fcfw": FullyCorrective(),
    "lazy": Lazy(),
}
VARIANTS = {
    "away-short": AwayFrankWolfe(fw.ShortStep()),
    "away-backtracking": AwayFrankWolfe(fw.Backtracking()),
    "pairwise-backtracking": PairwiseFrankWolfe(fw.Backtracking()),
    "bpcg-1": BlendedPairwise(fw.ShortStep(), K=1.0),
    "bcg-short": BlendedConditionalGradients(fw.ShortStep()),
    "lazy-fw": Lazy(fw.FrankWolfe(fw.ExactLineSearch())),
    "lazy-away": Lazy(AwayFrankWolfe(), K=1.0, size=5),
    "lazy-fcfw": Lazy(FullyCorrective()),
}
ALL = {**METHODS, **VARIANTS}
SLACK = 1e-12


def dense(coords) -> np.ndarray:
    return coords if isinstance(coords, np.ndarray) else coords.toarray()


def applies(label: str, name: str) -> bool:
    return not (name.startswith("function") and "fcfw" in label)


def setting(name: str) -> tuple[Problem, Point]:
    objective, domain, _, x0 = case(name)
    problem = Problem(objective.oriented(domain.sparse_atoms), domain)
    return problem, problem.start(x0, False)


FORMS = ["logistic-l2", "logistic-l1", "quadratic-simplex", "function-l2", "completion-nuclear"]
POLYTOPES = ["squares-l1", "squares-box", "quadratic-simplex", "logistic-l1", "logistic-l1-vertex", "logistic-linf"]


@pytest.mark.parametrize("label", [label for label in ALL if label != "lazy-fw"])
@pytest.mark.parametrize("name", [*POLYTOPES, "logistic-l2"])
def test_reaches_a_certified_optimum(label: str, name: str) -> None:
    objective, domain, optimum, x0 = case(name)
    result = fw.minimize(objective, domain, x0, method=ALL[label], tol=0, rtol=1e-6, max_iter=1500)
    assert result.success, result
    assert result.fun - optimum <= 1e-6 * max(1, abs(optimum)) + SLACK
    assert result.lower_bound <= optimum + SLACK


def test_low_rank_completion() -> None:
    """Curved sets: corrective steps reach 1e-6 fast, the others go at the Frank-Wolfe rate; nothing is ever m x n."""
    objective, domain, optimum, _ = case("completion-nuclear")
    result = fw.minimize(objective, domain, method=FullyCorrective(), tol=0, rtol=1e-6, max_iter=150)
    assert result.success
    assert isinstance(result.x, fw.LowRank)
    for label in ("away", "pairwise", "bpcg", "bcg", "lazy"):
        slow = fw.minimize(objective, domain, method=METHODS[label], tol=0, max_iter=250)
        curvature = objective.smoothness * domain.diameter() ** 2
        assert 0 <= slow.fun - optimum <= 0.05 * 2 * curvature / 252, label


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("label", METHODS)
def test_certificates_and_feasibility_at_every_step(label: str, name: str) -> None:
    if not applies(label, name):
        pytest.skip("fcfw needs curvature")
    result = check_certificates(METHODS[label], case(name), 50)
    assert np.all(np.diff(result.trace.fun) <= 10 * SLACK * (1 + abs(case(name).optimum))), "every step descends"


def face_problem() -> tuple[fw.Quadratic, fw.Simplex, float]:
    """A strongly convex quadratic on the simplex, its optimum inside a face of dimension 9 and not in the middle."""
    rng = np.random.default_rng(3)
    Q = np.diag(np.geomspace(1.0, 4.0, 30))
    solution = np.zeros(30)
    solution[:10] = rng.dirichlet(3 * np.ones(10))
    multipliers = np.concatenate([np.zeros(10), rng.uniform(0.5, 1.0, 20)])
    c = multipliers - Q @ solution
    optimum = 0.5 * solution @ Q @ solution + c @ solution
    return fw.Quadratic(Q, c), fw.Simplex(30), float(optimum)


@pytest.mark.parametrize("label", [*METHODS, "away-short", "pairwise-backtracking"])
def test_linear_convergence_where_frank_wolfe_is_sublinear(label: str) -> None:
    """The optimum lies inside a face, the start outside: log h falls like k; for Frank-Wolfe like log k, slope -1."""
    objective, domain, optimum = face_problem()
    x0 = np.full(30, 1 / 30)
    h = fw.minimize(objective, domain, x0, method=ALL[label], tol=0, max_iter=400).trace.fun - optimum
    reached = int(np.argmax(h < 1e-12))
    assert 0 < reached < 300
    if label != "fcfw":  # a dozen steps are no line
        quarters = np.linspace(0, reached - 1, 5).astype(int)
        assert np.all(np.diff(np.log(h[quarters])) < -2), "each quarter of the way gains as the others do, or more"
        slope = np.polyfit(np.arange(reached), np.log(h[:reached]), 1)[0]
        assert slope < -0.1, "a tenth off with every step"

    plain = fw.minimize(objective, domain, x0, method=fw.FrankWolfe(fw.ExactLineSearch()), tol=0, max_iter=1000)
    tail = np.arange(100, 1000)
    rate = np.polyfit(np.log(tail), np.log(plain.trace.fun[tail] - optimum), 1)[0]
    assert -1.6 < rate < -0.6
    assert plain.trace.fun[reached] - optimum > 1e-6


def random_moves(active: ActiveSet, vertices: list[Point], count: int, seed: int) -> Iterator[ActiveSet]:
    """Move weight about at random, and stop to be looked at now and then.

    Frank-Wolfe steps leave next to nothing of what was there, and away steps that drop the new atom bring it back: that
    magnifies rounding errors.
    """
    rng = np.random.default_rng(seed)
    kinds, picks, steps = rng.integers(3, size=count), rng.integers(10**9, size=(count, 2)), rng.random(count)
    for n, (kind, (i, j), step) in enumerate(zip(kinds.tolist(), picks.tolist(), steps.tolist(), strict=True), 1):
        v = vertices[j % len(vertices)]
        if kind == 0:
            active = active.moved(active.toward(v), 1 - 10 ** (-5 * step))
        elif active.atoms.size > 2:
            a = int(np.argmax(active.weights)) if i % 2 else i % active.atoms.size
            move = active.away(a) if kind == 1 else active.exchange(a, v)
            active = active.moved(move, min(2 * step, 1.0) * move.cap)
        if n % (count // 100) == 0:
            yield active


def drift(active: ActiveSet, A: np.ndarray) -> tuple[float, float, float]:
    """Return how far weights are from summing to one, and point and image from the sums over the atoms."""
    atoms = np.stack([dense(p.coords) for p in active.atoms.points])
    x = active.weights @ atoms
    return abs(active.weights.sum() - 1), np.abs(active.x.coords - x).max(), np.abs(active.x.image - A @ x).max()


@pytest.mark.parametrize(("form", "count"), [("dense", 100_000), ("one-hot", 30_000), ("sparse", 10_000)])
def test_no_drift(form: str, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """1e5 moves, away steps that magnify errors among them: weights to 1e-12, point and image to 1e-10."""
    rng = np.random.default_rng(0)
    A = rng.standard_normal((8, 5))
    problem = Problem(fw.LeastSquares(A, np.zeros(8)), fw.L2Ball(10.0))
    shape = (5,)
    coords = {
        "dense": list(rng.standard_normal((12, 5))),
        "one-hot": [OneHot(i % 5, np.float64((-1.0) ** i), shape) for i in range(10)],
        "sparse": [
            Sparse(np.sort(rng.choice(5, 1 + i % 3, False)), rng.standard_normal(1 + i % 3), shape) for i in range(9)
        ],
    }[form]
    vertices = [Point.at(c) for c in coords]
    for v in vertices:
        problem.value(v)
    start = Point.at(np.full(5, 0.1))
    problem.value(start)
    for active in random_moves(ActiveSet.at(start), vertices, count, seed=1):
        weights, point, image = drift(active, A)
        assert weights <= 1e-12
        assert point <= 1e-10
        assert image <= 1e-10
        assert active.weights.min() > 0
    if form == "dense":  # the test can tell: without summing up afresh, the point drifts away
        monkeypatch.setattr(active_set, "ROUNDINGS", np.inf)
        loose = random_moves(ActiveSet.at(start), vertices, 2000, seed=1)
        assert max(max(drift(active, A)[1:]) for active in loose) > 1e-10


@pytest.mark.parametrize("label", ["away", "pairwise", "bpcg"])
def test_no_drift_in_a_run(label: str) -> None:
    """A long run of a method: the iterate is the weighted sum of its atoms."""
    A = np.random.default_rng(0).standard_normal((30, 6))
    b = A @ np.array([0.5, -0.2, 0.1, 0.05, 0.0, 0.0])
    result = fw.minimize(fw.LeastSquares(A, b), fw.LInfBall(0.4), method=METHODS[label], tol=0, max_iter=4000)
    x = result.weights @ np.stack([a.toarray() if isinstance(a, Atom) else a for a in result.atoms])
    assert result.weights.sum() == pytest.approx(1, abs=1e-12)
    np.testing.assert_allclose(result.x, x, atol=1e-10, rtol=0)


@pytest.mark.parametrize("label", ALL)
@pytest.mark.parametrize("name", FORMS)
def test_save_and_load_at_every_iteration(label: str, name: str) -> None:
    """A state that goes through the file format after every step makes the same iterates, to the last bit."""
    if not applies(label, name):
        pytest.skip("fcfw needs curvature")
    check_resumption(ALL[label], case(name), 20)


@pytest.mark.parametrize("label", METHODS)
def test_stop_and_go_on(label: str, tmp_path) -> None:
    objective, domain, *_ = case("logistic-ksupport")
    once = fw.minimize(objective, domain, method=METHODS[label], tol=0, max_iter=25)
    save = fw.Checkpoint(tmp_path / "run.npz", every=0)
    for limit in (0, 1, 9, 25):
        parts = fw.minimize(objective, domain, method=METHODS[label], tol=0, max_iter=limit, checkpoint=save)
    assert np.array_equal(parts.x, once.x)
    assert np.array_equal(parts.weights, once.weights)
    assert np.array_equal(parts.trace.lower_bound, once.trace.lower_bound)
    assert parts.n_lmo == once.n_lmo


@pytest.mark.parametrize("label", METHODS)
def test_atoms_and_weights_make_up_the_result(label: str) -> None:
    objective, domain, *_ = case("squares-l1")
    result = fw.minimize(objective, domain, method=METHODS[label], rtol=1e-6)
    total = sum(w * dense(a) for w, a in zip(result.weights, result.atoms, strict=True))
    np.testing.assert_allclose(result.x, total, atol=1e-14)
    assert np.all(result.weights > 0)
    assert all(isinstance(a, OneHot) for a in result.atoms), "zero, where it started, is no longer active"
    assert np.count_nonzero(result.x) == len({a.index for a in result.atoms}), "exactly zero where no atom is active"


@pytest.mark.parametrize("label", METHODS)
def test_starts_anywhere(label: str) -> None:
    """A start that is no vertex is an atom of its own; a start in single precision stays single."""
    objective, domain, optimum, _ = case("logistic-l1")
    x0 = np.full(12, 0.1)
    result = fw.minimize(objective, domain, x0, method=METHODS[label], rtol=1e-6)
    assert result.success
    assert result.fun - optimum <= 1e-6
    single = fw.LeastSquares(np.eye(4, dtype=np.float32), np.array([3, 1, 0, 0], dtype=np.float32))
    result = fw.minimize(single, fw.L1Ball(2.0), method=METHODS[label], tol=1e-4)
    assert result.success
    assert result.x.dtype == np.float32


@pytest.mark.parametrize("label", ["away", "pairwise", "bpcg", "bcg", "lazy", "fcfw"])
@pytest.mark.parametrize("domain", [fw.L1Ball(2.0), fw.LInfBall(0.4)])
def test_arrays_of_other_libraries(label: str, domain: fw.Set) -> None:
    """Atoms that are not NumPy's take the slow way to the same optimum, and one-hot ones are recognised."""
    xp = pytest.importorskip("array_api_strict")
    A = np.random.default_rng(0).standard_normal((40, 6))
    b = A @ np.array([2.0, -1.0, 0.5, 0.0, 0.0, 0.0])
    expected = fw.minimize(fw.LeastSquares(A, b), domain, method=METHODS[label], tol=1e-8)
    result = fw.minimize(fw.LeastSquares(xp.asarray(A), b), domain, method=METHODS[label], tol=1e-8)
    assert result.success
    assert result.fun == pytest.approx(expected.fun, abs=1e-8)
    assert len(result.atoms) <= (6 if isinstance(domain, fw.L1Ball) else result.n_iter)


def test_atoms_are_identified_exactly() -> None:
    shape = (4,)
    near = np.nextafter(1.0, 2.0)
    atoms = [
        OneHot(0, np.float64(1.0), shape),
        OneHot(0, np.float64(-1.0), shape),
        OneHot(1, np.float64(1.0), shape),
        Sparse(np.array([0, 1]), np.array([1.0, 1.0]), shape),
        Sparse(np.array([0, 2]), np.array([1.0, 1.0]), shape),
        Sparse(np.array([0, 2]), np.array([1.0, near]), shape),
        np.ones(4),
        near * np.ones(4),
    ]
    bundle = Bundle(())
    for i, atom in enumerate(atoms):
        bundle, place = bundle.add(Point.at(atom))
        assert place == i
    again, place = bundle.add(Point.at(Sparse(np.array([0, 2]), np.array([1.0, 1.0]), shape)))
    assert again is bundle
    assert place == 4
    g = np.array([1.0, 2.0, 4.0, 8.0])
    problem = Problem(fw.LeastSquares(np.eye(4), np.zeros(4)), fw.L2Ball(9.0))
    expected = [float(dense(a) @ g) for a in atoms]
    np.testing.assert_allclose(bundle.inner(problem, g), expected, rtol=1e-15)
    mask = np.array([1, 0, 0, 1, 0, 1, 0, 1], dtype=bool)
    kept = bundle.keep(mask)
    np.testing.assert_allclose(kept.inner(problem, g), np.array(expected)[mask], rtol=1e-15)
    weights = np.array([0.1, 0.2, 0.3, 0.4])
    total = sum(w * dense(a) for w, a in zip(weights, np.array(atoms, dtype=object)[mask], strict=True))
    np.testing.assert_allclose(kept.sum(weights, np.zeros(4)), total, rtol=1e-14)


class CountingSet(fw.Set):
    """A set that counts what it is asked, to tell true oracle calls from cached ones."""

    def __init__(self, inner: fw.Set) -> None:
        self.within, self.asked = inner, 0

    def lmo(self, g):
        self.asked += 1
        return self.within.lmo(g)

    def support(self, g):
        raise AssertionError("the certificate may not ask the oracle behind the method's back")

    def reach(self, c):
        return self.within.reach(c)

    def diameter(self, shape=None):
        return self.within.diameter(shape)

    def contains(self, x, tol=1e-9):
        return self.within.contains(x, tol)

    def with_radius(self, radius):
        return CountingSet(self.within.with_radius(radius))


@pytest.mark.parametrize("label", ["lazy", "lazy-away", "lazy-fw", "bcg"])
def test_lazy_methods_save_oracle_calls(label: str) -> None:
    """True calls are counted truly, they are few, and the bound moves at no other time.

    Beside them, a user's oracle is tried a few times.
    """
    objective, domain, *_ = case("logistic-linf")
    counting = CountingSet(domain)
    result = fw.minimize(objective, counting, method=ALL[label], tol=1e-5, max_iter=2000)
    assert result.success
    assert result.n_lmo <= counting.asked <= result.n_lmo + 9
    eager = fw.minimize(
        objective, domain, method=getattr(ALL[label], "method", METHODS["bpcg"]), tol=1e-5, max_iter=4000
    )
    assert result.n_lmo < 0.75 * result.n_iter
    assert result.n_lmo < eager.n_lmo
    calls, bounds = np.diff(result.trace.n_lmo)[:-1], np.diff(result.trace.lower_bound)[:-1]
    assert np.all(bounds[calls == 0] == 0)


def test_corrective_steps_read_no_data() -> None:
    """One pass for each gradient, one column for each atom, and four for the start and the value at the end."""
    objective, domain, *_ = case("logistic-l1")
    result = fw.minimize(objective, domain, method=FullyCorrective(), tol=1e-9)
    assert result.n_grad == result.n_iter
    assert result.n_pass <= result.n_iter * (1 + 1 / 12) + 4


def test_corrective_steps_solve_the_restricted_problem() -> None:
    """After a corrective step f is minimal over the hull of the active atoms, to the accuracy stated."""
    problem, x0 = setting("logistic-l1")
    method = FullyCorrective(accuracy=1e-6)
    state = method.init(problem, x0)
    for _ in range(6):
        state, _ = method.step(problem, state)
        at_x = problem.evaluate(state.x)
        scores = state.active.inner(problem, at_x.slope)
        if state.gap <= 1e-6:
            break  # solved: rounding has the last word from here
        assert float(at_x.inner) - scores.min() <= 2e-6 * state.gap
        assert scores.max() - float(at_x.inner) <= 1e-3 * state.gap + 1e-12


@pytest.mark.parametrize("ridge", [0.0, 0.3])
@pytest.mark.parametrize("domain", [fw.L1Ball(1.0), fw.L2Ball(1.0)])
def test_corrective_steps_with_a_ridge(domain: fw.Set, ridge: float) -> None:
    rng = np.random.default_rng(0)
    objective = fw.Logistic(rng.standard_normal((60, 8)), rng.standard_normal(60) > 0, ridge=ridge)
    result = fw.minimize(objective, domain, method=FullyCorrective(), tol=1e-9, max_iter=100)
    assert result.success


def test_inapplicable_pairs_say_what_applies() -> None:
    objective, domain, _, x0 = case("function-l2")
    with pytest.raises(TypeError, match="use 'bpcg'"):
        fw.minimize(objective, domain, x0, method=FullyCorrective())
    with pytest.raises(TypeError, match="OpenLoop"):
        AwayFrankWolfe(fw.OpenLoop())
    with pytest.raises(TypeError, match="OpenLoop"):
        BlendedConditionalGradients(fw.OpenLoop())
    with pytest.raises(TypeError, match="gradient at x_k"):
        Lazy(fw.AcceleratedFrankWolfe())
    with pytest.raises(ValueError, match="accuracy"):
        FullyCorrective(accuracy=1.0)
    blind = fw.Function(lambda x: float(x @ x), lambda x: 2 * x)
    with pytest.raises(ValueError, match="smoothness"):
        fw.minimize(blind, fw.L2Ball(1.0), np.ones(2) / 2, method=AwayFrankWolfe(fw.ShortStep()))


def test_ties_and_averages():
    assert active_set.lowest(np.array([2.0, 1.0 + 1e-13, 1.0]), 1e-12) == 1
    assert active_set.coarse(np.array([1.0, 1e-14, 0.5 + 1e-14]), 2.0**-52).tolist() == [1.0, 0.0, 0.5]
    assert [Averaging()(k) for k in range(3)] == [1, 1 / 2, 1 / 3]
