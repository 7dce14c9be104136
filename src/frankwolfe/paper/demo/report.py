"""The report: one page that needs nothing but itself. Its words are in ``text/demo.toml``."""

from __future__ import annotations

import platform
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from frankwolfe.paper.demo.digits import SIDE, Handwriting
from frankwolfe.paper.demo.photograph import Photograph, singular_values
from frankwolfe.paper.demo.settings import Settings
from frankwolfe.paper.demo.study import THREADS, Study
from frankwolfe.paper.words import fill, read
from frankwolfe.plotting import TITLES, figure, html, line_style, plot_comparison
from frankwolfe.plotting.html import png
from frankwolfe.plotting.palette import GREY

SIZE = 4.0, 3.2  # inches: small, so that text stays legible in three columns and on a phone
FLOOR = 1e-13  # below this, rounding is all there is


def write(folder: Path, settings: Settings, hand: Handwriting, photo: Photograph, seconds: float) -> Path:
    """Write index.html and the figures; return the page's path."""
    seen = 100 * photo.observed.mean()
    m, n = photo.pixels.shape
    share = 100 * float(np.mean(hand.is_four < 0))
    parts = {
        "what": [_text("what"), html.facts(_facts(hand, photo, seconds))],
        "digits": [
            _text("digits", trained=hand.trained, tested=len(hand.digits), share=share),
            *(_study(folder, study) for study in hand.studies),
        ],
        "weights": [_text("weights"), html.grid(*(_weights(folder, study) for study in hand.studies))],
        "mistakes": [_confusion(hand), html.grid(*(_mistakes(hand, study) for study in hand.studies))],
        "photograph": [_text("photograph", m=m, n=n, lost=100 - seen), _pictures(folder, photo, seen)],
        "completion": [_study(folder, photo.study), _costs(photo.study)],
        "rank": [_rank(folder, photo)],
        "settings": [html.table(["what", "value"], _settings(settings, photo))],
    }
    titles = read("demo")["sections"]
    page = html.page(
        _text("title"),
        "\n".join(html.section(key, titles[key][1], *inner) for key, inner in parts.items()),
        lead=_text("lead", accuracy=100 * hand.accuracy(hand.studies[0]), seen=seen),
        contents=[(key, titles[key][0]) for key in parts],
        footer=_text("footer"),
    )
    path = folder / "index.html"
    path.write_text(page, encoding="utf-8")
    return path


def _text(name: str, **values: Any) -> str:
    return fill(read("demo")[name], values)


def _facts(hand: Handwriting, photo: Photograph, seconds: float) -> list[tuple[str, str]]:
    l2, l1 = hand.studies
    return [
        (f"{100 * hand.accuracy(l2):.1f} %", "test accuracy, l2 ball (AFW)"),
        (f"{100 * hand.accuracy(l1):.1f} %", "test accuracy, l1 ball (AFW)"),
        (f"{l2.comparison['afw'].gap:.0e}", "proven gap of AFW, l2 ball"),
        (photo.study.score(photo.study.reference.x), "RMSE on hidden pixels (0 to 1)"),
        (f"{seconds:.0f} s", "for everything on this page"),
    ]


def _drawn(folder: Path, key: str, fig: Any, prefix: str, **values: Any) -> str:
    told = {part: fill(words, values) for part, words in read("demo")["figures"][key].items()}
    inline = html.svg(fig, told["alt"])
    fig.set_layout_engine("none")  # it is laid out now, and doing that again is half of the work
    html.save_png(fig, folder / f"{prefix}-{key}.png")
    return html.figure(inline, told["title"], told["caption"])


def _study(folder: Path, study: Study) -> str:
    last = min(r.n_iter for r in study.comparison.values())
    stations = [*(k for k in (10, 100, 1000) if k < last), last]
    leaders = ", ".join(f"{TITLES[study.leader(k)]} after {k}" for k in stations)
    figures = {
        "iterations": draw_errors(study, "k"),
        "seconds": draw_errors(study, "time"),
        "certificates": draw_certificates(study),
    }
    return "\n".join(
        [
            f"<h3>{study.title}</h3>",
            _text("reading", lower=study.lower_bound, optimum=study.optimum, gap=study.gap, leaders=leaders),
            html.table(study.head, study.rows()),
            html.grid(*(_drawn(folder, key, fig, study.name, name=study.title) for key, fig in figures.items())),
        ]
    )


def _weights(folder: Path, study: Study) -> str:
    ball, data = study.name.rpartition("-")[2], draw_weights(study)
    (folder / f"{study.name}-weights.png").write_bytes(data)
    image = html.picture(data, f"Weights of the {ball} classifier as an 8 by 8 picture.")
    x = study.comparison["afw"].x[:-1]
    used = int(np.sum(np.abs(x) > 1e-3 * np.max(np.abs(x))))
    caption = _text("sparsity", used=used, size=x.size)
    return html.figure(f'<div class="narrow">{image}</div>', f"The {ball} ball", caption)


