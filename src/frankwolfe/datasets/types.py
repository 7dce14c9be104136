"""What the loaders return."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy as np

if TYPE_CHECKING:
    from scipy.sparse import csr_array


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """A table of samples with one label each.

    Attributes
    ----------
    name : str
        The name it was loaded under, or the file's path.
    A : csr_array or ndarray, shape (n, d)
        One sample a row.
    b : ndarray, shape (n,)
        Labels: -1.0 and +1.0 (the larger label is +1), or the file's own with ``labels="raw"``.
    classes : tuple
        What the labels are called in the file, in increasing order. For two classes these are -1 and +1.
    description, source : str
        What the data are, and where they come from.

    Examples
    --------
    >>> Dataset("toy", np.eye(2), np.array([-1.0, 1.0]), (0, 1), "two unit vectors", "made up")
    Dataset('toy', 2 samples x 2 features, 2 nonzeros, classes 0 and 1)
    """

    name: str
    A: csr_array | np.ndarray
    b: np.ndarray
    classes: tuple[float | str, ...]
    description: str
    source: str

    @property
    def shape(self) -> tuple[int, int]:
        """Samples and features."""
        n, d = cast("tuple[int, int]", self.A.shape)
        return n, d

    def __repr__(self) -> str:
        n, d = self.shape
        names = " and ".join(map(str, self.classes)) if len(self.classes) == 2 else f"{len(self.classes)} labels"
        return f"Dataset({self.name!r}, {n} samples x {d} features, {_nonzeros(self.A)} nonzeros, classes {names})"


@dataclass(frozen=True, eq=False, repr=False)
class Ratings:
    """Observed entries of a user by item matrix, possibly centred and scaled.

    ``values[t]`` belongs to row (user) ``rows[t]`` and column (item) ``cols[t]``, both counted from zero. The original
    rating is ``scale * values[t] + user_effects[rows[t]] + item_effects[cols[t]]``; see `to_ratings`.

    Attributes
    ----------
    name : str
        The name it was loaded under, with the split where there is one.
    rows, cols : ndarray of int, shape (m,)
        Zero-based positions.
    values : ndarray, shape (m,)
        The observed entries.
    shape : tuple of int
        Users and items.
    user_effects, item_effects : ndarray
        What was subtracted; zeros where the ratings were not centred.
    scale : float
        What the rest was then divided by; 1.0 where it was not.
    description, source : str
        What the data are, and where they come from.

    Examples
    --------
    >>> one = np.array([0])
    >>> r = Ratings("toy", one, one, np.array([0.5]), (1, 1), np.array([3.0]), np.array([0.25]), 2.0, "", "")
    >>> r, r.to_ratings()
    (Ratings('toy', 1 of 1 x 1 entries), array([4.25]))
    """

    name: str
    rows: np.ndarray
    cols: np.ndarray
    values: np.ndarray
    shape: tuple[int, int]
    user_effects: np.ndarray
    item_effects: np.ndarray
    scale: float
    description: str
    source: str

    def __repr__(self) -> str:
        users, items = self.shape
        return f"Ratings({self.name!r}, {self.values.size} of {users} x {items} entries)"

    def to_ratings(
        self, values: np.ndarray | None = None, rows: np.ndarray | None = None, cols: np.ndarray | None = None
    ) -> np.ndarray:
        """Put values (a model's predictions, say) back into the units of the ratings.

        Parameters
        ----------
        values : ndarray, optional
            Values at the positions; the stored ones if left out.
        rows, cols : ndarray of int, optional
            The positions; the stored ones if left out.
        """
        values = self.values if values is None else values
        rows = self.rows if rows is None else rows
        cols = self.cols if cols is None else cols
        return self.scale * values + self.user_effects[rows] + self.item_effects[cols]

    def tocsr(self) -> csr_array:
        """Return the observed entries as a sparse matrix; what was not observed is absent."""
        from scipy.sparse import csr_array

        return csr_array((self.values, (self.rows, self.cols)), shape=self.shape)


@dataclass(frozen=True)
class Counts:
    """One line of a table of datasets, counted and not quoted.

    Examples
    --------
    >>> Counts("toy", rows=2, columns=4, nonzeros=2, classes={-1: 1, 1: 1}).density
    0.25
    """

    name: str
    rows: int
    columns: int
    nonzeros: int
    classes: dict[float | str, int]

    @property
    def density(self) -> float:
        """Fraction of the entries that are nonzero (for ratings: observed)."""
        return self.nonzeros / (self.rows * self.columns)


def count(data: Dataset | Ratings) -> Counts:
    """Count rows, columns, nonzeros and the members of each class.

    Parameters
    ----------
    data : Dataset or Ratings
        What `load` returned. Ratings are counted as observed entries, and classed by their original value.

    Examples
    --------
    >>> count(Dataset("toy", np.eye(2), np.array([-1.0, 1.0]), (0, 1), "", ""))
    Counts(name='toy', rows=2, columns=2, nonzeros=2, classes={0: 1, 1: 1})
    """
    if isinstance(data, Ratings):
        stars, members = np.unique(np.rint(data.to_ratings()), return_counts=True)
        classes: dict[float | str, int] = {int(star): int(m) for star, m in zip(stars, members, strict=True)}
        return Counts(data.name, *data.shape, data.values.size, classes)
    members = np.unique(data.b, return_counts=True)[1]
    names = data.classes if len(data.classes) == len(members) else np.unique(data.b).tolist()
    return Counts(data.name, *data.shape, _nonzeros(data.A), {c: int(m) for c, m in zip(names, members, strict=True)})


def _nonzeros(A: csr_array | np.ndarray) -> int:
    return int(np.count_nonzero(A)) if isinstance(A, np.ndarray) else int(A.count_nonzero())
