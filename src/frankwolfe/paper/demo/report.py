"""The report: one page that needs nothing but itself."""

from __future__ import annotations

import platform
from importlib import metadata
from pathlib import Path
from typing import Any

from frankwolfe.paper.demo import drawing, report_text
from frankwolfe.paper.demo.digits import Handwriting
from frankwolfe.paper.demo.photograph import Photograph, singular_values
from frankwolfe.paper.demo.settings import Settings
from frankwolfe.paper.demo.study import THREADS, Study
from frankwolfe.plotting import TITLES, html


def write(folder: Path, settings: Settings, hand: Handwriting, photo: Photograph, seconds: float) -> Path:
    """Write index.html and the figures; return the page's path."""
    l2, l1 = hand.studies
    accuracy = 100 * hand.accuracy(l2)
    body = [
        html.section("what", "What you are looking at", report_text.WHAT, html.facts(_facts(hand, photo, seconds))),
        html.section("digits", "Is it a 4?", report_text.digits(hand), _study(folder, l2), _study(folder, l1)),
        html.section("weights", "What the classifiers look at", _weights(folder, hand)),
        html.section("mistakes", "Where they go wrong", _confusion(hand), _mistakes(hand)),
        html.section("photograph", "Half a photograph", report_text.photograph(photo), _pictures(folder, photo)),
        html.section("completion", "Completing it, four ways", _study(folder, photo.study), report_text.costs(photo)),
        html.section("rank", "How complicated is the answer?", _rank(folder, photo)),
        html.section("settings", "Settings and versions", html.table(["what", "value"], _settings(settings, photo))),
    ]
    contents = [
        ("what", "In short"), ("digits", "Digits"), ("weights", "Weights"), ("mistakes", "Mistakes"),
        ("photograph", "Photograph"), ("completion", "Completion"), ("rank", "Rank"), ("settings", "Settings"),
    ]  # fmt: skip
    lead = (
        '<p class="lead">Three real problems, each solved by Frank-Wolfe, its accelerated form and two projected '
        f"methods; a 4 is told from other digits with {accuracy:.1f} % accuracy, and a photograph comes back from "
        f"{100 * photo.observed.mean():.0f} % of its pixels.</p>"
    )
    footer = "Made by <code>frankwolfe demo</code>. Everything but the seconds repeats exactly."
    path = folder / "index.html"
    page = html.page("Optimisation without projections", "\n".join(body), lead=lead, contents=contents, footer=footer)
    path.write_text(page, encoding="utf-8")
    return path


def _facts(hand: Handwriting, photo: Photograph, seconds: float) -> list[tuple[str, str]]:
    l2, l1 = hand.studies
    return [
        (f"{100 * hand.accuracy(l2):.1f} %", "test accuracy, l2 ball (AFW)"),
        (f"{100 * hand.accuracy(l1):.1f} %", "test accuracy, l1 ball (AFW)"),
        (f"{l2.comparison['afw'].gap:.0e}", "proven gap of AFW, l2 ball"),
        (photo.study.score(photo.study.reference.x), "RMSE on hidden pixels (0 to 1)"),
        (f"{seconds:.0f} s", "for everything on this page"),
    ]


def _drawn(folder: Path, name: str, fig: Any, title: str, alt: str, caption: str) -> str:
    inline = html.svg(fig, alt)
    fig.set_layout_engine("none")  # it is laid out now, and doing that again is half of the work
    html.save_png(fig, folder / f"{name}.png")
    return html.figure(inline, title, caption)


def _study(folder: Path, study: Study) -> str:
    name = study.name
    return "\n".join(
        [
            f"<h3>{study.title}</h3>",
            report_text.reading(study),
            html.table(study.head, study.rows()),
            html.grid(
                _drawn(
                    folder, f"{name}-iterations", drawing.errors(study, "k"), "Error against iterations",
                    f"Error of each method against iterations. {study.title}.",
                    "Lower is better; a straight line is a rate. Curves end where the reference solution can no longer "
                    "tell them from perfect.",
                ),
                _drawn(
                    folder, f"{name}-seconds", drawing.errors(study, "time"), "Error against seconds",
                    f"Error of each method against seconds. {study.title}.",
                    "The same runs by the clock: a step that is cheaper may be worth taking more often.",
                ),
                _drawn(
                    folder, f"{name}-certificates", drawing.certificates(study), "Promise and truth",
                    f"Certified gap and true error of Frank-Wolfe and accelerated Frank-Wolfe. {study.title}.",
                    "Dashed: the error that the method can prove it does not exceed. Solid: the error it really has. "
                    "The proof must never dip below the truth, and need not know f*.",
                ),
            ),
        ]
    )  # fmt: skip


