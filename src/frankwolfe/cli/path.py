"""`frankwolfe path`."""

from __future__ import annotations

from pathlib import Path as File
from typing import Annotated, Any

import numpy as np
import typer

from frankwolfe.backends import host
from frankwolfe.cli.fit import Constraint, Data, Device, Drop, MethodName, Scale, Target, Task
from frankwolfe.cli.output import Json, Quiet, save_picture, show, talkative, uninterrupted, working
from frankwolfe.cli.samples import Samples, infer_task, read_samples
from frankwolfe.cli.tables import writable
from frankwolfe.validation import optional

SPAN = (0.1, 50.0)  # of the default radii, around the one that suits the first atom


def path(
    data: Data,
    constraint: Constraint = "l1",
    radii: Annotated[
        str | None, typer.Option(help="0.1,1,10 or FROM:TO:COUNT in equal ratios; default: 20 that suit the data.")
    ] = None,
    out: Annotated[File | None, typer.Option(help="Picture to draw (.png, .svg, .pdf).")] = None,
    table: Annotated[File | None, typer.Option(help="Table to write (.csv).")] = None,
    target: Target = None,
    drop: Drop = None,
    task: Task = "auto",
    holdout: Annotated[
        float, typer.Option(min=0.0, max=0.9, help="Share of the rows to score on; 0: no scores.")
    ] = 0.2,
    tol: Annotated[
        float | None, typer.Option(help="Certified gap to reach at each radius; default: relative to what is gained.")
    ] = None,
    max_iter: Annotated[int, typer.Option(min=1, help="Most steps at each radius.")] = 10_000,
    method: MethodName = "auto",
    scale: Scale = True,
    device: Device = "auto",
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Fit a linear model at many radii: a table, a picture, and the radius with the best held-out score.

    Example:

        frankwolfe path data.csv --target income --constraint l1 --radii 0.1:100:20 --out path.png
    """
    import frankwolfe as fw
    from frankwolfe.explain import size

    given = None if radii is None else _radii(radii)
    if out is not None:
        optional("matplotlib", extra="plot").use("Agg")
    shown = talkative(as_json, quiet)
    writable(out)
    writable(table)
    with working(f"reading {data}", shown, quiet or as_json) as say:
        samples = read_samples(data, target, drop or [], None, say)
    assert samples.y is not None
    kind = infer_task(samples.y, task, data)
    objective, domain, score = _problem(samples, kind, constraint, holdout, device, scale)
    wanted = default_radii(objective, domain) if given is None else given
    found = fw.path(
        objective,
        domain,
        wanted,
        score=score,
        method=method,
        tol=tol,
        max_iter=max_iter,
        progress=None if shown else False,
    )
    uninterrupted(found)
    rows = [
        {"radius": float(radius), "loss": result.fun, "gap": result.gap, size(result.x)[0]: size(result.x)[1]}
        | ({} if found.scores is None else {"score": float(found.scores[i])})
        | {"steps": result.n_iter, "done": result.success}
        for i, (radius, result) in enumerate(zip(found.radii, found, strict=True))
    ]
    if table is not None:
        found.to_pandas().to_csv(table, index=False)
    if out is not None:
        out = save_picture(np.ravel(found.plot())[0].figure, out)
    facts: dict[str, Any] = {"path": rows}
    if found.scores is not None:
        facts["best_radius"] = found.best_radius
        facts["best_score"] = float(found.scores[found.best_index])
        facts["scored_by"] = "accuracy on held-out rows" if kind == "classification" else "R² on held-out rows"
    files = {"picture": None if out is None else str(out), "table": None if table is None else str(table)}
    show(facts | files | {"seconds": round(found.time, 3)}, as_json=as_json, quiet=quiet)


def default_radii(objective: Any, domain: Any, count: int = 20) -> np.ndarray:
    """Return radii around the one at which the first atom alone would be taken in full: the scale of the data."""
    from frankwolfe.points import Point

    start = objective.start(None, dense=True)
    atom = domain.with_radius(1.0).lmo(objective.grad(start)).toarray()
    slope, curvature = objective.line(Point.at(start), Point.at(atom))[0](0.0)
    scale = -slope / curvature if slope < 0 < curvature else 1.0
    return np.geomspace(SPAN[0] * scale, SPAN[1] * scale, count)


def _problem(
    samples: Samples, kind: str, constraint: str, holdout: float, device: str, scale: bool
) -> tuple[Any, Any, Any]:
    """Return the loss on the rows to learn from, the set at radius one, and the score on the others."""
    from scipy.sparse import issparse

    import frankwolfe as fw
    from frankwolfe.datasets.readers import split_rows
    from frankwolfe.estimators.constraints import constraint_set
    from frankwolfe.estimators.scaling import Scaling

    X = samples.X if issparse(samples.X) or isinstance(samples.X, np.ndarray) else samples.X.to_numpy()
    y = samples.y
    assert y is not None
    names = np.unique(y) if kind == "classification" else None
    codes = y.astype(float) if names is None else np.searchsorted(names, y)
    n = codes.shape[0]
    train = split_rows(n, "train", 1 - holdout, 0) if holdout > 0 else np.arange(n)
    test = np.setdiff1d(np.arange(n), train)
    if names is not None and len(np.unique(codes[train])) < len(names):
        raise ValueError(f"a class has no row left to learn from; give a smaller --holdout than {holdout:g}")
    X = Scaling.of(X[train], None, intercept=True, standardize=scale).apply(X)
    loss = fw.LeastSquares if names is None else fw.Logistic if len(names) == 2 else fw.Multinomial
    classes = len(names) if loss is fw.Multinomial and names is not None else 1
    objective = loss(fw.place(X[train], device, classes=classes), codes[train], intercept=True)
    assert objective.shape is not None
    domain = constraint_set(constraint, 1.0, tuple(objective.shape))

    def score(x: Any, radius: float) -> float:
        x = x.toarray() if isinstance(x, fw.LowRank) else x
        said = X[test] @ host(x) + objective.best_intercept(objective.map.apply(x))
        if names is None:
            spread = codes[test] - codes[test].mean()
            return 1 - float(np.sum((said - codes[test]) ** 2) / max(np.sum(spread**2), 1e-300))
        chosen = (said > 0).astype(int) if len(names) == 2 else np.argmax(said, axis=1)
        return float(np.mean(chosen == codes[test]))

    return objective, domain, score if test.size else None


def _radii(text: str) -> np.ndarray:
    try:
        if ":" in text:
            low, high, count = text.split(":")
            return np.geomspace(float(low), float(high), int(count))
        return np.array([float(part) for part in text.split(",")])
    except ValueError:
        raise ValueError(f"--radii must be numbers such as 0.1,1,10 or FROM:TO:COUNT, got {text!r}") from None
