"""
Where the traffic goes
======================

Drivers take the quickest way, and every road gets slower with traffic. The flows at which nobody gains by switching
are the minimiser of Beckmann's function, :math:`\\sum_e \\int_0^{x_e} t_e(s)\\,ds`, over the flows from home to
work, :class:`~frankwolfe.FlowPolytope`; its oracle is a shortest path. The gap has a meaning: it bounds the total
time that drivers could still save by switching.

**Result.** A trip takes 22.8 minutes on average in equilibrium and 69 if all take the way that is quickest when
empty.
"""

import matplotlib.pyplot as plt
import numpy as np

import frankwolfe as fw

rng = np.random.default_rng(1)
side, demand = 7, 5.0
nodes = [(i, j) for i in range(side) for j in range(side)]
roads = [((i, j), (i + 1, j)) for i, j in nodes if i + 1 < side] + [
    ((i, j), (i, j + 1)) for i, j in nodes if j + 1 < side
]
free, room = rng.uniform(1, 3, len(roads)), rng.uniform(1.5, 6, len(roads))

# %%
# Travel times of the Bureau of Public Roads: t(x) = free (1 + 0.15 (x / room)^4).
f = fw.Function(
    lambda x: float(np.sum(free * (x + 0.03 * x**5 / room**4))),
    lambda x: free * (1 + 0.15 * (x / room) ** 4),
)
trips = fw.FlowPolytope(roads, (0, 0), (side - 1, side - 1), radius=demand)
result = fw.minimize(f, trips, method="pairwise", tol=1e-3)
times = free * (1 + 0.15 * (result.x / room) ** 4)
alone = trips.lmo(free).toarray()
crowded = float(free * (1 + 0.15 * (alone / room) ** 4) @ alone)

# %%
fig, axes = plt.subplots(1, 2, figsize=(9, 4.3), constrained_layout=True)
for ax, flow, name in zip(
    axes, (alone, result.x), ("all on the way that is quickest when empty", "equilibrium"), strict=True
):
    for (tail, head), x in zip(roads, flow, strict=True):
        ax.plot(*np.array([tail, head]).T, color=plt.cm.inferno_r(0.1 + 0.8 * x / demand), linewidth=0.6 + x)
    ax.set(title=name, aspect="equal", xticks=[], yticks=[])
plt.show()

print(
    f"Result: A trip takes {times @ result.x / demand:.1f} minutes on average in equilibrium and "
    f"{crowded / demand:.0f} if all "
    f"take the way that is quickest when empty."
)
