"""What `path` returns: one result for each radius."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, overload

import numpy as np

from frankwolfe.result import Result


class Path(Sequence[Result]):
    """Results along a list of radii, in the order in which the radii were given.

    Attributes
    ----------
    radii : array
        The radii.
    scores : array or None
        What `score` said of each solution.
    n_pass : float
        Reads of the data for the whole path. Where all radii were solved together they share their reads, and the
        count in each result is that of the whole path up to the moment when the radius was done.
    time : float
        Seconds for the whole path.

    Examples
    --------
    >>> import numpy as np, frankwolfe as fw
    >>> path = fw.path(fw.LeastSquares(np.eye(2), [3.0, 4.0]), fw.L2Ball, [1.0, 5.0])
    >>> len(path), path.radii, path.coefs.round(3)
    (2, array([1., 5.]), array([[0.6, 0.8],
           [3. , 4. ]]))
    """

    def __init__(
        self,
        radii: np.ndarray,
        results: list[Result],
        scores: np.ndarray | None,
        lower_is_better: bool,
        n_pass: float,
        time: float,
    ) -> None:
        self.radii, self.results, self.scores = radii, results, scores
        self.lower_is_better = lower_is_better
        self.n_pass, self.time = n_pass, time

    def __len__(self) -> int:
        return len(self.results)

    @overload
    def __getitem__(self, i: int) -> Result: ...
    @overload
    def __getitem__(self, i: slice) -> list[Result]: ...
    def __getitem__(self, i: int | slice) -> Result | list[Result]:
        return self.results[i]

    def __iter__(self) -> Iterator[Result]:
        return iter(self.results)

    @property
    def best_index(self) -> int:
        """Position of the radius with the best score: the highest, or the lowest value of a held-out objective."""
        if self.scores is None:
            raise ValueError("there is no best radius without scores; call path with score=")
        if not np.isfinite(self.scores).any():
            raise ValueError("there is no best radius: none of the scores is a finite number")
        usable = np.where(np.isfinite(self.scores), self.scores, np.nan)
        return int(np.nanargmin(usable) if self.lower_is_better else np.nanargmax(usable))

    @property
    def best(self) -> Result:
        """The result with the best score."""
        return self.results[self.best_index]

    @property
    def best_radius(self) -> float:
        """The radius with the best score."""
        return float(self.radii[self.best_index])

    @property
    def success(self) -> bool:
        """Whether every radius was solved to the tolerance."""
        return all(result.success for result in self.results)

    @property
    def coefs(self) -> Any:
        """The solutions as rows of one array; a list where they are low-rank matrices."""
        from array_api_compat import array_namespace, is_array_api_obj

        points = [result.x for result in self.results]
        return array_namespace(*points).stack(points) if all(map(is_array_api_obj, points)) else points

    def to_pandas(self) -> Any:
        """Return a DataFrame with one row for each radius."""
        from frankwolfe.validation import optional

        names = ("fun", "lower_bound", "gap", "success", "n_iter", "n_grad", "n_lmo", "n_pass", "time", "method")
        columns: dict[str, Any] = {"radius": self.radii}
        columns |= {name: [getattr(result, name) for result in self.results] for name in names}
        columns["status"] = [str(result.status) for result in self.results]
        if self.scores is not None:
            columns["score"] = self.scores
        return optional("pandas", extra="pandas").DataFrame(columns)

    def plot(self, *, ax: Any = None) -> Any:
        """Draw coefficients (for matrices, the rank) and score (else the value) against the radius; return the axes.

        Parameters
        ----------
        ax : pair of matplotlib Axes, optional
            Where to draw.
        """
        from frankwolfe.plotting import plot_path

        return plot_path(self, ax=ax)

    def __repr__(self) -> str:
        head = f"{'radius':>12} {'fun':>14} {'gap':>10} {'status':>12} {'steps':>7} {'method':>9}"
        rows = [
            f"{radius:>12.6g} {r.fun:>14.8g} {r.gap:>10.2e} {r.status!s:>12} {r.n_iter:>7} {r.method:>9}"
            for radius, r in zip(self.radii, self.results, strict=True)
        ]
        if self.scores is not None:
            head += f" {'score':>12}"
            rows = [f"{row} {score:>12.6g}" for row, score in zip(rows, self.scores, strict=True)]
        return "\n".join([head, *rows, f"{self.n_pass:.6g} passes over the data in {self.time:.3g} s"])
