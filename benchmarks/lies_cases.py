"""Random problems for the campaign, one for each seed: data of every kind and scale, sets, methods, libraries."""

from __future__ import annotations

import importlib.util
import os
import tempfile
import time
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import numpy as np
import scipy.sparse as sp

import frankwolfe as fw
from benchmarks import lies_sets
from benchmarks.lies_objectives import Distance, Hinge, Linear, Model, Parabola, Softmax
from benchmarks.lies_sets import LD, Domain
from frankwolfe.methods import METHODS

TIME_LIMIT = 0.4
LIBRARIES = {"strict": "array_api_strict", "torch": "torch", "jax": "jax", "cupy": "cupy", "cuda": "torch"}
SHARES = {"numpy": 0.85, "torch": 0.05, "cuda": 0.015, "cupy": 0.01, "jax": 0.005, "strict": 0.07}
NARROW = ("float32", "float16", ">f4")
OBJECTIVES = {
    "squares": 5,
    "logistic": 5,
    "huber": 3,
    "multinomial": 3,
    "quadratic": 4,
    "function": 3,
    "completion": 3,
    "svm": 0.5,
}
LATER = 900_000  # seeds from here on have these in place of some others
ADDED = {"squares": ("poisson", "gamma"), "huber": ("quantile", "poisson"), "logistic": ("hinge",)}
EXPONENTIAL = ("poisson", "gamma")  # their margins are kept where exponentials are finite
VARIANTS = {
    "fw-short": lambda: fw.FrankWolfe(fw.ShortStep()),
    "fw-back": lambda: fw.FrankWolfe(fw.Backtracking()),
    "fw-exact": lambda: fw.FrankWolfe(fw.ExactLineSearch()),
    "afw-search": lambda: fw.AcceleratedFrankWolfe(line_search=True),
    "afw-sticky": lambda: fw.AcceleratedFrankWolfe(sticky=True),
    "away-short": lambda: fw.AwayFrankWolfe(fw.ShortStep()),
    "away-back": lambda: fw.AwayFrankWolfe(fw.Backtracking()),
    "pairwise-short": lambda: fw.PairwiseFrankWolfe(fw.ShortStep()),
    "bpcg-back": lambda: fw.BlendedPairwise(fw.Backtracking()),
    "bcg-short": lambda: fw.BlendedConditionalGradients(fw.ShortStep()),
    "boosted-short": lambda: fw.BoostedFrankWolfe(step_size=fw.ShortStep()),
    "lazy-away": lambda: fw.Lazy(fw.AwayFrankWolfe()),
    "apgd-restart": lambda: fw.AcceleratedProjectedGradient(restart=True),
    "hfw-search": lambda: fw.HeavyBallFrankWolfe(steps="search"),
    "hfw-directional": lambda: fw.HeavyBallFrankWolfe(steps="directional"),
    "hfw-restart": lambda: fw.HeavyBallFrankWolfe(steps="smooth", restart=True),
}


@dataclass
class Case:
    """A problem ready to be solved and to be judged. `u` is the unit roundoff that `fun` is owed to."""

    seed: int
    labels: dict[str, str]
    notes: list[str]
    model: Model
    domain: Domain | None
    objective: Any
    set: Any
    x0: Any
    options: dict[str, Any]
    u: float
    rival: Any  # a function that makes the same objective from plain arrays in double precision
    inputs: list[Any] = field(default_factory=list)
    warming: float = 0.0  # seconds of work for the start, which is not the run that is judged

    def solve(self) -> Any:
        """Return the library's answer."""
        began = time.process_time()
        x0 = self.x0() if callable(self.x0) else self.x0
        self.warming = time.process_time() - began
        return fw.minimize(self.objective, self.set, x0, **self.options)


@cache
def installed() -> list[str]:
    """Return the array libraries at hand."""
    found = []
    for name, module in LIBRARIES.items():
        if importlib.util.find_spec(module) is None:
            continue
        if name == "cuda":
            import torch

            if not torch.cuda.is_available():
                continue
        if name == "cupy":
            import cupy

            try:
                if not cupy.cuda.is_available():
                    continue
            except Exception:
                continue
        found.append(name)
    return found


