"""Take the noise out of a picture by allowing it only so much total variation.
===============================================================================

Total variation is the sum of the jumps between neighbouring pixels. Noise has a lot of it, flat regions with sharp
edges have little, so the picture nearest to the noisy one among those of small variation is flat where the original
is flat and keeps its edges. That is least squares over `TotalVariationBall`. The ball holds pictures of mean zero:
the mean of the noisy picture, which total variation does not see, is taken off first and put back at the end.

The radius is 0.9 times the variation of the clean picture, known here because the noise is ours; in practice it is what
one tunes. `Product` with a single factor lays the picture out as a vector, the form `LeastSquares` reads, and the fully
corrective method is named because every call of this oracle costs several minimum cuts and it needs the fewest calls.

    python examples/denoising.py [--out PICTURE.png]
"""

import argparse

import numpy as np
from scipy.sparse import eye_array

import frankwolfe as fw
from frankwolfe.plotting.style import style

SIDE, NOISE = 44, 0.12


def shapes(n):
    """Return an n x n picture of a few flat shapes."""
    i, j = np.mgrid[:n, :n] / (n - 1)
    away = np.hypot(i - 0.62, j - 0.66)
    x = np.full((n, n), 0.3)
    x[(i > 0.12) & (i < 0.5) & (j > 0.1) & (j < 0.45)] = 0.95
    x[away < 0.27] = 0.7
    x[away < 0.11] = 0.05
    x[(i > 0.7) & (i < 0.88) & (j > 0.12) & (j < 0.32)] = 0.05
    return x


def variation(x):
    return np.abs(np.diff(x, axis=0)).sum() + np.abs(np.diff(x, axis=1)).sum()


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", default="denoising.png", help="where the picture goes")
    out = parser.parse_args().out

    clean = shapes(SIDE)
    noisy = clean + NOISE * np.random.default_rng(0).normal(size=clean.shape)
    mean = noisy.mean()
    objective = fw.LeastSquares(eye_array(clean.size, format="csr"), (noisy - mean).ravel())
    ball = fw.TotalVariationBall(0.9 * variation(clean))
    result = fw.minimize(objective, fw.Product(ball, shapes=[clean.shape]), method="fcfw", tol=3e-5)
    denoised = mean + result.x.reshape(clean.shape)
    print(result)
    print(f"certified gap: {result.gap:.2e}")
    for name, x in (("noisy", noisy), ("denoised", denoised)):
        error = np.sqrt(np.mean((x - clean) ** 2))
        print(f"{name:>8}: error {error:.3f}, total variation {variation(x):.1f} (clean: {variation(clean):.1f})")
    draw(out, clean, noisy, denoised)


def draw(out, clean, noisy, denoised):
    from matplotlib.figure import Figure

    with style():
        fig = Figure(figsize=(8.4, 3.2))
        for ax, name, x in zip(
            fig.subplots(1, 3), ("Clean", "Noisy", "Denoised"), (clean, noisy, denoised), strict=True
        ):
            ax.imshow(x, cmap="gray", vmin=-0.1, vmax=1.1, interpolation="nearest")
            ax.set_title(name)
            error = np.sqrt(np.mean((x - clean) ** 2))
            ax.set_xlabel(f"variation {variation(x):.0f}" + (f", error {error:.3f}" if x is not clean else ""))
            ax.set(xticks=[], yticks=[])
        fig.savefig(out, dpi=140)


if __name__ == "__main__":
    main()
