"""Slips in the paper, with what should stand there and, where it can be measured, the number that shows it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from frankwolfe.experiments import claims, fig4, table, theory
from frankwolfe.experiments.figures import Table
from frankwolfe.experiments.problems import Data
from frankwolfe.experiments.runner import Results

BY_READING = "by reading"


@dataclass(frozen=True)
class Erratum:
    """What is printed, what should be, and how we know."""

    printed: str
    corrected: str
    evidence: Callable[[Results, bool], str] | None = None


def _typo(results: Results, quick: bool) -> str:
    facts = results[theory.Checks()].facts
    return (
        f"a quadratic from error {facts['typo_start']:.3g}: after {theory.STEPS} steps "
        f"{facts['typo_printed']:.3g} as printed, "
        f"{facts['typo_corrected']:.1e} corrected"
    )


def _mushroom(results: Results, quick: bool) -> str:
    facts = results[table.Count(Data("mushrooms"))].facts
    printed = table.PAPER["mushrooms"]
    implied = 100 * facts["nonzeros"] / (printed.rows * printed.columns)
    return (
        f"counted: {facts['rows']} × {facts['columns']}, {table.density(facts):.2f} %; with {printed.columns} "
        "columns it would "
        f"be {implied:.1f} %"
    )


def _mnist(results: Results, quick: bool) -> str:
    return f"counted: {table.density(results[table.Count(Data('mnist'))].facts):.2f} %"


def _claim(text: str) -> Callable[[Results, bool], str]:
    claim = next(c for c in claims.CLAIMS if text in c.text)

    def evidence(results: Results, quick: bool) -> str:
        return f"see the claim “{claim.text}”: {claim.judged(results, quick).verdict}"

    return evidence


def _rank(results: Results, quick: bool) -> str:
    ranks = {m: fig4.rank_at(results, m, 50, quick) for m in ("fw", "afw")}
    return f"from X_0 = 0: rank at k = 50 is {ranks['fw']:.0f} (FW), {ranks['afw']:.0f} (AFW)"


ERRATA = (
    Erratum("Strongly convex AGM: z = y − y/μ.", "z = y − ∇f(y)/μ.", _typo),
    Erratum("Algorithms 2 and 3 do not say where v starts.", "v_0 = x_0 (said in the appendix only)."),
    Erratum("References to lines 4–6 of Algorithm 2.", "Lines 3–5; and the estimate sequence is Nesterov's."),
    Erratum("Connection 1: squared radius r_k at most (2/L)(…).", "(4/L)(…)."),
    Erratum("Assumption 4: |∇f(x*)|² ≥ G, but Lemma 8 uses ≤ √G.", "G = |∇f(x*)|²; in the lp part G is a q-norm."),
    Erratum("Theorem 3, proof: a sum lost L/2; the product runs over δ_τ.", "C₃² carries L/2; ∏(1 − δ_j); |θ_k|."),
    Erratum("Past gradients from τ = 1, weights “≈ 1”.", "From τ = 0; the weights add up to 1 − λ_{k+1}."),
    Erratum("l1: the margin λ is for all i, and clashes with λ_k.", "All i but the largest; absolute values."),
    Erratum("l1 lemma: f(x_k) ≤ Φ_k(v_k) = Φ_k* + ξ_k.", "f(x_k) ≤ Φ_k* + ξ_k, and −Lδ²/2.", _claim("Φ_k*")),
    Erratum("l1 theorem, proof: θ_τ, and a last “=”.", "ζ_τ, and “≤”."),
    Erratum("lp: |∇f_i(x*)| = λ; Taylor term without ½; O for Õ.", "≥ λ (p > 2 only); ½; Õ.", _claim("lp balls")),
    Erratum("Table: mushroom has d = 122.", "d = 112.", _mushroom),
    Erratum("Table: mnist has 12.4 % nonzeros.", "Not explained by the raw pixels.", _mnist),
    Erratum("The lower bound is O(1/ε).", "Ω(1/ε).", _claim("beats 1/k")),
    Erratum("AFW “strictly dominates” FW.", "Not on every set, nor for every radius.", _claim("strictly dominates")),
    Erratum("“Almost no extra cost”.", "True of closed-form oracles only.", _claim("almost no extra")),
    Erratum("rank(X_k) ≤ k + 1.", "Needs rank(X_0) ≤ 1.", _rank),
    Erratum(
        "Linear rates on strongly convex sets whenever x* is on the boundary.",
        "The gradient must be bounded away from zero on the set, and the step short or searched.",
    ),
    Erratum("|∇f(y_k)| → 0 makes y_k converge.", "Not by itself."),
    Erratum("GD and AGM are too expensive for MovieLens 100K.", "Not at this size.", _claim("too expensive")),
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
    return Table("errata", "Errata", ["the paper prints", "should be", "how we know"], rows)