def to_library(name: str, values: np.ndarray) -> Any:
    """Return an array of a library."""
    if name == "numpy":
        return values
    values = np.ascontiguousarray(values)
    if name == "strict":
        import array_api_strict

        return array_api_strict.asarray(values)
    if name in ("torch", "cuda"):
        import torch

        return torch.asarray(values, device="cuda" if name == "cuda" else "cpu")
    if name == "jax":
        import jax

        jax.config.update("jax_enable_x64", True)
        return jax.numpy.asarray(values)
    import cupy

    return cupy.asarray(values)


def to_numpy(x: Any) -> np.ndarray:
    """Return any array, or a low-rank matrix, in 80-bit numbers on the host."""
    if isinstance(x, fw.LowRank):
        total = np.zeros(x.shape, LD)
        for weight, left, right in zip(x.weights, x.left, x.right, strict=True):
            total += LD(weight) * np.outer(to_numpy(left), to_numpy(right))
        return total
    if hasattr(x, "get") and not isinstance(x, np.ndarray):
        x = x.get()
    if hasattr(x, "detach"):
        x = x.detach().cpu().numpy()
    return np.asarray(x).astype(LD)


class Draw:
    """Random choices that `only` may overrule; the stream of numbers is the same either way."""

    def __init__(self, seed: int, only: dict[str, str]) -> None:
        self.rng, self.only = np.random.default_rng(seed), only
        self.more = np.random.default_rng([seed, 1])  # for what was added later: old seeds keep their problems
        self.labels: dict[str, str] = {}
        self.notes: list[str] = []

    def pick(self, name: str, options: dict[str, float]) -> str:
        """Return one of the options, by weight."""
        keys = list(options)
        if name in self.only:
            wanted = [key for key in keys if key == self.only[name]]
            keys = wanted or keys
        weights = np.array([options[key] for key in keys], float)
        weights = weights if weights.sum() > 0 else np.ones(len(keys))
        chosen = str(self.rng.choice(keys, p=weights / weights.sum()))
        self.labels[name] = chosen
        return chosen

    def chance(self, p: float, note: str = "", rng: Any = None) -> bool:
        """Return True with probability p, and take a note."""
        hit = bool((rng or self.rng).random() < p)
        if hit and note:
            self.notes.append(note)
        return hit


def case(seed: int, **only: str) -> Case:
    """Return the problem of a seed; `only` fixes some of set, objective, method, precision, data, library."""
    draw = Draw(seed, only)
    library = draw.pick("library", SHARES)
    if library not in installed():  # so that a seed is the same problem wherever its library is
        library = draw.labels["library"] = "numpy"
    objectives = {k: w for k, w in OBJECTIVES.items() if _compatible(k, only.get("set"), only.get("method"))}
    kind = draw.pick("objective", objectives or OBJECTIVES)
    later = np.random.default_rng([seed, 2])
    if seed >= LATER and hasattr(fw, "Poisson") and kind in ADDED and "objective" not in only and later.random() < 0.5:
        kind = draw.labels["objective"] = str(later.choice(ADDED[kind]))
    elif only.get("objective") in sum(ADDED.values(), ()):
        kind = draw.labels["objective"] = only["objective"]
    if kind == "svm":
        return _svm(draw, seed)
    matrix = kind in ("multinomial", "completion") or (kind == "function" and draw.chance(0.3))
    sets = dict.fromkeys(lies_sets.MATRIX if matrix else lies_sets.VECTOR, 1.0)
    if kind == "completion":
        sets["nuclear"] = 30.0
    if library != "numpy":
        sets.pop("own", None)
    if only.get("method") == "bcfw" and not matrix:
        sets = {"product": 1.0}
    elif only.get("method") == "dicg":
        sets = {"birkhoff": 1.0} if matrix else {"simplex": 1.0, "hypersimplex": 1.0, "flow": 1.0}
    set_kind = draw.pick("set", sets)
    narrow_ok = kind != "quadratic" or library == "numpy"
    precisions = {"float64": 70.0, "float32": 22.0 if narrow_ok else 0.0}
    if library == "numpy" and kind not in ("function", "quadratic", "completion", *EXPONENTIAL):
        precisions |= {"float16": 2.0, "uint8": 3.0, "int64": 2.0, ">f8": 2.0, ">f4": 1.0}
    precision = draw.pick("precision", precisions)
    radius = _radius(draw, precision)
    if matrix:
        shape = _matrix_shape(draw, set_kind)
    else:
        d = int(draw.rng.choice([1, 2, 3, int(draw.rng.integers(2, 13)), int(draw.rng.integers(2, 40))]))
        shape = (lies_sets.length(set_kind, d),)
    domain: Domain | None = lies_sets.draw(set_kind, draw.rng, shape, radius)
    build = {
        "squares": _linear,
        "logistic": _linear,
        "huber": _linear,
        **dict.fromkeys(("poisson", "gamma", "quantile", "hinge"), _linear),
        "multinomial": _multinomial,
        "quadratic": _quadratic,
        "function": _function,
        "completion": _completion,
    }[kind]
    model, objective, rival, inputs = build(draw, domain, kind, precision, library, radius)
    method = _method(draw, kind, set_kind, domain, objective)
    if method in ("agm", "agm_sc"):
        domain = None
        draw.labels["set"] = "none"
    options: dict[str, Any] = {"method": VARIANTS[method]() if method in VARIANTS else method}
    options |= _limits(draw)
    dtype = np.dtype("float32") if precision in ("float32", ">f4") else np.dtype("float64")
    made = None if domain is None else domain.make()
    x0 = _start(draw, domain, objective, made, kind, dtype, library, shape)
    return Case(seed, draw.labels, draw.notes, model, domain, objective, made, x0, options, 2.0**-53, rival, inputs)


