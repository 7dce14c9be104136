"""The bridge: objectives and sets as plain descriptions, names, numbers and arrays, read from their attributes.

Nothing here computes, and no method of an objective or a set is called: what the judge gets is the data. Only a user's
own function, and the decoder of a structural SVM, are called, at the points in question: they have no other data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields, is_dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np

from frankwolfe.verify.domains import CannotShow, Domain
from frankwolfe.verify.matrices import Blocks
from frankwolfe.verify.polytopes import nearest_in_hull

Description = dict[str, Any]

QUESTIONS = 1000  # asked for one example of a structural SVM
LARGEST_OPERATOR = 1 << 24  # entries
OPERATOR = "the data are a LinearOperator: its products with unit vectors are taken for its entries"


def describe_objective(objective: Any, points: Sequence[Any] = ()) -> Description:
    """Return a description of an objective; of a user's function what it is at some points."""
    kind = _known(type(objective), (*OBJECTIVES, "Function", "StructuralSVM"))
    if kind is None:
        raise _no_formula(objective)
    if kind == "Function":
        return _function(objective, points)
    if kind == "StructuralSVM":
        sizes = {"n": int(objective.n), "d": int(objective.d), "lam": float(objective.lam)}
        return {"kind": kind, "slopes": _slopes(objective, points)} | sizes
    parts = getattr(objective, "parts", getattr(objective, "entries", None))
    described = _in_parts(objective, parts, kind) if hasattr(parts, "total") else OBJECTIVES[kind](objective)
    return {"kind": kind} | described


def describe_domain(domain: Any, objective: Any = None, points: Sequence[Any] = ()) -> Description:
    """Return a description of a set; of that of a structural SVM what its decoder answers."""
    if type(objective).__name__ == "StructuralSVM" and domain is objective.domain:
        return _outputs(objective, points)
    kind = _known(type(domain), Domain.known)
    if kind is None:
        raise CannotShow(
            f"that x is in the set, and a lower bound: {type(domain).__name__} is known by its oracle alone, and "
            "answers do not show that no point of the set is lower; only built-in sets are judged"
        )
    found = {"kind": kind} | {field.name: _plain(getattr(domain, field.name)) for field in fields(domain)}
    if kind == "LinearImage":
        found["inner"] = [int(n) for n in domain.part.shape or domain.matrix.shape[1:]]
    if kind in ("MinkowskiSum", "UnionHull") and points:
        found |= _mixture(domain, kind, array(points[0]).astype(np.float64))
    return found


def describe_point(x: Any, objective: Any = None) -> Any:
    """Return coordinates as an array, or as the factors of a low-rank matrix; a nest of arrays as one long vector."""
    tree = getattr(objective, "tree", None)
    if tree is not None and isinstance(x, dict | list | tuple):
        x = tree.flatten(x)
    if hasattr(x, "left") and hasattr(x, "right") and hasattr(x, "weights"):
        m, n = x.shape
        left, right = ([array(f) for f in factors] for factors in (x.left, x.right))
        kind = left[0].dtype if left else np.float64
        return {
            "weights": np.asarray(x.weights, np.float64),
            "left": np.stack(left) if left else np.zeros((0, m), kind),
            "right": np.stack(right) if right else np.zeros((0, n), kind),
            "shape": [int(m), int(n)],
        }
    if isinstance(x, dict | list | tuple):
        raise TypeError("x is a nest of arrays; pass the function that it is a point of")
    return array(x)


def _known(cls: type, names: Iterable[str]) -> str | None:
    """Return the name of a class of the library, or of the first of its bases, that is among these."""
    own = (base.__name__ for base in cls.__mro__ if base.__module__.startswith("frankwolfe."))
    return next((name for name in own if name in names), None)


def _no_formula(thing: Any) -> CannotShow:
    return CannotShow(
        f"f(x) and a lower bound: no formula is known of {type(thing).__name__}; only built-in objectives are judged"
    )


def array(values: Any) -> np.ndarray:
    """Return an array of any library as NumPy's, with the numbers it holds."""
    if hasattr(values, "to_dense"):  # sparse, of torch
        values = values.to_dense()
    if hasattr(values, "detach"):
        values = values.detach().cpu()
        if values.is_floating_point() and values.element_size() < 4:
            values = values.float()  # exact, and NumPy knows no bfloat16
    elif hasattr(values, "get") and not isinstance(values, np.ndarray):  # cupy
        values = values.get()
    found = np.asarray(values)
    if found.dtype.kind not in "fiub":
        raise CannotShow(f"{type(values).__name__} holds no numbers that can be read")
    return found


