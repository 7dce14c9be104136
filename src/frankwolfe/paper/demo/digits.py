"""Is it a 4? A linear classifier of handwritten digits on the l2 and on the l1 ball."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from frankwolfe.objectives import Logistic
from frankwolfe.paper.demo.settings import METHODS, Settings
from frankwolfe.paper.demo.study import Study
from frankwolfe.paper.demo.study import solve as solve_study
from frankwolfe.sets import L1Ball, L2Ball
from frankwolfe.validation import optional

SIDE = 8  # pixels


@dataclass(frozen=True)
class Handwriting:
    """The data, and one study per ball.

    Images are rows of 64 pixels from 0 to 1; a 65th feature, always one, lets a classifier lean to one side.
    """

    images: np.ndarray
    is_four: np.ndarray
    digits: np.ndarray
    trained: int
    studies: tuple[Study, Study]

    def scores(self, study: Study) -> np.ndarray:
        """Return what the study's AFW classifier says of each test image: positive for a 4."""
        return self.images @ study.comparison["afw"].x

    def confusion(self, study: Study) -> dict[str, int]:
        """Count test images by what they are, and what the classifier said."""
        said, four = self.scores(study) > 0, self.is_four > 0
        return {
            "4, called 4": int(np.sum(four & said)),
            "4, missed": int(np.sum(four & ~said)),
            "other, called 4": int(np.sum(~four & said)),
            "other, left alone": int(np.sum(~four & ~said)),
        }

    def accuracy(self, study: Study) -> float:
        """Return the fraction of test images that the AFW classifier gets right."""
        return float(np.mean((self.scores(study) > 0) == (self.is_four > 0)))


def solve(settings: Settings, begin: Callable[[str], None]) -> Handwriting:
    """Load scikit-learn's digits, split them, and train on both balls."""
    data = optional("sklearn.datasets", extra="sklearn").load_digits()
    A = np.hstack([data.data / 16.0, np.ones((len(data.data), 1))])
    b = np.where(data.target == 4, 1.0, -1.0)
    order = np.random.default_rng(settings.seed).permutation(len(A))
    train, test = order[: settings.train], order[settings.train :]
    objective = Logistic(A[train], b[train])

    def score(x: np.ndarray) -> str:
        return f"{100 * np.mean((A[test] @ x > 0) == (b[test] > 0)):.1f} %"

    l2, l1 = (
        solve_study(
            f"digits-{name}",
            f"Is it a 4? {name} ball, radius {ball.radius:g}",
            objective,
            ball,
            dict(zip(METHODS, settings.digit_steps, strict=True)),
            begin,
            limits={"tol": settings.digit_tol, "max_iter": settings.reference_steps},
            score=score,
            score_name="accuracy",
        )
        for name, ball in {"l2": L2Ball(settings.l2_radius), "l1": L1Ball(settings.l1_radius)}.items()
    )
    return Handwriting(A[test], b[test], data.target[test], len(train), (l2, l1))