def _compatible(kind: str, set_kind: str | None, method: str | None) -> bool:
    if method in ("inface", "factored") and kind != "completion":
        return False
    if method == "bcfw" and kind in ("multinomial", "completion"):
        return False
    if method == "newton" and kind in ("multinomial", "completion", "function", "svm"):
        return False
    if set_kind is None:
        return True
    if kind in ("multinomial", "completion"):
        return set_kind in lies_sets.MATRIX
    if kind == "function":
        return True
    return set_kind in lies_sets.VECTOR


def _radius(draw: Draw, precision: str) -> float:
    u = draw.rng.random()
    far = 6 if precision in NARROW else 12
    if u < 0.7:
        return float(10.0 ** draw.rng.uniform(-1.3, 1.3))
    draw.notes.append("radius of any size")
    return float(10.0 ** draw.rng.uniform(-far, far))


def _matrix_shape(draw: Draw, set_kind: str) -> tuple[int, int]:
    rng = draw.rng
    if set_kind in ("spectrahedron", "birkhoff"):
        n = int(rng.integers(2, 5))
        return n, n
    if set_kind == "variation":
        return (int(rng.integers(1, 4)), int(rng.integers(2, 4)))
    return int(rng.integers(1, 8)), int(rng.integers(2, 6))


def _data(draw: Draw, n: int, d: int, precision: str) -> np.ndarray:
    """Return numbers of a precision, badly scaled more often than not."""
    rng, narrow = draw.rng, precision in NARROW
    kind = rng.choice(["normal", "normal", "uniform", "counts", "binary", "flat"])
    if kind == "normal":
        A = rng.standard_normal((n, d))
    elif kind == "uniform":
        A = rng.random((n, d))
    elif kind == "counts":
        A = np.round(np.exp(rng.normal(rng.choice([0, 3, 12 if not narrow else 5]), 1, (n, d))))
    elif kind == "binary":
        A = (rng.random((n, d)) < 0.4) * 1.0
    else:
        A = rng.standard_normal((n, 1)) @ rng.standard_normal((1, d)) + 1e-3 * rng.standard_normal((n, d))
    if draw.chance(0.12, "columns from 1e-12 to 1e12" if not narrow else "columns from 1e-6 to 1e6"):
        A = A * 10.0 ** rng.uniform(-6 if narrow else -12, 6 if narrow else 12, d)
    elif draw.chance(0.1, "columns from 1e-3 to 1e3"):
        A = A * 10.0 ** rng.uniform(-3, 3, d)
    if draw.chance(0.1, "large mean"):
        A = A + 10.0 ** rng.uniform(3, 4 if narrow else 8)
    if draw.chance(0.1, "duplicated columns"):
        A[:, rng.integers(0, d)] = A[:, rng.integers(0, d)]
    if draw.chance(0.1, "zero column"):
        A[:, rng.integers(0, d)] = 0.0
    if draw.chance(0.03, "zero data"):
        A[:] = 0.0
    if draw.chance(0.05, "zero rows"):
        A[rng.random(n) < 0.3] = 0.0
    if precision == "uint8":
        return np.clip(np.abs(np.round(A * 20)), 0, 255).astype(np.uint8)
    if precision == "int64":
        return np.clip(np.round(A * 10), -1e15, 1e15).astype(np.int64)
    if precision == "float16":
        return np.clip(A, -6e4, 6e4).astype(np.float16)
    return A.astype(precision)


