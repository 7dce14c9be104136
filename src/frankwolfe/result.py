"""What `minimize` returns."""

from __future__ import annotations

import enum
import math
import os
from dataclasses import dataclass, field
from typing import Any

from frankwolfe.files import write_arrays
from frankwolfe.trace import Trace


class Status(enum.Enum):
    """Why a run stopped."""

    OPTIMAL = "the certified gap is within the tolerance"
    MAX_ITER = "the iteration limit was reached"
    TIME_LIMIT = "the time limit was reached"
    CALLBACK = "the callback asked to stop"
    INTERRUPTED = "the run was interrupted"
    PRECISION = "the point is as exact as this arithmetic allows"
    STALLED = "the method makes no more progress"
    NOT_FINITE = "a value or gradient was not finite"
    NOT_CONVEX = "the objective is not convex"
    WRONG_ORACLE = "the oracle of the set does not minimise"
    WRONG_GRADIENT = "the gradient does not match the function"

    def __str__(self) -> str:
        return self.name.lower()


@dataclass(frozen=True, repr=False)
class Result:
    """The best point found, with a proven bound on how far from optimal it is.

    Attributes
    ----------
    x : array or LowRank
        The best point seen.
    fun : float
        f(x), computed afresh from x.
    lower_bound : float
        Proven: no feasible point has a smaller value.
    gap : float
        fun - lower_bound, an upper bound on the suboptimality of x.
    failure_probability : float
        Zero for a proof; positive where the bound rests on random numbers (very large nuclear-norm problems).
    status, success, message
        Why the run stopped; whether the tolerance was met; the same in a sentence.
    n_iter, n_grad, n_lmo, n_pass, n_matvec, n_proj
        Steps, gradients, oracle calls, reads of the data, products inside the oracle, projections.
    time : float
        Seconds, over all sessions of a resumed run, without those in which kernels were compiled.
    method, reason : str
        What ran and why: one name, or several as in 'fcfw -> apgd' where `auto` changed its mind.
    trace : Trace
        One row per iteration.
    atoms, weights
        The active atoms and their weights, where the method keeps them.
    problem : str
        What was solved: the objective and the set.
    paths : tuple of str
        How evaluations read the rows of the data, by name, the most frequent way first.
    tangents : (array of weights, tuple of points) or None
        Points whose tangents, averaged with these weights, prove the bound, where they are kept: with them anybody can
        prove it again.
    residuals : array or None
        For matrix completion, whose points are large, the averaged slope on the observed entries instead: the numbers
        of the affine function that proves the bound, in the order of the objective's pattern.
    """

    x: Any
    fun: float
    lower_bound: float
    status: Status
    message: str
    n_iter: int
    n_grad: int
    n_lmo: int
    n_pass: float
    n_matvec: int
    n_proj: int
    time: float
    method: str
    reason: str
    trace: Trace = field(repr=False)
    failure_probability: float = 0.0
    atoms: Any = None
    weights: Any = None
    problem: str = ""
    paths: tuple[str, ...] = ()
    tangents: tuple[Any, tuple[Any, ...]] | None = None
    residuals: Any = None

    @property
    def touch(self) -> Any:
        """The average of the points whose tangents prove the bound; None where they are not kept."""
        if self.tangents is None:
            return None
        return sum(float(weight) * point for weight, point in zip(*self.tangents, strict=True))

    @property
    def gap(self) -> float:
        """Certified bound on fun - f*."""
        return self.fun - self.lower_bound

    @property
    def success(self) -> bool:
        """Whether the certified gap is within the tolerance asked for."""
        return self.status is Status.OPTIMAL

    def plot(self, *, against: str = "k", ax: Any = None) -> Any:
        """Draw value and certified gap against iterations, seconds, passes or matvecs; return the matplotlib axes.

        Parameters
        ----------
        against : {"k", "time", "n_pass", "n_matvec", "n_lmo", "n_grad"}, default "k"
            What the horizontal axis shows.
        ax : pair of matplotlib Axes, optional
            Where to draw.
        """
        from frankwolfe.plotting import plot_result

        return plot_result(self, against=against, ax=ax)

    def save(self, path: str | os.PathLike[str], objective: Any = None, domain: Any = None) -> None:
        """Write the result to a file, with the problem if it is given: anyone can then check it without this run.

        Parameters
        ----------
        path : str or path
            File to write, usually ending in .npz; replaced atomically. It holds arrays and JSON, no pickle.
        objective, domain : Objective and Set, optional
            What was solved. Their data go into the file, which `verify(path)` and `frankwolfe verify FILE` then judge.

        Examples
        --------
        >>> import numpy as np, frankwolfe as fw, tempfile, os
        >>> f, ball = fw.LeastSquares(np.eye(2), [3.0, 4.0]), fw.L2Ball(1.0)
        >>> result = fw.minimize(f, ball)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     result.save(os.path.join(folder, "run.npz"), f, ball)
        ...     again = fw.Result.load(os.path.join(folder, "run.npz"))
        ...     fw.verify(os.path.join(folder, "run.npz")).ok, np.array_equal(again.x, result.x)
        (True, True)
        """
        from frankwolfe.verify import claims_of, described
        from frankwolfe.verify.saved_trees import packed

        plain = {name: getattr(self, name) for name in _PLAIN}
        more = {"status": self.status.name, "trace": self.trace.to_array(), "plain": plain}
        header, arrays = packed(claims_of(self, objective) | described(objective, domain, self) | more)
        write_arrays(path, header, arrays, durable=True)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Result:
        """Return the result in a file that `save` wrote (without atoms); a ValueError says what is wrong with a file.

        See `save` for an example.
        """
        from frankwolfe.verify.saved_trees import read

        tree = read(path)
        tangents = tree["tangents"] and (tree["tangents"]["weights"], tuple(map(_point, tree["tangents"]["points"])))
        points = {"x": _point(tree["x"]), "tangents": tangents, "residuals": tree["residuals"]}
        claims = {name: tree[name] for name in ("fun", "lower_bound", "failure_probability")}
        status, trace = Status[tree["status"]], Trace.from_array(tree["trace"])
        return cls(**points, **claims, **tree["plain"], status=status, trace=trace)

    @property
    def _certified(self) -> str:
        """The gap in words."""
        if not math.isfinite(self.lower_bound):
            return "unknown (nothing is proven about f*: no lower bound was found)"
        proven = "proven" if not self.failure_probability else f"wrong with probability {self.failure_probability:.0e}"
        return f"{self.gap:.3g} ({proven}: f* >= {self.lower_bound:.10g})"

    def _repr_html_(self) -> str:
        from frankwolfe.plotting.notebook import table

        steps = f"{self.n_iter} in {self.time:.3g} s"
        rows = {"status": f"{self.status}: {self.message}", "fun": f"{self.fun:.10g}", "gap": self._certified}
        rows |= {"method": f"{self.method} ({self.reason})", "steps": steps, "x": _summary(self.x)}
        return f"<div><b>{self.problem or 'Result'}</b>{table(rows)}{self.trace.picture()}</div>"

    def __repr__(self) -> str:
        return (
            f"Result: {self.message}\n"
            f"     fun: {self.fun:.10g}\n"
            f"     gap: {self._certified}\n"
            f"  status: {self.status}\n"
            f"  method: {self.method} ({self.reason})\n"
            f"   steps: {self.n_iter} in {self.time:.3g} s ({self.n_grad} gradients, {self.n_lmo} oracle calls, "
            f"{self.n_pass:.6g} passes over the data)\n"
            f"       x: {_summary(self.x)}"
        )


_PLAIN = ("message", "n_iter", "n_grad", "n_lmo", "n_pass", "n_matvec", "n_proj", "time", "method", "reason", "problem")


def _point(saved: Any) -> Any:
    """Return coordinates from a file: an array, or a low-rank matrix by its factors."""
    if not isinstance(saved, dict):
        return saved
    from frankwolfe.lowrank import LowRank

    left, right = saved["left"], saved["right"]
    return LowRank(saved["weights"], list(left), list(right), tuple(saved["shape"]), dtype=left.dtype)


def _summary(x: Any) -> str:
    import numpy as np

    if not isinstance(x, np.ndarray):
        return repr(x)
    nonzero = int(np.count_nonzero(x))
    return f"array of shape {x.shape}, {nonzero} nonzero"
