"""The user guide's pictures, drawn with the library when the site is built: python docs/figures/guide.py FOLDER."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from scipy.spatial import ConvexHull

import frankwolfe as fw

BLUE, ORANGE, GREEN, RED, GREY = "#0072b2", "#e69f00", "#009e73", "#d55e00", "#8a939d"
STYLE = {
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 11,
    "font.size": 9,
    "svg.fonttype": "path",
    "figure.constrained_layout.use": True,
}


def oracle(folder: Path) -> None:
    """A set, a gradient, the level lines of the linear function, and its lowest vertex."""
    fig, axes = plt.subplots(1, 2, figsize=(8, 3.4))
    corners = np.array([[-1.0, -0.6], [0.4, -1.1], [1.3, -0.2], [0.9, 0.9], [-0.5, 1.0]])
    g = np.array([-0.55, 0.8])
    for ax, domain, name in zip(axes, (fw.ConvexHull(corners), fw.L2Ball(1.1)), ("a polytope", "a ball"), strict=True):
        edge = _outline(domain)
        v = domain.lmo(g).toarray()
        ax.fill(*edge.T, color=BLUE, alpha=0.15)
        ax.plot(*edge[np.r_[: len(edge), 0]].T, color=BLUE)
        for level in np.linspace(-2, 2, 13):
            line = level * g / (g @ g) + np.outer([-4, 4], [g[1], -g[0]])
            ax.plot(*line.T, color=GREY, linewidth=0.5, zorder=0)
        ax.annotate("", g, (0, 0), arrowprops={"arrowstyle": "->", "color": RED, "linewidth": 2})
        ax.text(*(g * 1.12), "g", color=RED, fontsize=12)
        ax.plot(*v, "o", color=GREEN, markersize=9)
        ax.text(v[0] + 0.1, v[1] - 0.22, "lmo(g)", color=GREEN, fontsize=11)
        ax.set(aspect="equal", xlim=(-1.6, 1.9), ylim=(-1.6, 1.5), title=name, xticks=[], yticks=[])
        ax.spines[:].set_visible(False)
    _save(fig, folder / "oracle.svg")


def certificate(folder: Path) -> None:
    """A convex function on an interval, one tangent and an average of two, with the gaps they prove."""
    x = np.linspace(-0.3, 2.3, 300)

    def f(t: Any) -> Any:
        return 0.5 * (t - 1.4) ** 2 + 0.25 * np.exp(-1.5 * t) + 0.3

    def slope(t: float) -> float:
        return (t - 1.4) - 0.375 * np.exp(-1.5 * t)

    fig, axes = plt.subplots(1, 2, figsize=(8.4, 3.5), sharey=True)
    inside = (x >= 0) & (x <= 2)
    for ax, points, name in zip(axes, ([0.9], [0.9, 1.85]), ("one tangent", "an average of two"), strict=True):
        offset = np.mean([f(y) - slope(y) * y for y in points])
        g = float(np.mean([slope(y) for y in points]))
        best = 0.9 if len(points) == 1 else 1.85
        bound = offset + min(0, 2 * g)
        ax.axvspan(0, 2, color=BLUE, alpha=0.07)
        ax.plot(x, f(x), color=GREY, linewidth=1)
        ax.plot(x[inside], f(x[inside]), color=BLUE, linewidth=2.2)
        for y in points:
            ax.plot(y, f(y), "o", color=BLUE)
            if len(points) > 1:
                ax.plot(x[inside], f(y) + slope(y) * (x[inside] - y), color=GREY, linewidth=0.8, linestyle="--")
        ax.plot(x[inside], offset + g * x[inside], color=GREEN, linewidth=1.8)
        ax.axhline(bound, color=GREEN, linewidth=0.8, linestyle=":")
        ax.axhline(f(best), color=BLUE, linewidth=0.8, linestyle=":")
        ax.annotate("", (2.15, f(best)), (2.15, bound), arrowprops={"arrowstyle": "<->", "color": RED})
        ax.text(2.2, (f(best) + bound) / 2, "gap", color=RED, va="center", fontsize=11)
        ax.set(title=name, xticks=[0, 2], xticklabels=["", ""], yticks=[], xlim=(-0.3, 2.55), ylim=(-0.45, 1.6))
        ax.set_xlabel("the set")
    _save(fig, folder / "certificate.svg")


def sets(folder: Path) -> None:
    """Eight sets, each the hull of its oracle's answers."""
    flat = {
        "L1Ball": fw.L1Ball(1.0),
        "LpBall, p = 1.5": fw.LpBall(1.0, p=1.5),
        "LpBall, p = 4": fw.LpBall(1.0, p=4.0),
        "L1Ball + L2Ball": fw.L1Ball(0.6) + fw.L2Ball(0.4),
    }
    solid = {
        "KSupportBall, k = 2": fw.KSupportBall(1.0, k=2),
        "GroupBall, (x, y) and z": fw.GroupBall(1.0, groups=[[0, 1], [2]]),
        "OWLBall, weights 3, 2, 1": fw.OWLBall(3.0, weights=[3.0, 2.0, 1.0]),
        "NuclearBall, symmetric 2 x 2": fw.NuclearBall(1.0),
    }
    fig = plt.figure(figsize=(10, 5.2))
    for i, (name, domain) in enumerate(flat.items()):
        ax = fig.add_subplot(2, 4, i + 1)
        edge = _outline(domain)
        ax.fill(*edge.T, color=BLUE, alpha=0.2)
        ax.plot(*edge[np.r_[: len(edge), 0]].T, color=BLUE)
        ax.set(aspect="equal", xlim=(-1.15, 1.15), ylim=(-1.15, 1.15), title=name, xticks=[], yticks=[])
        ax.spines[:].set_visible(False)
        ax.axhline(0, color=GREY, linewidth=0.5)
        ax.axvline(0, color=GREY, linewidth=0.5)
    for i, (name, domain) in enumerate(solid.items()):
        ax = fig.add_subplot(2, 4, i + 5, projection="3d")
        points = _surface(domain, symmetric="symmetric" in name)
        hull = ConvexHull(points, qhull_options="QJ")
        ax.plot_trisurf(
            *points.T, triangles=hull.simplices, color=BLUE, alpha=0.75, linewidth=0, shade=True, rasterized=True
        )
        ax.set(title=name, xticks=[], yticks=[], zticks=[], xlim=(-0.8, 0.8), ylim=(-0.8, 0.8), zlim=(-0.8, 0.8))
        ax.set_axis_off()
        ax.view_init(22, 35)
    _save(fig, folder / "sets.svg")