def _laid_out(draw: Draw, A: np.ndarray, library: str) -> tuple[Any, np.ndarray]:
    """Return the data in some form, and the numbers that they are."""
    rng = draw.rng
    if library != "numpy":
        draw.labels["data"] = "C"
        return to_library(library, A), A
    forms = {"C": 30.0, "F": 6, "strided": 6, "read-only": 4, "memmap": 3, "list": 1, "frame": 2, "operator": 3}
    forms |= {"csr": 6.0, "csc": 6, "coo": 2, "csr-duplicates": 3, "csr-unsorted": 3}
    if A.dtype.byteorder == ">" or A.dtype == np.float16:
        forms = {"C": 1.0, "F": 1.0, "strided": 1.0}
    form = draw.pick("data", forms)
    if form.startswith("c"):
        A = np.where(rng.random(A.shape) < 0.5, A, np.zeros((), A.dtype)).astype(A.dtype)
    if form == "F":
        return np.asfortranarray(A), A
    if form == "strided":
        wide = np.zeros((2 * A.shape[0], A.shape[1] + 1), A.dtype)
        wide[::2, :-1] = A[:, ::-1]
        return wide[::2, -2::-1] if A.shape[1] else wide[::2], A
    if form == "read-only":
        A = A.copy()
        A.setflags(write=False)
        return A, A
    if form == "memmap":
        handle, path = tempfile.mkstemp()
        os.close(handle)
        mapped = np.memmap(path, A.dtype, "w+", shape=A.shape)
        mapped[:] = A
        os.unlink(path)  # the mapping holds it
        return mapped, A
    if form == "list":
        return A.tolist(), A
    if form == "frame" and importlib.util.find_spec("pandas") is not None:
        import pandas as pd

        return pd.DataFrame(A), A
    if form == "operator":
        from scipy.sparse.linalg import aslinearoperator

        return aslinearoperator(A.astype(float)), A
    if form == "csc":
        return sp.csc_array(A), A
    if form == "coo":
        return sp.coo_array(A), A
    if form.startswith("csr"):
        rows = sp.csr_array(A)
        if form == "csr-duplicates" and A.dtype.kind == "f" and rows.nnz:
            # Each stored number twice: a half and a half, which sum exactly.
            split = sp.coo_array(A)
            i, j, v = (np.concatenate([a, a]) for a in (split.coords[0], split.coords[1], split.data / 2))
            order = np.lexsort((rng.random(i.size), i))
            indptr = np.concatenate([[0], np.cumsum(np.bincount(i, minlength=A.shape[0]))])
            rows = sp.csr_array((v[order].astype(A.dtype), j[order], indptr), shape=A.shape)
            return rows, (split / 2).toarray() * 2
        if form == "csr-unsorted":
            for r in range(A.shape[0]):
                part = slice(rows.indptr[r], rows.indptr[r + 1])
                order = rng.permutation(rows.indptr[r + 1] - rows.indptr[r])
                rows.indices[part], rows.data[part] = rows.indices[part][order], rows.data[part][order]
            rows.has_sorted_indices = False
        return rows, A
    return A, A


def _rows(draw: Draw, d: int, library: str) -> int:
    rng = draw.rng
    if draw.chance(0.02, "more than 2^17 numbers") and d <= 12:
        return (1 << 17) // d + 100
    if draw.chance(0.05, "one row"):
        return 1
    return int(np.ceil(10.0 ** rng.uniform(0.3, 1.8)))


