"""The figures of the demonstration."""

from __future__ import annotations

from typing import Any

import numpy as np

from frankwolfe.paper.demo.digits import SIDE, Handwriting
from frankwolfe.paper.demo.photograph import Photograph, singular_values
from frankwolfe.paper.demo.study import Study
from frankwolfe.plotting import TITLES, figure, line_style, plot_comparison
from frankwolfe.plotting.html import png
from frankwolfe.plotting.palette import GREY

SIZE = 4.0, 3.2  # inches: small, so that text stays legible in three columns and on a phone
FLOOR = 1e-13  # below this, rounding is all there is


def errors(study: Study, against: str) -> Any:
    """Draw f - f* of every method, down to what the reference can tell."""
    with figure(*SIZE) as (fig, ax):
        plot_comparison(study.comparison, against=against, optimum=study.optimum, ax=ax)
        floor = max(study.gap, FLOOR)
        ax.set_ylim(bottom=floor / 2)
        ax.axhline(floor, color=GREY, linewidth=0.8, linestyle=":")
        ax.annotate(
            "accuracy of f*", (0.01, floor), xycoords=("axes fraction", "data"), fontsize=8, color=GREY,
            ha="left", va="bottom",
        )  # fmt: skip
        ax.legend(loc="lower left", bbox_to_anchor=(0.0, 0.07))
    return fig


def certificates(study: Study) -> Any:
    """Draw, for FW and AFW, the certified gap over the true error."""
    with figure(*SIZE) as (fig, ax):
        for name in ("fw", "afw"):
            trace, look = study.comparison[name].trace, line_style(name)
            later = trace.k > 0
            error = trace.fun - study.optimum
            ax.plot(
                trace.k[later], np.where(error > 0, error, np.nan)[later], label=f"{name.upper()}, true error",
                color=look["color"], linewidth=1.8,
            )  # fmt: skip
            ax.plot(
                trace.k[later], trace.gap[later], label=f"{name.upper()}, certified gap", color=look["color"],
                linewidth=1.4, linestyle=(0, (4, 1.5)),
            )  # fmt: skip
        ax.set(xscale="log", yscale="log", xlabel="iterations", ylabel="error, and its proven bound")
        ax.legend(loc="lower left")
    return fig


def spectra(photo: Photograph) -> Any:
    """Draw the singular values of the picture and of what the methods found."""
    with figure(*SIZE) as (fig, ax):
        index = np.arange(1, min(photo.pixels.shape) + 1)
        ax.plot(index, singular_values(photo.pixels - photo.mean), color=GREY, linewidth=1.6, label="the whole picture")
        for name in ("fw", "afw", "apgd"):
            values = singular_values(photo.study.comparison[name].x)
            ax.plot(index, np.where(values > 1e-6, values, np.nan), label=TITLES[name], **line_style(name))
        ax.set(yscale="log", xlabel="index of the singular value", ylabel="singular value")
        ax.set_ylim(bottom=1e-3)
        ax.legend(loc="upper right")
    return fig


def radii(photo: Photograph) -> Any:
    """Draw the error on withheld pixels against the radius, and mark the choice."""
    with figure(*SIZE) as (fig, ax):
        ax.plot(photo.radii, photo.withheld, marker="o", markersize=5, **line_style("apgd"))
        chosen = photo.withheld[photo.radii.index(photo.radius)]
        ax.plot([photo.radius], [chosen], marker="o", markersize=11, mfc="none", mec=line_style("fw")["color"], mew=2)
        ax.annotate(
            f"chosen: {photo.radius:g}", (photo.radius, chosen), (0, 16), textcoords="offset points", ha="center"
        )
        ax.set(xlabel="radius of the nuclear-norm ball", ylabel="RMSE on withheld pixels")
    return fig


def weights(study: Study, scale: int = 16) -> bytes:
    """Return the AFW classifier's weights as a picture: red speaks for a 4, blue against, white is zero."""
    w = study.comparison["afw"].x[: SIDE * SIDE].reshape(SIDE, SIDE)
    top = float(np.max(np.abs(w)))
    return png(w, cmap="RdBu_r", limits=(-top, top), scale=scale)


def mistakes(hand: Handwriting, study: Study, limit: int = 12) -> list[tuple[bytes, int, float]]:
    """Return the test images that the AFW classifier gets wrong: picture, digit and score, the worst first."""
    scores = hand.scores(study)
    wrong = np.flatnonzero((scores > 0) != (hand.is_four > 0))
    wrong = wrong[np.argsort(-np.abs(scores[wrong]), kind="stable")][:limit]
    return [
        (
            png(hand.images[i, : SIDE * SIDE].reshape(SIDE, SIDE), cmap="gray_r", scale=8),
            int(hand.digits[i]),
            float(scores[i]),
        )
        for i in wrong
    ]


def pictures(photo: Photograph) -> dict[str, bytes]:
    """Return the photograph as it is, as it was seen, and as it was recovered."""
    results = photo.study.comparison
    return {
        "original": png(photo.pixels),
        "observed": png(np.where(photo.observed, photo.pixels, np.nan)),
        "afw": png(photo.recovered(results["afw"].x)),
        "apgd": png(photo.recovered(results["apgd"].x)),
    }
