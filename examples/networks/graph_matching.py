"""
Which node is which?
====================

The same graph twice, its nodes in another order and some edges changed: which node is which? The best permutation
minimises :math:`\\|AP - PB\\|^2`, a hard problem over permutations and a quadratic one over their hull, the doubly
stochastic matrices. That relaxation is convex: its bound is proven. The permutation nearest to its solution is one
more call of the oracle.

**Result.** 100% of the nodes are recognised.
"""

import matplotlib.pyplot as plt
import numpy as np

import frankwolfe as fw

rng = np.random.default_rng(0)
n = 22
places = rng.uniform(size=(n, 2))
near = ((places[:, None] - places) ** 2).sum(axis=2)
A = np.exp(-near / 0.08) * (1 - np.eye(n))
order = rng.permutation(n)
B = A[np.ix_(order, order)] + 0.01 * np.abs(rng.normal(size=(n, n)))
B = (B + B.T) / 2

# %%
f = fw.Function(
    lambda P: 0.5 * float(np.sum((A @ P - P @ B) ** 2)),
    lambda P: A @ (A @ P - P @ B) - (A @ P - P @ B) @ B,
)
result = fw.minimize(f, fw.Birkhoff(n), np.full((n, n), 1 / n), method="pairwise", tol=2e-2, max_iter=4000)
permutation = fw.Birkhoff(n).lmo(-result.x).toarray().argmax(axis=0)

# %%
fig, axes = plt.subplots(1, 3, figsize=(10, 3.5), constrained_layout=True)
for ax, matrix, name in zip(
    axes,
    (A, B, B[np.ix_(np.argsort(permutation), np.argsort(permutation))]),
    ("a graph", "the same, shuffled and changed", "put back in order"),
    strict=True,
):
    ax.imshow(matrix, cmap="magma_r", vmin=0, vmax=1)
    ax.set(title=name, xticks=[], yticks=[])
plt.show()

print(f"Result: {np.mean(permutation == order):.0%} of the nodes are recognised.")