def _weights(draw: Draw, n: int) -> np.ndarray | None:
    if not draw.chance(0.25, "sample weights"):
        return None
    w = draw.rng.random(n) + 0.01
    if draw.chance(0.4, "zero weights"):
        w[draw.rng.random(n) < 0.4] = 0.0
    if draw.chance(0.15, "weights of any size"):
        w = w * 10.0 ** draw.rng.uniform(-8, 8, n)
    if not w.any():
        w[0] = 1.0
    return w


def _ridge(draw: Draw) -> float:
    return float(10.0 ** draw.rng.uniform(-8, 2)) if draw.chance(0.25, "ridge") else 0.0


def _linear(draw: Draw, domain: Domain, kind: str, precision: str, library: str, radius: float) -> Any:
    rng, d = draw.rng, domain.shape[0]
    n = _rows(draw, d, library)
    A = _data(draw, n, d, precision)
    if kind in EXPONENTIAL:
        most = float(np.abs(A).astype(float).sum(axis=1).max()) * domain.scale
        A = (A * (float(rng.choice([0.1, 1.0, 5.0, 20.0])) / (most or 1.0))).astype(A.dtype)
    A, numbers = _laid_out(draw, A, library)
    exact = numbers.astype(float)
    w, ridge = _weights(draw, n), _ridge(draw)
    intercept = draw.chance(0.3, "intercept")
    target = np.float32 if precision in ("float32", ">f4") else np.float64
    true = domain.least(rng.standard_normal(d).astype(LD))[1].astype(float) * rng.choice([0.3, 1.0, 3.0])
    signal = exact @ true
    more: dict[str, Any] = {"sample_weight": w, "intercept": intercept, "ridge": ridge}
    delta = 1.35
    quantile = 0.5
    if kind in ("logistic", "hinge"):
        noise = (np.abs(signal).max() + 1e-300) * rng.choice([0.0, 0.3, 3.0])
        positive = signal + noise * rng.standard_normal(n) > np.median(signal)
        if positive.all() or not positive.any():
            positive = np.arange(n) % 2 == 0
        if n == 1 or draw.chance(0.05, "one class"):
            positive[:] = True
            more["classes"] = (0, 1)
            labels: Any = np.ones(n, int)
        else:
            labels = [positive, positive * 1, positive * 2.0 - 1, np.where(positive, "yes", "no")][rng.integers(0, 4)]
        b = positive * 2.0 - 1
    else:
        size = max(float(np.abs(signal).max()), 1e-300)
        b = signal + size * 10.0 ** rng.uniform(-6, 1) * rng.standard_normal(n)
        if draw.chance(0.05, "constant target"):
            b[:] = 3.0
        if draw.chance(0.05, "zero target"):
            b[:] = 0.0
        if draw.chance(0.08, "target of mean 1e6"):
            b = b + 1e6
        if kind in EXPONENTIAL:
            b = np.exp(np.clip(b, -20, 20))
            b = np.maximum(b, 1e-12) if kind == "gamma" else np.round(b) if rng.random() < 0.7 else b
        if target is np.float64 or library != "numpy" or not draw.chance(0.3, "targets in double", draw.more):
            b = b.astype(target)
        labels = b
        if kind == "quantile":
            quantile = more["quantile"] = float(rng.choice([0.5, 0.01, 0.9]))
        if kind in ("huber", "quantile"):
            delta = float(rng.choice([1.35, 1e-3, 1e3])) * (1.0 if rng.random() < 0.5 else size)
            delta = min(max(delta, 1e-30), 1e30)
            more["delta"] = delta
        if library != "numpy":
            labels = to_library(library, labels)
    given = dict(more)
    if library != "numpy" and w is not None:
        given["sample_weight"] = to_library(library, w.astype(target))
        more["sample_weight"] = w = w.astype(target).astype(float)
    kinds = {"squares": "LeastSquares", "logistic": "Logistic", "huber": "Huber", "quantile": "Quantile"}
    kinds |= {"poisson": "Poisson", "gamma": "Gamma", "hinge": "SquaredHinge"}
    make = getattr(fw, kinds[kind])
    objective = make(A, labels, **given)
    model = Linear(kind, exact, b, w, ridge, intercept, delta, quantile)
    plain = labels if kind in ("logistic", "hinge") else b.astype(float)
    return model, objective, lambda: make(exact, plain, **more), [A, labels, w]


