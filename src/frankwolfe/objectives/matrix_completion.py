"""Matrix completion: fit a matrix to the entries that were observed."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from frankwolfe.atoms import Atom, RankOne
from frankwolfe.backends import Array, Scalar, all_finite, double, host, namespace, vdot, zeros
from frankwolfe.backends.namespace import as_like, is_foreign
from frankwolfe.kernels.pattern.pattern_matrix import Pattern, PatternMatrix
from frankwolfe.kernels.pattern.pattern_products import dense_entries, entries
from frankwolfe.lowrank import LowRank
from frankwolfe.objectives.base import Evaluation, Line
from frankwolfe.objectives.composite import Composite
from frankwolfe.objectives.derive import derive
from frankwolfe.points import Point
from frankwolfe.rounding import Extent, noise_of_sums
from frankwolfe.rows.user_data import is_in_parts
from frankwolfe.validation import vector


class MatrixCompletion(Composite):
    """Half the sum of squared errors on the observed entries, f(X) = ½ Σ weight_ij (X_ij - value_ij)².

    The variable is a `LowRank` matrix: a sum of the rank-one atoms met so far. An m x n array is never made, except by
    the projected methods, which cannot do without.

    Parameters
    ----------
    rows, cols : array of int, shape (N,)
        Positions of the observed entries, counted from zero, each at most once.
    values : array of shape (N,)
        What was observed there.
    shape : (int, int)
        Size (m, n) of the whole matrix.
    weights : array of shape (N,), optional
        How much each observation counts, positive; one each by default. Weights (r_i c_j)² on values / (r_i c_j) bound
        the trace norm with row i weighted by 1 / r_i and column j by 1 / c_j, see `MatrixCompleter`.

    Notes
    -----
    The gradient lives on the observed entries and is a sparse matrix. The smoothness constant is the largest weight.

    Examples
    --------
    >>> f = MatrixCompletion([0, 1], [0, 1], [3.0, 4.0], shape=(2, 3))
    >>> X = f.start(None, dense=False)
    >>> float(f.value(X))
    12.5
    >>> f.grad(X).toarray()
    array([[-3.,  0.,  0.],
           [ 0., -4.,  0.]])
    """

    def __init__(self, rows: Any, cols: Any, values: Any, shape: tuple[int, int], *, weights: Any = None) -> None:
        if is_in_parts(values):
            from frankwolfe.distributed.completion_in_parts import entries_on_cluster

            self.entries: Any = entries_on_cluster(rows, cols, values, shape, weights)
        else:
            self.entries = EntriesInMemory.checked(rows, cols, values, shape, weights)
        self.shape: tuple[int, ...] = self.entries.shape

    proven = True
    keeps_factors = True

    @property
    def map(self) -> Any:
        """The entries: the map from a matrix to those that were observed."""
        return self.entries

    @property
    def pattern(self) -> Pattern:
        """Where the entries are."""
        return self.entries.pattern

    @property
    def values(self) -> Array:
        """What was observed there, in memory."""
        return self.map.values

    @property
    def weights(self) -> Array | None:
        """How much each observation counts; None where they count alike."""
        return self.map.weights

    @property
    def holds_images(self) -> bool:
        return self.entries.holds_images

    @property
    def note(self) -> str:
        return self.entries.note

    @cached_property
    def smoothness(self) -> float:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self.entries.heaviest

    @property
    def additions(self) -> int:
        return self.entries.additions

    def noise(self, at: Evaluation, extent: Extent) -> Scalar:
        # Entries of a matrix have at most its norm for a norm: no column of the data makes them larger.
        return noise_of_sums(at.eps, self.additions, at.value, self.smoothness, extent.norm)

    def loss(self, m: Array) -> Scalar:
        residual = m - self.values
        return 0.5 * vdot(residual, residual if self.weights is None else self.weights * residual)

    def loss_slope(self, m: Array) -> Array:
        residual = m - self.values
        return residual if self.weights is None else self.weights * residual

    def loss_curvature(self, m: Array) -> Array:
        return namespace(m).ones_like(m) if self.weights is None else self.weights

    def start(self, x0: Any, dense: bool) -> Any:
        return self.entries.start(x0, dense)

    def evaluate(self, y: Point, watch: Point) -> Evaluation:
        return self.entries.evaluate(self, y, watch)

    def value_at(self, x: Point) -> tuple[Scalar, float]:
        return self.entries.value_at(self, x)

    def line(self, x: Point, v: Point) -> tuple[Line, float]:
        return self.entries.line(self, x, v)

    def oriented(self, sparse_atoms: bool, parallel_atoms: bool = False) -> MatrixCompletion:
        entries = self.entries.current()
        return self if entries is self.entries else derive(self, entries=entries)

    def doubled(self) -> MatrixCompletion | None:
        """Return the same function in double precision; None where the entries stay what they are."""
        entries = self.entries.doubled()
        return None if entries is None else derive(self, entries=entries)

    def dual(self, values: Any) -> Any:
        return self.entries.dual(values)

    def fingerprint(self, start: Any) -> list[Any]:
        return ["MatrixCompletion", *self.shape, *self.entries.identity()]


class EntriesInMemory:
    """Entries in memory or on a device: the map from a matrix to its observed entries, and back to a sparse matrix.

    What a `MatrixCompletion` asks of its entries is the same wherever they are: see `EntriesInParts` for a cluster.
    """

    holds_images = True
    note = ""

    adjoint_cost = 0.0  # the gradient is the residual itself: nothing is read for it

    def __init__(self, pattern: Pattern, values: Array, weights: Array | None) -> None:
        self.pattern, self.values, self.weights, self.shape = pattern, values, weights, pattern.shape

    @classmethod
    def checked(cls, rows: Any, cols: Any, values: Any, shape: tuple[int, int], weights: Any) -> EntriesInMemory:
        """Return entries as users bring them, or say what is wrong with them."""
        values = _vector("values", values)
        size = int(values.shape[0])
        if size == 0:
            raise ValueError("values is empty; at least one observed entry is needed")
        pattern = Pattern(rows, cols, shape, values if is_foreign(values) else None)
        if size != pattern.size:
            raise ValueError(f"values must have one entry per position, {pattern.size}, got {size}")
        repeated = pattern.duplicates()
        if repeated:
            raise ValueError(f"{repeated} positions in (rows, cols) occur more than once; average or drop the repeats")
        values = pattern.matrix(values).values
        if weights is not None:
            weights = _vector("weights", weights)
            if weights.shape[0] != size or not bool(namespace(weights).all(weights > 0)):
                raise ValueError(f"weights must be {size} positive numbers, one for each observed entry")
            weights = pattern.matrix(as_like(weights, values)).values
        return cls(pattern, values, weights)

    @property
    def heaviest(self) -> float:
        """The largest weight."""
        return 1.0 if self.weights is None else float(namespace(self.weights).max(self.weights))

    @property
    def additions(self) -> int:
        return sum(self.shape)

    def evaluate(self, model: MatrixCompletion, y: Point, watch: Point) -> Evaluation:
        return Composite.evaluate(model, y, watch)

    def value_at(self, model: MatrixCompletion, x: Point) -> tuple[Scalar, float]:
        return Composite.value_at(model, x)

    def line(self, model: MatrixCompletion, x: Point, v: Point) -> tuple[Line, float]:
        return Composite.line(model, x, v)

    def start(self, x0: Any, dense: bool) -> Any:
        m, n = self.shape
        if x0 is None:
            return zeros((m, n), self.values) if dense else LowRank.zero((m, n), like=self.values)
        if isinstance(x0, LowRank):
            x0 = x0.in_kind(self.values)
            return x0.toarray() if dense else x0
        if isinstance(x0, PatternMatrix):  # any matrix with these entries: f knows no others
            return PatternMatrix(as_like(x0.values, self.values), self.pattern)
        x0 = as_like(x0, self.values)
        if dense or x0.ndim != 2:
            return x0
        return LowRank.from_dense(x0)

    def current(self) -> EntriesInMemory:
        """Return the entries as the kernels of this run read them."""
        pattern = self.pattern.current()
        return self if pattern is self.pattern else EntriesInMemory(pattern, self.values, self.weights)

    def doubled(self) -> EntriesInMemory:
        """Return the entries in double precision: on NumPy where the library of the values has none."""
        wide, places, weights = double(self.values), self.pattern.places, self.weights
        if wide is None and places is not None:
            weights = None if weights is None else host(weights)
            here = EntriesInMemory.checked(host(places.rows), host(places.cols), host(self.values), self.shape, weights)
            return here.doubled()
        xp = namespace(self.values)
        weights = None if weights is None else xp.astype(weights, wide)
        return EntriesInMemory(self.pattern, xp.astype(self.values, wide), weights)

    def dual(self, values: Array) -> PatternMatrix:
        return PatternMatrix(values, self.pattern)

    def identity(self) -> list[Any]:
        weighted = [] if self.weights is None else [self.weights]
        return [self.pattern.indptr, self.pattern.cols, self.values, *weighted]

    def apply(self, coords: Any) -> Array:
        if isinstance(coords, RankOne):
            return self.pattern.rank_one(coords.left, coords.right, coords.scale).values
        if isinstance(coords, LowRank):
            return entries(self.pattern, *coords.factors)
        if isinstance(coords, PatternMatrix):
            return coords.values
        if isinstance(coords, Atom):
            coords = coords.toarray()
        return dense_entries(self.pattern, coords)

    def cost(self, coords: Any) -> float:
        return 1.0  # one read of the observed entries, whatever the rank

    def adjoint(self, r: Array) -> PatternMatrix:
        return PatternMatrix(r, self.pattern)


def _vector(name: str, values: Any) -> Array:
    """Return numbers as a finite vector, on the device where they are."""
    if not is_foreign(values):
        return vector(name, values)
    if values.ndim != 1 or not namespace(values).isdtype(values.dtype, "real floating"):
        raise ValueError(f"{name} must be a vector of floats, got shape {tuple(values.shape)} and {values.dtype}")
    if not all_finite(values):
        raise ValueError(f"{name} contains NaN or infinity; clean or impute the data first")
    return values
