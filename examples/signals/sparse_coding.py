"""
Say a picture in a few strokes
==============================

A step of dictionary learning: given a dictionary, code each patch with few atoms. Here the dictionary is made of
two hundred digits, and an unseen digit is a nonnegative mixture of few of them: least squares on
:class:`~frankwolfe.Simplex`, whose answer is sparse by itself. The atoms that are used tell which digit it is.

**Result.** A digit takes 9 of 200 atoms on average, and the weights alone name 93% of the digits.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

import frankwolfe as fw

pixels, digits = load_digits(return_X_y=True)
order = np.random.default_rng(0).permutation(len(digits))
pixels, digits = pixels[order] / 16, digits[order]
dictionary, labels = pixels[:200].T, digits[:200]
unseen, truth = pixels[200:260], digits[200:260]

# %%
codes = np.array(
    [fw.minimize(fw.LeastSquares(dictionary, patch), fw.Simplex(200), method="fcfw", tol=1e-6).x for patch in unseen]
)
votes = np.array([np.bincount(labels, weights=code, minlength=10) for code in codes])

# %%
fig, axes = plt.subplots(3, 6, figsize=(9, 4.6), constrained_layout=True)
for row, i in zip(axes, (0, 3, 5), strict=True):
    best = np.argsort(-codes[i])[:4]
    shown = [unseen[i], dictionary @ codes[i], *dictionary[:, best].T]
    names = ["unseen", "as a mixture", *(f"{codes[i, j]:.2f} x" for j in best)]
    for ax, picture, name in zip(row, shown, names, strict=True):
        ax.imshow(picture.reshape(8, 8), cmap="gray_r", vmin=0, vmax=1)
        ax.set(xticks=[], yticks=[])
        ax.set_title(name, fontsize=9)
plt.show()

used = np.mean(np.sum(codes > 1e-6, axis=1))
right = np.mean(votes.argmax(axis=1) == truth)
print(
    f"Result: A digit takes {used:.0f} of 200 atoms on average, and the weights alone name {right:.0%} of the digits."
)
