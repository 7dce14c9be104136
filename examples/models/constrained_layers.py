"""
A network whose layers stay in norm balls
=========================================

Bounding the spectral norm of each weight matrix bounds how much a layer can stretch its input, and thus how fast
the whole network can change: it is Lipschitz with the product of the bounds. Frank-Wolfe needs one singular value
decomposition per layer, and every iterate keeps the constraint. The loss is not convex: ``convex=False`` claims no
bound on the optimum. (With PyTorch the gradient comes for free: ``torch_training.py`` beside this script.)

**Result.** 99% of the points are on the right side, and no layer stretches by more than 6.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

import frankwolfe as fw

X, label = make_moons(300, noise=0.12, random_state=0)
X = np.column_stack([X, np.ones(len(X))])
sign = 2.0 * label - 1
hidden, bound = 24, 6.0


def layers(w):
    return w[: 3 * hidden].reshape(3, hidden), w[3 * hidden :].reshape(hidden, 1)


def loss(w):
    first, second = layers(w)
    return float(np.mean(np.logaddexp(0, -sign * (np.tanh(X @ first) @ second)[:, 0])))


def gradient(w):
    first, second = layers(w)
    inner = np.tanh(X @ first)
    margin = sign * (inner @ second)[:, 0]
    slope = (-sign / (1 + np.exp(margin)) / len(X))[:, None]
    back = (slope @ second.T) * (1 - inner**2)
    return np.concatenate([(X.T @ back).ravel(), (inner.T @ slope).ravel()])


# %%
balls = fw.Product(fw.SpectralBall(bound), fw.SpectralBall(bound), shapes=[(3, hidden), (hidden, 1)])
start = 0.5 * np.random.default_rng(0).normal(size=4 * hidden)
f = fw.Function(loss, gradient, convex=False)
result = fw.minimize(f, balls, start, method=fw.FrankWolfe(fw.OpenLoop(2, shift=30)), max_iter=600, tol=0)
norms = [np.linalg.norm(w, 2) for w in layers(result.x)]

# %%
i, j = np.meshgrid(np.linspace(-1.5, 2.5, 120), np.linspace(-1.2, 1.7, 100))
points = np.column_stack([i.ravel(), j.ravel(), np.ones(i.size)])
first, second = layers(result.x)
score = (np.tanh(points @ first) @ second).reshape(i.shape)
fig, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8), constrained_layout=True)
left.contourf(i, j, score, levels=20, cmap="RdBu_r", vmin=-6, vmax=6)
left.scatter(*X[:, :2].T, c=label, cmap="RdBu_r", edgecolors="white", s=18)
left.set(title="the network's score")
right.plot(result.trace["fun"])
right.set(title="training loss", xlabel="step", yscale="log")
plt.show()

right_share = np.mean(((np.tanh(X @ first) @ second)[:, 0] > 0) == label)
assert max(norms) <= bound * (1 + 1e-9)
print(f"Result: {right_share:.0%} of the points are on the right side, and no layer stretches by more than {bound:g}.")
