"""
Average histograms by moving mass
=================================

The barycentre of some histograms is the histogram that is cheapest to reach from all of them, where moving mass
costs the squared distance it travels. The unknowns are transport plans :math:`T_k`, one for each input: the rows of
:math:`T_k` sum to input k, and the columns of all plans sum to one and the same histogram, the barycentre. These
are linear equations, so the plans form a :class:`~frankwolfe.Polytope`, and its linear programmes are solved by
HiGHS. A small penalty on the roughness of the barycentre makes it unique and smooth.

**Result.** The barycentre costs 0.0157 to reach, 0.0155 being the least without smoothing, and is proven best to
1e-5: True.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy import sparse

import frankwolfe as fw

n, gamma = 24, 0.05
grid = np.linspace(0, 1, n)
inputs = []
for left, right in ((0.13, 0.5), (0.3, 0.78), (0.22, 0.88)):
    bumps = np.exp(-(((grid - left) / 0.06) ** 2) / 2) / 0.06 + np.exp(-(((grid - right) / 0.035) ** 2) / 2) / 0.035
    inputs.append(bumps / bumps.sum())

# %%
k, ones = len(inputs), np.ones((1, n))
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

result = fw.minimize(fw.Quadratic(gamma * (rough.T @ rough), transport), plans, method="fcfw", tol=1e-5)
barycentre = target @ result.x

# %%
fig, (left, right) = plt.subplots(1, 2, figsize=(10, 3.5), sharey=True, constrained_layout=True)
for histogram in inputs:
    left.fill_between(grid, histogram, alpha=0.4)
left.set(title="three histograms", xlabel="position", ylabel="mass")
right.plot(grid, np.mean(inputs, axis=0), color="grey", linestyle=":", label="mean of the heights")
right.fill_between(grid, barycentre, color="tab:red", alpha=0.5, label="barycentre")
right.set(title="their average", xlabel="position")
right.legend(frameon=False)
plt.show()

least = transport @ plans.lmo(transport).toarray()
print(
    f"Result: The barycentre costs {transport @ result.x:.4f} to reach, {least:.4f} being the least "
    f"without smoothing, and is "
    f"proven best to 1e-5: {result.gap <= 1e-5}."
)
