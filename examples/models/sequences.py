"""Read rows of noisy digits, learning at once what a digit looks like and which digit tends to follow which.
=============================================================================================================

The digits of a row count upwards, mostly by one or two; their pictures are so noisy that many cannot be told apart
alone. A structural support vector machine scores a whole reading of the row: one weight for each pixel and digit, one
for each pair of neighbours. It asks that the true reading beats every other one by the share of digits that the other
gets wrong. A row of eight has 10^8 readings, but the worst offender is found by dynamic programming, which is all
`decode` does.

Its dual is a smooth function over a product of one polytope for each row, known only through `decode`: the home of
block-coordinate Frank-Wolfe, which looks at one row at a time. The certified gap is that between the dual value and
the best primal value seen on the way. For comparison the same machine is trained without pairs, reading every digit
alone.

    python examples/sequences.py [--out PICTURE.png]
"""

import argparse

import numpy as np
from sklearn.datasets import load_digits

import frankwolfe as fw
from frankwolfe.plotting.palette import VERMILION
from frankwolfe.plotting.style import INK, style

ROWS, TRAIN, LENGTH, NOISE, LAM = 200, 60, 8, 0.3, 0.15


def rows_of_digits(rng):
    """Return pictures (ROWS x LENGTH x 64) and what they show (ROWS x LENGTH)."""
    pixels, digits = load_digits(return_X_y=True)
    steps = rng.choice([1, 2, 5], p=[0.6, 0.3, 0.1], size=(ROWS, LENGTH))
    shown = np.cumsum(steps, axis=1) + rng.integers(10, size=(ROWS, 1))
    shown %= 10
    picks = [[rng.choice(np.flatnonzero(digits == y)) for y in row] for row in shown]
    return pixels[picks] / 16 + NOISE * rng.normal(size=(ROWS, LENGTH, 64)), shown


def features(pictures, y, pairs):
    looks, follows = np.zeros((10, 64)), np.zeros((10, 10))
    np.add.at(looks, y, pictures)
    np.add.at(follows, (y[:-1], y[1:]), float(pairs))
    return np.concatenate([looks.ravel(), follows.ravel()]) / LENGTH


def best_reading(w, pictures, bonus):
    """Return the y of largest <w, features> + sum_t bonus[t, y_t] (Viterbi's algorithm)."""
    alone = pictures @ w[:640].reshape(10, 64).T / LENGTH + bonus
    follows = w[640:].reshape(10, 10) / LENGTH
    best, back = alone[0], []
    for t in range(1, LENGTH):
        ways = best[:, None] + follows
        back.append(ways.argmax(axis=0))
        best = ways.max(axis=0) + alone[t]
    y = [int(best.argmax())]
    for step in reversed(back):
        y.append(int(step[y[-1]]))
    return np.array(y[::-1])


def train(pictures, shown, pairs):
    """Return the weights, after printing how good they are known to be."""
    truth = [features(pictures[i], shown[i], pairs) for i in range(TRAIN)]
    wrong = 1.0 - np.eye(10)

    def decode(i, w, c):
        y = best_reading(w, pictures[i], c * wrong[shown[i]] / LENGTH)
        return truth[i] - features(pictures[i], y, pairs), float(np.mean(y != shown[i]))

    svm = fw.StructuralSVM(decode, n=TRAIN, d=740, lam=LAM)
    result = fw.minimize(svm, svm.domain, method=fw.BlockCoordinateFrankWolfe(), tol=1e-3)
    print(f"{'with' if pairs else 'without'} pairs: certified gap: {result.gap:.1e} after {result.n_iter} sweeps")
    return svm.weights(result.x)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", default="sequences.png", help="where the picture goes")
    out = parser.parse_args().out

    pictures, shown = rows_of_digits(np.random.default_rng(1))
    readings = []
    for pairs in (False, True):
        w = train(pictures, shown, pairs)
        readings.append(np.array([best_reading(w, row, 0.0) for row in pictures[TRAIN:]]))
        print(f"  right on unseen rows: {np.mean(readings[-1] == shown[TRAIN:]):.1%} of the digits")
    draw(out, pictures[TRAIN:], shown[TRAIN:], readings, w[640:].reshape(10, 10))


def draw(out, pictures, shown, readings, follows):
    from matplotlib.figure import Figure

    gain = np.sum(readings[1] == shown, axis=1) - np.sum(readings[0] == shown, axis=1)
    chosen = np.argsort(-gain, kind="stable")[:3]
    with style():
        fig = Figure(figsize=(9.8, 4.4))
        left, right = fig.subfigures(1, 2, width_ratios=(1.8, 1))
        left.get_layout_engine().set(h_pad=0.09)
        left.suptitle(
            "Unseen rows that gain most from the neighbours; errors in orange", fontsize=11, fontweight="bold"
        )
        for i, line in zip(chosen, left.subplots(3, LENGTH), strict=True):
            for t, ax in enumerate(line):
                ax.imshow(pictures[i, t].reshape(8, 8), cmap="gray_r", vmin=-0.4, vmax=1.3)
                ax.set(xticks=[], yticks=[])
                for way, (name, height) in enumerate((("alone", -0.24), ("as a row", -0.52))):
                    y = readings[way][i, t]
                    look = {"color": INK} if y == shown[i, t] else {"color": VERMILION, "fontweight": "bold"}
                    ax.text(0.5, height, str(y), transform=ax.transAxes, ha="center", fontsize=12, **look)
                    if t == 0:
                        ax.text(-0.15, height, name, transform=ax.transAxes, ha="right", fontsize=9)
        ax = right.subplots()
        reach = np.abs(follows).max()
        ax.imshow(follows, cmap="RdBu_r", vmin=-reach, vmax=reach)
        ax.grid(visible=False)
        ax.set(xticks=range(10), yticks=range(10), xlabel="next digit", ylabel="digit", title="What follows what")
        fig.savefig(out, dpi=140)


if __name__ == "__main__":
    main()
