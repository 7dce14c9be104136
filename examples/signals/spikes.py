"""
Find spikes between the pixels
==============================

A microscope or a radar sees the low frequencies of a few spikes. On a grid, their places are wrong by up to half a
cell; off the grid the unknown is a measure, and an atom is the image of a single spike at *any* place. Its oracle
maximises a trigonometric polynomial, which is done exactly by the roots of its derivative:
:meth:`~frankwolfe.Set.from_lmo` takes it from there.

**Result.** The three largest spikes are found within 0.001; a cell of a grid would be 0.042 wide.
"""

import matplotlib.pyplot as plt
import numpy as np

import frankwolfe as fw

cutoff = 12
k = np.arange(1, cutoff + 1)
where, height = np.array([0.212, 0.395, 0.764]), np.array([1.0, 0.7, 0.9])
rng = np.random.default_rng(0)


def image(place):
    """Return the low frequencies of a spike of height one."""
    phase = 2 * np.pi * np.multiply.outer(place, k)
    return np.concatenate([np.ones((*np.shape(place), 1)), np.sqrt(2) * np.cos(phase), np.sqrt(2) * np.sin(phase)], -1)


def lowest(g):
    """Return the place where <g, image> is least, by the roots of its derivative on the unit circle."""
    c = (g[1 : cutoff + 1] - 1j * g[cutoff + 1 :]) / np.sqrt(2)  # <g, image(t)> = g_0 + 2 Re sum c_k e^{2 pi i k t}
    slope = np.concatenate([(1j * k * c)[::-1], [0], np.conj(1j * k * c)])
    roots = np.roots(slope)
    places = np.append(np.angle(roots[np.abs(np.abs(roots) - 1) < 1e-3]) / (2 * np.pi) % 1, 0.0)
    return places[np.argmin(image(places) @ g)]


# %%
seen = height @ image(where) + 0.02 * rng.normal(size=2 * cutoff + 1)
total = height.sum()
measures = fw.Set.from_lmo(lambda g: total * image(lowest(g)), shape=(2 * cutoff + 1,))
result = fw.minimize(fw.LeastSquares(np.eye(2 * cutoff + 1), seen), measures, method="fcfw", tol=1e-6)

# %%
# The atoms of the answer are images of spikes; the phase of the first frequency says where. Atoms that are closer
# than the method cares to tell apart are one spike.
atoms = np.array([atom.toarray() for atom in result.atoms]) / total
places = np.arctan2(atoms[:, cutoff + 1], atoms[:, 1]) / (2 * np.pi) % 1
order = np.argsort(places)
places, weights = places[order], total * np.asarray(result.weights)[order]
spike = np.cumsum(np.diff(places, prepend=places[0]) > 0.01)
weights_of = np.bincount(spike, weights)
places = np.bincount(spike, weights * places) / weights_of
weights = weights_of
grid = np.linspace(0, 1, 500)

fig, ax = plt.subplots(figsize=(8, 3.6), constrained_layout=True)
ax.plot(grid, image(grid) @ seen / (2 * cutoff + 1), color="lightgrey", label="what is seen")
ax.stem(where, height, linefmt="k-", markerfmt="ko", basefmt=" ", label="true")
ax.stem(places, weights, linefmt="tab:red", markerfmt="rx", basefmt=" ", label="found")
ax.set(xlabel="place")
ax.legend(frameon=False)
plt.show()

order = np.argsort(weights)[::-1][:3]
error = np.abs(np.sort(places[order]) - where).max()
assert error < 1e-3
print(
    f"Result: The three largest spikes are found within 0.001; a cell of a grid would be {1 / (2 * cutoff):.3f} wide."
)
