"""The judge: is x in the set, what is f(x), how low can f be? Proven from the data, not from what a run says."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from frankwolfe.verify.arithmetic import Interval
from frankwolfe.verify.describe import describe_domain, describe_objective, describe_point
from frankwolfe.verify.domains import CannotShow, Domain, domain_of
from frankwolfe.verify.objectives import Objective, Tangent, objective_of
from frankwolfe.verify.saved_trees import read

TINY = 1e-280  # below it numbers have fewer digits
ULPS = 256  # of the size of what was added up: what a run may lose by rounding in f(x) and in its bound


@dataclass(frozen=True, repr=False)
class Verification:
    """What could be proven about a result, and what is wrong with it.

    Attributes
    ----------
    upper, lower : float
        Proven: f(x) <= upper, and f(y) >= lower for every y of the set.
    gap : float
        upper - lower: f(x) is no further from the optimum.
    infeasibility : float
        Proven: x is outside the set by no more than this part of its size (zero: inside, to rounding).
    fun, lower_bound : float
        What the result claims.
    false : tuple of str
        Claims that are proven wrong, a sentence each.
    unproven : tuple of str
        Claims that could be neither shown nor refuted, a sentence each.
    remarks : tuple of str
        What the proof rests on beside the data.
    ok : bool
        Nothing false, nothing unproven.
    """

    upper: float
    lower: float
    infeasibility: float
    fun: float
    lower_bound: float
    false: tuple[str, ...] = ()
    unproven: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()

    @property
    def gap(self) -> float:
        """Proven bound on f(x) - f*."""
        return self.upper - self.lower

    @property
    def ok(self) -> bool:
        """Whether every claim was shown."""
        return not self.false and not self.unproven

    def __repr__(self) -> str:
        verdict = "false" if self.false else "not shown" if self.unproven else "verified"
        lines = [
            f"Verification: {verdict}",
            f"     f(x): at most {self.upper:.17g} (claimed {self.fun:.17g})",
            f"       f*: at least {self.lower:.17g} (claimed {self.lower_bound:.17g})",
            f"      gap: {self.gap:.3g} (claimed {self.fun - self.lower_bound:.3g})",
            f"  outside: at most {self.infeasibility:.2g} of the set's size",
        ]
        lines += [f"    false: {text}" for text in self.false]
        lines += [f"not shown: {text}" for text in self.unproven]
        lines += [f"     note: {text}" for text in self.remarks]
        return "\n".join(lines)


def verify(result: Any, objective: Any = None, domain: Any = None, *, slack: float = 0.5) -> Verification:
    """Judge a result with other code than made it: interval arithmetic on the data, nothing of the solver.

    Parameters
    ----------
    result : Result, str or path
        What `minimize` returned, or the file that `Result.save` wrote (which holds objective and set).
    objective : Objective
        What was minimised.
    domain : Set
        Over which set.
    slack : float, default 0.5
        The claimed bound counts as shown where the proven gap is at most 1 + slack times the claimed one, up to
        rounding. A method that averages many tangents proves its bound with more points than a result keeps, and the
        judge may lose a little. Zero asks for the whole claim.

    Returns
    -------
    Verification
        Proven bounds on f(x), f* and how far x is outside; what is false; what could not be shown.

    Notes
    -----
    The lower bound is that of the dual: f(y) >= <r, Ay> - φ*(r) for whatever r, so f* >= -φ*(r) - max <-A'r, y>. Only
    the choice of r comes from the result (where its tangents touch f): a bad one makes the bound weak, never wrong.

    Examples
    --------
    >>> import numpy as np, frankwolfe as fw
    >>> f, ball = fw.LeastSquares(np.eye(2), [3.0, 4.0]), fw.L2Ball(1.0)
    >>> result = fw.minimize(f, ball, tol=1e-9)
    >>> check = fw.verify(result, f, ball)
    >>> check.ok, check.gap < 2e-9
    (True, True)
    >>> from dataclasses import replace
    >>> print(*fw.verify(replace(result, lower_bound=9.0), f, ball).false)
    lower_bound = 9 is above f(x), which is at most 4.0...
    """
    if isinstance(result, str | os.PathLike):
        claims = read(result)
        if claims["objective"] is None:
            raise ValueError(f"{result} holds no objective; write it with Result.save(path, objective, domain)")
        return judge(claims, slack)
    if objective is None:
        raise TypeError("objective is missing: verify(result, objective, domain), or verify(path) of a saved result")
    claims = claims_of(result, objective)
    return judge(claims | described(objective, domain, result), slack)


def described(objective: Any, domain: Any, result: Any) -> dict[str, Any]:
    """Return objective and set as plain data, or why they have none; a function by its numbers at the points."""
    points = [result.x, *(result.tangents[1] if result.tangents is not None else ())]
    out: dict[str, Any] = {}
    for name, thing, describe in (
        ("objective", objective, lambda f: describe_objective(f, points)),
        ("domain", domain, lambda X: describe_domain(X, objective, points)),
    ):
        try:
            out[name] = None if thing is None else describe(thing)
        except CannotShow as error:
            out[name] = {"kind": type(thing).__name__, "because": str(error)}
    return out


def claims_of(result: Any, objective: Any = None) -> dict[str, Any]:
    """Return what a result says, as plain data."""
    tangents = None
    if result.tangents is not None:
        weights, points = result.tangents
        tangents = {
            "weights": np.asarray(weights, np.float64),
            "points": [describe_point(p, objective) for p in points],
        }
    return {
        "x": describe_point(result.x, objective),
        "tangents": tangents,
        "residuals": None if result.residuals is None else np.asarray(result.residuals),
        "fun": float(result.fun),
        "lower_bound": float(result.lower_bound),
        "failure_probability": float(result.failure_probability),
    }


def judge(claims: dict[str, Any], slack: float = 0.5) -> Verification:
    """Judge claims that are plain data: what `Result.save` wrote, or `claims_of` with two descriptions."""
    with np.errstate(all="ignore"):
        return _Case(claims, slack).verdict()


class _Case:
    def __init__(self, claims: dict[str, Any], slack: float) -> None:
        self.claims, self.slack = claims, slack
        self.false: list[str] = []
        self.unproven: list[str] = []
        self.remarks: list[str] = []

    def verdict(self) -> Verification:
        objective, domain = self._made("objective", objective_of), self._made("domain", domain_of)
        fun, claimed = self.claims["fun"], self.claims["lower_bound"]
        infeasibility = self._membership(domain)
        upper, scale = self._value(objective, fun)
        lower, bound_scale = self._bound(objective, domain)
        if math.isnan(claimed):
            self.false.append("lower_bound is not a number")
        else:
            self._compare(fun, claimed, upper, lower, ULPS * 2.0**-52 * max(scale, bound_scale, TINY))
        if upper < lower and not self.false and not self.unproven:
            self.remarks.append("f(x) is below f*: x is outside the set, by no more than rounding")
        if self.claims.get("failure_probability"):
            self.remarks.append("the run itself gives its bound a probability of being wrong; the proven one has none")
        self.remarks += objective.remarks if objective is not None else ()
        return Verification(
            upper, lower, infeasibility, fun, claimed, tuple(self.false), tuple(self.unproven), tuple(self.remarks)
        )

    def _made(self, name: str, make: Any) -> Any:
        description = self.claims[name]
        if description is None:
            return None
        if "because" in description:
            self.unproven.append(description["because"])
            return None
        return self._tried("", lambda: make(description))

    def _tried(self, what: str, attempt: Callable[[], Any]) -> Any:
        """Return what an attempt gives; None, and a note of what is not shown, where it fails."""
        try:
            return attempt()
        except (CannotShow, np.linalg.LinAlgError) as error:
            self.unproven.append(f"{what}{error}")
            return None

    def _membership(self, domain: Domain | None) -> float:
        x = self.claims["x"]
        if self.claims["domain"] is None:
            return 0.0
        if domain is None:
            return math.inf
        entries = x if isinstance(x, np.ndarray) else x["left"]
        if not np.isfinite(entries).all():
            self.false.append("x has entries that are not finite")
            return math.inf
        size = x.size if isinstance(x, np.ndarray) else math.prod(x["shape"])
        room = (domain.ulps + 2 * math.sqrt(size)) * float(np.finfo(entries.dtype).eps)
        outside = self._tried("that x is in the set: ", lambda: domain.excess(_double(x)))
        if outside is None:
            return math.inf
        low, high = float(outside.lo), float(outside.hi)
        if low > room:
            self.false.append(f"x is not in the set: it is outside by {low:.3g} of the set's size, at least")
        elif not high <= room:
            self.unproven.append(f"that x is in the set: it may be outside by {high:.3g} of the set's size")
        return max(high, 0.0)

    def _value(self, objective: Objective | None, fun: float) -> tuple[float, float]:
        if objective is None:
            return math.inf, 0.0
        found = self._tried("the value of x: ", lambda: objective.value(_double(self.claims["x"])))
        if found is None:
            return math.inf, 0.0
        enclosure, scale = found
        low, high = float(enclosure.lo), float(enclosure.hi)
        room = ULPS * 2.0**-52 * max(scale, TINY)
        if not math.isfinite(high + scale):
            self.unproven.append("the value of x: it overflows")
        elif not low - room <= fun <= high + room:
            self.false.append(f"fun = {fun:.17g} is not f(x), which lies between {low:.17g} and {high:.17g}")
        return high, scale

    def _bound(self, objective: Objective | None, domain: Domain | None) -> tuple[float, float]:
        """Return the best lower bound that the points at hand prove, and about the size of what it was made from."""
        if objective is None or (domain is None and self.claims["domain"] is not None):
            return -math.inf, 0.0
        best, scale, trouble = objective.floor, 0.0, ""
        for witness in self._witnesses(objective):
            try:
                constant, slope, bend, at = witness()
                height = domain.highest(-slope) if domain is not None else _anywhere(slope, bend, at)
                bound = constant - height
                if bend > 0 and domain is not None:
                    bound = bound - Interval(0.5 * bend) * domain.farthest(at)
            except (CannotShow, np.linalg.LinAlgError) as error:
                trouble = str(error)
                continue
            if math.isfinite(height):
                scale = max(scale, float(abs(constant).hi) + abs(height))
            best = max(best, float(bound.lo))
        if best == -math.inf and trouble:
            self.unproven.append(f"a lower bound: {trouble}")
        return best, scale

    def _witnesses(self, objective: Objective) -> list[Callable[[], Tangent]]:
        """Return what may give an affine function below f: residuals, points of tangency, and x itself."""
        x, tangents, residuals = (self.claims.get(name) for name in ("x", "tangents", "residuals"))
        found: list[Callable[[], Tangent]] = []
        if residuals is not None:
            found.append(lambda: objective.from_residuals(np.asarray(residuals)))
        touching = [(1.0, _double(x))]
        if tangents is not None:
            pairs = zip(tangents["weights"], tangents["points"], strict=True)
            several = [(float(weight), _double(point)) for weight, point in pairs]
            if len(several) > 1 or not _same(several[0][1], touching[0][1]):
                found.append(lambda: objective.tangent(several))
        return [*found, lambda: objective.tangent(touching)]

    def _compare(self, fun: float, claimed: float, upper: float, lower: float, rounding: float) -> None:
        if claimed > upper + rounding:
            self.false.append(f"lower_bound = {claimed:.17g} is above f(x), which is at most {upper:.17g}")
        short = claimed - lower
        if short > self.slack * max(fun - claimed, 0.0) + rounding and not self.unproven:
            self.unproven.append(
                f"lower_bound = {claimed:.17g}: only {lower:.17g} is proven, {short:.3g} less (claimed gap "
                f"{fun - claimed:.3g})"
            )


def _anywhere(slope: Interval, bend: float, at: np.ndarray) -> float:
    """Return an upper bound of -<slope, y> + bend/2 \\|y - at\\|² over all y."""
    if not bend < 0:
        raise CannotShow("there is no set, and the objective was not shown to be strongly convex")
    return float((slope.squared().sum() / (-2 * bend) - (slope * at).sum()).hi)


def _double(point: Any) -> Any:
    if isinstance(point, np.ndarray):
        return np.asarray(point, np.float64)
    return {name: np.asarray(part, np.float64) if name != "shape" else part for name, part in point.items()}


def _same(a: Any, b: Any) -> bool:
    return isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and np.array_equal(a, b)
