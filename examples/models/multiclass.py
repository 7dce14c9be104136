"""Read handwritten digits with a softmax model whose weights have a small trace norm.
======================================================================================

One column of weights for each of the ten digits makes a 64 x 10 matrix. A bound on its trace norm, the sum of its
singular values, lets the digits share a few patterns of pixels: the smaller the bound, the fewer patterns. The average
softmax loss is written out below as a `Function`, the library's door for any smooth convex function, and minimised over
`NuclearBall` for a range of radii, each run starting from the last one's answer.

The constant of smoothness is known: the softmax's second derivative is at most 1/2, so for the whole loss it is
lambda_max(A'A) / (2n). It is what the accelerated projected gradient method needs; on a matrix this small a
projection is a cheap singular value decomposition. The certificate comes from the linear oracle all the same.

    python examples/multiclass.py [--out PICTURE.png]
"""

import argparse

import numpy as np
from sklearn.datasets import load_digits

import frankwolfe as fw
from frankwolfe.plotting.palette import BLUE, VERMILION
from frankwolfe.plotting.style import style

TRAIN, RADII = 400, (1.0, 2.0, 5.0, 10.0, 20.0, 50.0)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", default="multiclass.png", help="where the picture goes")
    out = parser.parse_args().out

    pixels, digits = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(digits))
    pixels, digits = pixels[order] / 16, digits[order]
    A, Y = pixels[:TRAIN], np.eye(10)[digits[:TRAIN]]

    def powers(W):
        scores = A @ W
        scores -= scores.max(axis=1, keepdims=True)  # the same for all digits of a row: the softmax does not see it
        return scores, np.exp(scores)

    def loss(W):
        scores, e = powers(W)
        return float(np.mean(np.log(e.sum(axis=1)) - np.sum(scores * Y, axis=1)))

    def gradient(W):
        _, e = powers(W)
        return A.T @ (e / e.sum(axis=1, keepdims=True) - Y) / TRAIN

    objective = fw.Function(loss, gradient, smoothness=np.linalg.norm(A, 2) ** 2 / (2 * TRAIN))
    W, rows = np.zeros((64, 10)), []
    for radius in RADII:
        result = fw.minimize(objective, fw.NuclearBall(radius), W, method="apgd", tol=1e-3)
        W = result.x
        right = np.argmax(pixels @ W, axis=1) == digits
        sigma = np.linalg.svd(W, compute_uv=False)
        rows.append((radius, right[:TRAIN].mean(), right[TRAIN:].mean()))
        print(
            f"radius {radius:5g}: loss {result.fun:.4f}, certified gap: {result.gap:.1e} in {result.n_iter} steps, ",
            end="",
        )
        print(f"rank {np.sum(sigma > 1e-3 * sigma[0])}, right on unseen digits {rows[-1][2]:.1%}")
        if radius == 10.0:
            patterns = np.linalg.svd(W)
    draw(out, np.array(rows), patterns)


def draw(out, rows, patterns):
    from matplotlib.figure import Figure

    U, sigma, _ = patterns
    with style():
        fig = Figure(figsize=(9.0, 3.6))
        left, right = fig.subfigures(1, 2, width_ratios=(1.15, 1))
        ax = left.subplots()
        ax.semilogx(rows[:, 0], rows[:, 1], "o-", color=BLUE, label=f"the {TRAIN} digits it learnt from")
        ax.semilogx(rows[:, 0], rows[:, 2], "s-", color=VERMILION, label="digits it has not seen")
        ax.set(title="Share read correctly", xlabel="bound on the trace norm", ylim=(0.3, 1.02))
        ax.set_xticks(RADII, [f"{radius:g}" for radius in RADII])
        ax.legend(loc="lower right")
        right.suptitle("The strongest patterns (radius 10)", fontsize=11, fontweight="bold", x=0.03, ha="left")
        for i, ax in enumerate(right.subplots(2, 3).flat):
            reach = np.abs(U[:, i]).max()
            ax.imshow(U[:, i].reshape(8, 8), cmap="RdBu_r", vmin=-reach, vmax=reach)
            ax.set_title(f"σ = {sigma[i]:.2f}", fontsize=8, fontweight="normal")
            ax.set(xticks=[], yticks=[])
        fig.savefig(out, dpi=140)


if __name__ == "__main__":
    main()