def _multinomial(draw: Draw, domain: Domain, kind: str, precision: str, library: str, radius: float) -> Any:
    rng, (d, K) = draw.rng, domain.shape
    n = max(_rows(draw, d, library), K)
    if n * d > 1 << 17:
        n = 200
    A, numbers = _laid_out(draw, _data(draw, n, d, precision), library)
    exact = numbers.astype(float)
    w, ridge = _weights(draw, n), _ridge(draw)
    intercept = draw.chance(0.3, "intercept")
    labels = rng.integers(0, K, n)
    more = {"sample_weight": w, "intercept": intercept, "ridge": ridge, "classes": np.arange(K)}
    objective = fw.Multinomial(A, labels, **more)
    model = Softmax(exact, labels, K, w, ridge, intercept)
    return model, objective, lambda: fw.Multinomial(exact, labels, **more), [A, labels, w]


def _quadratic(draw: Draw, domain: Domain, kind: str, precision: str, library: str, radius: float) -> Any:
    rng, d = draw.rng, domain.shape[0]
    n = int(rng.integers(1, 2 * d + 2))
    constant = 0.0
    square = draw.chance(0.5, "an exact square")
    if square:  # whole numbers times powers of two: Q is semidefinite to the last bit
        B = rng.integers(-9, 10, (n, d)) * 2.0 ** rng.integers(-2, 3, d)
        Q, c = B.T @ B, rng.standard_normal(d) * np.abs(B).max()
    else:
        B = _data(draw, n, d, "float64")
        b = B @ domain.least(rng.standard_normal(d).astype(LD))[1].astype(float) + rng.standard_normal(n)
        Q, c = B.T @ B, -B.T @ b
        constant = float(0.5 * b @ b) if draw.chance(0.5, "constant") else 0.0
    if draw.chance(0.05, "Q = 0"):
        Q = np.zeros((d, d))
    if draw.chance(0.05, "c = 0"):
        c = np.zeros(d)
    dtype = np.float32 if precision == "float32" else np.float64
    Q, c = Q.astype(dtype), c.astype(dtype)
    Q = (Q + Q.T) / 2
    given = Q
    draw.labels["data"] = "C"
    if library != "numpy":
        objective = fw.Quadratic(to_library(library, Q), to_library(library, c), constant)
    else:
        form = draw.pick("data", {"C": 3.0, "csr": 1.0, "F": 1.0, "read-only": 1.0})
        if form == "csr":
            given = sp.csr_array(Q)
        elif form == "F":
            given = np.asfortranarray(Q)
        elif form == "read-only":
            Q.setflags(write=False)
        objective = fw.Quadratic(given, c, constant)
    exact, plain = Q.astype(float), c.astype(float)
    model = Parabola(exact, plain, constant, domain.scale, square)
    return model, objective, lambda: fw.Quadratic(exact, plain, constant), [given, c]


