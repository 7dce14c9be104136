"""The report: one page that needs nothing but itself. Its words are in ``text/demo.toml``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from frankwolfe.paper.demo.digits import SIDE, Handwriting
from frankwolfe.paper.demo.photograph import Photograph, singular_values
from frankwolfe.paper.demo.settings import Settings
from frankwolfe.paper.demo.study import THREADS, Study
from frankwolfe.paper.publication.figure_data import Curve, Panel
from frankwolfe.paper.publication.pictures import draw
from frankwolfe.paper.words import fill, read, versions
from frankwolfe.plotting import TITLES, html, line_style
from frankwolfe.plotting.html import png
from frankwolfe.plotting.style import GREY

SIZE = 3.6, 2.9  # inches: small, so that text stays legible in three columns and on a phone
FLOOR = 1e-13  # below this, rounding is all there is
DASHES = {"fw": "dash", "pgd": "dashdot", "apgd": "dot"}


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


def _drawn(folder: Path, key: str, panel: Panel, axis: str, prefix: str, **values: Any) -> str:
    told = {part: fill(words, values) for part, words in read("demo")["figures"][key].items()}
    drawn = draw([panel], axis, size=SIZE)
    inline = html.svg(drawn, told["alt"])
    drawn.set_layout_engine("none")  # it is laid out now, and doing that again is half of the work
    html.save_png(drawn, folder / f"{prefix}-{key}.png")
    return html.figure(inline, told["title"], told["caption"])


def _curve(name: str, x: dict[str, Any], y: Any, method: str = "", **look: Any) -> Curve:
    colour = line_style(method)["color"] if method else GREY
    return Curve(name, {axis: np.asarray(values) for axis, values in x.items()}, np.asarray(y), colour, **look)


def _study(folder: Path, study: Study) -> str:
    last = min(r.n_iter for r in study.comparison.values())
    stations = [*(k for k in (10, 100, 1000) if k < last), last]
    leaders = ", ".join(f"{TITLES[study.leader(k)]} after {k}" for k in stations)
    errors, proofs = [], []
    for name, trace in ((name, result.trace) for name, result in study.comparison.items()):
        x, error = {"k": trace.k, "time": trace.time}, trace.fun - study.optimum
        errors.append(_curve(TITLES[name], x, error, name, dash=DASHES.get(name, "solid")))
        if name in ("fw", "afw"):
            proofs.append(_curve(f"{name.upper()}, true error", x, error, name))
            proofs.append(_curve(f"{name.upper()}, certified gap", x, trace.gap, name, dash="dash", width=1.7))
    panel = Panel("", errors, floor=max(study.gap, FLOOR))
    figures = {"iterations": (panel, "k"), "seconds": (panel, "time")}
    figures["certificates"] = Panel("", proofs, ylabel="error, and its proven bound"), "k"
    return "\n".join(
        [
            f"<h3>{study.title}</h3>",
            _text("reading", lower=study.lower_bound, optimum=study.optimum, gap=study.gap, leaders=leaders),
            html.table(study.head, study.rows()),
            html.grid(*(_drawn(folder, key, *fig, study.name, name=study.title) for key, fig in figures.items())),
        ]
    )


def _weights(folder: Path, study: Study) -> str:
    """Show the AFW classifier's weights: red speaks for a 4, blue against, white is zero."""
    ball, x = study.name.rpartition("-")[2], study.comparison["afw"].x[:-1]
    top = float(np.max(np.abs(x)))
    data = png(x.reshape(SIDE, SIDE), cmap="RdBu_r", limits=(-top, top), scale=16)
    (folder / f"{study.name}-weights.png").write_bytes(data)
    image = html.picture(data, f"Weights of the {ball} classifier as an 8 by 8 picture.")
    caption = _text("sparsity", used=int(np.sum(np.abs(x) > 1e-3 * top)), size=x.size)
    return html.figure(f'<div class="narrow">{image}</div>', f"The {ball} ball", caption)


