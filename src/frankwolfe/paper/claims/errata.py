"""Slips in the paper, with what should stand there and, where it can be measured, the number that shows it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from frankwolfe.paper.claims import claims
from frankwolfe.paper.claims.verdicts import UNKNOWN
from frankwolfe.paper.problems import Data
from frankwolfe.paper.publication.figure_data import Table
from frankwolfe.paper.runner import Results
from frankwolfe.paper.sections import dataset_table, theory_checks

BY_READING = "by reading"
MEASURED = "As measured, in the next column."


@dataclass(frozen=True)
class Erratum:
    """What is printed, what should be, and how we know."""

    printed: str
    corrected: str
    evidence: Callable[[Results, bool], str] | None = None


def _typo(results: Results, quick: bool) -> str:
    facts = results[theory_checks.Checks()].facts
    return (
        f"a quadratic from error {facts['typo_start']:.3g}: after {theory_checks.STEPS} steps "
        f"{facts['typo_printed']:.3g} as printed, {facts['typo_corrected']:.1e} corrected"
    )


def _mushroom(results: Results, quick: bool) -> str:
    facts = results[dataset_table.Count(Data("mushrooms"))].facts
    printed = dataset_table.PAPER["mushrooms"]
    implied = 100 * facts["nonzeros"] / (printed.rows * printed.columns)
    return (
        f"counted: {facts['rows']} × {facts['columns']}, {dataset_table.density(facts):.2f} %; with "
        f"{printed.columns} columns it would be {implied:.1f} %"
    )


def _mnist(results: Results, quick: bool) -> str:
    return f"counted: {dataset_table.density(results[dataset_table.Count(Data('mnist'))].facts):.2f} %"


def _claim(key: str) -> Callable[[Results, bool], str]:
    """Return evidence in the words of a verdict, so that an erratum cannot say anything else than the claim's row."""
    claim = claims.claim(key)

    def evidence(results: Results, quick: bool) -> str:
        judgement = claim.judged(results, quick)
        if judgement.verdict == UNKNOWN:
            raise KeyError(key)
        return f"{judgement.verdict} ({judgement.number}): {judgement.sentence}"

    return evidence


ERRATA = (
    Erratum("Strongly convex AGM: z = y − y/μ.", "z = y − ∇f(y)/μ.", _typo),
    Erratum("Algorithms 2 and 3 do not say where v starts.", "v₀ = x₀ (said in the appendix only)."),
    Erratum("References to lines 4–6 of Algorithm 2.", "Lines 3–5; and the estimate sequence is Nesterov's."),
    Erratum("Connection 1: squared radius rₖ at most (2/L)(…).", "(4/L)(…).", _claim("connection-1-ball")),
    Erratum("Assumption 4: |∇f(x*)|² ≥ G, but Lemma 8 uses ≤ √G.", "G = |∇f(x*)|²; in the lp part G is a q-norm."),
    Erratum("Theorem 3, proof: a sum lost L/2; the product runs over δ_τ.", "C₃² carries L/2; ∏(1 − δ_j); |θₖ|."),
    Erratum("Past gradients from τ = 1, weights “≈ 1”.", "From τ = 0; the weights add up to 1 − λₖ₊₁."),
    Erratum("l1: the margin λ is for all i, and clashes with λₖ.", "All i but the largest; absolute values."),
    Erratum("l1 lemma: f(xₖ) ≤ Φₖ(vₖ) = Φₖ* + ξₖ.", "f(xₖ) ≤ Φₖ* + ξₖ, and −Lδ²/2.", _claim("lemma-es")),
    Erratum("l1 theorem, proof: θ_τ, and a last “=”.", "ζ_τ, and “≤”."),
    Erratum("lp: |∇fᵢ(x*)| = λ; Taylor term without ½; O for Õ.", "≥ λ (p > 2 only); ½; Õ.", _claim("lp-rate")),
    Erratum("Table: mushroom has d = 122.", "d = 112.", _mushroom),
    Erratum("Table: mnist has 12.4 % nonzeros.", "Not explained by the raw pixels.", _mnist),
    Erratum("The lower bound is O(1/ε).", "Ω(1/ε).", _claim("lower-bound")),
    Erratum("AFW “strictly dominates” FW.", MEASURED, _claim("dominates")),
    Erratum("“Almost no extra cost”.", MEASURED, _claim("free")),
    Erratum("rank(Xₖ) ≤ k + 1.", "Needs rank(X₀) ≤ 1.", _claim("rank-bound")),
    Erratum(
        "Linear rates on strongly convex sets whenever x* is on the boundary.",
        "The gradient must be bounded away from zero on the set, and the step short or searched.",
    ),
    Erratum("|∇f(yₖ)| → 0 makes yₖ converge.", "Not by itself."),
    Erratum("GD and AGM are too expensive for MovieLens 100K.", MEASURED, _claim("expensive")),
)  # fmt: skip


def errata_table(results: Results, quick: bool) -> Table:
    """Return the list of errata with what was measured."""
    rows = []
    for erratum in ERRATA:
        try:
            how = BY_READING if erratum.evidence is None else erratum.evidence(results, quick)
        except KeyError:
            how = "not run"
        rows.append([erratum.printed, erratum.corrected, how])
    return Table("errata", "Errata", ["the paper prints", "should be", "how we know"], rows, words=True)