def _function(draw: Draw, domain: Domain, kind: str, precision: str, library: str, radius: float) -> Any:
    from array_api_compat import array_namespace

    rng, shape = draw.rng, domain.shape
    dtype = np.float32 if precision == "float32" else np.float64
    w = np.ones(shape) if draw.chance(0.4) else rng.random(shape) * 10.0 ** rng.uniform(-3, 3, shape)
    if draw.chance(0.2, "zero weights"):
        w = w * (rng.random(shape) < 0.6)
    t = rng.standard_normal(shape) * domain.scale * rng.choice([0.1, 1.0, 10.0])
    w, t = w.astype(dtype), t.astype(dtype)
    weights, target = to_library(library, w), to_library(library, t)

    def value(x: Any) -> Any:
        xp = array_namespace(x)
        return xp.sum(weights * (x - target) * (x - target)) / 2

    buffer = np.empty(shape)

    def grad(x: Any) -> Any:
        if reused:
            np.multiply(weights, x - target, out=buffer)
            return buffer
        return weights * (x - target)

    reused = library == "numpy" and draw.chance(0.1, "a gradient that reuses its buffer", draw.more)
    more: dict[str, Any] = {}
    if draw.chance(0.7):
        more["smoothness"] = float(w.max()) or 1.0
    backend = {"torch": "torch", "cuda": "torch", "jax": "jax"}.get(library)
    draw.labels["data"] = "numpy function"
    if backend and draw.chance(0.5, "autodiff"):
        draw.labels["data"] = "autodiff"
        objective = fw.Function(value, backend=backend, **more)
    else:
        objective = fw.Function(value, grad, **more)
    w64, t64 = w.astype(float), t.astype(float)

    def rival() -> Any:
        return fw.Function(
            lambda x: float(np.sum(w64 * (x - t64) ** 2) / 2),
            lambda x: w64 * (x - t64),
            smoothness=float(w64.max()) or 1.0,
        )

    return Distance(w64, t64), objective, rival, [weights, target]


def _completion(draw: Draw, domain: Domain, kind: str, precision: str, library: str, radius: float) -> Any:
    rng, (m, n) = draw.rng, domain.shape
    seen = rng.random((m, n)) < rng.choice([0.3, 0.6, 1.0])
    seen.flat[rng.integers(0, m * n)] = True
    rows, cols = np.nonzero(seen)
    if draw.chance(0.3, "unsorted entries"):
        order = rng.permutation(rows.size)
        rows, cols = rows[order], cols[order]
    dtype = np.float32 if precision == "float32" else np.float64
    truth = rng.standard_normal((m, 2)) @ rng.standard_normal((2, n)) * domain.scale * rng.choice([0.1, 1.0, 10.0])
    if draw.chance(0.05, "zero target"):
        truth[:] = 0.0
    values = truth[rows, cols].astype(dtype)
    w = None
    if draw.chance(0.3, "weights"):
        w = rng.random(rows.size) + 0.1
        if draw.chance(0.3, "weights of any size"):
            w = w * 10.0 ** rng.uniform(-6, 6, rows.size)
        w = w.astype(dtype)
    draw.labels["data"] = "entries"
    objective = fw.MatrixCompletion(
        rows, cols, to_library(library, values), (m, n), weights=None if w is None else to_library(library, w)
    )
    weights, target = np.zeros((m, n)), np.zeros((m, n))
    weights[rows, cols], target[rows, cols] = 1.0 if w is None else w, values
    v64, w64 = values.astype(float), None if w is None else w.astype(float)
    return (
        Distance(weights, target),
        objective,
        lambda: fw.MatrixCompletion(rows, cols, v64, (m, n), weights=w64),
        [rows, cols, values],
    )


def _svm(draw: Draw, seed: int) -> Case:
    """A structural SVM with three outputs for each example; its set is the product of their hulls."""
    rng = draw.rng
    n, d, lam = int(rng.integers(1, 6)), int(rng.integers(1, 4)), float(10.0 ** rng.uniform(-2, 1))
    psi = rng.standard_normal((n, 3, d)) * 10.0 ** rng.uniform(-2, 2)
    psi[:, 0] = 0.0
    loss = rng.random((n, 3))
    loss[:, 0] = 0.0

    def decode(i: int, w: np.ndarray, c: float) -> tuple[np.ndarray, float]:
        y = int(np.argmax(c * loss[i] - psi[i] @ w))
        return psi[i, y], float(loss[i, y])

    def make() -> Any:
        return fw.StructuralSVM(decode, n=n, d=d, lam=lam)

    objective = make()
    parts = [lies_sets.hull(np.concatenate([psi[i] / (lam * n), loss[i][:, None] / n], axis=1)) for i in range(n)]
    whole = lies_sets.product(parts)
    domain = Domain(
        "blocks", whole.shape, lambda: objective.domain, whole.least, whole.excess, whole.scale, whole.doubt
    )
    draw.labels |= {"set": "blocks", "precision": "float64", "data": "decoder", "library": "numpy"}
    method = draw.pick("method", {"bcfw": 4.0, "fw": 1.0, "afw": 1.0, "away": 1.0, "pairwise": 1.0, "auto": 1.0})
    options = {"method": method, **_limits(draw)}
    return Case(
        seed,
        draw.labels,
        draw.notes,
        Hinge(n, d, lam),
        domain,
        objective,
        objective.domain,
        None,
        options,
        2.0**-53,
        make,
    )