def _confusion(hand: Handwriting) -> str:
    rows = [
        [ball, *hand.confusion(study).values(), f"{100 * hand.accuracy(study):.1f} %"]
        for ball, study in zip(("l2 ball", "l1 ball"), hand.studies, strict=True)
    ]
    return html.table(["classifier (AFW)", *hand.confusion(hand.studies[0]), "accuracy"], rows)


def _mistakes(hand: Handwriting, study: Study, limit: int = 12) -> str:
    """Show test images that the AFW classifier gets wrong, the worst first."""
    scores = hand.scores(study)
    wrong = np.flatnonzero((scores > 0) != (hand.is_four > 0))
    shown = wrong[np.argsort(-np.abs(scores[wrong]), kind="stable")][:limit]
    tiles = (
        html.picture(
            png(hand.images[i, :-1].reshape(SIDE, SIDE), cmap="gray_r", scale=8),
            f"A handwritten {hand.digits[i]}.",
            label=f"a {hand.digits[i]}, called {'4' if scores[i] > 0 else 'not 4'}",
        )
        for i in shown
    )
    caption = _text("mistakes", shown=len(shown), total=len(wrong))
    return html.figure(html.tiles(tiles, 84), f"Mistakes of the {study.name.rpartition('-')[2]} classifier", caption)


def _pictures(folder: Path, photo: Photograph, seen: float) -> str:
    """Show the photograph as it is, as it was seen, and as it was recovered."""
    pictures = {"original": photo.pixels, "observed": np.where(photo.observed, photo.pixels, np.nan)}
    pictures |= {name: photo.recovered(photo.study.comparison[name].x) for name in ("afw", "apgd")}
    cards = []
    for name, pixels in pictures.items():
        (folder / f"photograph-{name}.png").write_bytes(data := png(pixels))
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
    index = {"i": np.arange(1, min(photo.pixels.shape) + 1)}
    values = {name: singular_values(photo.study.comparison[name].x) for name in ("fw", "afw", "apgd")}
    shown = [_curve("the whole picture", index, singular_values(photo.pixels - photo.mean))]
    shown += [_curve(TITLES[name], index, np.where(s > 1e-3, s, np.nan), name) for name, s in values.items()]
    spectra = Panel("", shown, "singular value", log=(False, True), xlabel="index of the singular value")
    radii = [_curve("error", {"R": photo.radii}, photo.withheld, "apgd", mode="lines+markers")]
    chosen = photo.withheld[photo.radii.index(photo.radius)]
    radii.append(_curve(f"chosen: {photo.radius:g}", {"R": [photo.radius]}, [chosen], "fw", mode="markers"))
    choice = Panel("", radii, "RMSE on withheld pixels", log=(False, False), xlabel="radius of the nuclear-norm ball")
    ranks = ", ".join(f"{TITLES[name]} {int((s > 1e-3).sum())}" for name, s in values.items())
    return html.grid(
        _drawn(folder, "spectrum", spectra, "i", "photograph", ranks=ranks),
        _drawn(folder, "radius", choice, "R", "photograph"),
    )


def _settings(settings: Settings, photo: Photograph) -> list[list[str]]:
    return [
        ["seed", str(settings.seed)],
        ["digits: l2 and l1 radius", f"{settings.l2_radius:g} and {settings.l1_radius:g}"],
        ["photograph: radius", f"{photo.radius:g}, of {', '.join(f'{r:g}' for r in photo.radii)}"],
        ["steps on digits (fw, afw, pgd, apgd)", ", ".join(map(str, settings.digit_steps))],
        ["steps on the photograph", ", ".join(map(str, settings.picture_steps))],
        ["fw, afw", "steps 2/(k+2) and 2/(k+3)"],
        ["pgd, apgd", "step 1/L; linear coupling"],
        ["threads", str(THREADS)],
        *map(list, versions("frankwolfe", "numpy", "scipy", "scikit-learn", "matplotlib").items()),
    ]
