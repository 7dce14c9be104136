"""The plain words of the report; numbers are filled in from what was measured, never from memory."""

from __future__ import annotations

import numpy as np

from frankwolfe.paper.demo.digits import Handwriting
from frankwolfe.paper.demo.photograph import Photograph
from frankwolfe.paper.demo.study import Study
from frankwolfe.plotting.palette import TITLES

WHAT = """
<p>Each problem asks for the lowest point of a smooth, bowl-shaped function <em>inside a set</em>: weights that are not
too large, or a matrix that is not too complicated. The usual recipe steps downhill and then <em>projects</em> back into
the set. <b>Frank-Wolfe</b> never projects. It asks the set one question, &ldquo;where is your point lowest in this
direction?&rdquo;, and moves a little towards the answer. On the l1 ball the answer is a single coordinate; on the
nuclear-norm ball it is a matrix of rank one.</p>
<p><b>Accelerated Frank-Wolfe</b> (AFW) asks the same question, once a step, with better information: not of the latest
gradient, but of an average of all gradients so far, each taken at a point a little ahead. The average is the momentum.
It steadies the answers, and yields a <b>certificate</b> on the way: a proven bound on how far the current value can be
from the best possible one.</p>
"""


def reading(study: Study) -> str:
    """Say how to read the table, and who leads when."""
    return (
        "<p>&ldquo;Error&rdquo; is the distance from the optimal value f*, which these runs and one of restarted "
        f"projected AGM to a tight tolerance pin down: f* lies between {study.lower_bound:.12g} and "
        f"{study.optimum:.12g}, a proven gap of {study.gap:.1e}. "
        "&ldquo;Proven gap&rdquo; is what each method can promise by itself, knowing nothing of f*. "
        f"{_leaders(study)}</p>"
    )


def _leaders(study: Study) -> str:
    last = min(r.n_iter for r in study.comparison.values())
    said = [f"{TITLES[study.leader(k)]} after {k}" for k in [*(k for k in (10, 100, 1000) if k < last), last]]
    return f"Smallest error by number of steps: {', '.join(said)}."


def digits(hand: Handwriting) -> str:
    """Introduce the classification problem."""
    share = 100 * float(np.mean(hand.is_four < 0))
    return (
        f"<p>{hand.trained} handwritten digits of 8 by 8 pixels (scikit-learn's digits, brightness scaled to 0..1) "
        "train a linear classifier to tell a 4 from everything else, by logistic regression; "
        f"{len(hand.digits)} others test it. Always answering &ldquo;no&rdquo; would be right for {share:.1f} % of "
        "them. The weights must stay inside a ball, and the shape of the ball decides what the classifier looks "
        "like: the l2 ball spreads weight over all pixels, the l1 ball spends it on a few.</p>"
    )


def sparsity(study: Study) -> str:
    """Count the pixels a classifier uses."""
    x = study.comparison["afw"].x[:-1]
    used = int(np.sum(np.abs(x) > 1e-3 * np.max(np.abs(x))))
    return f"{used} of {x.size} pixels carry more than a thousandth of the largest weight."


def photograph(photo: Photograph) -> str:
    """Introduce the completion problem."""
    m, n = photo.pixels.shape
    return (
        f"<p>A photograph of {m} by {n} pixels (scikit-learn's china.jpg, in grey, made smaller) lost "
        f"{100 * (1 - photo.observed.mean()):.0f} % of its pixels at random. The methods look for the matrix that "
        "fits the remaining ones best among those of small nuclear norm, the sum of the singular values: roughly, a "
        "picture built from few row-times-column patterns. No method knows that it is a picture, or that "
        "neighbouring pixels are alike.</p>"
    )


def costs(photo: Photograph) -> str:
    """Compare what the runs cost and where they ended, as measured."""
    study, results = photo.study, photo.study.comparison
    steps = ", ".join(f"{TITLES[name]} {1000 * r.time / max(r.n_iter, 1):.1f} ms" for name, r in results.items())
    least = min(study.error(name) for name in results)
    best = [name for name in results if study.error(name) == least]
    verdict = f"Smallest error at the end: {', '.join(TITLES[name] for name in best)}. "
    if all(name in ("pgd", "apgd") for name in best):
        seconds = ", ".join(f"{TITLES[name]} {r.time:.1f}" for name, r in results.items())
        verdict += (
            f"Whole runs took, in seconds: {seconds}. This matrix is small enough to decompose completely in every "
            "step, and then projecting is the better choice. Frank-Wolfe methods need one singular pair a step and "
            "never the whole matrix: they are for matrices that are too large for that."
        )
    return f"<p>One step takes on average, on one thread: {steps}. {verdict}</p>"
