"""
Move one cloud of points onto another
=====================================

Optimal transport assigns the mass of one cloud to another at least cost. With a small quadratic term the plan is
unique and still sparse (entropy would make it dense). With as many points in both clouds the plans are doubly
stochastic matrices, :class:`~frankwolfe.Birkhoff`, whose oracle is an assignment problem.

**Result.** Less than half of all pairs exchange mass, at a transport cost of 5.30, where no plan can have
less than 5.25.
"""

import matplotlib.pyplot as plt
import numpy as np

import frankwolfe as fw

rng = np.random.default_rng(0)
n, gamma = 40, 0.05
angle = rng.uniform(0, 2 * np.pi, n)
ring = np.column_stack([np.cos(angle), np.sin(angle)]) + 0.05 * rng.normal(size=(n, 2))
square = rng.uniform(-0.6, 0.6, size=(n, 2)) + np.array([2.2, 0.0])
cost = ((ring[:, None] - square) ** 2).sum(axis=2)

# %%
plans = fw.Birkhoff(n)
f = fw.Function(
    lambda T: float(np.sum(cost * T) / n + 0.5 * gamma * np.sum(T**2)),
    lambda T: cost / n + gamma * T,
    smoothness=gamma,
    strong_convexity=gamma,
)
result = fw.minimize(f, plans, np.full((n, n), 1 / n), tol=1e-3, max_iter=3000)
cheapest = plans.lmo(cost).toarray()

# %%
fig, (left, right) = plt.subplots(1, 2, figsize=(10, 4), constrained_layout=True, width_ratios=(1.6, 1))
for i, j in zip(*np.nonzero(result.x > 0.02), strict=True):
    left.plot(*np.array([ring[i], square[j]]).T, color="grey", alpha=min(1, 0.1 + result.x[i, j]), linewidth=0.8)
left.scatter(*ring.T, color="tab:blue", zorder=3)
left.scatter(*square.T, color="tab:red", zorder=3)
left.set(title="the plan", aspect="equal", xticks=[], yticks=[])
right.imshow(result.x, cmap="Greys")
right.set(title="as a matrix", xticks=[], yticks=[])
plt.show()

used = np.mean(result.x > 1e-3)
assert used < 0.5
print(
    "Result: Less than half of all pairs exchange mass, at a transport cost of "
    f"{np.sum(cost * result.x) / n:.2f}, where no plan can have less than {np.sum(cost * cheapest) / n:.2f}."
)
