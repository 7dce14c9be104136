"""
The best portfolio for every appetite
=====================================

Minimise risk less a share of the expected return, :math:`\\tfrac12 x^\\top C x - \\lambda\\,\\mu^\\top x`, over
portfolios: weights that are nonnegative and sum to one. :class:`~frankwolfe.Quadratic` on
:class:`~frankwolfe.Simplex`, for a range of :math:`\\lambda`; each run starts from the last answer.

**Result.** The least risk is 0.027; the best single asset has 0.238.
"""

import matplotlib.pyplot as plt
import numpy as np

import frankwolfe as fw

rng = np.random.default_rng(0)
assets, factors = 60, 4
exposure = rng.normal(size=(assets, factors))
C = 0.02 * exposure @ exposure.T + np.diag(rng.uniform(0.01, 0.08, assets))
mu = 0.03 + 0.02 * np.abs(exposure[:, 0]) + 0.01 * rng.normal(size=assets)

# %%
frontier, held = [], []
result = None
for appetite in np.geomspace(0.005, 10, 40):
    result = fw.minimize(fw.Quadratic(C, -appetite * mu), fw.Simplex(assets), result, tol=1e-8)
    frontier.append((np.sqrt(result.x @ C @ result.x), mu @ result.x))
    held.append(result.x)
frontier, held = np.array(frontier), np.array(held)

# %%
fig, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8), constrained_layout=True)
left.scatter(np.sqrt(np.diag(C)), mu, s=10, color="grey", label="single assets")
left.plot(*frontier.T, color="tab:red", label="efficient portfolios")
left.set(xlabel="risk", ylabel="expected return", xlim=(0, None))
left.legend(frameon=False)
right.stackplot(frontier[:, 1], held.T)
right.set(xlabel="expected return", ylabel="share", title="what they hold")
plt.show()

print(f"Result: The least risk is {frontier[0, 0]:.3f}; the best single asset has {np.sqrt(np.diag(C)).min():.3f}.")
