"""A photograph with half of its pixels hidden, completed as a matrix of small nuclear norm."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from frankwolfe.minimize import minimize
from frankwolfe.objectives import MatrixCompletion
from frankwolfe.paper.demo.settings import METHODS, Settings
from frankwolfe.paper.demo.study import THREADS, Study
from frankwolfe.paper.demo.study import solve as solve_study
from frankwolfe.sets import NuclearBall
from frankwolfe.validation import optional

GREY = np.array([0.299, 0.587, 0.114])  # how bright red, green and blue are to the eye
SLACK = 1.01  # the smallest radius whose error on withheld pixels is within one per cent of the best


@dataclass(frozen=True)
class Photograph:
    """The picture, what was seen of it, and the study.

    `mean` is the mean of the observed pixels; the methods work on what differs from it. `withheld` is the error at each
    of `radii` on a tenth of the observed pixels, from which `radius` was chosen.
    """

    pixels: np.ndarray
    observed: np.ndarray
    mean: float
    radii: tuple[float, ...]
    withheld: tuple[float, ...]
    radius: float
    study: Study

    def recovered(self, x: Any) -> np.ndarray:
        """Return a solution as a picture."""
        return np.clip(dense(x) + self.mean, 0.0, 1.0)


def dense(x: Any) -> np.ndarray:
    """Return a solution as an array."""
    return x if isinstance(x, np.ndarray) else x.toarray()


def singular_values(x: Any) -> np.ndarray:
    """Return all min(m, n) singular values of a solution."""
    return np.linalg.svd(dense(x), compute_uv=False)


def solve(settings: Settings, begin: Callable[[str], None]) -> Photograph:
    """Hide pixels, choose the radius on some of those left, and complete the picture."""
    pixels = _load(settings.shrink)
    rng = np.random.default_rng(settings.seed)
    observed = rng.random(pixels.shape) < settings.observed
    mean = float(pixels[observed].mean())
    rows, cols = np.nonzero(observed)
    values = pixels[observed] - mean

    begin("Photograph: choosing the radius")
    apart = rng.random(values.size) < 0.1
    rest = MatrixCompletion(rows[~apart], cols[~apart], values[~apart], pixels.shape)
    withheld = []
    for radius in settings.radii:
        x = minimize(
            rest, NuclearBall(radius), method="apgd", rtol=1e-2, max_iter=100, progress=False, n_threads=THREADS
        ).x
        withheld.append(float(np.sqrt(np.mean((x[rows[apart], cols[apart]] - values[apart]) ** 2))))
    radius = next(r for r, e in zip(settings.radii, withheld, strict=True) if e <= SLACK * min(withheld))

    def score(x: Any) -> str:
        return f"{np.sqrt(np.mean((dense(x) + mean - pixels)[~observed] ** 2)):.4f}"

    study = solve_study(
        "photograph",
        f"Completing a photograph: nuclear ball, radius {radius:g}",
        MatrixCompletion(rows, cols, values, pixels.shape),
        NuclearBall(radius),
        dict(zip(METHODS, settings.picture_steps, strict=True)),
        begin,
        limits={"tol": 0, "rtol": settings.picture_rtol, "max_iter": settings.reference_steps},
        score=score,
        score_name="RMSE",
    )
    return Photograph(pixels, observed, mean, settings.radii, tuple(withheld), radius, study)


def _load(shrink: int) -> np.ndarray:
    colour = optional("sklearn.datasets", extra="sklearn").load_sample_image("china.jpg") / 255.0
    grey = colour @ GREY
    m, n = grey.shape[0] // shrink, grey.shape[1] // shrink
    return grey[: m * shrink, : n * shrink].reshape(m, shrink, n, shrink).mean((1, 3))
