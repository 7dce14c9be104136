"""Linear models with a price on the norm of their coefficients, on several weightings of the rows at a time.

For a weighting w of the rows and a price p, with intercepts c free,

    minimise  Σ wᵢ φ(aᵢ'x + c) + (p/2)‖x‖₂²   or   + p‖x‖₁,

which is the best model within the ball of radius ‖x‖. All weightings are read together: one product with the data
serves every fold. Steps are those of L-BFGS, in its compact form [1]_; with ‖x‖₁ they stay within an orthant [2]_. The
pairs that it remembers are of the loss alone, so that they serve the next price too. With ‖x‖₁ and few coefficients
they are those of `newton_steps.py`.

References
----------
.. [1] R. Byrd, J. Nocedal, R. Schnabel, Representations of quasi-Newton matrices, Math. Programming 63, 1994.
.. [2] G. Andrew, J. Gao, Scalable training of L1-regularized log-linear models, ICML 2007.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from frankwolfe.estimators.newton_steps import NewtonSteps, may_pay, pays
from frankwolfe.estimators.scaling import Moments
from frankwolfe.objectives.multinomial import Multinomial, softmax_conjugate, softmax_losses

MEMORY = 10  # pairs
FLAT = 1e-12  # of the largest spread of a column: less is rounding
TURNED = 1000  # columns, or rows: of no more than that the principal axes are found
PATIENCE = 150  # steps of L-BFGS at one price, after which those of Newton are tried
ARMIJO, SHORTEST = 1e-4, 1e-10  # of the decrease that the slope promises; the shortest part of a step that is tried


class Losses:
    """The loss of linear models on several weightings of the same rows.

    A model is a row of `z`: for each class the coefficients and, at their end, the intercept where there is one.
    """

    def __init__(self, objective: Any, shares: np.ndarray, *, turned: bool = False) -> None:
        self.X = objective.data.matrix
        self.X = self.X if sp.issparse(self.X) else np.asarray(self.X, dtype=np.float64)
        self.intercept, self.shares, self.basis = bool(objective.intercept), shares, None
        if turned and not sp.issparse(self.X) and min(self.X.shape) <= TURNED:
            rows = self.X - shares[-1] @ self.X if self.intercept else self.X  # the mean is the intercept's
            self.basis = _principal_axes(rows, shares[-1])
            self.X = rows @ self.basis
        self.many = isinstance(objective, Multinomial)
        self.truth = np.asarray(objective.truth if self.many else objective.b, dtype=np.float64)
        self.loss: Any = None if self.many else objective.row_loss
        self.offset = 0.0 if self.many else objective.row_loss.constant(objective.exact_b)
        self.classes, self.features = len(self.truth) if self.many else 1, self.X.shape[1]
        self.unit = 1.0 if self.many or not objective.row_loss.residual else float(np.std(self.truth)) or 1.0
        free = np.zeros((self.classes, self.features + self.intercept))
        free[:, self.features :] = 1.0
        self.priced = 1.0 - free.reshape(-1)
        moments = Moments.of(self.X, shares[-1])
        spread = moments.square + (0.0 if self.intercept else moments.mean**2)
        spread = np.maximum(spread, FLAT * (spread.max() or 1.0))
        self.bend = np.tile(np.append(spread, np.ones(int(self.intercept))), self.classes)
        self.margins = self.slopes = np.zeros(0)  # at the last models

    def __call__(self, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return values and slopes; keep the margins: (classes, weightings, rows)."""
        table = z.reshape(len(z), self.classes, -1).transpose(1, 0, 2)
        flat = table.reshape(-1, table.shape[2])
        m = flat[:, : self.features] @ self.X.T if not sp.issparse(self.X) else (self.X @ flat[:, : self.features].T).T
        m = m.reshape(self.classes, len(z), -1)
        if self.intercept:
            m += table[:, :, -1:]
        self.margins = m
        values, self.slopes = self._classes(m) if self.many else self._rows(m)
        slopes = self.slopes * self.shares
        flat = slopes.reshape(-1, slopes.shape[2])
        g = flat @ self.X if not sp.issparse(self.X) else (self.X.T @ flat.T).T
        g = g.reshape(self.classes, len(z), -1)
        if self.intercept:
            g = np.concatenate([g, slopes.sum(axis=2, keepdims=True)], axis=2)
        return np.einsum("kn,kn->k", self.shares, values), g.transpose(1, 0, 2).reshape(len(z), -1)

    def _rows(self, m: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        loss = self.loss
        with np.errstate(over="ignore", invalid="ignore"):
            return loss.value(m[0], self.truth, *loss) + self.offset, loss.slope(m, self.truth, *loss)

    def _classes(self, m: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        truth = self.truth[:, None]
        values, chances = softmax_losses(m, truth)
        return values, chances - truth

    def hessians(self, m: np.ndarray, slopes: np.ndarray) -> np.ndarray:
        """Return the Hessian of each weighting, from the margins of dense rows and the slopes there."""
        rows = np.concatenate([self.X, np.ones((len(self.X), int(self.intercept)))], axis=1)
        H = np.empty((m.shape[1], self.classes, rows.shape[1], self.classes, rows.shape[1]))
        chances, loss = slopes + self.truth[:, None] if self.many else slopes, self.loss
        for c in range(self.classes):
            for o in range(c + 1):
                bends = chances[c] * ((c == o) - chances[o]) if self.many else loss.curvature(m[0], self.truth, *loss)
                H[:, c, :, o] = np.matmul(rows.T * (self.shares * bends)[:, None], rows)
                H[:, o, :, c] = H[:, c, :, o]
        return H.reshape(len(H), self.priced.size, -1)

    def largest_terms(self, share: np.ndarray) -> float:
        """Return the largest sum of the magnitudes that a slope at the last models is added up from."""
        return float((abs(self.X).T @ (share * np.abs(self.slopes[:, -1]).max(axis=0))).max())

    def bounds(self, slopes: np.ndarray, part: np.ndarray) -> np.ndarray:
        """Return what loss and price are nowhere below: minus the conjugate of the loss, at a part of the slopes.

        The price must be at least the dual norm of this part of the slope of the loss, and intercepts the best.
        """
        scaled = part[:, None] * slopes
        if self.many:
            values = softmax_conjugate(scaled, self.truth[:, None])
        else:
            values = self.loss.conjugate(scaled[0], self.truth) - self.offset
        return -np.einsum("kn,kn->k", self.shares, values)

    def coefficients(self, z: np.ndarray) -> np.ndarray:
        """Return the coefficients of some models, features first as the solver has them."""
        x = z.reshape(len(z), self.classes, -1)[:, :, : self.features]
        x = x if self.basis is None else x @ self.basis.T
        return x.transpose(0, 2, 1) if self.many else x[:, 0]


class Pairs:
    """The last steps and changes of slope on each weighting, and the direction they make."""

    def __init__(self, models: int, size: int) -> None:
        self.S, self.Y = np.zeros((2, models, 0, size))

    def add(self, s: np.ndarray, y: np.ndarray) -> None:
        """Remember a step; where the loss does not bend along it, an empty one."""
        bends = np.einsum("kp,kp->k", s, y) > 1e-12 * np.sqrt(np.sum(s * s, axis=1) * np.sum(y * y, axis=1))
        s, y = s * bends[:, None], y * bends[:, None]
        keep = slice(max(0, self.S.shape[1] + 1 - MEMORY), None)
        self.S, self.Y = (
            np.concatenate([old[:, keep], new[:, None]], axis=1) for old, new in ((self.S, s), (self.Y, y))
        )

    def direction(self, g: np.ndarray, bend: np.ndarray, ridge: np.ndarray | float) -> np.ndarray:
        """Return minus the inverse Hessian times g, with `ridge` added to the curvature.

        Where the pairs say nothing the curvature of the loss is a multiple of `bend`, that of squared loss.
        """
        S, Y = self.S, self.Y + ridge * self.S
        if not S.shape[1]:
            return -g / np.maximum(np.linalg.norm(g, axis=1, keepdims=True), 1.0)
        SY = S @ Y.transpose(0, 2, 1)
        D = np.einsum("kii->ki", SY)
        last = D.shape[1] - 1 - np.argmax(D[:, ::-1] > 0, axis=1)
        s, y = S[np.arange(len(S)), last], self.Y[np.arange(len(S)), last]
        rise = np.einsum("kp,kp->k", s, y)
        scale = np.where(rise > 0, np.einsum("kp,kp->k", y / bend, y) / np.where(rise > 0, rise, 1.0), 1.0)
        H = 1.0 / (scale[:, None] * bend + ridge)
        HY = H[:, None] * Y
        R = np.triu(SY) + np.einsum("ki,ij->kij", np.where(D > 0, 0.0, 1.0), np.eye(D.shape[1]))
        a, b = np.einsum("kmp,kp->km", S, g), np.einsum("kmp,kp->km", HY, g)
        u = np.linalg.solve(R, a[:, :, None])[:, :, 0]
        right = D * u + np.einsum("kij,kj->ki", HY @ Y.transpose(0, 2, 1), u) - b
        v = np.linalg.solve(R.transpose(0, 2, 1), right[:, :, None])[:, :, 0]
        return -(H * g + np.einsum("km,kmp->kp", v, S) - np.einsum("km,kmp->kp", u, HY))


def _principal_axes(X: np.ndarray, share: np.ndarray) -> np.ndarray:
    """Return directions, as columns, that hold all rows and in which the data do not vary together."""
    span = np.eye(X.shape[1]) if len(X) >= X.shape[1] else np.linalg.qr(X.T)[0]
    rows = X @ span
    return span @ np.linalg.eigh(rows.T @ (share[:, None] * rows))[1]


class Place(NamedTuple):
    """Models with their losses and slopes."""

    z: np.ndarray
    fun: np.ndarray
    slope: np.ndarray
    margins: np.ndarray
    slopes: np.ndarray  # of the rows


class Penalised:
    """Minimises at one price after the other."""

    def __init__(self, losses: Losses, sparse: bool) -> None:
        self.losses, self.sparse = losses, sparse
        self.pairs = Pairs(len(losses.shares), len(losses.priced))
        self.newton = NewtonSteps(losses) if sparse and pays(losses.X, losses.classes) else None
        self.steps = 0

    def at(self, z: np.ndarray) -> Place:
        """Return the models with what the data say of them."""
        fun, slope = self.losses(z)
        return Place(z, fun, slope, self.losses.margins, self.losses.slopes)

    def lengths(self, z: np.ndarray) -> np.ndarray:
        """Return the norms of the coefficients."""
        x = z * self.losses.priced
        return np.abs(x).sum(axis=1) if self.sparse else np.linalg.norm(x, axis=1)

    def gaps(self, here: Place) -> np.ndarray:
        """Return the Frank-Wolfe gaps of the models in the balls that they just fit in, as if intercepts were best."""
        g = here.slope * self.losses.priced
        dual = np.abs(g).max(axis=1) if self.sparse else np.linalg.norm(g, axis=1)
        return np.maximum(np.einsum("kp,kp->k", g, here.z) + self.lengths(here.z) * dual, 0.0)

    def solve(self, here: Place, price: float, goal: Any, most: int) -> tuple[Place, np.ndarray]:
        """Go on until no model can lower its loss and price by more than its goal; tell which are there.

        `goal` is a function of places, with two answers for each model. What is left is proven to be below the first,
        by strong convexity or by the dual problem, but for how near intercepts are to their best. By the curvature
        seen so far it is below the second.
        """
        priced, ridge = self.losses.priced, 0.0 if self.sparse else price * self.losses.priced
        done = np.zeros(len(here.z), bool)
        for turn in range(most):
            if turn == PATIENCE and self.newton is None and self.sparse and may_pay(self.losses.X, self.losses.classes):
                self.newton = NewtonSteps(self.losses)
            g, (goals, near) = self._steepest(here, price), goal(here)
            if self.newton is not None:
                d = self.newton.direction(here, g, price)
                promised = -self._promise(here, g, d, price)
            else:
                d = self.pairs.direction(g, self.losses.bend, ridge)
                if self.sparse:
                    d = np.where(d * g < 0, d, 0.0) * priced + d * (1 - priced)
                promised = -np.einsum("kp,kp->k", g, d)
            done = (self._missing(here, g, price, goals) <= goals) & (promised <= 2 * near)
            if done.all():
                break
            self.steps += 1
            d[~(promised > 0)] = 0.0 if self.newton is not None else -g[~(promised > 0)]
            d[done] = 0.0
            ahead, share = self._along(here, g, d, price)
            if self.newton is not None:
                going = self.newton.learn(np.where(promised > 0, share, 0.0), done)
            else:
                self.pairs.add(ahead.z - here.z, ahead.slope - here.slope)
                going = bool((ahead.z != here.z).any())
            if not going:
                break
            here = ahead
        return here, done

    def _promise(self, here: Place, g: np.ndarray, d: np.ndarray, price: float) -> np.ndarray:
        """Return by how much loss and price change along d, as their slopes have it."""
        if not self.sparse:
            return np.einsum("kp,kp->k", g, d)
        return np.einsum("kp,kp->k", here.slope, d) + price * (self.lengths(here.z + d) - self.lengths(here.z))

    def _steepest(self, here: Place, price: float) -> np.ndarray:
        """Return the slope of loss and price: of all there are, the shortest."""
        priced, z, g = self.losses.priced, here.z, here.slope
        if not self.sparse:
            return g + price * priced * z
        off = np.maximum(np.abs(g) - price, 0.0) * np.sign(g)
        return np.where(priced == 0, g, np.where(z != 0, g + price * np.sign(z), off))

    def _missing(self, here: Place, g: np.ndarray, price: float, goal: np.ndarray) -> np.ndarray:
        """Return what loss and price can still fall by at most, or about, where that is above the goal."""
        priced = self.losses.priced
        level = self.losses.unit * np.abs(g * (1 - priced)).sum(axis=1)
        if not self.sparse:
            return level + np.sum((g * priced) ** 2, axis=1) / (2 * price)
        slope = here.slope * priced
        steepest, lengths = np.abs(slope).max(axis=1), self.lengths(here.z)
        about = np.einsum("kp,kp->k", slope, here.z) + lengths * np.maximum(steepest, price)
        if np.any(level + about > goal):
            return level + about
        part = np.minimum(1.0, price / np.maximum(steepest, 1e-300))
        return level + self._total(here, price) - self.losses.bounds(here.slopes, part)

    def _along(self, here: Place, g: np.ndarray, d: np.ndarray, price: float) -> tuple[Place, np.ndarray]:
        """Return places ahead, each as far along its direction as is an improvement, and how far that is."""
        before, t = self._total(here, price), np.ones((len(d), 1))
        within = self.sparse and self.newton is None  # an orthant
        signs = np.where(here.z != 0, np.sign(here.z), -np.sign(g))
        while True:
            z = here.z + t * d
            if within:
                z = np.where((self.losses.priced == 0) | (z * signs > 0), z, 0.0)
            ahead = self.at(z)
            promised = self._promise(here, g, z - here.z, price)
            with np.errstate(invalid="ignore"):
                short = ~(self._total(ahead, price) <= before + ARMIJO * promised + 1e-15 * np.abs(before))
            if not short.any():
                return ahead, t[:, 0]
            t[short] *= 0.4
            t[t < SHORTEST] = 0.0

    def _total(self, here: Place, price: float) -> np.ndarray:
        lengths = self.lengths(here.z)
        return here.fun + price * (lengths if self.sparse else 0.5 * lengths**2)
