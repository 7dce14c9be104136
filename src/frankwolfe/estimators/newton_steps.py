"""Steps for models with a price on ‖x‖₁ and few coefficients: to the least of the loss's quadratic model and price.

Which coefficients are zero, and the signs of the others, are changed until they agree with the solution of the
equations that they leave: an active-set method for the quadratic model of [1]_, which a multiple of the spread of the
features keeps strictly convex, as in [2]_.

References
----------
.. [1] J. Lee, Y. Sun, M. Saunders, Proximal Newton-type methods for minimizing composite functions, SIAM J. Optim. 24,
   2014.
.. [2] D. Marquardt, An algorithm for least-squares estimation of nonlinear parameters, J. SIAM 11, 1963.
"""

from __future__ import annotations

from typing import Any

import numpy as np

SMALL, WORK = 64, 1 << 20  # coefficients of a model, and work on a Hessian, with which these steps are the fast ones
LARGEST = 100  # coefficients with which they still are where others are many
FREEING = 10  # times that coefficients may leave zero; after as many more without that no model is asked any longer
DAMPING = (1e-12, 1e-3, 1e3)  # of the spread of the features, added to the curvature: least, first and most
LOWER, RAISE = 0.1, 10.0  # factors of it after a full step, and after a shortened one or none
AGREES = 1 + 1e-6  # of the price: a slope that holds a coefficient at zero


def pays(data: Any, classes: int) -> bool:
    """Tell whether these steps are the fast ones for some data."""
    size = classes * (data.shape[1] + 1)
    return isinstance(data, np.ndarray) and size <= SMALL and len(data) * size**2 <= WORK


def may_pay(data: Any, classes: int) -> bool:
    """Tell whether these steps are the fast ones for some data where others are many."""
    return isinstance(data, np.ndarray) and classes * (data.shape[1] + 1) <= LARGEST


class NewtonSteps:
    """The Hessian of the loss, and how far it is trusted, on each weighting."""

    def __init__(self, losses: Any) -> None:
        self.losses = losses
        self.damping = np.full(len(losses.shares), DAMPING[1])

    def direction(self, here: Any, g: np.ndarray, price: float) -> np.ndarray:
        """Return the way to the least of each quadratic model; not a number where it is not found."""
        H, priced = self.losses.hessians(here.margins, here.slopes), self.losses.priced
        diagonal = np.arange(g.shape[1])
        H[:, diagonal, diagonal] += self.damping[:, None] * self.losses.bend
        z, slope = here.z, here.slope
        signs = np.where(z != 0, np.sign(z), -np.sign(g)) * priced
        zero = (priced > 0) & (signs == 0)
        for turn in range(2 * FREEING):
            still = np.where(zero, -z, 0.0)
            right = -slope - price * signs - np.matmul(H, still[:, :, None])[:, :, 0]
            system = np.where(zero[:, :, None] | zero[:, None], 0.0, H)
            system[:, diagonal, diagonal] += zero
            d = _solved(system, np.where(zero, -z, right))
            crossed = (z + d) * signs < 0
            ends = slope + np.matmul(H, d[:, :, None])[:, :, 0]
            freed = zero & (np.abs(ends) > AGREES * price) & ~crossed.any(axis=1, keepdims=True) & (turn < FREEING)
            if not (crossed.any() or freed.any()):
                break
            zero = (zero | crossed) & ~freed
            signs = np.where(freed, -np.sign(ends), np.where(crossed, 0.0, signs))
        d[crossed.any(axis=1)] = np.nan
        return d

    def learn(self, share: np.ndarray, done: np.ndarray) -> bool:
        """Note which share of its step each weighting took; tell whether one that is not done may go on."""
        stuck = (share == 0) & (self.damping >= DAMPING[2])
        self.damping = np.clip(self.damping * np.where(done | (share == 1), LOWER, RAISE), DAMPING[0], DAMPING[2])
        return not (done | stuck).all()


def _solved(systems: np.ndarray, right: np.ndarray) -> np.ndarray:
    try:
        return np.linalg.solve(systems, right[:, :, None])[:, :, 0]
    except np.linalg.LinAlgError:  # one of them is singular: all are damped more
        return np.full_like(right, np.nan)
