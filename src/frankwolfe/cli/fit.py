"""`frankwolfe fit` and `frankwolfe predict`."""

from __future__ import annotations

import csv
import sys
import time
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from frankwolfe.cli.output import Json, Quiet, number_or, show, talkative, uninterrupted, working
from frankwolfe.cli.samples import Samples, infer_task, read_like, read_samples, stream_samples
from frankwolfe.cli.tables import PARQUET, TEXT, Table, existing, suffix, writable


def choice(help: str, *names: str) -> Any:
    """Return an option that takes one of some names."""
    return typer.Option(help=help, autocompletion=lambda incomplete: _starting(names, incomplete))


def column(help: str) -> Any:
    """Return an option that takes a column of the table on the line."""
    return typer.Option(help=help, autocompletion=columns_of)


def known_losses(incomplete: str) -> list[str]:
    """Return the losses that estimators know."""
    from frankwolfe.objectives import CLASSIFICATION, REGRESSION

    return _starting((*REGRESSION, *CLASSIFICATION), incomplete)


def columns_of(ctx: Any, incomplete: str) -> list[str]:
    """Return the columns of the table that is already on the line; none where it cannot be read."""
    try:
        path = Path(str(ctx.params["data"]))
        names = Table(path).names if suffix(path) in (*TEXT, *PARQUET) else []
    except Exception:  # a shell that completes must not be told of errors
        return []
    return _starting(names, incomplete)


def _starting(names: Any, incomplete: str) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]


TASKS = ("auto", "classification", "regression")
SETS = ("l1", "l2", "linf", "lp", "ksupport", "group", "simplex", "nuclear", "box")
LINEAR_METHODS = ("auto", "afw", "fw", "away", "pairwise", "bpcg", "fcfw", "newton", "subspace", "apgd", "lazy")
LOSSES = "Regression: squared_error, huber, poisson, gamma, quantile; classes: log_loss, squared_hinge."

Data = Annotated[Path, typer.Argument(help="LIBSVM text, .csv, .tsv or .parquet, or a dataset known by name.")]
Target = Annotated[str | None, column("Column to predict (tables); default: target, label, class or y.")]
Drop = Annotated[list[str] | None, column("Column to leave out; may be given several times.")]
Keep = Annotated[list[str] | None, column("Column to keep although it only counts the rows.")]
Task = Annotated[str, choice("classification, regression, or auto: judged by the target.", *TASKS)]
Device = Annotated[
    str, choice("cpu, cuda, cuda:1; auto: a GPU where there is one and it gains.", "auto", "cpu", "cuda")
]
Constraint = Annotated[str, choice("l1, l2, linf, lp, ksupport, group, simplex, nuclear or box.", *SETS)]
Loss = Annotated[str | None, typer.Option(help=LOSSES, autocompletion=known_losses)]
MethodName = Annotated[str, choice("Method; auto chooses.", *LINEAR_METHODS)]
Scale = Annotated[
    bool, typer.Option("--scale/--no-scale", help="Bring the columns to one scale; coefficients stay in your units.")
]


