"""What the demonstration solves, and how far."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Settings:
    """Sizes, radii and step counts of the demonstration.

    Attributes
    ----------
    seed : int
        Of the split into training and test digits and of the hidden pixels.
    train : int
        Digits to learn from; the rest are for testing.
    l2_radius, l1_radius : float
        Radii of the two balls for the classifier.
    digit_steps, picture_steps : dict
        Steps of each method. Projected methods do not need as many on the picture.
    digit_tol, picture_rtol : float
        Certified gap of the reference solutions, absolute and relative.
    reference_steps : int
        Limit on the steps of a reference solution.
    shrink : int
        The photograph is averaged over squares of this many pixels.
    observed : float
        Fraction of the pixels that the methods get to see.
    radii : tuple of float
        Nuclear-norm radii to choose from, increasing.
    """

    seed: int = 0
    train: int = 1200
    l2_radius: float = 8.0
    l1_radius: float = 30.0
    digit_steps: dict[str, int] = field(default_factory=lambda: dict.fromkeys(("fw", "afw", "pgd", "apgd"), 2000))
    digit_tol: float = 1e-8
    reference_steps: int = 20_000
    shrink: int = 2
    observed: float = 0.5
    radii: tuple[float, ...] = (100.0, 140.0, 180.0, 220.0, 260.0, 300.0)
    picture_steps: dict[str, int] = field(default_factory=lambda: {"fw": 400, "afw": 400, "pgd": 100, "apgd": 100})
    picture_rtol: float = 1e-9


FULL = Settings()
SMALL = Settings(
    train=300,
    l1_radius=10.0,
    digit_steps=dict.fromkeys(("fw", "afw", "pgd", "apgd"), 60),
    digit_tol=1e-4,
    reference_steps=400,
    shrink=8,
    radii=(20.0, 30.0),
    picture_steps=dict.fromkeys(("fw", "afw", "pgd", "apgd"), 30),
    picture_rtol=1e-4,
)
