"""Convergence curves of one result or several methods on one figure, and figures of regularisation paths."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from frankwolfe.plotting.style import TITLES, line_style, pair, spread, style
from frankwolfe.validation import nearest, optional

AXES = {
    "k": "iterations",
    "time": "seconds",
    "n_pass": "passes over the data",
    "n_matvec": "matrix-vector products in the oracle",
    "n_lmo": "oracle calls",
    "n_grad": "gradients",
    "n_proj": "projections",
}

SHOWN = 30  # coefficients drawn: those that become largest


def plot_result(result: Any, against: str = "k", ax: Any = None) -> Any:
    """Draw the value between its proven bounds, and the certified gap; return the pair of axes."""
    label = _axis(against)
    trace, look = result.trace, line_style(result.method)
    x = np.asarray(trace[against], dtype=float)
    with style():
        axes = value, gap = pair(ax, "value and gap")
        value.plot(x, trace.fun, label="value f(x)", **look)
        bounded = np.isfinite(trace.lower_bound)
        if bounded.any():
            faint = {**look, "linewidth": 1.2}
            value.plot(x[bounded], trace.lower_bound[bounded], label="proven lower bound", alpha=0.7, **faint)
            value.fill_between(
                x[bounded], trace.lower_bound[bounded], trace.fun[bounded], color=look["color"], alpha=0.1, linewidth=0
            )
        low, high = float(np.nanmin(trace.fun)), float(np.nanmax(trace.fun))
        if high > low:  # the first bounds are far below: they would squeeze everything else
            value.set_ylim(low - 0.6 * (high - low), high + 0.06 * (high - low))
        value.set(xlabel=label, ylabel="objective value", title=TITLES.get(result.method, result.method))
        value.legend(loc="best")

        shown = np.isfinite(trace.gap) & (trace.gap > 0)
        gap.plot(x[shown], trace.gap[shown], **look)
        gap.set(xlabel=label, ylabel="certified gap", title="Proven bound on the error")
        if shown.any():
            gap.set_yscale("log")
        else:
            note = "this method proves no lower bound" if not bounded.any() else "the gap is zero throughout"
            gap.text(0.5, 0.5, note, transform=gap.transAxes, ha="center", va="center")
        for axis in axes:
            spread(axis, x)
    return axes


def plot_comparison(
    comparison: Mapping[str, Any], against: str = "k", optimum: float | None = None, ax: Any = None
) -> Any:
    """Draw the error of every method on logarithmic axes, which are returned: a Comparison, or Results by their labels.

    Where the optimal value is not known the curves are upper bounds on the error: f(x_k) minus the best lower bound
    that any of the methods has proven, and the axis says so.
    """
    label = _axis(against)
    if not comparison:
        raise ValueError("comparison is empty; there is nothing to draw")
    base, words = _reference(comparison, optimum)
    with style():
        if ax is None:
            ax = optional("matplotlib.pyplot", extra="plot").subplots(figsize=(6.0, 4.2))[1]
        variants: dict[str, int] = {}
        for name, result in comparison.items():
            variant = variants.setdefault(result.method, 0)
            variants[result.method] += 1
            x, error = np.asarray(result.trace[against], dtype=float), result.trace.fun - base
            # Zero has no place on a logarithmic axis; an error below zero only says that `optimum` is not exact.
            shown = np.isfinite(error) & (error > 0) & (x > 0)
            ax.plot(x[shown], error[shown], label=TITLES.get(name, name), **line_style(result.method, variant))
        if any(line.get_xdata().size for line in ax.lines):
            ax.set(xscale="log", yscale="log")
        ax.set(xlabel=label, ylabel=words)
        ax.legend(loc="best")
    return ax


def _axis(against: str) -> str:
    if against not in AXES:
        raise ValueError(f"against must name a column of the trace, got {against!r}; {nearest(str(against), AXES)}")
    return AXES[against]


def _reference(comparison: Mapping[str, Any], optimum: float | None) -> tuple[float, str]:
    """Return what is subtracted from values, and what that makes them, in words."""
    if optimum is not None:
        if not math.isfinite(optimum):
            raise ValueError(f"optimum must be a finite number, got {optimum!r}; leave it out if it is not known")
        return float(optimum), "error f(x) − f*"
    bound = max(result.lower_bound for result in comparison.values())
    if math.isfinite(bound):
        return bound, "certified upper bound on the error"
    return min(float(np.nanmin(r.trace.fun)) for r in comparison.values()), "f(x) − best value seen (no bound proven)"


def plot_path(path: Any, ax: Any = None) -> Any:
    """Draw coefficients (for matrices, the rank) and score (else the value) against the radius; return both axes."""
    order = np.argsort(path.radii, kind="stable")
    radii, results = path.radii[order], [path[int(i)] for i in order]
    with style():
        axes = left, right = pair(ax, "coefficients and score")
        if isinstance(path.coefs, list):
            left.plot(radii, [result.x.rank() for result in results], marker="o", **line_style(results[0].method))
            left.set(ylabel="rank", title="Rank")
        else:
            _coefficients(left, radii, np.stack([np.ravel(np.asarray(result.x)) for result in results]))
        _score(right, path, radii, order, results)
        for axis in axes:
            axis.set(xlabel="radius")
            spread(axis, radii)
    return axes


def _coefficients(ax: Any, radii: np.ndarray, table: np.ndarray) -> None:
    """Draw the columns that become largest, a line each."""
    for j in np.sort(np.argsort(-np.max(np.abs(table), axis=0), kind="stable")[:SHOWN]):
        ax.plot(radii, table[:, j], linewidth=1.1, label=f"{j}")
    ax.set(ylabel="coefficient", title="Coefficients")


def _score(ax: Any, path: Any, radii: np.ndarray, order: np.ndarray, results: list[Any]) -> None:
    """Draw the score with its best radius marked, or the value where nothing was scored."""
    look = line_style(results[0].method)
    if path.scores is None:
        ax.plot(radii, [result.fun for result in results], marker=".", **look)
        ax.set(ylabel="objective value", title="Value")
        return
    ax.plot(radii, path.scores[order], marker=".", **look)
    if np.isfinite(path.scores).any():
        ax.axvline(path.best_radius, color=look["color"], alpha=0.4, linewidth=1.2)
    ax.set(ylabel="score", title="Score (lower is better)" if path.lower_is_better else "Score (higher is better)")


def plot_search(
    radii: np.ndarray, coefs: np.ndarray, scores: np.ndarray, chosen: float, method: str, label: str, ax: Any = None
) -> Any:
    """Draw coefficients (a row for each radius) and cross-validated scores (a row for each fold) against the radius.

    Coefficients come on the left; on the right the mean score, with a band of one standard error. `chosen` is the
    radius to mark, `label` says what the score is, and `method` gives the colour.
    """
    look = line_style(method)
    with style():
        axes = left, right = pair(ax, "coefficients and score")
        _coefficients(left, radii, coefs)
        mean = scores.mean(axis=0)
        right.plot(radii, mean, marker=".", **look)
        if len(scores) > 1:
            error = scores.std(axis=0, ddof=1) / len(scores) ** 0.5
            right.fill_between(radii, mean - error, mean + error, color=look["color"], alpha=0.15, linewidth=0)
        right.set(ylabel=label, title="Held-out score (higher is better)")
        for axis in axes:
            axis.axvline(chosen, color=look["color"], alpha=0.4, linewidth=1.2)
            axis.set(xlabel="radius")
            spread(axis, radii)
    return axes