def _weights(folder: Path, hand: Handwriting) -> str:
    cards = []
    for study, ball in zip(hand.studies, ("l2", "l1"), strict=True):
        data = drawing.weights(study)
        (folder / f"{study.name}-weights.png").write_bytes(data)
        image = html.picture(data, f"Weights of the {ball} classifier as an 8 by 8 picture.")
        cards.append(html.figure(f'<div class="narrow">{image}</div>', f"The {ball} ball", report_text.sparsity(study)))
    note = (
        "<p>The weights that AFW found, one square per pixel: red where ink speaks for a 4, blue where it speaks "
        "against, white where it is ignored.</p>"
    )
    return note + html.grid(*cards)


def _confusion(hand: Handwriting) -> str:
    counts = {ball: hand.confusion(s) for ball, s in zip(("l2 ball", "l1 ball"), hand.studies, strict=True)}
    head = ["classifier (AFW)", *counts["l2 ball"], "accuracy"]
    rows = [
        [ball, *count.values(), f"{100 * hand.accuracy(study):.1f} %"]
        for (ball, count), study in zip(counts.items(), hand.studies, strict=True)
    ]
    return html.table(head, rows)


def _mistakes(hand: Handwriting) -> str:
    return html.grid(*(_mistakes_of(hand, study) for study in hand.studies))


def _mistakes_of(hand: Handwriting, study: Study) -> str:
    wrong = drawing.mistakes(hand, study)
    tiles = (
        html.picture(data, f"A handwritten {digit}.", label=f"a {digit}, called {'4' if score > 0 else 'not 4'}")
        for data, digit, score in wrong
    )
    ball = study.name.rpartition("-")[2]
    total = sum(hand.confusion(study)[key] for key in ("4, missed", "other, called 4"))
    caption = f"{len(wrong)} of its {total} mistakes on the test digits, the most confident first."
    return html.figure(html.tiles(tiles, 84), f"Mistakes of the {ball} classifier", caption)


def _pictures(folder: Path, photo: Photograph) -> str:
    titles = {
        "original": ("Original", "What the methods never see whole."),
        "observed": ("Observed", f"{100 * photo.observed.mean():.0f} % of the pixels; the rest are gone."),
        "afw": ("Recovered, accelerated FW", "A sum of rank-one pictures, none of them ever projected."),
        "apgd": ("Recovered, projected AGM", "The same problem, solved with projections."),
    }
    cards = []
    for name, data in drawing.pictures(photo).items():
        (folder / f"photograph-{name}.png").write_bytes(data)
        title, caption = titles[name]
        cards.append(html.figure(html.picture(data, f"The photograph: {title.lower()}."), title, caption))
    return html.grid(*cards, least=440)


def _rank(folder: Path, photo: Photograph) -> str:
    results = photo.study.comparison
    counts = {name: int((singular_values(results[name].x) > 1e-3).sum()) for name in ("fw", "afw", "apgd")}
    ranks = ", ".join(f"{TITLES[name]} {count}" for name, count in counts.items())
    return html.grid(
        _drawn(
            folder, "photograph-spectrum", drawing.spectra(photo), "Singular values",
            "Singular values of the picture and of the recovered matrices.",
            f"Singular values above 0.001: {ranks}. A Frank-Wolfe iterate is a sum of all the rank-one matrices met "
            "so far, so a tail of small values remains; a projection sets it to zero.",
        ),
        _drawn(
            folder, "photograph-radius", drawing.radii(photo), "Choosing the radius",
            "Error on withheld pixels against the radius.",
            "A tenth of the observed pixels was set aside, and the smallest radius within one per cent of the best "
            "error on them was taken. The hidden pixels played no part.",
        ),
    )  # fmt: skip


def _settings(settings: Settings, photo: Photograph) -> list[list[str]]:
    packages = ("frankwolfe", "numpy", "scipy", "scikit-learn", "matplotlib")
    return [
        ["seed", str(settings.seed)],
        ["digits: l2 and l1 radius", f"{settings.l2_radius:g} and {settings.l1_radius:g}"],
        ["photograph: radius", f"{photo.radius:g}, of {', '.join(f'{r:g}' for r in photo.radii)}"],
        ["steps on digits (fw, afw, pgd, apgd)", _steps(settings.digit_steps)],
        ["steps on the photograph", _steps(settings.picture_steps)],
        ["fw, afw", "steps 2/(k+2) and 2/(k+3)"],
        ["pgd, apgd", "step 1/L; linear coupling"],
        ["threads", str(THREADS)],
        ["Python", platform.python_version()],
        *([name, metadata.version(name)] for name in packages),
    ]


def _steps(steps: dict[str, int]) -> str:
    return ", ".join(str(count) for count in steps.values())
