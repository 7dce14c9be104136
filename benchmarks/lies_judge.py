"""The judge of the campaign: solves a case, and says what about the answer is false.

It believes nothing that the library says. f(x), membership and linear minima come from the formulae of `lies_sets` and
`lies_objectives`. A lower bound is true where a tangent, drawn here, proves it; it is false where a feasible point
lies below it. Between the two it is undecided, and counted as that.
"""

from __future__ import annotations

import contextlib
import linecache
import math
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import frankwolfe as fw
from benchmarks.lies_cases import TIME_LIMIT, Case, case, to_numpy
from benchmarks.lies_objectives import Look
from benchmarks.lies_sets import EPS, LD

PACKAGE = str(Path(fw.__file__).parent)
ULPS = 32  # of the set's size: a few operations on each entry
LATE = 3.0  # seconds of work beyond the time limit that are called a hang
ATTEMPTS = 5
ROUNDS = 60  # of the search for a point below a bound


@dataclass
class Verdict:
    """How a case ended: a word, and a line for each lie."""

    seed: int
    labels: dict[str, str]
    ending: str = ""
    lies: list[tuple[str, str]] = field(default_factory=list)
    bound: str = ""
    verified: str = ""
    refusal: str = ""
    seconds: float = 0.0

    def lie(self, kind: str, words: str) -> None:
        """Add a violation."""
        self.lies.append((kind, words))


def judged(seed: int, **only: str) -> Verdict:
    """Solve the problem of a seed and judge the answer."""
    began = time.process_time()
    with _listening() as heard:
        try:
            problem = case(seed, **only)
        except Exception as error:
            verdict = Verdict(seed, {"set": "?"}, "refused")
            _exception(verdict, error, "building")
            return verdict
    verdict = Verdict(seed, problem.labels)
    for words in heard:
        verdict.lie("warning", f"building: {words}")
    result = _solved(problem, verdict)
    if result is not None:
        with np.errstate(all="ignore"):
            _judge(problem, result, verdict)
            _second_opinion(problem, result, verdict)
        if not _late(problem, result):
            if seed % 8 == 0:
                _repeat(case(seed, **only), result, verdict, "repeat")
            # A user's gradient with a buffer is not for threads; how torch splits a sum among its own is up to torch.
            if seed % 40 == 1 and problem.labels["objective"] != "function" and problem.labels["library"] == "numpy":
                _in_threads(case(seed, **only), result, verdict)
    verdict.seconds = time.process_time() - began
    return verdict


def _solved(problem: Case, verdict: Verdict) -> Any:
    before = [_digest(value) for value in problem.inputs]
    for attempt in range(ATTEMPTS):
        began = time.process_time()
        with _listening() as heard:
            try:
                result = problem.solve()
            except Exception as error:
                verdict.ending = "refused"
                _exception(verdict, error, "solving")
                return None
        limit = problem.options["time_limit"]
        if time.process_time() - began - problem.warming < LATE + 2 * limit or problem.labels["library"] == "jax":
            break  # (JAX compiles for every problem anew)
        if attempt == ATTEMPTS - 1:  # before, kernels may have been compiled, one after the other
            verdict.lie("late", f"{time.process_time() - began:.1f} s of work with a time limit of {limit} s")
    for words in heard:
        verdict.lie("warning", words)
    if before != [_digest(value) for value in problem.inputs]:
        verdict.lie("inputs changed", "the caller's arrays are not what they were")
    verdict.ending = str(result.status)
    return result


