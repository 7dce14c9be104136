"""`explain`: a result in plain words."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from frankwolfe.backends import host
from frankwolfe.lowrank import LowRank
from frankwolfe.path import Path
from frankwolfe.result import Result, Status

STALLED = 0.8  # a gap that kept this share over the second half of a run is not falling


@dataclass(frozen=True, repr=False)
class Explanation:
    """What was solved, what came out, how good it is, why the run stopped, how the data were read, what next."""

    solved: str
    answer: str
    quality: str
    stopped: str
    next: str
    data: str = ""  # nothing where the objective has no rows

    def __str__(self) -> str:
        lines = {
            "Solved": self.solved,
            "Answer": self.answer,
            "How good": self.quality,
            "Stopped": self.stopped,
            "Data": self.data,
            "Next": self.next,
        }
        return "\n".join(f"{word + ':':<10}{text}" for word, text in lines.items() if text)

    __repr__ = __str__


def explain(result: Any) -> Explanation:
    """Say in plain words what a result means.

    Parameters
    ----------
    result : Result or Path, or a fitted estimator that keeps a Result
        What `minimize` or `path` returned.

    Returns
    -------
    Explanation
        Prints as a few lines; the parts are also there by name.

    Examples
    --------
    >>> import numpy as np, frankwolfe as fw
    >>> result = fw.minimize(fw.LeastSquares(np.eye(3), [3.0, 0.0, 0.5]), fw.L1Ball(2.0))
    >>> print(fw.explain(result))
    Solved:   LeastSquares over L1Ball(2), with 3 variables, by method '...' (...).
    Answer:   1 of 3 entries is nonzero; the largest by size is x[0] = 2.
    How good: f(x) = 0.208333, and no feasible point is better by more than ... (proven).
    Stopped:  because the certified gap is at most ..., after ... in ....
    Data:     read by ...
    Next:     nothing: the answer is as good as was asked for. A smaller tol asks for more digits.
    """
    if isinstance(result, Path):
        return _explain_path(result)
    found = result if isinstance(result, Result) else getattr(result, "result_", None)
    if not isinstance(found, Result):
        raise TypeError(f"explain needs a Result of minimize or path, or a fitted estimator, got {_kind(result)}")
    return Explanation(_solved(found), summary(found.x), _quality(found), _stopped(found), _next(found), _data(found))


def summary(x: Any) -> str:
    """Say how sparse a vector is, or of what rank a matrix."""
    sigma = _singular_values(x)
    if sigma is not None:
        return _spectrum(x.shape, sigma)
    if isinstance(x, dict | list | tuple):
        leaves = _leaves(x)
        nonzero, total = sum(int(np.count_nonzero(a)) for a in leaves), sum(a.size for a in leaves)
        return f"{len(leaves)} arrays, in which {nonzero} of {total} entries are nonzero."
    x = host(x)
    nonzero = int(np.count_nonzero(x))
    said = f"{nonzero} of {x.size} entries {'is' if nonzero == 1 else 'are'} nonzero"
    if not nonzero or not np.all(np.isfinite(x)):
        return f"{said}."
    top = np.unravel_index(int(np.argmax(np.abs(x))), x.shape)
    return f"{said}; the largest by size is x[{', '.join(map(str, top))}] = {x[top]:.4g}."


def size(x: Any) -> tuple[str, int]:
    """Return what is counted in an answer, and how much of it there is: nonzeros of a vector, rank of a matrix."""
    sigma = _singular_values(x)
    return ("nonzeros", sum(int(np.count_nonzero(a)) for a in _leaves(x))) if sigma is None else ("rank", _rank(sigma))


def _singular_values(x: Any) -> np.ndarray | None:
    """Return the singular values of a matrix, dense or by its factors; None of anything else."""
    if isinstance(x, LowRank):
        return x.singular_values()
    if isinstance(x, dict | list | tuple) or len(x.shape) != 2 or min(x.shape) < 2:
        return None
    return np.linalg.svd(host(x), compute_uv=False)


def _leaves(x: Any) -> list[np.ndarray]:
    """Return the arrays in a nest of dicts, lists and tuples."""
    if isinstance(x, dict | list | tuple):
        return [leaf for part in (x.values() if isinstance(x, dict) else x) for leaf in _leaves(part)]
    return [host(x)]


def _explain_path(path: Path) -> Explanation:
    order = np.argsort(path.radii)
    first, last = path[int(order[0])], path[int(order[-1])]
    span = f"{len(path)} radii from {path.radii.min():.4g} to {path.radii.max():.4g}"
    what = first.problem.partition("(")[0] or "a problem"
    counted, (fewest, most) = size(first.x)[0], (size(first.x)[1], size(last.x)[1])
    worst = max(path, key=lambda result: result.gap)
    done = sum(result.success for result in path)
    unproven = "" if math.isfinite(worst.gap) else " (that is: nothing is proven there)"
    return Explanation(
        solved=f"{what} at {span}, by method {first.method!r} ({first.reason}).",
        answer=f"{counted} from {fewest} at the smallest radius to {most} at the largest.",
        quality=f"f(x) from {first.fun:.6g} to {last.fun:.6g}; at each radius no feasible point is better by more than "
        f"{max(worst.gap, 0.0):.2g}{unproven}.",
        stopped=f"{done} of {len(path)} radii reached the tolerance, in {path.time:.2g} s and {path.n_pass:.4g} passes "
        "over the data.",
        next=_next_radius(path, done),
    )


def _next_radius(path: Path, done: int) -> str:
    unfinished = "" if done == len(path) else " Raise max_iter or time_limit for the radii that stopped early."
    if path.scores is None:
        return f"score= with held-out data would say which radius to take.{unfinished}"
    best = path.best_radius
    edge = "larger" if best == path.radii.max() else "smaller" if best == path.radii.min() else ""
    more = f", the end of the list: try {edge} ones too" if edge else "; path.best is the answer there"
    return f"the best score, {path.scores[path.best_index]:.4g}, is at radius {best:.4g}{more}.{unfinished}"


def _spectrum(shape: tuple[int, ...], sigma: np.ndarray) -> str:
    said = f"a {shape[0]} x {shape[1]} matrix of rank"
    if not np.all(np.isfinite(sigma)):
        return f"a {shape[0]} x {shape[1]} matrix with values that are not finite."
    rank = _rank(sigma)
    if not rank:
        return f"{said} 0: it is zero."
    leading = ", ".join(f"{s:.3g}" for s in sigma[:3]) + (", ..." if rank > 3 else "")
    return f"{said} {rank}, trace norm {sigma.sum():.4g} (singular values {leading})."


def _rank(sigma: np.ndarray) -> int:
    return int(np.count_nonzero(sigma > 1e-8 * max(sigma.max(initial=0.0), 1e-300)))


def _solved(result: Result) -> str:
    if isinstance(result.x, dict | list | tuple):
        size = str(sum(leaf.size for leaf in _leaves(result.x)))
    else:
        size = " x ".join(map(str, result.x.shape)) or "1"
    return f"{result.problem or 'a problem'}, with {size} variables, by method {result.method!r} ({result.reason})."


def _quality(result: Result) -> str:
    value = f"f(x) = {result.fun:.6g}"
    if not math.isfinite(result.fun):
        return f"{value}: not a number to trust."
    if not math.isfinite(result.lower_bound):
        return f"{value}, but nothing is proven: this method gives no lower bound, or had no time to find one."
    off = abs(result.gap) / abs(result.fun) if result.fun else math.inf
    share = f", {off:.1g} of its value" if 0 < off < 1 else ""
    proven = "proven"
    if result.failure_probability:
        proven = f"true except with probability {result.failure_probability:.0e}: the check used random numbers"
    return f"{value}, and no feasible point is better by more than {max(result.gap, 0.0):.2g}{share} ({proven})."


def _stopped(result: Result) -> str:
    steps = f"{result.n_iter} step{'' if result.n_iter == 1 else 's'}"
    counts = f"after {steps} in {result.time:.2g} s"
    if result.success:
        return f"because {result.message}, {counts}."
    return f"before the tolerance was met: {result.status.value}, {counts}."


def _data(result: Result) -> str:
    """Say how the rows were read: every path has a name."""
    if not result.paths:
        return ""
    reads = "1 read" if result.n_pass == 1 else f"{result.n_pass:.4g} reads"
    return f"read by {', or by '.join(result.paths)}, as much as {reads} of all rows."


def _next(result: Result) -> str:
    if result.status in (Status.MAX_ITER, Status.TIME_LIMIT):
        return _more(result, "max_iter" if result.status is Status.MAX_ITER else "time_limit")
    return {
        Status.OPTIMAL: "nothing: the answer is as good as was asked for. A smaller tol asks for more digits.",
        Status.PRECISION: "nothing in this arithmetic: the rest of the gap is what rounding may have done. Data in "
        f"double precision, columns of like size, or another method ({_others(result)}) may allow more digits.",
        Status.STALLED: f"another method: {_others(result)}; scaling columns of the data to like size helps as well.",
        Status.CALLBACK: "nothing, if that is what the callback was for; minimize(..., x0=result) goes on from here.",
        Status.INTERRUPTED: "minimize(..., x0=result) goes on from here; checkpoint=Checkpoint('run.npz') saves a run.",
        Status.NOT_FINITE: "look for NaN, infinity or overflow in the data and in f; scale the data or shrink the set.",
        Status.NOT_CONVEX: "check the sign of f: these methods and their bounds need a convex function.",
        Status.WRONG_ORACLE: "check_set(domain) finds out what is wrong with the oracle: it must minimise <g, v>.",
        Status.WRONG_GRADIENT: "compare the gradient with finite differences: check_gradient(objective, x) finds the "
        "entry.",
    }[result.status]


def _others(result: Result) -> str:
    """Name methods that have not been tried."""
    tried = result.method.split(" -> ")
    automatic = ["method='auto'"] if result.reason == "chosen by the caller" else []
    others = [repr(name) for name in ("fcfw", "apgd", "newton", "bpcg") if name not in tried]
    return " or ".join([*automatic, *others][:3])


def _more(result: Result, limit: str) -> str:
    """Say whether the gap was still falling over the second half of the run, and what follows from that."""
    raised = f"raise {limit} (minimize(..., x0=result) goes on from here)"
    auto = ", try method='auto'" if result.reason == "chosen by the caller" else ""
    gaps = result.trace["gap"]
    gaps = gaps[np.isfinite(gaps)]
    if gaps.size < 4 or gaps[gaps.size // 2] <= 0:
        return f"{raised}{auto}: the run was too short to tell how fast the gap falls."
    fell = gaps[-1] / gaps[gaps.size // 2]
    if fell > STALLED:
        return f"the gap had almost stopped falling: scale the data, use double precision{auto}, or raise tol."
    times = f"{1 / max(fell, 1e-9):.2g}"
    return f"{raised}{auto}: the gap was still falling, by a factor of {times} over the second half of the run."


def _kind(thing: Any) -> str:
    name = type(thing).__name__
    return f"{name}, which is not fitted or keeps no result" if name[:1].isupper() else name
