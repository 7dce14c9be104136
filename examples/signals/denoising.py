"""
Take the noise out of a picture
===============================

Total variation is the sum of the jumps between neighbouring pixels. Noise has a lot of it, flat regions with sharp
edges have little, so the picture nearest to the noisy one among those of small variation is flat where the original
is flat and keeps its edges. That is least squares over :class:`~frankwolfe.TotalVariationBall`, whose oracle is a
few minimum cuts. The ball holds pictures of mean zero: the mean, which total variation does not see, is taken off
and put back.

**Result.** The error falls from 0.117 to 0.041, and no picture of this variation is nearer by more than 1e-4.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.sparse import eye_array

import frankwolfe as fw

n = 32
i, j = np.mgrid[:n, :n] / (n - 1)
distance = np.hypot(i - 0.62, j - 0.66)
clean = np.full((n, n), 0.3)
clean[(i > 0.12) & (i < 0.5) & (j > 0.1) & (j < 0.45)] = 0.95
clean[distance < 0.27] = 0.7
clean[distance < 0.11] = 0.05
noisy = clean + 0.12 * np.random.default_rng(0).normal(size=clean.shape)


def variation(x):
    return np.abs(np.diff(x, axis=0)).sum() + np.abs(np.diff(x, axis=1)).sum()


# %%
# ``Product`` with a single factor lays the picture out as a vector, the form that ``LeastSquares`` reads.
mean = noisy.mean()
ball = fw.Product(fw.TotalVariationBall(0.9 * variation(clean)), shapes=[clean.shape])
objective = fw.LeastSquares(eye_array(clean.size, format="csr"), (noisy - mean).ravel())
result = fw.minimize(objective, ball, method="fcfw", tol=1e-4)
denoised = mean + result.x.reshape(clean.shape)

# %%
fig, axes = plt.subplots(1, 3, figsize=(9.5, 3.4), constrained_layout=True)
for ax, name, x in zip(axes, ("clean", "noisy", "denoised"), (clean, noisy, denoised), strict=True):
    ax.imshow(x, cmap="gray", vmin=-0.1, vmax=1.1)
    ax.set(title=f"{name}, variation {variation(x):.0f}", xticks=[], yticks=[])
plt.show()

before, after = (np.sqrt(np.mean((x - clean) ** 2)) for x in (noisy, denoised))
print(
    f"Result: The error falls from {before:.3f} to {after:.3f}, and no picture of this variation is "
    f"nearer by more than 1e-4."
)