def _confusion(hand: Handwriting) -> str:
    rows = [
        [ball, *hand.confusion(study).values(), f"{100 * hand.accuracy(study):.1f} %"]
        for ball, study in zip(("l2 ball", "l1 ball"), hand.studies, strict=True)
    ]
    return html.table(["classifier (AFW)", *hand.confusion(hand.studies[0]), "accuracy"], rows)


def _mistakes(hand: Handwriting, study: Study) -> str:
    wrong = draw_mistakes(hand, study)
    tiles = (
        html.picture(data, f"A handwritten {digit}.", label=f"a {digit}, called {'4' if score > 0 else 'not 4'}")
        for data, digit, score in wrong
    )
    total = sum(hand.confusion(study)[key] for key in ("4, missed", "other, called 4"))
    caption = _text("mistakes", shown=len(wrong), total=total)
    return html.figure(html.tiles(tiles, 84), f"Mistakes of the {study.name.rpartition('-')[2]} classifier", caption)


def _pictures(folder: Path, photo: Photograph, seen: float) -> str:
    cards = []
    for name, data in draw_pictures(photo).items():
        (folder / f"photograph-{name}.png").write_bytes(data)
        told = read("demo")["figures"][name]
        image = html.picture(data, f"The photograph: {told['title'].lower()}.")
        cards.append(html.figure(image, told["title"], fill(told["caption"], {"seen": seen})))
    return html.grid(*cards, least=440)


def _costs(study: Study) -> str:
    """Compare what the runs cost and where they ended, as measured."""
    results = study.comparison

    def listed(values: dict[str, str]) -> str:
        return ", ".join(f"{TITLES[name]} {value}".strip() for name, value in values.items())

    least = min(study.error(name) for name in results)
    best = [name for name in results if study.error(name) == least]
    projected = all(name in ("pgd", "apgd") for name in best)
    seconds = listed({name: f"{r.time:.1f}" for name, r in results.items()})
    return _text(
        "costs",
        steps=listed({name: f"{1000 * r.time / max(r.n_iter, 1):.1f} ms" for name, r in results.items()}),
        best=listed(dict.fromkeys(best, "")),
        small=_text("small", seconds=seconds) if projected else "",
    )


def _rank(folder: Path, photo: Photograph) -> str:
    results = photo.study.comparison
    counts = {name: int((singular_values(results[name].x) > 1e-3).sum()) for name in ("fw", "afw", "apgd")}
    ranks = ", ".join(f"{TITLES[name]} {count}" for name, count in counts.items())
    return html.grid(
        _drawn(folder, "spectrum", draw_spectra(photo), "photograph", ranks=ranks),
        _drawn(folder, "radius", draw_radii(photo), "photograph"),
    )


def _settings(settings: Settings, photo: Photograph) -> list[list[str]]:
    packages = ("frankwolfe", "numpy", "scipy", "scikit-learn", "matplotlib")
    return [
        ["seed", str(settings.seed)],
        ["digits: l2 and l1 radius", f"{settings.l2_radius:g} and {settings.l1_radius:g}"],
        ["photograph: radius", f"{photo.radius:g}, of {', '.join(f'{r:g}' for r in photo.radii)}"],
        ["steps on digits (fw, afw, pgd, apgd)", ", ".join(map(str, settings.digit_steps.values()))],
        ["steps on the photograph", ", ".join(map(str, settings.picture_steps.values()))],
        ["fw, afw", "steps 2/(k+2) and 2/(k+3)"],
        ["pgd, apgd", "step 1/L; linear coupling"],
        ["threads", str(THREADS)],
        ["Python", platform.python_version()],
        *([name, metadata.version(name)] for name in packages),
    ]


def draw_errors(study: Study, against: str) -> Any:
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


def draw_certificates(study: Study) -> Any:
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


def draw_spectra(photo: Photograph) -> Any:
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


def draw_radii(photo: Photograph) -> Any:
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


def draw_weights(study: Study, scale: int = 16) -> bytes:
    """Return the AFW classifier's weights as a picture: red speaks for a 4, blue against, white is zero."""
    w = study.comparison["afw"].x[: SIDE * SIDE].reshape(SIDE, SIDE)
    top = float(np.max(np.abs(w)))
    return png(w, cmap="RdBu_r", limits=(-top, top), scale=scale)


def draw_mistakes(hand: Handwriting, study: Study, limit: int = 12) -> list[tuple[bytes, int, float]]:
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


def draw_pictures(photo: Photograph) -> dict[str, bytes]:
    """Return the photograph as it is, as it was seen, and as it was recovered."""
    results = photo.study.comparison
    return {
        "original": png(photo.pixels),
        "observed": png(np.where(photo.observed, photo.pixels, np.nan)),
        "afw": png(photo.recovered(results["afw"].x)),
        "apgd": png(photo.recovered(results["apgd"].x)),
    }