def _digest(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return hash(value.tobytes())
    if hasattr(value, "indptr"):
        return hash(value.data.tobytes()), hash(value.indices.tobytes()), hash(value.indptr.tobytes())
    return None


@contextlib.contextmanager
def _listening() -> Iterator[Counter]:
    """Count the warnings that leak, by what they say and the line of the library that they come from."""
    heard: Counter = Counter()

    def show(message: Any, category: Any, filename: str, lineno: int, *rest: Any) -> None:
        stack = [frame for frame in traceback.extract_stack() if frame.filename.startswith(PACKAGE)]
        heard[f"{category.__name__}: {str(message)[:90]} ({_place(stack, filename, lineno)})"] += 1

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = show
        yield heard


def _place(stack: Any, filename: str, lineno: int | None) -> str:
    """Return the last line of the library on the way to some place."""
    ours = [frame for frame in stack if frame.filename.startswith(PACKAGE)]
    name, line = (ours[-1].filename, ours[-1].lineno) if ours else (filename, lineno)
    return f"{name.replace(PACKAGE, 'frankwolfe')}:{line}"


def _exception(verdict: Verdict, error: Exception, when: str) -> None:
    """A refusal is a ValueError or TypeError raised on purpose by the library; anything else is a defect."""
    frame = traceback.extract_tb(error.__traceback__)[-1]
    ours = frame.filename.startswith(PACKAGE) and "raise" in linecache.getline(frame.filename, frame.lineno or 0)
    said = f"{type(error).__name__}: {str(error)[:160]}"
    if isinstance(error, ValueError | TypeError) and ours and len(str(error)) > 20:
        verdict.refusal = said
        return
    place = _place(traceback.extract_tb(error.__traceback__), frame.filename, frame.lineno)
    verdict.lie("exception", f"{when}: {said} ({place})")


def _judge(problem: Case, result: Any, verdict: Verdict) -> None:
    status, model, domain = result.status, problem.model, problem.domain
    x = to_numpy(result.x)
    if status in (fw.Status.NOT_CONVEX, fw.Status.WRONG_GRADIENT):
        verdict.lie(str(status), f"of a convex function with a right gradient: {result.message[:120]}")
    if x.shape != model.shape or not np.isfinite(x).all():
        verdict.lie("x", f"of shape {x.shape}, finite: {bool(np.isfinite(x).all())}")
        return
    eps = _eps(result.x)
    if domain is not None:
        allowed = ULPS * max(eps, EPS) + domain.doubt
        excess = domain.excess(x)
        if excess > allowed:
            verdict.lie("outside", f"x is outside by {excess:.3g} of the set's size, {excess / eps:.3g} ulps")
    look = model.look(x)
    slack = model.rounding(look, problem.u) + _stored(result.x, look)
    fun, bound = result.fun, result.lower_bound
    if not math.isfinite(fun):
        if np.isfinite(look.value) and look.first < 1e30:
            verdict.lie("not finite", f"fun is {fun}, f(x) is {float(look.value):.6g}")
        return
    wrong = float(LD(fun) - look.value)
    if wrong > slack or (wrong < -slack and look.sure):
        verdict.lie("fun", f"fun - f(x) = {wrong:.3g}, f(x) = {float(look.value):.10g}, rounding explains {slack:.2g}")
    if status is fw.Status.NOT_FINITE and problem.labels.get("precision") == "float64":
        verdict.lie("not finite", f"a run ended so, f(x) is {float(look.value):.6g}: {result.message[:80]}")
    if bound > fun:
        verdict.lie("gap", f"the gap is negative: fun {fun!r}, lower_bound {bound!r}")
    goal = max(problem.options["tol"], problem.options["rtol"] * max(1.0, abs(fun)))
    if status is fw.Status.OPTIMAL and not fun - bound <= goal:
        verdict.lie("optimal", f"status optimal with gap {fun - bound:.3g} > {goal:.3g}")
    if math.isnan(bound) or bound == math.inf:
        verdict.lie("bound", f"lower_bound is {bound}")
    elif bound > -math.inf and not result.failure_probability:
        _judge_bound(problem, result, verdict, x, look)
    elif result.failure_probability:
        verdict.bound = "with a probability"


def _second_opinion(problem: Case, result: Any, verdict: Verdict) -> None:
    """Ask the library's own judge, and judge it too: what it has proven must be true."""
    if not hasattr(fw, "verify") or not np.isfinite(to_numpy(result.x)).all():
        return
    with _listening() as heard:
        try:
            opinion = fw.verify(result, problem.objective, problem.set)
        except Exception as error:
            place = _place(traceback.extract_tb(error.__traceback__), "", 0)
            verdict.lie("verify", f"raised {type(error).__name__}: {str(error)[:160]} ({place})")
            return
    verdict.verified = "false" if opinion.false else "not shown" if opinion.unproven else "verified"
    for words in heard:
        verdict.lie("warning", f"verify: {words}")
    for words in opinion.false:
        verdict.lie("verify", f"false: {words}")
    x, domain = to_numpy(result.x), problem.domain
    look = problem.model.look(x)
    slack = problem.model.rounding(look, problem.u) + _stored(result.x, look)
    if look.sure and opinion.upper < look.value - slack:
        verdict.lie("verify", f"proves f(x) <= {opinion.upper!r}, f(x) is {float(look.value)!r}")
    if domain is not None and domain.excess(x) <= ULPS * _eps(result.x):
        near = float(np.abs(look.slope).sum()) * domain.scale * ULPS * _eps(result.x)  # from x to the set
        if opinion.lower > look.value + slack + near:
            verdict.lie("verify", f"proves f >= {opinion.lower!r}, f(x) is {float(look.value)!r}")


def _eps(x: Any) -> float:
    """Return the machine epsilon of the numbers of x."""
    kind = x.like if isinstance(x, fw.LowRank) else x
    narrow = str(kind.dtype).endswith(("float32", "f4"))
    return float(np.finfo(np.float32).eps) if narrow else EPS


def _stored(x: Any, look: Look) -> float:
    """Return what is due to a low-rank x: its entries are sums of products of factors."""
    if not isinstance(x, fw.LowRank):
        return 0.0
    most = sum(
        abs(float(w)) * float(np.linalg.norm(to_numpy(l).astype(float)) * np.linalg.norm(to_numpy(r).astype(float)))
        for w, l, r in zip(x.weights, x.left, x.right, strict=True)
    )
    return 64 * EPS * most * float(np.abs(look.slope).sum())


def _judge_bound(problem: Case, result: Any, verdict: Verdict, x: np.ndarray, look: Look) -> None:
    model, domain, bound = problem.model, problem.domain, LD(result.lower_bound)

    # The bound may be fun itself, which is as good as its rounding. Where it is not, rounding was taken off.
    clipped = result.gap <= model.rounding(look, problem.u) or not model.convex_to_the_bit

    def below(y: np.ndarray, seen: Look) -> bool:
        slack = model.rounding(seen, problem.u if clipped else 2.0**-62)
        if bound > seen.value + slack:
            verdict.lie(
                "bound",
                f"lower_bound {float(bound):.12g} is above f = {float(seen.value):.12g} of a feasible point by "
                f"{float(bound - seen.value):.3g}, rounding explains {slack:.2g} (gap {result.gap:.3g})",
            )
            return True
        return False

    def proven(weights: Any, points: list[np.ndarray]) -> bool:
        """Tell whether an average of tangents, or one, reaches the bound."""
        if domain is None:
            return False
        seen = [model.look(y) for y in points]
        slope = sum(LD(w) * look.slope for w, look in zip(weights, seen, strict=True))
        offset = sum(
            LD(w) * (look.value - np.sum(look.slope * y)) for w, look, y in zip(weights, seen, points, strict=True)
        )
        room = domain.doubt * float(np.abs(slope).sum()) * domain.scale
        room += max(model.rounding(look, problem.u) for look in seen)
        return bool(offset + domain.least(slope)[0] + room >= bound)

    if proven([1], [x]) or proven(*_tangents(result, model.shape)):
        verdict.bound = "true"
        return
    if domain is None:
        verdict.bound = _unconstrained(problem, result, below)
        return
    for y in _rivals(problem, x):
        seen = model.look(y)
        if below(y, seen):
            verdict.bound = "false"
            return
        if proven([1], [y]):
            verdict.bound = "true"
            return
    verdict.bound = "undecided"


def _tangents(result: Any, shape: tuple[int, ...]) -> tuple[Any, list[np.ndarray]]:
    """Return the points of tangency that a result names as its proof, with weights that sum to one; else x."""
    weights, points = result.tangents or ([1.0], [result.x])
    points = [to_numpy(point) for point in points]
    if any(point.shape != shape for point in points):
        return [1], [to_numpy(result.x)]
    total = sum(LD(w) for w in weights)
    return [LD(w) / total for w in weights], points


def _unconstrained(problem: Case, result: Any, below: Any) -> str:
    """Gradient steps of every length from x: any value below the bound is a proof."""
    y = to_numpy(result.x)
    for _ in range(30):
        look = problem.model.look(y)
        if below(y, look):
            return "false"
        steps = [y - LD(10.0) ** k * look.slope for k in range(-30, 12)]
        y = min(steps, key=lambda z: problem.model.look(z).value)
    return "undecided"


def _rivals(problem: Case, x: np.ndarray) -> Any:
    """Yield feasible points with low values: mixtures of vertices, then what other methods find in double precision."""
    domain, model = problem.domain, problem.model
    assert domain is not None
    look = model.look(x)
    y = domain.least(look.slope)[1]
    atoms, weights = [y], [LD(1)]
    for k in range(ROUNDS):
        look = model.look(y)
        v = domain.least(look.slope)[1]
        scores = [np.sum(look.slope * a) for a in atoms]
        worst = int(np.argmax(scores))
        direction, most = v - y, LD(1)
        pairwise = k % 2 == 1 and len(atoms) > 1
        if pairwise:
            direction, most = v - atoms[worst], weights[worst]
        step = _search(model, y, direction, most)
        if step == 0 and not pairwise:
            break
        if pairwise:
            weights[worst] -= step
        else:
            weights = [w * (1 - step) for w in weights]
        atoms.append(v)
        weights.append(step)
        kept = [i for i, w in enumerate(weights) if w > 0]
        atoms, weights = [atoms[i] for i in kept], [weights[i] for i in kept]
        total = sum(weights)
        y = sum((w / total) * a for w, a in zip(weights, atoms, strict=True))
        if k % 10 == 9:
            yield y
    yield y
    for method in ("auto", "apgd", "pairwise", "fcfw"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                found = fw.minimize(
                    problem.rival(),
                    domain.make(),
                    y.astype(float) if problem.labels["objective"] == "function" else None,
                    method=method,
                    tol=0,
                    max_iter=300,
                    time_limit=TIME_LIMIT,
                )
            except Exception:
                continue
        z = to_numpy(found.x)
        if z.shape == model.shape and np.isfinite(z).all() and domain.excess(z) <= 4 * EPS + domain.doubt:
            yield z


def _search(model: Any, y: np.ndarray, direction: np.ndarray, most: Any) -> Any:
    """Return the step along a direction where the derivative vanishes, at most `most`, by bisection and secants."""

    def slope(t: Any) -> Any:
        return np.sum(model.look(y + t * direction).slope * direction)

    low, high = LD(0), LD(most)
    at_low, at_high = slope(low), slope(high)
    if not at_low < 0:
        return LD(0)
    if at_high <= 0:
        return high
    for k in range(24):
        t = low + (high - low) * (at_low / (at_low - at_high)) if k % 2 == 0 else (low + high) / 2
        if not low < t < high:
            break
        s = slope(t)
        if s == 0:
            return t
        if s < 0:
            low, at_low = t, s
        else:
            high, at_high = t, s
        if abs(s) < 1e-15 * abs(at_low):
            break
    return low


def _late(problem: Case, result: Any) -> bool:
    """Tell whether time, and not the problem, may have decided where a run ended."""
    return result.status is fw.Status.TIME_LIMIT or result.time > 0.9 * problem.options["time_limit"]


def _repeat(problem: Case, result: Any, verdict: Verdict, kind: str) -> None:
    """The same call again, everything made afresh, must give the same bits."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            again = problem.solve()
        except Exception as error:
            verdict.lie(kind, f"the second run raised {type(error).__name__}: {str(error)[:100]}")
            return
    if _late(problem, again):
        return
    numbers = [(r.fun, r.lower_bound, r.n_iter, r.status) for r in (result, again)]
    if numbers[0] != numbers[1] or not np.array_equal(to_numpy(again.x), to_numpy(result.x)):
        verdict.lie(kind, f"fun {result.fun!r} then {again.fun!r}, n_iter {result.n_iter} then {again.n_iter}")


def _in_threads(problem: Case, result: Any, verdict: Verdict) -> None:
    """One objective and one set used by three threads at a time must give what they give alone."""
    with ThreadPoolExecutor(3) as pool:
        list(pool.map(lambda _: _repeat(problem, result, verdict, "threads"), range(3)))
