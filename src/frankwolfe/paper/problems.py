"""The problems of the experiments, from plain settings: which data, which set, which method."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

import frankwolfe as fw
from frankwolfe.plotting.style import BLUE, GREEN, OLIVE, ORANGE, PURPLE, SKY, VERMILION

GROUP_SIZE = 5
THREADS = 1
"""Threads of the linear algebra: one, so that sums are added in the same order on every machine."""


@dataclass(frozen=True)
class Data:
    """A dataset by a name that `frankwolfe.datasets.load` knows, or "gaussian" for made-up samples."""

    name: str
    rows: int = 0  # of a random sample; zero keeps all
    seed: int = 0  # of the split, of the sample of rows, or of the made-up samples

    @property
    def label(self) -> str:
        return f"{self.name} ({self.rows} rows)" if self.rows else self.name

    def __str__(self) -> str:
        return self.name + f"-{self.rows}rows" * (self.rows > 0) + f"-seed{self.seed}" * (self.seed > 0)


@dataclass(frozen=True)
class Ball:
    """A ball by the name of its norm: "l1", "l2", "lp", "ksupport", "group" or "nuclear"."""

    kind: str
    radius: float
    option: float = 0.0  # p of an lp ball, k of the k-support norm, p (across the groups) of a group norm
    inner: float = 2.0  # s (inside the groups) of a group norm

    def build(self, shape: tuple[int, ...]) -> fw.Set:
        """Return the set, for points of this shape."""
        if self.kind == "group":
            groups = [np.arange(i, min(i + GROUP_SIZE, shape[0])) for i in range(0, shape[0], GROUP_SIZE)]
            return fw.GroupBall(self.radius, groups=groups, s=self.inner, p=self.option)
        if self.kind == "lp":
            return fw.LpBall(self.radius, p=self.option)
        if self.kind == "ksupport":
            return fw.KSupportBall(self.radius, k=int(self.option))
        return {"l1": fw.L1Ball, "l2": fw.L2Ball, "nuclear": fw.NuclearBall}[self.kind](self.radius)

    @property
    def family(self) -> str:
        """The norm in words."""
        return {
            "l1": "l1",
            "l2": "l2",
            "lp": f"l{self.option:g}",
            "ksupport": f"{self.option:g}-support",
            "group": f"group (l{self.inner:g} inside, l{self.option:g} across)",
            "nuclear": "nuclear-norm",
        }[self.kind]

    @property
    def label(self) -> str:
        return f"{self.family} ball, R = {self.radius:g}"

    def __str__(self) -> str:
        inner = f"s{self.inner:g}" * (self.inner != 2)
        return self.kind + f"{self.option:g}" * (self.option > 0) + inner + f"-R{self.radius:g}"


@dataclass(frozen=True)
class Problem:
    """A dataset and a ball: in full for titles, short for lists of cases."""

    data: Data
    ball: Ball

    @property
    def title(self) -> str:
        return f"{self.data.label}, {self.ball.label}"

    @property
    def short(self) -> str:
        return f"{self.data.label} {self.ball.kind} R = {self.ball.radius:g}"


class Label(NamedTuple):
    """How a method is named and drawn; ``text/page.toml`` says what it is."""

    name: str
    colour: str
    dash: str
    make: Callable[[], fw.Method]


METHODS = {
    "gd": Label("GD", GREEN, "dash", fw.ProjectedGradient),
    "agm": Label("AGM", PURPLE, "dash", fw.AcceleratedProjectedGradient),
    "fw": Label("FW", VERMILION, "solid", fw.FrankWolfe),
    "afw": Label("AFW", BLUE, "solid", fw.AcceleratedFrankWolfe),
    "fw-short": Label("FW, short step", ORANGE, "dot", lambda: fw.FrankWolfe(fw.ShortStep())),
    "fw-line": Label("FW, line search", OLIVE, "dot", lambda: fw.FrankWolfe(fw.ExactLineSearch())),
    "afw-line": Label("AFW, line search", SKY, "dot", partial(fw.AcceleratedFrankWolfe, line_search=True)),
    "cgs": Label("CGS", OLIVE, "dashdot", fw.ConditionalGradientSliding),
    "agm-restart": Label("AGM, restarted", PURPLE, "dot", partial(fw.AcceleratedProjectedGradient, restart=True)),
}
PAPER, BEYOND = ("gd", "agm", "fw", "afw"), ("fw-short", "afw-line")
"""What the paper compares, and what is shown beside it after a click."""


@lru_cache(maxsize=2)
def objective(data: Data, directory: str | None = None) -> Any:
    """Return f for a dataset: the mean logistic loss, or for ratings half the squared error on the observed entries."""
    loaded = load(data, directory)
    if hasattr(loaded, "cols"):
        return fw.MatrixCompletion(loaded.rows, loaded.cols, loaded.values, loaded.shape)
    from scipy.sparse import csr_array, issparse

    A, b = loaded.A, loaded.b
    if not issparse(A) and np.count_nonzero(A) < 0.3 * A.size:
        A = csr_array(A)  # fewer bytes to read than the dense pixels
    if 0 < data.rows < b.size:
        kept = np.sort(np.random.default_rng(data.seed).permutation(b.size)[: data.rows])
        A, b = A[kept], b[kept]
    return fw.Logistic(A, b)


def load(data: Data, directory: str | None = None) -> Any:
    """Return the loaded dataset: `A` and `b`, or the ratings."""
    if data.name == "gaussian":
        return gaussian(data.seed)
    from frankwolfe import datasets

    # The paper's covtype has 406709 rows, 70 % of the file; its seed is not given, ours is.
    split = "train" if data.name == "covtype" else None
    return datasets.load(data.name, directory=directory, split=split, seed=data.seed, progress=None)


def gaussian(seed: int, n: int = 1000, d: int = 100) -> SimpleNamespace:
    """Return Gaussian samples with labels from a noisy plane, the problem on which rates are measured."""
    rng = np.random.default_rng([20210909, seed])
    A = rng.standard_normal((n, d))
    plane = rng.standard_normal(d) / np.sqrt(d)
    return SimpleNamespace(A=A, b=np.where(A @ plane + 0.3 * rng.standard_normal(n) > 0, 1.0, -1.0))