def zigzag(folder: Path) -> None:
    """Iterates in a triangle whose edge holds the solution."""
    corners = np.array([[-1.0, 0.0], [1.0, 0.0], [0.1, 1.4]])
    target = np.array([0.25, -0.25])
    f = fw.LeastSquares(np.eye(2), target)
    fig, axes = plt.subplots(1, 3, figsize=(10, 3.1))
    methods = {"fw": fw.FrankWolfe(fw.ShortStep(0.5)), "afw": "afw", "away": fw.AwayFrankWolfe()}
    for ax, (name, method) in zip(axes, methods.items(), strict=True):
        seen = [corners[2]]
        fw.minimize(
            f,
            fw.ConvexHull(corners),
            corners[2],
            method=method,
            tol=0,
            max_iter=40,
            callback=lambda step, seen=seen: seen.append(np.array(step.x)),
        )
        ax.fill(*corners.T, color=BLUE, alpha=0.12)
        i, j = np.meshgrid(np.linspace(-1.2, 1.2, 80), np.linspace(-0.4, 1.5, 80))
        ax.contour(i, j, (i - target[0]) ** 2 + (j - target[1]) ** 2, levels=12, colors=GREY, linewidths=0.4)
        ax.plot(*np.array(seen).T, "o-", color=RED, markersize=2.5, linewidth=0.9)
        ax.plot(target[0], 0, "*", color=GREEN, markersize=12)
        ax.set(aspect="equal", title=f"{name}, 40 steps", xticks=[], yticks=[], xlim=(-0.45, 0.9), ylim=(-0.1, 0.75))
        ax.spines[:].set_visible(False)
    _save(fig, folder / "zigzag.svg")


