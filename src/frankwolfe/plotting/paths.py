"""Figures of regularisation paths."""

from __future__ import annotations

from typing import Any

import numpy as np

from frankwolfe.plotting.palette import line_style
from frankwolfe.plotting.style import style
from frankwolfe.validation import optional

SHOWN = 30  # coefficients drawn: those that become largest


def plot_path(path: Any, ax: Any = None) -> Any:
    """Draw coefficients and score (else the value) against the radius.

    Parameters
    ----------
    path : Path
        What `frankwolfe.path` returned.
    ax : pair of matplotlib Axes, optional
        Where to draw coefficients and score; a new figure by default.

    Returns
    -------
    array of two Axes
        Coefficients (for matrices, the rank) on the left, score on the right.

    Examples
    --------
    >>> import numpy as np, frankwolfe as fw
    >>> path = fw.path(fw.LeastSquares(np.eye(2), [3.0, 4.0]), fw.L1Ball, [1.0, 2.0, 4.0])
    >>> left, right = plot_path(path)
    >>> len(left.lines), right.get_ylabel()
    (2, 'objective value')
    """
    axes = None if ax is None else np.ravel(np.asarray(ax, dtype=object))
    if axes is not None and axes.size != 2:
        raise ValueError(f"ax must be a pair of matplotlib Axes (coefficients and score), got {axes.size}")
    order = np.argsort(path.radii, kind="stable")
    radii, results = path.radii[order], [path[int(i)] for i in order]
    with style():
        if axes is None:
            axes = optional("matplotlib.pyplot", extra="plot").subplots(1, 2, figsize=(9.2, 3.4))[1]
        left, right = axes
        if isinstance(path.coefs, list):
            left.plot(radii, [result.x.rank() for result in results], marker="o", **line_style(results[0].method))
            left.set(ylabel="rank", title="Rank")
        else:
            table = np.stack([np.ravel(np.asarray(result.x)) for result in results])
            largest = np.argsort(-np.max(np.abs(table), axis=0), kind="stable")[:SHOWN]
            for j in np.sort(largest):
                left.plot(radii, table[:, j], linewidth=1.1, label=f"{j}")
            left.set(ylabel="coefficient", title="Coefficients")
        _score(right, path, radii, order, results)
        for axis in axes:
            axis.set(xlabel="radius")
            if radii[-1] >= 50 * radii[0]:
                axis.set_xscale("log")
    return axes


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
