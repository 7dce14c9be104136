"""
Complete a matrix whose entries are known unequally well
========================================================

Some entries were measured often and some once. :class:`~frankwolfe.MatrixCompletion` takes a weight for each
observation: one over the variance of its noise. The same matrix, the same radius, with and without the weights.

**Result.** Weights by precision lower the error from 0.59 to 0.23.
"""

import matplotlib.pyplot as plt
import numpy as np

import frankwolfe as fw

rng = np.random.default_rng(1)
m, n, rank = 80, 60, 3
true = rng.normal(size=(m, rank)) @ rng.normal(size=(rank, n)) / np.sqrt(rank)
rows, cols = np.nonzero(rng.random((m, n)) < 0.4)
noise = np.where(rng.random(rows.size) < 0.5, 0.05, 1.5)  # half of the entries are hardly worth anything
values = true[rows, cols] + noise * rng.normal(size=rows.size)
radius = np.linalg.svd(true, compute_uv=False).sum()

# %%
ball = fw.NuclearBall(radius)
plain = fw.minimize(fw.MatrixCompletion(rows, cols, values, (m, n)), ball, tol=0.1)
weighted = fw.minimize(fw.MatrixCompletion(rows, cols, values, (m, n), weights=0.05 / noise**2), ball, tol=0.1)
errors = [np.sqrt(np.mean((result.x.toarray() - true) ** 2)) for result in (plain, weighted)]

# %%
fig, axes = plt.subplots(1, 3, figsize=(10, 3.6), constrained_layout=True)
for ax, matrix, name in zip(
    axes,
    (true, plain.x.toarray() - true, weighted.x.toarray() - true),
    ("the matrix", f"error without weights: {errors[0]:.2f}", f"error with weights: {errors[1]:.2f}"),
    strict=True,
):
    ax.imshow(matrix, cmap="RdBu_r", vmin=-2.5, vmax=2.5)
    ax.set(title=name, xticks=[], yticks=[])
plt.show()

print(f"Result: Weights by precision lower the error from {errors[0]:.2f} to {errors[1]:.2f}.")
