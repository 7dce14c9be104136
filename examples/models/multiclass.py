"""
Ten digits that share a few patterns
====================================

One column of weights for each of the ten digits makes a 64 x 10 matrix. A bound on its trace norm, the sum of its
singular values, lets the digits share a few patterns of pixels: the smaller the bound, the fewer patterns. The
softmax loss, :class:`~frankwolfe.Multinomial`, is minimised over :class:`~frankwolfe.NuclearBall` for a range of
radii, each run starting from the last one's answer.

**Result.** 93% of unseen digits are read correctly at radius 20.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

import frankwolfe as fw

pixels, digits = load_digits(return_X_y=True)
order = np.random.default_rng(0).permutation(len(digits))
pixels, digits, train = pixels[order] / 16, digits[order], 300
objective = fw.Multinomial(pixels[:train], digits[:train])

# %%
radii, rows, result = (2.0, 5.0, 10.0, 20.0), [], None
for radius in radii:
    result = fw.minimize(objective, fw.NuclearBall(radius), None if result is None else result.x, tol=2e-3)
    W = np.asarray(result.x)
    right = np.argmax(pixels @ W, axis=1) == digits
    rows.append((radius, right[:train].mean(), right[train:].mean()))
    if radius == 10.0:
        patterns, strengths, _ = np.linalg.svd(W)
rows = np.array(rows)

# %%
fig = plt.figure(figsize=(10, 3.8), constrained_layout=True)
left, right = fig.subfigures(1, 2)
ax = left.subplots()
ax.semilogx(rows[:, 0], rows[:, 1], "o-", label=f"the {train} digits it learnt from")
ax.semilogx(rows[:, 0], rows[:, 2], "s-", label="digits it has not seen")
ax.set(title="share read correctly", xlabel="bound on the trace norm")
ax.legend(frameon=False, loc="lower right")
for i, ax in enumerate(right.subplots(2, 3).flat):
    ax.imshow(patterns[:, i].reshape(8, 8), cmap="RdBu_r")
    ax.set_title(f"σ = {strengths[i]:.1f}", fontsize=8)
    ax.set(xticks=[], yticks=[])
plt.show()

best = rows[np.argmax(rows[:, 2])]
print(f"Result: {best[2]:.0%} of unseen digits are read correctly at radius {best[0]:g}.")