def families(folder: Path) -> None:
    """Certified gaps of one method of each family."""
    rng = np.random.default_rng(0)
    A = rng.normal(size=(300, 60))
    cases = {
        "least squares on a simplex": (
            fw.LeastSquares(A, A[:, :8] @ np.full(8, 0.125) + 0.3 * rng.normal(size=300)),
            fw.Simplex(60),
            {"fw": "fw", "afw": "afw", "away": "away", "pairwise": "pairwise", "fcfw": "fcfw", "apgd": "apgd"},
        ),
        "logistic loss on an l2 ball": (
            fw.Logistic(A, A[:, 0] + rng.normal(size=300) > 0),
            fw.L2Ball(1.0),
            {
                "fw": "fw",
                "afw": "afw",
                "afw, line search": fw.AcceleratedFrankWolfe(line_search=True),
                "subspace": "subspace",
                "newton": "newton",
                "apgd": "apgd",
            },
        ),
    }
    fig, axes = plt.subplots(1, 2, figsize=(10, 3.7))
    colours = (GREY, RED, ORANGE, BLUE, GREEN, "#cc79a7")
    for ax, (title, (f, domain, methods)) in zip(axes, cases.items(), strict=True):
        results = fw.compare(f, domain, methods, tol=1e-9, max_iter=300).results
        for (name, result), colour in zip(results.items(), colours, strict=True):
            gap = np.asarray(result.trace["gap"])
            ax.loglog(np.arange(1, len(gap) + 1), gap, color=colour, label=name)
        ax.set(title=title, xlabel="iterations", ylabel="certified gap", ylim=(1e-9, 30))
        ax.legend(frameon=False, fontsize=8)
    _save(fig, folder / "families.svg")


def radius(folder: Path) -> None:
    """Coefficients along a path of l1 balls, and the penalty each radius stands for."""
    from sklearn.datasets import load_diabetes

    X, y = load_diabetes(return_X_y=True, scaled=False)
    X, y = (X - X.mean(axis=0)) / X.std(axis=0), y - y.mean()
    f, radii = fw.LeastSquares(X, y), np.linspace(2, 150, 40)
    path = fw.path(f, fw.L1Ball, radii, tol=1e-4)
    fig, (left, right) = plt.subplots(1, 2, figsize=(10, 3.4))
    left.plot(radii, np.array([result.x for result in path]), linewidth=1.5)
    left.set(title="coefficients (diabetes, scaled columns)", xlabel="radius of the l1 ball")
    right.semilogy(radii, [np.abs(f.grad(result.x)).max() for result in path], color=RED)
    right.set(title="the penalty that gives the same model", xlabel="radius of the l1 ball", ylabel="alpha of Lasso")
    _save(fig, folder / "radius.svg")


