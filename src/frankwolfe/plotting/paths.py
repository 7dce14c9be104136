"""Figures of regularisation paths."""

from __future__ import annotations

from typing import Any

import numpy as np

from frankwolfe.plotting.palette import line_style
from frankwolfe.plotting.style import pair, spread, style

SHOWN = 30  # coefficients drawn: those that become largest


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
