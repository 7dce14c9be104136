"""What the demonstration solves, and how far."""

from __future__ import annotations

from dataclasses import dataclass

METHODS = ("fw", "afw", "pgd", "apgd")


@dataclass(frozen=True)
class Settings:
    """Sizes, radii and step counts of the demonstration."""

    seed: int = 0  # of the split into training and test digits and of the hidden pixels
    train: int = 1200  # digits to learn from; the rest are for testing
    l2_radius: float = 8.0
    l1_radius: float = 30.0
    digit_steps: tuple[int, ...] = (2000, 2000, 2000, 2000)  # of `METHODS`
    digit_tol: float = 1e-8  # certified gap of the reference solution
    reference_steps: int = 20_000  # at most
    shrink: int = 2  # the photograph is averaged over squares of so many pixels
    observed: float = 0.5  # share of the pixels that the methods get to see
    radii: tuple[float, ...] = (100.0, 140.0, 180.0, 220.0, 260.0, 300.0)  # nuclear-norm radii to choose from
    picture_steps: tuple[int, ...] = (400, 400, 100, 100)  # projected methods do not need as many
    picture_rtol: float = 1e-9  # certified gap of the reference solution, relative


FULL = Settings()
SMALL = Settings(
    train=300,
    l1_radius=10.0,
    digit_steps=(60, 60, 60, 60),
    digit_tol=1e-4,
    reference_steps=400,
    shrink=8,
    radii=(20.0, 30.0),
    picture_steps=(30, 30, 30, 30),
    picture_rtol=1e-4,
)
