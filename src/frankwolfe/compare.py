"""Several methods on one problem, side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from frankwolfe.methods import Method
from frankwolfe.minimize import minimize
from frankwolfe.objectives.base import Objective
from frankwolfe.result import Result
from frankwolfe.sets.base import Set


class Comparison(Mapping[str, Result]):
    """Results by name, with a table and a picture.

    `lower_bound` is the best bound that any of the methods has proven: all of them share the same optimum.
    """

    def __init__(self, results: dict[str, Result]) -> None:
        self.results = results

    def __getitem__(self, name: str) -> Result:
        return self.results[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.results)

    def __len__(self) -> int:
        return len(self.results)

    @property
    def lower_bound(self) -> float:
        """Best bound proven by any method."""
        return max(result.lower_bound for result in self.results.values())

    def plot(self, *, against: str = "k", optimum: float | None = None, ax: Any = None) -> Any:
        """Draw the error of every method on one figure, on logarithmic axes; return the matplotlib axes.

        Parameters
        ----------
        against : str, default "k"
            Column of the trace for the horizontal axis: "k", "time", "n_pass", "n_matvec", "n_lmo" or "n_grad".
        optimum : float, optional
            The optimal value, if known; the best bound proven by any method otherwise, so that curves are upper bounds.
        ax : matplotlib Axes, optional
            Where to draw.
        """
        from frankwolfe.plotting import plot_comparison

        return plot_comparison(self, against=against, optimum=optimum, ax=ax)

    def to_pandas(self) -> Any:
        """Return all traces as one DataFrame with a column `method`."""
        from frankwolfe.validation import optional

        pandas = optional("pandas", extra="pandas")
        return pandas.concat([r.trace.to_pandas().assign(method=name) for name, r in self.results.items()])

    def _repr_html_(self) -> str:
        from html import escape

        from frankwolfe.plotting.notebook import curves

        shown = {name: (r.trace["k"], r.trace["fun"] - self.lower_bound) for name, r in self.results.items()}
        return f"<div><pre>{escape(repr(self))}</pre>{curves(shown, 'f(x) minus the best bound')}</div>"

    def __repr__(self) -> str:
        width = max(len(name) for name in self.results)
        head = f"{'method':<{width}}  {'fun':>14} {'gap':>10} {'status':>12} {'steps':>7} {'passes':>8} {'seconds':>8}"
        rows = [
            f"{name:<{width}}  {r.fun:>14.8g} {r.gap:>10.2e} {r.status!s:>12} {r.n_iter:>7} {r.n_pass:>8.0f} "
            f"{r.time:>8.3f}"
            for name, r in self.results.items()
        ]
        return "\n".join([head, *rows])


def compare(
    objective: Objective,
    domain: Set | None,
    methods: Sequence[str | Method] | Mapping[str, str | Method],
    x0: Any = None,
    **options: Any,
) -> Comparison:
    """Run several methods on the same problem.

    Parameters
    ----------
    objective, domain, x0
        As in `minimize`.
    methods : sequence or mapping
        Names or Method objects; a mapping gives them labels of your own.
    **options
        Passed to `minimize` for each.

    Returns
    -------
    Comparison
        A mapping from label to Result, with ``.plot()``.

    Examples
    --------
    >>> import numpy as np, frankwolfe as fw
    >>> f = fw.LeastSquares(np.eye(3), np.array([1.0, 2.0, 3.0]))
    >>> both = fw.compare(f, fw.L2Ball(1.0), ["fw", "afw"], max_iter=50)
    >>> list(both), both["afw"].n_iter <= 50
    (['fw', 'afw'], True)
    """
    if isinstance(methods, str | Method):
        methods = [methods]
    labelled = dict(methods) if isinstance(methods, Mapping) else _labels(list(methods))
    if not labelled:
        raise ValueError("methods is empty; name at least one, for example ['fw', 'afw']")
    return Comparison(
        {label: minimize(objective, domain, x0, method=method, **options) for label, method in labelled.items()}
    )


def _labels(methods: list[str | Method]) -> dict[str, str | Method]:
    names = [m if isinstance(m, str) else m.name for m in methods]
    return {
        (name if names.count(name) == 1 or isinstance(m, str) else repr(m)): m
        for name, m in zip(names, methods, strict=True)
    }