def matrix(data: Any) -> Any:
    """Return the numbers of a data matrix, dense or sparse."""
    if isinstance(data, Blocks):
        return data
    held = data.matrix
    if hasattr(held, "matvec"):
        return _columns(held)
    return held if hasattr(held, "tocoo") else array(held)


def _columns(operator: Any) -> np.ndarray:
    """Return the numbers of a LinearOperator: its products with unit vectors, on the side that has fewer."""
    rows, columns = operator.shape
    if rows * columns > LARGEST_OPERATOR:
        raise CannotShow(
            f"f(x) and a lower bound: the data are a LinearOperator of shape {operator.shape}, too large to ask all "
            "entries; pass the matrix itself"
        )
    if columns <= rows:
        return array(operator.matmat(np.eye(columns)))
    return array(operator.rmatmat(np.eye(rows))).conj().T


def _linear_model(objective: Any) -> Description:
    loss = objective.row_loss
    if not type(loss).__module__.startswith("frankwolfe."):
        raise _no_formula(loss)
    return {
        "loss": loss.name,
        "parameters": [float(number) for number in loss],
        "b": array(getattr(objective, "exact_b", objective.b)),
        **_rows(objective),
    }


def _rows(objective: Any) -> Description:
    return {
        "A": matrix(objective.data),
        "trusted": OPERATOR if hasattr(getattr(objective.data, "matrix", None), "matvec") else "",
        "share": array(getattr(objective, "exact_share", objective.share)) if objective.weighted else None,
        "ridge": float(objective.ridge),
        "intercept": bool(objective.intercept),
    }


def _multinomial(objective: Any) -> Description:
    return {"b": array(objective.b), "classes": len(objective.classes), **_rows(objective)}


def _quadratic(objective: Any) -> Description:
    return {
        "Q": matrix(objective.data),
        "c": array(getattr(objective, "exact_c", objective.c)),
        "constant": float(objective.constant),
    }


def _completion(objective: Any) -> Description:
    pattern = objective.pattern
    return {
        "rows": array(pattern.rows),
        "cols": array(pattern.cols),
        "values": array(objective.values),
        "weights": None if objective.weights is None else array(objective.weights),
        "shape": [int(n) for n in pattern.shape],
    }


def _in_parts(objective: Any, parts: Any, kind: str) -> Description:
    """Describe a model whose rows are in parts: on disk, where they stay, or on a cluster, from where they come."""
    source = getattr(parts, "source", None)
    (held,) = parts.total(_itself, reads=source is None)
    held = sorted(held, key=lambda part: part.first)
    models = [part.objective for part in held]
    if hasattr(models[0], "pattern"):
        return _joined_completion([_completion(model) for model in models])
    read = source.ahead if source is not None else lambda: (model.data.matrix for model in models)
    rows = sum(len(model.b) for model in models)
    whole = {
        "data": Blocks((rows, objective.shape[0]), read),
        "exact_share": np.concatenate([array(model.exact_share) for model in models]),
        "weighted": any(part.weights is not None for part in held),
        "ridge": objective.ridge,
        "intercept": objective.intercept,
    }
    b = {
        name: np.concatenate([array(getattr(m, name)) for m in models])
        for name in ("b", "exact_b")
        if hasattr(models[0], name)
    }
    return OBJECTIVES[kind](SimpleNamespace(**vars(models[0]) | whole | b))


def _itself(part: Any) -> tuple[list[Any]]:
    """Return a part in a list, which adds up to all of them."""
    return ([part],)


def _joined_completion(parts: list[Description]) -> Description:
    joined: Description = {name: np.concatenate([p[name] for p in parts]) for name in ("rows", "cols", "values")}
    weights = [p["weights"] if p["weights"] is not None else np.ones(p["values"].size) for p in parts]
    return parts[0] | joined | {"weights": np.concatenate(weights)}


def _slopes(svm: Any, points: Sequence[Any]) -> np.ndarray:
    """Return λw at some points, and at the average of all but the first: each gives a linear function below f."""
    w = [svm.lam * array(x).reshape(svm.n, svm.d + 1).sum(axis=0)[:-1] for x in points]
    return np.array([*w, np.mean(w[1:] or w, axis=0)])


def _outputs(svm: Any, points: Sequence[Any]) -> Description:
    """Describe the set of a structural SVM by its decoder's answers: at the slopes, and so that x is an average."""

    def output(i: int, g: np.ndarray) -> np.ndarray:
        psi, loss = svm.decode(i, g[:-1] / svm.lam, -float(g[-1]))
        return np.append(np.asarray(psi, np.float64) / (svm.lam * svm.n), float(loss) / svm.n)

    slopes, x = _slopes(svm, points), array(points[0]).reshape(svm.n, svm.d + 1).astype(np.float64)
    answers = [[output(i, np.append(p, -1.0)) for p in slopes] for i in range(svm.n)]
    zero = np.zeros(svm.d + 1)
    found = [_surrounding(block, [zero, *answers[i]], lambda g, i=i: output(i, g)) for i, block in enumerate(x)]
    return {"kind": "Outputs", "slopes": slopes, "answers": np.array(answers), "points": found}


