"""Ten thousand steps with tol=0, every method on every set and objective: no iterate leaves its set, nothing drifts.

    python -m benchmarks.long_runs --jobs 2                     all of it, 10,000 steps each
    python -m benchmarks.long_runs --steps 500 --only l1        one set
    python -m benchmarks.long_runs --library torch              on the arrays of another library
    python -m benchmarks.long_runs --jobs 16 --seconds 500 --write benchmarks/results/long_runs.txt
    python -m benchmarks.long_runs --rest 1000                  end a run whose point has not moved by a bit for so long

How far a point lies outside is told by formulae of its own. The tests have a short form.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import random
import sys
import time
from collections import Counter
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import frankwolfe as fw
from benchmarks.lies_cases import LIBRARIES, to_library, to_numpy
from frankwolfe import sets
from frankwolfe.backends import vdot
from frankwolfe.methods import METHODS
from frankwolfe.result import Status

ULPS = 64  # of the size of the set, and of the value
FAMILY = [name for name in METHODS if name not in ("agm", "agm_sc")]  # the others have no set
D = 8
GROUPS = [[0, 1, 2], [3, 4], [5, 6, 7]]
CURVED = {"l2": fw.L2Ball(0.8), "l3": fw.LpBall(0.8, p=3), "l1.5": fw.LpBall(0.8, p=1.5)}
VECTORS: dict[str, fw.Set] = {
    **CURVED,
    "l1": fw.L1Ball(0.8),
    "vertex": fw.L1Ball(0.05),
    "linf": fw.LInfBall(0.3),
    "box": fw.Box(-0.2, 0.4),
    "simplex": fw.Simplex(D, 0.7),
    "ksupport": fw.KSupportBall(0.7, k=3),
    "group": fw.GroupBall(0.7, groups=GROUPS),
    "owl": sets.OWLBall(0.7, weights=np.linspace(1, 0.2, D)),
    "hypersimplex": sets.Hypersimplex(D, k=3),
    "permutahedron": sets.Permutahedron(np.linspace(0, 0.7, D)),
    "tv": fw.TotalVariationBall(0.7),
    "ellipsoid": sets.Ellipsoid(np.full(D, 0.1), np.diag(np.linspace(0.2, 1, D))),
    "polytope": sets.Polytope(A_ub=np.ones((1, D)), b_ub=[0.9], lower=-0.1, upper=0.3),
    "hull": sets.ConvexHull(np.random.default_rng(5).standard_normal((12, D))),
    "product": sets.Product(fw.Simplex(4), fw.L2Ball(0.5), shapes=[4, 4]),
    "flow": sets.FlowPolytope([(0, 1), (0, 2), (0, 3), (1, 2), (1, 4), (2, 4), (3, 4), (4, 5)], 0, 5, radius=0.7),
    "union": sets.UnionHull(fw.L1Ball(0.5), fw.LInfBall(0.2)),
    "sum": fw.L1Ball(0.3) + fw.LInfBall(0.1),
    "shifted": fw.L2Ball(0.5) + np.full(D, 0.3),
}
MATRICES: dict[str, fw.Set] = {
    "nuclear": fw.NuclearBall(1.5),
    "spectral": sets.SpectralBall(0.5),
    "schatten": sets.SchattenBall(1.0, p=1.5),
    "spectrahedron": sets.Spectrahedron(1.0),
    "birkhoff": sets.Birkhoff(5),
    "transport": sets.TransportPolytope(np.linspace(0.1, 0.5, 5), np.full(5, 0.3)),
    "frobenius": fw.L2Ball(1.0),
}
OBJECTIVES = ("logistic", "squares", "huber", "quadratic", "function", "hinge", "poisson")
PLACES = [
    *((kind, name) for name in VECTORS for kind in OBJECTIVES),
    *((kind, name) for name in MATRICES for kind in ("matrix", "softmax")),
    ("completion", "nuclear"),
]


class Place(NamedTuple):
    """A problem and what its optimum cannot be below."""

    objective: Any
    domain: Any
    floor: float
    x0: Any
    dtype: str


def objective(kind: str, dtype: str, library: str = "numpy") -> tuple[Any, Any]:
    """Return an objective of so many variables in a precision, and a start where it needs one."""
    rng, on = np.random.default_rng(3), partial(to_library, library)
    A = rng.standard_normal((40, D)).astype(dtype)
    b = (A @ rng.standard_normal(D) + 0.5 * rng.standard_normal(40)).astype(dtype)
    if kind == "logistic":
        return fw.Logistic(on(A), b > 0), None
    if kind == "squares":
        return fw.LeastSquares(on(A), on(b)), None
    if kind == "huber":
        return fw.Huber(on(A), on(b)), None
    if kind == "hinge":
        return fw.SquaredHinge(on(A), b > 0), None
    if kind == "poisson":
        return fw.Poisson(on(A), np.arange(40.0) % 4), None
    if kind == "quadratic":
        return fw.Quadratic(on(A.T @ A / 40), on(-(A.T @ b) / 40)), None
    if kind == "matrix":
        T = rng.standard_normal((5, 5)).astype(dtype)
        T = on(0.5 * (T + T.T))
        f = fw.Function(lambda X: 0.5 * vdot(X - T, X - T), lambda X: X - T, smoothness=1.0)
        return f, on(np.zeros((5, 5), dtype))
    if kind == "softmax":
        return fw.Multinomial(on(A[:, :5]), np.arange(40) % 5), None
    if kind == "completion":
        rows, cols = np.nonzero(rng.random((6, 5)) < 0.6)
        return fw.MatrixCompletion(rows, cols, on(rng.standard_normal(rows.size).astype(dtype)), (6, 5)), None
    base = fw.LeastSquares(on(A), on(b))
    return fw.Function(base.value, base.grad, smoothness=base.smoothness), on(np.zeros(D, dtype))


@cache
def place(kind: str, name: str, dtype: str, library: str = "numpy") -> Place:
    """Return a problem with a lower bound on its optimum, proven in double precision from the same numbers."""
    if library != "numpy":
        f, x0 = objective(kind, dtype, library)
        domain, floor, start = place(kind, name, dtype)[1:4]
        return Place(f, domain, floor, None if x0 is None else to_library(library, start), dtype)
    f, x0 = objective(kind, dtype)
    domain = (MATRICES if name in MATRICES else VECTORS)[name]
    if x0 is not None and not domain.contains(x0):
        x0 = domain.lmo(f.grad(x0)).toarray()
    exact, x64 = f, None
    if dtype == "float32":
        exact, _ = objective(kind, dtype)
        exact = exact.doubled() or exact
    if x0 is not None:
        x64 = x0.astype(np.float64)
    tight = fw.minimize(exact, domain, x64, tol=1e-10, max_iter=3000, trace_every=1000)
    return Place(f, domain, tight.lower_bound, x0, dtype)


def outside(domain: Any, x: Any) -> float:
    """Return how far x lies outside, relative to the size of the set, in units of the precision of x."""
    u = float(np.finfo(str((x.like if isinstance(x, fw.LowRank) else x).dtype).rpartition(".")[2]).eps)
    x = to_numpy(x)
    size = FORMULAE.get(type(domain))
    if size is not None:
        return float(size(domain, x)) / u
    for ulps in (4.0, 16.0, 64.0, 256.0, 1e4, 1e6, 1e9):
        if domain.contains(x.astype(np.float64), tol=ulps * u):
            return ulps
    return float("inf")


class Ending(NamedTuple):
    """How a run ended: its steps, the furthest that an iterate was outside in ulps, what is wrong, was it at rest."""

    steps: int
    ulps: float
    faults: tuple[str, ...]
    rests: bool = False


def long_run(
    at: Place, method: str, steps: int, seconds: float | None = None, rest: float = float("inf")
) -> Ending | None:
    """Run so many steps with tol=0 and look at the iterates; None where the method is not for the problem.

    A run whose point has been the same to the last bit for `rest` steps is ended.
    """
    every, worst, last, moved = max(steps // 200, 1), 0.0, b"", 0

    def look(it: Any) -> bool:
        nonlocal worst, last, moved
        if it.k % every == 0:
            worst = max(worst, outside(at.domain, it.x))
        bits = to_numpy(it.x).tobytes() if rest < steps else b""
        if bits != last:
            last, moved = bits, it.k
        return it.k - moved >= rest

    try:
        result = fw.minimize(
            *at[:2],
            at.x0,
            method=method,
            tol=0,
            max_iter=steps,
            time_limit=seconds,
            callback=look,
            trace_every=every,
        )
    except (TypeError, ValueError) as error:
        if "use '" not in str(error):
            raise
        return None
    faults = []
    if result.status not in (Status.MAX_ITER, Status.TIME_LIMIT, Status.CALLBACK):
        faults.append(f"ended as {result.status}: {result.message}")
    ulps = max(worst, outside(at.domain, result.x))
    if not ulps <= ULPS:
        faults.append(f"outside by {ulps:.3g} ulps")
    below = at.floor - min(result.fun, result.trace.fun.min())
    if not below <= ULPS * float(np.finfo(at.dtype).eps) * (1 + abs(at.floor)):
        faults.append(f"below a proven bound by {below:.3g}")
    return Ending(result.n_iter, ulps, tuple(faults), result.status is Status.CALLBACK)


def _norm(p: float) -> Callable[[Any, Any], Any]:
    return lambda s, x: np.sum(np.abs(x) ** p) ** (1 / np.longdouble(p)) / s.radius - 1


def _simplex(s: Any, x: Any) -> Any:
    return max(abs(x.sum() / s.radius - 1), -x.min() / s.radius)


FORMULAE: dict[type, Callable[[Any, Any], Any]] = {
    fw.L1Ball: _norm(1),
    fw.L2Ball: _norm(2),
    fw.LpBall: lambda s, x: _norm(s.p)(s, x),
    fw.LInfBall: lambda s, x: np.max(np.abs(x)) / s.radius - 1,
    fw.Box: lambda s, x: np.max(np.maximum(s.lower - x, x - s.upper)) / max(abs(s.lower), abs(s.upper)),
    fw.Simplex: _simplex,
    fw.GroupBall: lambda s, x: sum(np.sqrt(np.sum(x[g] ** 2)) for g in GROUPS) / s.radius - 1,
    sets.OWLBall: lambda s, x: np.sum(np.sort(np.abs(x))[::-1] * np.asarray(s.weights)) / s.radius - 1,
    sets.Hypersimplex: lambda s, x: max(abs(x.sum() / s.k - 1), -x.min(), x.max() - 1),
    sets.Permutahedron: lambda s, x: np.max(np.abs(_excess(s, x))) if x.sum() else 0,
    fw.NuclearBall: lambda s, x: _singular(x).sum() / s.radius - 1,
    sets.SpectralBall: lambda s, x: _singular(x).max() / s.radius - 1,
    sets.SchattenBall: lambda s, x: _norm(s.p)(s, _singular(x)),
    sets.Birkhoff: lambda s, x: max(-x.min(), *(np.max(np.abs(x.sum(axis=i) - 1)) for i in (0, 1))),
}


def _singular(x: Any) -> Any:
    return np.linalg.svd(x.astype(np.float64), compute_uv=False).astype(np.longdouble)


def _excess(s: Any, x: Any) -> Any:
    most = np.cumsum(np.sort(np.asarray(s.c, dtype=np.longdouble))[::-1])
    have = np.cumsum(np.sort(x)[::-1])
    return np.append(np.maximum(have - most, 0), have[-1] - most[-1]) / most[-1]


def _tasks(tasks: list[tuple[Any, ...]]) -> list[tuple[tuple[str, ...], Ending | None]]:
    return [_task(*task) for task in tasks]


def _task(
    kind: str, name: str, dtype: str, method: str, library: str, steps: int, longest: float, rest: float
) -> tuple[tuple[str, ...], Ending | None]:
    try:
        ending = long_run(place(kind, name, dtype, library), method, steps, longest, rest)
    except Exception as error:
        ending = Ending(0, np.inf, (f"{type(error).__name__}: {error}",))
    return (kind, name, dtype, method, library), ending


def text(command: str, total: int, seen: list[tuple[tuple[str, ...], Ending]], refused: int) -> str:
    """Return the log: counts, the worst of every set and method, and every fault."""
    faults = [(what, fault) for what, ending in seen for fault in ending.faults]
    steps, rests = Counter(min(e.steps, 10_000) for _, e in seen if not e.rests), sum(e.rests for _, e in seen)
    lines = [
        "Every method on every set and objective with tol=0: how far iterates were outside, in ulps of the set's size.",
        command,
        "",
        f"{len(seen)} runs of {total} ({refused} are refused: the method is not for the problem), {len(faults)} faults",
        f"at rest to the last bit: {rests} runs",
        "steps: " + ", ".join(f"{n} in {count} runs" for n, count in steps.most_common(3)) + ", fewer in the others",
        f"fewest steps: {min((e.steps for _, e in seen if not e.rests), default=0)}",
    ]
    for title, i in (("set", 1), ("method", 3), ("precision", 2)):
        worst: dict[str, float] = {}
        for what, ending in seen:
            worst[what[i]] = max(worst.get(what[i], 0.0), ending.ulps)
        lines.append(f"{title}: " + ", ".join(f"{name} {ulps:.3g}" for name, ulps in worst.items()))
    lines += ["", "faults:" if faults else "faults: none"]
    return "\n".join([*lines, *(f"{' '.join(what)} | {fault}" for what, fault in sorted(faults))]) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=10_000)
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="how many processes")
    parser.add_argument("--library", default="numpy", choices=["numpy", *LIBRARIES])
    parser.add_argument("--longest", type=float, default=30.0, help="seconds for one run, looked at as it is by then")
    parser.add_argument("--rest", type=float, default=float("inf"), help="steps without a change that end a run")
    parser.add_argument("--skip", type=int, default=0, help="leave out so many runs, which another call has done")
    parser.add_argument("--seconds", type=float, default=86400.0, help="stop after so long")
    parser.add_argument("--only", default="", help="sets, objectives, precisions or methods: l1,logistic,away")
    parser.add_argument("--write", type=Path, help="write the log to this file")
    options = parser.parse_args()
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    wanted = {name for name in options.only.split(",") if name}
    places = [(kind, name, dtype) for kind, name in PLACES for dtype in ("float64", "float32")]
    random.Random(0).shuffle(places)  # so that what --seconds cuts off is a sample
    tasks = [
        (*where, method, options.library, options.steps, options.longest, options.rest)
        for where in places
        for method in FAMILY
        if wanted <= {*where, method}
    ][options.skip :]
    end, seen, refused = time.monotonic() + options.seconds, [], 0
    with multiprocessing.get_context("spawn").Pool(options.jobs) as pool:
        size = len(FAMILY) // 2  # runs of one process after the other, which share the proof of a bound
        answers = pool.imap_unordered(_tasks, [tasks[i : i + size] for i in range(0, len(tasks), size)])
        try:
            while len(seen) + refused < len(tasks):
                for what, ending in answers.next(timeout=max(end - time.monotonic(), 0.01)):
                    if ending is None:
                        refused += 1
                        continue
                    seen.append((what, ending))
                    for fault in ending.faults:
                        print(*what, "|", fault, flush=True)
                print(f"{len(seen) + refused} of {len(tasks)}", file=sys.stderr, flush=True)
        except multiprocessing.TimeoutError:
            print("stopped by --seconds", file=sys.stderr)
        pool.terminate()
    log = text(f"python -m benchmarks.long_runs {' '.join(sys.argv[1:])}", len(tasks), seen, refused)
    print(log)
    if options.write:
        options.write.write_text(log)
    return int(any(ending.faults for _, ending in seen))


if __name__ == "__main__":
    sys.exit(main())
