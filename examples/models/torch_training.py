"""Train a small neural network in PyTorch without projections: every layer stays in its own norm ball.
=======================================================================================================

The parameters of a `torch.nn.Module` are a nest of arrays, and the set is a product of balls, one for each of them:
spectral-norm balls for the weights, which bound how much a layer can stretch its input, and cubes for the biases. The
oracle costs one singular-value decomposition of each small weight matrix. The loss is not convex, so no bound on the
optimum is claimed; the constraint holds at every step all the same.

Run: python examples/models/torch_training.py        (needs torch: pip install "frankwolfe[torch]")
"""

from __future__ import annotations

import numpy as np

import frankwolfe as fw


def moons(n: int = 300, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return points of two interleaved half-moons and which of them each belongs to."""
    rng = np.random.default_rng(seed)
    angle, label = rng.uniform(0, np.pi, n), rng.integers(0, 2, n)
    upper = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    points = np.where(label[:, None] == 0, upper, [1.0, 0.5] - upper)
    return points + 0.1 * rng.standard_normal((n, 2)), label


def train(steps: int = 300, stretch: float = 8.0) -> tuple[float, float, list[float]]:
    """Return loss, accuracy, and the spectral norms of the trained layers."""
    import torch

    torch.manual_seed(0)
    points, label = moons()
    x, y = torch.tensor(points, dtype=torch.float32), torch.tensor(label)
    net = torch.nn.Sequential(
        torch.nn.Linear(2, 32), torch.nn.Tanh(), torch.nn.Linear(32, 32), torch.nn.Tanh(), torch.nn.Linear(32, 2)
    )
    parameters = {name: p.detach() for name, p in net.named_parameters()}

    def loss(values: dict) -> torch.Tensor:
        return torch.nn.functional.cross_entropy(torch.func.functional_call(net, values, (x,)), y)

    layers = fw.Product(
        *(fw.SpectralBall(stretch) if p.ndim == 2 else fw.LInfBall(stretch) for p in parameters.values()),
        shapes=[tuple(p.shape) for p in parameters.values()],
    )
    f = fw.Function(loss, backend="torch", convex=False)
    method = fw.FrankWolfe(fw.OpenLoop(2, shift=50))  # small steps from a random start
    result = fw.minimize(f, layers, parameters, method=method, tol=0, max_iter=steps)
    net.load_state_dict(result.x)
    accuracy = float((net(x).argmax(dim=1) == y).float().mean())
    norms = [float(torch.linalg.matrix_norm(p, 2)) for p in result.x.values() if p.ndim == 2]
    return result.fun, accuracy, norms


def main() -> None:
    """Train, and say what came out."""
    fun, accuracy, norms = train()
    print(f"training loss {fun:.3f}, accuracy {accuracy:.0%}")
    print("spectral norms of the layers:", ", ".join(f"{norm:.2f}" for norm in norms), "(at most 8)")


if __name__ == "__main__":
    main()