def _mixture(domain: Any, kind: str, x: np.ndarray) -> Description:
    """Suggest how x is made of points of the parts of a sum, or of the hull of a union: each with a weight."""

    def asked(g: np.ndarray) -> np.ndarray:
        shaped = g.reshape(x.shape)
        answers = np.array([array(part.lmo(shaped).toarray()).reshape(-1) for part in domain.parts], np.float64)
        if kind == "UnionHull":  # only the lowest answer counts
            answers[np.arange(len(answers)) != np.argmin(answers @ g)] = 0.0
        found.append(answers)
        return answers.sum(axis=0)

    found: list[np.ndarray] = []
    points = _surrounding(np.ravel(x), [asked(-np.ravel(x))], asked)
    atoms, shares = np.array(found[: len(points)]), nearest_in_hull(np.ravel(x), points)
    made = np.tensordot(shares, atoms, 1)
    weights = np.ones(len(made)) if kind == "MinkowskiSum" else shares @ atoms.any(axis=2)
    return {"weights": weights, "points": (made / np.where(weights > 0, weights, 1.0)[:, None]).reshape(-1, *x.shape)}


def _surrounding(x: np.ndarray, known: list[np.ndarray], lowest: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """Return points of a set, some known ones first, that x is an average of, if enough questions find them."""
    points = np.array(known)
    for _ in range(QUESTIONS):
        apart = x - nearest_in_hull(x, points) @ points
        further = lowest(-apart)
        if not apart @ further > np.max(points @ apart) + 2.0**-50 * float(np.abs(apart) @ np.abs(further)):
            break
        points = np.vstack([points, further])
    return points


def _function(objective: Any, points: Sequence[Any]) -> Description:
    seen = []
    for point in points:
        at = describe_point(point, objective)
        if isinstance(at, dict):
            raise CannotShow("the function is one of low-rank matrices; only functions of arrays can be judged")
        try:
            value, gradient = _asked(objective, point)
        except Exception as error:
            raise CannotShow(f"the function failed at a point in question: {error}") from None
        eps = float(np.finfo(gradient.dtype).eps) if gradient.dtype.kind == "f" else 2.0**-52
        seen.append({"at": at.astype(float), "value": value, "gradient": gradient.reshape(at.shape), "eps": eps})
    return {"kind": "Function", "seen": seen, "convex": bool(objective.convex)}


def _asked(objective: Any, point: Any) -> tuple[float, np.ndarray]:
    """Return value and gradient of a user's function, by the derivative of the library it is written in, if any."""
    arranged = (lambda x: x) if objective.tree is None else objective.tree.unflatten
    x = _widened(point if objective.tree is None else describe_point(point, objective))
    if objective.backend == "torch":
        import torch

        x = torch.as_tensor(x).requires_grad_(True)
        value = objective.f(arranged(x))
        gradient = torch.autograd.grad(value.reshape(()), x, allow_unused=True, materialize_grads=True)[0]
        return float(value.detach()), array(gradient)
    if objective.backend == "jax":
        import jax

        with jax.enable_x64(True) if hasattr(jax, "enable_x64") else jax.experimental.enable_x64():
            value, gradient = jax.value_and_grad(lambda x: objective.f(arranged(x)).reshape(()))(jax.numpy.asarray(x))
            return float(value), array(gradient)
    return float(objective.f(x)), array(objective.gradient(x))


def _widened(point: Any) -> Any:
    """Return a copy of an array of any library in double precision, where the library has it."""
    if isinstance(point, np.ndarray):
        return np.array(point, np.float64)
    if hasattr(point, "detach"):
        return point.detach().clone().double()
    if not hasattr(point, "__array_namespace__"):
        return point
    xp = point.__array_namespace__()
    return xp.astype(point, xp.float64)


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, bool | int | float | str) or hasattr(value, "tocoo"):
        return value
    if is_dataclass(value):
        return describe_domain(value)
    if isinstance(value, tuple):
        return [_plain(part) for part in value]
    return value.item() if isinstance(value, np.generic) else np.asarray(value)


OBJECTIVES: dict[str, Callable[[Any], Description]] = {
    "LinearModel": _linear_model,
    "Multinomial": _multinomial,
    "Quadratic": _quadratic,
    "MatrixCompletion": _completion,
}