def iteration(folder: Path) -> None:
    """The way of the data through one iteration, for three places where rows can live."""
    fig, ax = plt.subplots(figsize=(11, 8.6))
    ax.set(xlim=(0, 110), ylim=(0, 86))
    ax.set_axis_off()

    def box(x: float, y: float, width: float, title: str, text: str, colour: str) -> None:
        ax.add_patch(
            plt.Rectangle((x, y), width, 7.4, facecolor=colour, alpha=0.16, edgecolor=colour, linewidth=1.2, zorder=2)
        )
        ax.text(x + width / 2, y + 5.1, title, ha="center", va="center", fontsize=10.5, fontweight="bold", zorder=3)
        ax.text(x + width / 2, y + 2.2, text, ha="center", va="center", fontsize=8.2, zorder=3)

    def arrow(start: tuple[float, float], end: tuple[float, float], text: str = "", side: float = 1.0) -> None:
        ax.annotate("", end, start, arrowprops={"arrowstyle": "-|>", "color": "#444444", "linewidth": 1.2})
        if text:
            middle = (start[0] + end[0]) / 2 + side, (start[1] + end[1]) / 2
            ax.text(*middle, text, fontsize=8, color="#333333", va="center", ha="left" if side > 0 else "right")

    for y, title, text in (
        (78, "minimize", "checks arguments, makes Problem and Run"),
        (67, "engine.advance", "the first way that applies: graph, JAX, one by one"),
        (56, "Method.step", "mix, evaluate, lmo, mix: pure, from state to state"),
        (45, "objective.evaluate", "a Query: which mixtures of images, which new vectors"),
        (34, "Rows.sweep", "the first path of the rows that takes the query"),
    ):
        box(2, y, 42, title, text, BLUE)
    for y in (78, 67, 56, 45):
        arrow((23, y), (23, y - 3.6))
    columns = (
        (2, "CSR in memory", "Compiled", "layout.sweep: Numba,", "row by row, by threads", GREEN),
        (39, "CUDA tensor", "TorchPass", "one Triton kernel; ten", "steps are one CUDA graph", ORANGE),
        (76, "Dask, disk", "EachPart", "one task a part, each", "does the column on the left", RED),
    )
    for x, where, path, first, second, colour in columns:
        box(x, 18, 32, f"{where}: {path}", f"{first} {second}", colour)
        arrow((23, 34), (x + 16, 25.6))
        arrow((x + 16, 18), (55, 11.6))
    box(26, 4, 58, "Sweep", "value and inner product at y, value at x, slope A'r, reads; the name of the path", BLUE)
    for y, title, text in (
        (34, "Evaluation", "with ridge and intercept: value, Tangent, noise of rounding"),
        (45, "Set.lmo, Set.minimum", "an atom for the averaged slope, and its proven value"),
        (56, "Evidence", "values seen, affine functions below f with their minima"),
        (67, "Run.absorb_all", "best point, Certificate, Trace; stop?"),
        (78, "Result", "x, fun, lower_bound, status, trace, paths"),
    ):
        box(64, y, 44, title, text, GREY)
    ax.plot([84, 109.2, 109.2], [7.7, 7.7, 37.7], color="#444444", linewidth=1.2)
    arrow((109.2, 37.7), (108, 37.7))
    for y in (34, 45, 56, 67):
        arrow((86, y + 7.4), (86, y + 11))
    arrow((64, 70.7), (44, 70.7))
    ax.text(54, 71.8, "next step", fontsize=8, ha="center", color="#333333")
    _save(fig, folder / "iteration.svg")


def _outline(domain: fw.Set) -> np.ndarray:
    angles = np.linspace(0, 2 * np.pi, 721)
    points = np.array([domain.lmo(np.array([np.cos(a), np.sin(a)])).toarray() for a in angles])
    return points[ConvexHull(points, qhull_options="QJ").vertices]


def _surface(domain: fw.Set, symmetric: bool) -> np.ndarray:
    directions = np.random.default_rng(0).normal(size=(3000, 3))
    if not symmetric:
        return np.array([domain.lmo(g).toarray() for g in directions])
    half = np.sqrt(0.5)
    matrices = [np.array([[a, b * half], [b * half, c]]) for a, b, c in directions]
    vertices = [np.asarray(domain.lmo(g).toarray()) for g in matrices]
    return np.array([[v[0, 0], (v[0, 1] + v[1, 0]) * half, v[1, 1]] for v in vertices])


def _save(fig: Any, path: Path) -> None:
    fig.savefig(path, dpi=160)
    plt.close(fig)


def draw(folder: Path) -> None:
    """Draw all that are missing into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for picture in (oracle, certificate, sets, zigzag, families, radius, iteration):
        if not (folder / f"{picture.__name__}.svg").exists():
            with plt.rc_context(STYLE):
                picture(folder)


if __name__ == "__main__":
    draw(Path(sys.argv[1]))
