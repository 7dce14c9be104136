"""
What would have happened without it?
====================================

A law, a campaign or a price changes one region. What would have happened without it is estimated by a *synthetic
control*: a mixture of other regions, weights nonnegative and summing to one, that follows the region before the
change. That is least squares on :class:`~frankwolfe.Simplex`.

**Result.** The effect is estimated as -6.1 (true: -6.0), from 7 of 25 regions, with a certified gap below 1e-8:
True.
"""

import matplotlib.pyplot as plt
import numpy as np

import frankwolfe as fw

rng = np.random.default_rng(3)
years, donors, change, effect = 40, 25, 28, -6.0
trends = np.cumsum(rng.normal(size=(years, 3)), axis=0)
others = 50 + trends @ rng.uniform(0, 2, size=(3, donors)) + 0.5 * rng.normal(size=(years, donors))
weights = np.zeros(donors)
weights[[2, 7, 11]] = [0.5, 0.3, 0.2]
region = others @ weights + 0.5 * rng.normal(size=years)
region[change:] += effect

# %%
result = fw.minimize(fw.LeastSquares(others[:change], region[:change]), fw.Simplex(donors), tol=1e-8)
synthetic = others @ result.x
found = np.mean((region - synthetic)[change:])

# %%
fig, (left, right) = plt.subplots(1, 2, figsize=(10, 3.6), constrained_layout=True)
left.plot(others, color="lightgrey", linewidth=0.7)
left.plot(region, color="black", label="the region")
left.plot(synthetic, color="tab:red", linestyle="--", label="synthetic control")
left.axvline(change, color="grey", linestyle=":")
left.set(xlabel="year", title="before and after")
left.legend(frameon=False)
right.bar(np.arange(donors), result.x)
right.set(title="weights of the other regions", xlabel="region")
plt.show()

print(
    f"Result: The effect is estimated as {found:.1f} (true: {effect:.1f}), from "
    f"{np.sum(result.x > 0.01)} of {donors} regions, with a certified gap below 1e-8: {result.gap <= 1e-8}."
)