def _method(draw: Draw, kind: str, set_kind: str, domain: Domain, objective: Any) -> str:
    weights = dict.fromkeys(METHODS, 1.0) | dict.fromkeys(VARIANTS, 0.3)
    weights |= {"auto": 4.0, "bcfw": 0.02, "inface": 0.02, "factored": 0.02, "dicg": 0.02, "agm": 0.1, "agm_sc": 0.1}
    if set_kind == "product":
        weights["bcfw"] = 6.0
    if kind == "completion" and set_kind == "nuclear":
        weights |= {"inface": 3.0, "factored": 3.0}
    if set_kind in ("simplex", "hypersimplex", "birkhoff", "flow"):
        weights["dicg"] = 3.0
    if not isinstance(domain.make(), fw.ProjectableSet):
        weights |= {"pgd": 0.02, "apgd": 0.02, "apgd-restart": 0.01}
    return draw.pick("method", weights)


def _limits(draw: Draw) -> dict[str, Any]:
    rng = draw.rng
    tol, rtol = [(1e-6, 0.0), (1e-6, 0.0), (1e-3, 0.0), (1e-9, 0.0), (1e-12, 0.0), (0.0, 0.0), (0.0, 0.0), (0.0, 1e-6)][
        rng.integers(0, 8)
    ]
    long = tol == 0.0 and rtol == 0.0
    steps = int(10.0 ** (rng.uniform(1, 3.3) if long else rng.uniform(0, 3)))
    limits: dict[str, Any] = {"tol": tol, "rtol": rtol, "max_iter": steps, "time_limit": TIME_LIMIT}
    if draw.chance(0.1, "threads"):
        limits["n_threads"] = int(rng.integers(1, 3))
    if draw.chance(0.1):
        limits["random_state"] = int(rng.integers(0, 2**31))
    if draw.chance(0.1):
        limits["trace_every"] = int(rng.integers(1, 50))
    if draw.chance(0.007, "a long run", draw.more):
        limits |= {"tol": 0.0, "rtol": 0.0, "max_iter": 10_000, "time_limit": 4 * TIME_LIMIT}
    elif draw.chance(0.03, "a short time", draw.more):
        limits["time_limit"] = 0.01
    return limits


def _start(
    draw: Draw, domain: Domain | None, objective: Any, made: Any, kind: str, dtype: Any, library: str, shape: Any
) -> Any:
    rng = draw.rng
    form = draw.pick("x0", {"none": 66.0, "inside": 8.0, "vertex": 8.0, "outside by rounding": 8.0, "result": 10.0})
    if domain is None:
        if kind == "function":
            return to_library(library, np.zeros(shape, dtype))
        return None
    atoms = [domain.least(rng.standard_normal(shape).astype(LD))[1] for _ in range(3)]
    if kind == "function" and form in ("none", "result"):
        draw.labels["x0"] = form = "vertex"
    if form == "none":
        return None
    if form == "result":
        first = str(rng.choice(["fw", "auto", "away"]))
        steps = int(rng.integers(0, 60))
        narrow = library == "numpy" and kind != "completion" and draw.chance(0.3, "rounded to float32", draw.more)

        def warm() -> Any:
            found = fw.minimize(objective, made, method=first, max_iter=steps)
            return replace(found, x=found.x.astype(np.float32)) if narrow else found

        return warm
    weights = rng.dirichlet(np.ones(3)) if form == "inside" else np.array([1.0, 0.0, 0.0])
    x = sum(LD(weight) * atom for weight, atom in zip(weights, atoms, strict=True))
    if form == "outside by rounding":
        # What a caller's own arithmetic may have done.
        noise = 10.0 ** rng.uniform(-15, -9) if dtype == np.float64 else 10.0 ** rng.uniform(-7, -5)
        x = x * (1 + LD(noise) * rng.standard_normal())
    return to_library(library, np.asarray(x).astype(dtype))