def fit(
    data: Data,
    constraint: Constraint = "l2",
    radius: Annotated[str, typer.Option(help="Size of the set, or cv: chosen by cross-validation.")] = "cv",
    out: Annotated[Path | None, typer.Option(help="Where to write the model (.npz).")] = None,
    target: Target = None,
    drop: Drop = None,
    task: Task = "auto",
    keep: Keep = None,
    loss: Loss = None,
    scale: Scale = True,
    positive: Annotated[bool, typer.Option("--positive", help="No coefficient below zero.")] = False,
    intercept: Annotated[bool, typer.Option("--intercept/--no-intercept", help="Fit an intercept.")] = True,
    tol: Annotated[
        float | None,
        typer.Option(
            help="Certified gap to reach: in nats for classes, else as a part of the loss of a constant; 1e-6, "
            "or 1e-4 after a search for the radius, by default.",
        ),
    ] = None,
    max_iter: Annotated[int, typer.Option(min=1, help="Most steps.")] = 10_000,
    method: MethodName = "auto",
    explain: Annotated[bool, typer.Option("--explain", help="Say in words how good the answer is.")] = False,
    stream: Annotated[bool, typer.Option("--stream", help="Read rows block by block: larger than memory.")] = False,
    device: Device = "auto",
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Fit a linear classifier or regressor with its coefficients in a set.

    Columns of text become one column for each value, empty cells are filled with the median, and columns that only
    count the rows are left out: all of it is said.

    Example:

        frankwolfe fit data.csv --target income --constraint l1 --radius 10 --out model.npz

        frankwolfe fit a9a --constraint l2 --radius cv

        frankwolfe fit huge.parquet --target y --radius 10 --stream
    """
    size = number_or(radius, "cv")
    shown = talkative(as_json, quiet)
    writable(out)
    with working(f"reading {data}", shown, quiet or as_json) as say:
        if stream:
            samples = stream_samples(data, target, drop or [])
        else:
            samples = read_samples(data, target, drop or [], keep, say)
    assert samples.y is not None
    if stream and size is None:
        raise ValueError("--stream needs --radius with a number: cross-validation reads the rows too often")
    kind = infer_task(samples.y, task, data)
    model = _estimator(kind, size, loss)
    model.set_params(
        constraint=constraint,
        standardize=scale and not stream,
        positive=positive,
        fit_intercept=intercept,
        tol=model.tol if tol is None else tol,
        max_iter=max_iter,
        method=method,
        verbose=int(shown),
        device=device,
    )
    began = time.perf_counter()
    model.fit(samples.X, samples.y)
    uninterrupted([model.result_])
    seconds = time.perf_counter() - began
    if out is not None:
        from frankwolfe.estimators.linear_files import LinearModel, write_linear

        write_linear(LinearModel(model, samples.target, samples.plan), out)
    facts = _facts(model, kind, samples) | {"seconds": round(seconds, 3), "model": None if out is None else str(out)}
    show(facts, as_json=as_json, quiet=quiet)
    if explain and not as_json and not quiet:
        import frankwolfe

        typer.echo(f"\n{frankwolfe.explain(model)}")


def predict(
    model: Annotated[Path, typer.Argument(help="A model that `fit` or `complete` wrote.")],
    data: Annotated[Path, typer.Argument(help="Samples, or pairs of user and item.")],
    out: Annotated[Path | None, typer.Option(help="Where to write them (.csv); default: the screen.")] = None,
    proba: Annotated[bool, typer.Option("--proba", help="Also the probability of each class.")] = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Predict with a model, and measure the error where the file holds the targets too.

    Example:

        frankwolfe predict model.npz new.csv --out predictions.csv
    """
    from frankwolfe.estimators.completion.completer_files import COMPLETER
    from frankwolfe.estimators.model_files import read_model

    writable(out)
    header, _ = read_model(existing(model))
    if header["kind"] == COMPLETER:
        head, columns, facts = _ratings(model, data)
    else:
        head, columns, facts = _labels(model, data, proba)
    facts = {"predictions": len(columns[0]), **facts, "file": None if out is None else str(out)}
    if as_json:
        rows = [dict(zip(head, row, strict=True)) for row in zip(*columns, strict=True)]
        show(facts | ({"rows": rows} if out is None else {}), as_json=True, quiet=quiet)
    if out is not None:
        with open(out, "w", newline="", encoding="utf-8") as file:
            _write(file, head, columns)
        show(facts, as_json=False, quiet=quiet or as_json)
    elif not as_json and not quiet:
        _write(sys.stdout, head, columns)


def _labels(model: Path, data: Path, proba: bool) -> tuple[list[str], list[Any], dict[str, Any]]:
    from frankwolfe.estimators.linear_files import KINDS, read_linear

    fitted = read_linear(model)
    estimator = fitted.estimator
    with working("", shown=False, quiet=False) as say:
        samples = read_like(data, fitted.features, estimator.n_features_in_, fitted.target, fitted.plan, say)
    said = estimator.predict(samples.X)
    head, columns = ["prediction"], [said.tolist()]
    if proba:
        if fitted.kind != KINDS[0]:
            raise ValueError("--proba is for classifiers, and this model is a regressor")
        head += [f"p_{c}" for c in estimator.classes_]
        columns += estimator.predict_proba(samples.X).T.tolist()
    return head, columns, {} if samples.y is None else _error(said, samples.y, fitted.kind == KINDS[0])


def _ratings(model: Path, data: Path) -> tuple[list[str], list[Any], dict[str, Any]]:
    from frankwolfe.cli.complete import pairs
    from frankwolfe.estimators import MatrixCompleter

    fitted = MatrixCompleter.load(model)
    users, items = pairs(Table(data, header=None, as_text=True))
    known = [{str(label): label for label in labels} for labels in (fitted.users_, fitted.items_)]
    said = fitted.predict([known[0].get(u, u) for u in users], [known[1].get(i, i) for i in items])
    return ["user", "item", "rating"], [users, items, said.tolist()], {}


def _error(said: np.ndarray, y: np.ndarray, classes: bool) -> dict[str, Any]:
    if classes:
        same = [str(a) == str(b) for a, b in zip(said.tolist(), y.tolist(), strict=True)]
        return {"accuracy": float(np.mean(same))}
    if y.dtype.kind not in "fiu":
        return {}
    return {"rmse": float(np.sqrt(np.mean((said - y) ** 2)))}


def _write(file: Any, head: list[str], columns: list[Any]) -> None:
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(head)
    writer.writerows(zip(*columns, strict=True))


def _estimator(kind: str, radius: float | None, loss: str | None) -> Any:
    from frankwolfe import estimators

    name = "FrankWolfeClassifier" if kind == "classification" else "FrankWolfeRegressor"
    model = getattr(estimators, name + ("CV" if radius is None else ""))()
    if radius is not None:
        model.set_params(radius=radius)
    return model if loss is None else model.set_params(loss=loss)


def _facts(model: Any, kind: str, samples: Samples) -> dict[str, Any]:
    rows, features = samples.shape
    classifies = kind == "classification"
    return {
        "task": kind,
        "rows": rows,
        "features": features,
        "classes": [str(c) for c in model.classes_] if classifies and len(model.classes_) <= 10 else None,
        "constraint": str(model.constraint),
        "radius": float(getattr(model, "radius_", getattr(model, "radius", 0.0))),
        "nonzeros": int(np.count_nonzero(model.coef_)),
        "proven_zeros": int(model.proven_zero_.sum()) or None,
        "held_out_accuracy" if classifies else "held_out_r2": getattr(model, "cv_score_", None),
        "train_accuracy" if classifies else "train_r2": float(model.score(samples.X, samples.y)),
        "gap": float(model.gap_),
        "method": model.method_,
        "steps": int(model.n_iter_),
    }
