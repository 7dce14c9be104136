"""`frankwolfe show`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from frankwolfe.cli.output import Json, Quiet, save_picture
from frankwolfe.cli.output import show as print_facts
from frankwolfe.cli.tables import existing, writable

WIDTH, MOST_BARS = 40, 25  # of the longest bar


def show(
    model: Annotated[Path, typer.Argument(help="A model that `fit` or `complete` wrote.")],
    top: Annotated[int, typer.Option(min=1, help="How many coefficients, the largest first.")] = 20,
    out: Annotated[Path | None, typer.Option(help="Picture of the path of radii to draw (.png, .svg, .pdf).")] = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Show what is in a model: coefficients by name, radius, proven gap, and the scores of the radii tried.

    Example:

        frankwolfe show model.npz --top 10 --out path.png
    """
    from frankwolfe.estimators.completion.completer_files import COMPLETER
    from frankwolfe.estimators.model_files import read_model

    writable(out)
    header, _ = read_model(existing(model))
    if header["kind"] == COMPLETER:
        from frankwolfe.estimators import MatrixCompleter

        told = MatrixCompleter.load(model)
        facts = {"model": COMPLETER, "users": len(told.users_), "items": len(told.items_), "rank": told.rank_}
        print_facts(facts | {"radius": told.radius_, "gap": told.gap_}, as_json=as_json, quiet=quiet)
        return
    from frankwolfe.estimators.linear_files import read_linear

    fitted = read_linear(model)
    estimator = fitted.estimator
    coefs = np.atleast_2d(estimator.coef_)
    names = fitted.features or [f"feature {j + 1}" for j in range(coefs.shape[1])]
    order = np.argsort(-np.abs(coefs).max(axis=0), kind="stable")
    order = order[np.abs(coefs).max(axis=0)[order] > 0]
    heads = ["coefficient"] if len(coefs) == 1 else [str(c) for c in estimator.classes_]
    table = [{"feature": names[j]} | dict(zip(heads, coefs[:, j].tolist(), strict=True)) for j in order[:top]]
    facts: dict[str, Any] = {
        "model": fitted.kind,
        "target": fitted.target,
        "classes": [str(c) for c in estimator.classes_] if hasattr(estimator, "classes_") else None,
        "constraint": str(estimator.constraint),
        "radius": float(estimator.radius),
        "gap": float(estimator.gap_),
        "intercept": np.ravel(estimator.intercept_).tolist(),
        "features": coefs.shape[1],
        "nonzeros": int(np.count_nonzero(coefs)),
    }
    if as_json:
        print_facts(facts | {"coefficients": table, "path": fitted.path}, as_json=True, quiet=quiet)
    else:
        print_facts(facts | ({"coefficients": table} if table else {}), as_json=False, quiet=quiet)
    if order.size > top and not (quiet or as_json):
        typer.echo(f"and {order.size - top} more; --top {order.size} shows all")
    if fitted.path is None:
        if out is not None:
            raise ValueError(f"{model} has no path to draw: it was fitted with one radius; fit it with --radius cv")
        return
    if not (quiet or as_json):
        typer.echo("")
        for line in bars(fitted.path, float(estimator.radius)):
            typer.echo(line)
    if out is not None:
        _draw(fitted.path, float(estimator.radius), out)


def bars(path: dict[str, list[float]], radius: float) -> list[str]:
    """Return the scores of the radii as bars of text."""
    scores = np.array(path["scores"])
    span = max(float(np.ptp(scores)), 1e-300)
    nearest = int(np.argmin(np.abs(np.log(np.array(path["radii"]) / radius))))
    lines = [f"{'radius':>10}  held-out score"]
    every = -(-len(scores) // MOST_BARS)  # of many radii some, the chosen one among them
    for i in range(nearest % every, len(scores), every):
        size, score = path["radii"][i], float(scores[i])
        bar = "#" * round(WIDTH * (score - float(scores.min())) / span)
        lines.append(f"{size:>10.4g}  {score:<12.6g}  {bar}{' chosen' if i == nearest else ''}".rstrip())
    return lines


def _draw(path: dict[str, list[float]], radius: float, out: Path) -> None:
    from frankwolfe.plotting.style import figure

    with figure() as (drawn, axis):
        axis.errorbar(path["radii"], path["scores"], path["errors"], marker="o", capsize=3)
        axis.axvline(radius, linestyle=":", color="0.4")
        axis.set(xscale="log", xlabel="radius", ylabel="held-out score")
        save_picture(drawn, out)
