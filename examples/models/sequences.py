"""
Read a row of digits as a whole
===============================

The digits of a row count upwards, mostly by one or two; their pictures are so noisy that many cannot be told apart
alone. A structural support vector machine scores a whole reading of the row: one weight for each pixel and digit,
one for each pair of neighbours. It asks that the true reading beats every other one by the share of digits that the
other gets wrong. A row of eight has :math:`10^8` readings, but the worst offender is found by dynamic programming,
which is all that ``decode`` does. The dual of :class:`~frankwolfe.StructuralSVM` lives on a product of polytopes,
one for each row, known only through ``decode``: the home of block-coordinate Frank-Wolfe.

**Result.** 88% of the digits of unseen rows are right when read as a row, 79% when read alone.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

import frankwolfe as fw

ROWS, TRAIN, LENGTH, NOISE, LAM = 110, 30, 8, 0.3, 0.15
rng = np.random.default_rng(1)
pixels, digits = load_digits(return_X_y=True)
shown = np.cumsum(rng.choice([1, 2, 5], p=[0.6, 0.3, 0.1], size=(ROWS, LENGTH)), axis=1) + rng.integers(
    10, size=(ROWS, 1)
)
shown %= 10
picks = [[rng.choice(np.flatnonzero(digits == y)) for y in row] for row in shown]
pictures = pixels[picks] / 16 + NOISE * rng.normal(size=(ROWS, LENGTH, 64))

# %%
# The features of a reading, and the best reading by Viterbi's algorithm.


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


# %%
# Trained once with pairs of neighbours, and once without.


def train(pairs):
    truth = [features(pictures[i], shown[i], pairs) for i in range(TRAIN)]
    wrong = 1.0 - np.eye(10)

    def decode(i, w, c):
        y = best_reading(w, pictures[i], c * wrong[shown[i]] / LENGTH)
        return truth[i] - features(pictures[i], y, pairs), float(np.mean(y != shown[i]))

    svm = fw.StructuralSVM(decode, n=TRAIN, d=740, lam=LAM)
    result = fw.minimize(svm, svm.domain, method=fw.BlockCoordinateFrankWolfe(), tol=5e-3)
    return result, svm.weights(result.x)


readings = []
for pairs in (False, True):
    result, w = train(pairs)
    readings.append(np.array([best_reading(w, row, 0.0) for row in pictures[TRAIN:]]))
alone, together = (np.mean(reading == shown[TRAIN:]) for reading in readings)

# %%
gain = np.sum(readings[1] == shown[TRAIN:], axis=1) - np.sum(readings[0] == shown[TRAIN:], axis=1)
fig, axes = plt.subplots(3, LENGTH, figsize=(9, 4.6), constrained_layout=True)
for row, i in zip(axes, np.argsort(-gain, kind="stable")[:3], strict=True):
    for t, ax in enumerate(row):
        ax.imshow(pictures[TRAIN + i, t].reshape(8, 8), cmap="gray_r", vmin=-0.4, vmax=1.3)
        ax.set(xticks=[], yticks=[])
        label = f"{readings[0][i, t]} alone\n{readings[1][i, t]} in the row"
        ax.set_xlabel(label, color="black" if readings[1][i, t] == shown[TRAIN + i, t] else "tab:red", fontsize=8)
plt.show()

print(f"Result: {together:.0%} of the digits of unseen rows are right when read as a row, {alone:.0%} when read alone.")
