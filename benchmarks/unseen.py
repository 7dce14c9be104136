"""`auto` against the best peer on data that no constant was set on: one thread, CPU seconds, every case shown.

    python -m benchmarks unseen [--quick]
    python -m benchmarks.unseen --only w8a --only "logistic l1"       cases whose names hold all these words
    python -m benchmarks.unseen --jobs 14                             so many cases at once, on as many idle cores

Logistic and squared loss; l2 and l1 balls, the simplex for least squares; the penalties C = 0.01, 0.1, 1, 10, 100 of
scikit-learn, every other one with an intercept (the quick form: three of them, one for squares). The radius is the norm
of a penalised solution; the penalty is then set to the multiplier of that ball, so that both problems have one
solution. `auto` is timed from the data to a certificate of the relative error 1e-6, (f - f*)/(f(0) - f*). Peers are
every solver of scikit-learn that applies, skglm and celer where they are installed, each at the loosest setting at
which its own objective is right to the same relative error: looked for beforehand, a help that no user has. Data are
given to each in the order that it works in. Of what is near the best, the minimum of interleaved repeats counts.
glmnet is not among them: it needs R, and its Python bindings did not build where this was run.

What the search for settings found is kept in benchmarks/results/unseen-peers.json, so that a second run takes minutes.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from functools import cached_property, partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

import frankwolfe as fw
from benchmarks import peers
from benchmarks.report import aligned, held_to, printed
from benchmarks.unseen_cases import DATA, SLOW, Data, data

RELATIVE = 1e-6
PENALTIES = (0.01, 0.1, 1.0, 10.0, 100.0)
CLOSE = 1.6  # times as long as the best peer: a peer behind by more is not timed again
TIMES, LEAST, MOST = 3.0, 0.1, 6.0  # a peer is given so many times what `auto` takes, within these seconds
ROUGH = {  # who is asked for the radius, to begin with, and how exactly
    "newton-cholesky": peers.Setting(1e-6, 100),
    "lbfgs": peers.Setting(1e-5, 500),
    "celer": peers.Setting(1e-4, 10),
    "liblinear": peers.Setting(1e-3, 200),
    "lasso cyclic": peers.Setting(1e-4, 500),
    "skglm": peers.Setting(1e-3, 10),
    "ridge cholesky": peers.Setting(1e-4, 500),
}
ENDLESS = ("celer",)  # solvers that run for ever on some data (a9a, l1, C = 100): their search is given these seconds
PATIENCE = 10.0  # and thirty times what `auto` takes
EPOCHS = 300  # on one working set: more would hide how long a round takes
KEPT = Path(__file__).parent / "results" / "unseen-peers.json"
COLUMNS = ["ratio", "case", "auto ms", "peer ms", "best peer", "method", "steps", "passes", "nonzeros", "certified"]


class Name(NamedTuple):
    data: str
    loss: str
    kind: str  # of the set
    C: float
    intercept: bool

    def __str__(self) -> str:
        return f"{self.data}, {self.loss} {self.kind} C={self.C:g}{' intercept' if self.intercept else ''}"


def names(quick: bool) -> Iterator[Name]:
    for source in DATA:
        if quick and source in SLOW:
            continue
        for loss, kind in (
            ("logistic", "l2"),
            ("logistic", "l1"),
            ("squares", "l2"),
            ("squares", "l1"),
            ("squares", "simplex"),
        ):
            for i, C in enumerate(PENALTIES):
                if not quick or i == 2 or (i % 2 == 0 and loss == "logistic"):
                    # Half of the cases have an intercept, and every penalty meets both.
                    yield Name(source, loss, kind, C, (i + len(source) + len(kind)) % 2 == 0)


class Case:
    """One problem, its penalised twin, and the peers that solve that."""

    limits: Mapping[str, int] = {"max_epochs": EPOCHS}  # of skglm and celer

    def __init__(self, name: Name, given: Data | None = None) -> None:
        self.name, (self.A, self.b) = name, given or data(name.data)
        self.n, self.d = self.A.shape
        self.weight = 1 / (self.n * name.C)  # of |x|²/2 or of |x|_1 beside the mean loss
        self.model = fw.Logistic if name.loss == "logistic" else fw.LeastSquares

    @property
    def C(self) -> float:
        """The penalty in terms of scikit-learn."""
        return 1 / (self.n * self.weight)

    @cached_property
    def columns(self) -> Any:
        return sp.csc_matrix(self.A) if sp.issparse(self.A) else np.asfortranarray(self.A)

    def loss(self, x: np.ndarray, c: float) -> float:
        m = self.A @ x + c
        return float(
            np.mean(np.logaddexp(0.0, -self.b * m)) if self.name.loss == "logistic" else np.mean((m - self.b) ** 2) / 2
        )

    def penalised(self, x: np.ndarray, c: float) -> float:
        size = 0.5 * float(x @ x) if self.name.kind == "l2" else float(np.abs(x).sum())
        return self.loss(x, c) + self.weight * size

    @cached_property
    def start(self) -> float:
        """The loss of nothing but the best intercept."""
        mean = float(np.mean(self.b)) if self.name.intercept else 0.0
        return self.loss(np.zeros(self.d), np.log((1 + mean) / (1 - mean)) if self.name.loss == "logistic" else mean)

    def domain(self, radius: float) -> Any:
        sets = {"l2": fw.L2Ball, "l1": fw.L1Ball, "simplex": partial(fw.Simplex, self.d)}
        return sets[self.name.kind](radius)

    def auto(self, radius: float, value: float, relative: float = RELATIVE) -> fw.Result:
        f = self.model(self.A, self.b, intercept=self.name.intercept)
        tol = relative * (self.start - value)
        return fw.minimize(f, self.domain(radius), tol=tol, n_threads=1, progress=False, max_iter=3000, time_limit=20.0)

    def match(self, slope: np.ndarray, radius: float) -> None:
        """Set the penalty to the multiplier of the ball at its solution: both problems then have one solution."""
        steepest = {"l2": np.linalg.norm(slope) / radius, "l1": np.abs(slope).max(), "simplex": -slope.min()}
        self.weight = float(steepest[self.name.kind])

    def peers(self) -> dict[str, peers.Fit]:
        return dict(_logistic(self) if self.name.loss == "logistic" else _squares(self))


def _model(make: Callable[..., Any], A: Any, b: np.ndarray, **given: Any) -> peers.Fit:
    def fit(setting: peers.Setting) -> tuple[np.ndarray, float]:
        model = make(tol=setting.tol, max_iter=setting.max_iter, **given).fit(A, b)
        return np.ravel(model.coef_), float(np.ravel(model.intercept_)[0])

    return fit


def _installed(name: str) -> Any:
    try:
        return __import__(name)
    except ImportError:
        return None


def _logistic(case: Case) -> Iterator[tuple[str, peers.Fit]]:
    """Return the peers of logistic regression; liblinear penalises an intercept, and celer has none."""
    from sklearn.linear_model import LogisticRegression

    name, l1 = case.name, case.name.kind == "l1"
    solvers = ("liblinear", "saga") if l1 else ("lbfgs", "newton-cholesky", "newton-cg", "liblinear", "sag", "saga")
    given = {"C": case.C, "fit_intercept": name.intercept, "random_state": 0, "l1_ratio": float(l1)}
    for solver in solvers:
        if (solver == "newton-cholesky" and case.d > 2000) or (solver == "liblinear" and name.intercept):
            continue
        yield solver, _model(LogisticRegression, case.A, case.b, solver=solver, **given)
    if l1 and (skglm := _installed("skglm")):
        own = {"alpha": case.weight, "fit_intercept": name.intercept, **case.limits}
        yield "skglm", _model(skglm.SparseLogisticRegression, case.columns, case.b, **own)
    if l1 and not name.intercept and (celer := _installed("celer")):
        own = {"C": case.C, "fit_intercept": False, **case.limits}
        yield "celer", _model(celer.LogisticRegression, case.columns, case.b, **own)


def _squares(case: Case) -> Iterator[tuple[str, peers.Fit]]:
    from sklearn.linear_model import Lasso, Ridge

    name = case.name
    if name.kind == "l2":
        given = {"alpha": 1 / case.C, "fit_intercept": name.intercept, "random_state": 0}
        for solver in ("cholesky", "lsqr", "sparse_cg", "svd", "sag", "saga"):
            dense = solver in ("cholesky", "svd")
            if (dense and case.d > 3000) or (
                sp.issparse(case.A) and (solver == "svd" or (name.intercept and solver in ("cholesky", "lsqr", "saga")))
            ):
                continue
            yield f"ridge {solver}", _model(Ridge, case.A, case.b, solver=solver, **given)
        return
    given = {"alpha": case.weight, "fit_intercept": name.intercept, "positive": name.kind == "simplex"}
    for choice in ("cyclic", "random"):
        yield f"lasso {choice}", _model(Lasso, case.columns, case.b, selection=choice, random_state=0, **given)
    if not sp.issparse(case.A):
        yield "lasso gram", _model(Lasso, case.columns, case.b, precompute=True, **given)
    for package in ("celer", "skglm"):
        if found := _installed(package):
            yield package, _model(found.Lasso, case.columns, case.b, **case.limits, **given)


class Known(NamedTuple):
    """What is known of a case before it is timed: the radius, f* on the ball, and the settings of the best peers."""

    radius: float
    value: float
    settings: dict[str, list[float]]
    given_up: float  # seconds that the fastest of those given up was given
    weight: float  # of the penalty with the same solution


def prepare(case: Case) -> Known | None:
    """Return the radius of the penalised solution, and for each peer the fastest setting; None where all is zero."""
    fits = case.peers()
    first = next(n for n in (*ROUGH, *fits) if n in fits)
    x, c = fits[first](ROUGH.get(first, peers.Setting(1e-4, 500)))
    radius = float(np.linalg.norm(x) if case.name.kind == "l2" else np.abs(x).sum())
    if radius == 0:
        return None
    f = case.model(case.A, case.b, intercept=case.name.intercept)
    x = np.asarray(case.auto(radius, case.loss(x, c), 1e-3 * RELATIVE).x)
    c, slope = f.best_intercept(f.data.apply(x)), np.asarray(f.grad(x))
    case.match(slope, radius)
    if not case.weight > 0:
        return None
    fits, value, least = case.peers(), case.loss(x, c), case.penalised(x, c)
    began = time.process_time()
    case.auto(radius, value)
    began = time.process_time()
    case.auto(radius, value)
    allowed = min(max(TIMES * (time.process_time() - began), LEAST), MOST)

    def error(x: tuple[np.ndarray, float]) -> float:
        return (case.penalised(*x) - least) / (case.start - least)

    settings, given_up = {}, np.inf
    for peer, fit in fits.items():
        look = partial(peers.fastest, fit, error, RELATIVE, allowed, time.process_time)
        search = ended(look, PATIENCE + 30 * allowed) if peer in ENDLESS else look()
        if search is None or search.setting is None:
            given_up = min(given_up, allowed if search is None else search.seconds)
        else:
            settings[peer] = [*search.setting, search.seconds]
    least_seconds = min((s[2] for s in settings.values()), default=0.0)
    close = {p: s for p, s in settings.items() if s[2] <= CLOSE * least_seconds}
    return Known(radius, value, close, given_up, case.weight)


def ended(look: Callable[[], peers.Search], seconds: float) -> peers.Search | None:
    """Return what a search finds in a process of its own, or None where it takes too long."""
    own = get_context("fork")
    receive, send = own.Pipe(duplex=False)
    process = own.Process(target=lambda: send.send(look()))
    process.start()
    send.close()
    try:
        return receive.recv() if receive.poll(seconds) else None
    except EOFError:
        return None
    finally:
        process.kill()
        process.join()


class Outcome(NamedTuple):
    name: Name
    ratio: float  # the best peer's CPU seconds over ours
    ours: float
    best: float
    peer: str
    result: fw.Result
    nonzeros: int


def race(case: Case, known: Known, repeats: int) -> Outcome:
    case.weight = known.weight
    fits = case.peers()
    runs: dict[str, Callable[[], Any]] = {"auto": partial(case.auto, known.radius, known.value)}
    for peer, (tol, rounds, _) in known.settings.items():
        runs[peer] = partial(fits[peer], peers.Setting(tol, int(rounds)))
    result = runs["auto"]()  # warm
    least = dict.fromkeys(runs, np.inf)
    for _ in range(repeats):
        for name, run in runs.items():
            began = time.process_time()
            run()
            least[name] = min(least[name], time.process_time() - began)
    ours = least.pop("auto")
    peer = min(least, key=lambda p: least[p], default="none in time")
    best = least.get(peer, known.given_up)
    x = np.asarray(result.x)
    return Outcome(case.name, best / ours, ours, best, peer, result, int(np.count_nonzero(x)))


def kept() -> dict[str, Any]:
    return json.loads(KEPT.read_text("utf-8")) if KEPT.exists() else {}


def outcomes(chosen: list[Name], repeats: int, show: bool = False) -> Iterator[Outcome]:
    from threadpoolctl import threadpool_limits

    found = kept()
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")  # peers warn about tolerances; we judge by the error reached
        for name in chosen:
            case = Case(name)
            if str(name) not in found:
                found[str(name)] = prepare(case)
                KEPT.parent.mkdir(exist_ok=True)
                KEPT.write_text(json.dumps(kept() | {str(name): found[str(name)]}), "utf-8")
            if found[str(name)] is None:
                continue
            outcome = race(case, Known(*found[str(name)]), repeats)
            if show:
                print(aligned(COLUMNS, [row(outcome)]).splitlines()[2], flush=True)
            yield outcome


def _raced(name: Name, repeats: int) -> Outcome | None:
    """Race one case, in a process of its own."""
    return next(outcomes([name], repeats, show=True), None)


def row(o: Outcome) -> list[Any]:
    """Return a line of the table."""
    r = o.result
    return [
        o.ratio,
        str(o.name),
        1e3 * o.ours,
        1e3 * o.best,
        o.peer,
        r.method,
        r.n_iter,
        r.n_pass,
        o.nonzeros,
        r.success,
    ]


def judged(found: list[Outcome]) -> dict[str, Any]:
    found = sorted(found, key=lambda o: o.ratio)
    ratios = np.array([o.ratio for o in found])
    return {
        "title": "CPU seconds of the best peer over those of auto to a certified relative 1e-6, lost cases first",
        "columns": COLUMNS,
        "rows": [row(outcome) for outcome in found],
        "bars": [
            held_to("1: geometric mean", float(np.exp(np.log(ratios).mean())), 1.5),
            held_to("1: share at or ahead", float(np.mean(ratios >= 1)), 0.9, unit=""),
            held_to("1: the worst case", float(ratios.min()), 0.7),
        ],
        "notes": [
            f"{len(found)} cases; a peer that took three times as long as auto is given up, its seconds a lower bound",
            "glmnet is not raced: it needs R, which is not installed here",
        ],
    }


def measure(quick: bool) -> dict[str, Any]:
    """Race `auto` against the peers on every case."""
    return judged(list(outcomes(list(names(quick)), 3)))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer penalties, no large data")
    parser.add_argument(
        "--only", action="append", default=[], metavar="WORDS", help="cases whose name holds these words"
    )
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=1, help="cases at once, each on one thread")
    given = parser.parse_args()
    some = [name for name in names(given.quick) if all(words in str(name) for words in given.only)]
    if given.jobs == 1:
        found = list(outcomes(some, given.repeats, show=True))
    else:
        with ProcessPoolExecutor(given.jobs) as pool:
            raced = pool.map(partial(_raced, repeats=given.repeats), some)
            found = [outcome for outcome in raced if outcome is not None]
    print(printed(judged(found)))
