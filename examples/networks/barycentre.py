"""Average histograms by moving mass, not by averaging heights.
===============================================================

The barycentre of some histograms is the histogram that is cheapest to reach from all of them, where moving mass costs
the squared distance it travels. The unknowns are transport plans T_k, one for each input: the rows of T_k sum to input
k, and the columns of all plans sum to one and the same histogram a, the barycentre. These are linear equations, so the
plans form a `Polytope`, and its linear programmes are solved by HiGHS.

The cost of transport alone is linear, and on a grid its solution has steps and need not be the only one. What is
minimised here is therefore

    mean over k of <C, T_k>  +  (gamma / 2) sum_i (a_{i+1} - a_i)²,

transport plus a penalty on roughness of the barycentre. The equations are not relaxed; for gamma = 0 this is the usual
barycentre, and the script prints how much transport the smoothing costs, compared with that.

    python examples/barycentre.py [--out PICTURE.png]
"""

import argparse

import numpy as np
from scipy import sparse

import frankwolfe as fw
from frankwolfe.plotting.palette import BLUE, GREEN, GREY, ORANGE, VERMILION
from frankwolfe.plotting.style import figure

CELLS, GAMMA = 40, 0.05


def histograms(grid):
    """Return three histograms with a broad and a narrow bump each, in different places."""
    out = []
    for left, right in ((0.13, 0.5), (0.3, 0.78), (0.22, 0.88)):
        bumps = np.exp(-(((grid - left) / 0.06) ** 2) / 2) / 0.06
        bumps += np.exp(-(((grid - right) / 0.035) ** 2) / 2) / 0.035
        out.append(bumps / bumps.sum())
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", default="barycentre.png", help="where the picture goes")
    out = parser.parse_args().out

    grid = np.linspace(0, 1, CELLS)
    inputs = histograms(grid)
    k, n = len(inputs), CELLS
    ones = np.ones((1, n))
    row_sums, column_sums = sparse.kron(sparse.eye_array(n), ones), sparse.kron(ones, sparse.eye_array(n))
    same = sparse.kron(np.column_stack([np.ones(k - 1), -np.eye(k - 1)]), column_sums)  # plan 0 against the others
    plans = fw.Polytope(
        A_eq=sparse.vstack([sparse.block_diag([row_sums] * k), same]).tocsr(),
        b_eq=np.concatenate([*inputs, np.zeros(n * (k - 1))]),
        lower=0.0,
        upper=1.0,
    )
    transport = np.tile(((grid[:, None] - grid) ** 2).ravel() / k, k)
    target = sparse.hstack([column_sums] + [0 * column_sums] * (k - 1)).tocsr()  # T_0's columns: the barycentre
    rough = target[1:] - target[:-1]

    result = fw.minimize(fw.Quadratic(GAMMA * (rough.T @ rough), transport), plans, method="fcfw", tol=1e-6)
    barycentre = target @ result.x
    print(result)
    print(f"certified gap: {result.gap:.2e}")
    least = plans.lmo(transport).toarray()
    print(f"transport {transport @ result.x:.6f}; without smoothing {transport @ least:.6f}")
    draw(out, grid, inputs, target @ least, barycentre)


def draw(out, grid, inputs, unsmoothed, barycentre):
    with figure(9.0, 3.3, columns=2) as (fig, axes):
        for h, color, name in zip(inputs, (BLUE, ORANGE, GREEN), ("first", "second", "third"), strict=True):
            axes[0].fill_between(grid, h, color=color, alpha=0.25, linewidth=0)
            axes[0].plot(grid, h, color=color, linewidth=1.8, label=name)
        axes[0].set(title="Three histograms", xlabel="position", ylabel="mass")
        axes[1].step(grid, unsmoothed, where="mid", color=GREY, linewidth=0.9, label="without smoothing")
        axes[1].plot(grid, np.mean(inputs, axis=0), color=GREY, linestyle=(0, (2, 2)), label="mean of the heights")
        axes[1].fill_between(grid, barycentre, color=VERMILION, alpha=0.25, linewidth=0)
        axes[1].plot(grid, barycentre, color=VERMILION, linewidth=2.2, label="barycentre")
        axes[1].set(title="Their barycentre", xlabel="position", ylim=(0, 1.15 * max(h.max() for h in inputs)))
        axes[0].set_ylim(axes[1].get_ylim())
        axes[0].legend(loc="upper left")
        axes[1].legend(loc="upper left")
        fig.savefig(out, dpi=140)


if __name__ == "__main__":
    main()
