"""Every claim of the paper with its place, what was measured here, and a verdict computed from it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from frankwolfe.paper.claims import measured_claims as m
from frankwolfe.paper.claims import theorem_claims as t
from frankwolfe.paper.claims.verdicts import NOT_RUN, Judged
from frankwolfe.paper.runner import Results
from frankwolfe.paper.sections import theory_checks
from frankwolfe.paper.store import Task


@dataclass(frozen=True)
class Claim:
    """A claim, where it is made, the figure that shows it, and how it is judged.

    `text` says it in our words or as a formula; `quotation` has the paper's own words, where they are what is judged.
    """

    key: str
    text: str
    where: str
    figure: str
    judge: Callable[[Results, bool], Judged]
    quotation: str = ""

    def judged(self, results: Results, quick: bool) -> Judged:
        """Return the judgement, or say that the runs it needs are not there."""
        try:
            return self.judge(results, quick)
        except KeyError:
            return NOT_RUN


def tasks(quick: bool) -> list[Task]:
    return [theory_checks.Checks()]


FINDINGS = (
    Claim(
        "certificate",
        "AFW's averaged tangents prove a lower bound on f* that costs nothing.",
        "new here",
        "certificates",
        t.certificate,
    ),
    Claim(
        "line-search",
        "AFW with a line search on x keeps every lemma and is faster by orders of magnitude on curved balls.",
        "new here",
        "beyond",
        t.searching,
    ),
)
"""What is new here and holds; the page leads with it."""

CLAIMS = (
    Claim(
        "l2-rate",
        "AFW: 1/k² up to logarithms when the l2 ball is active.",
        "Theorem 3 (quoted: abstract)",
        "beyond",
        t.rates("l2"),
        "converges with a faster rate Õ(1/k²) on certain constraint sets",
    ),
    Claim(
        "improves",
        "On active l2 balls AFW has smaller errors than FW.",
        "after Theorem 3",
        "map-mushrooms",
        t.improves,
        "momentum improves the convergence of FW",
    ),
    Claim(
        "general",
        "hₖ ≤ 2h₀/((k+1)(k+2)) + 2LD²/(k+2) on every compact convex set.",
        "theorem on general sets (quoted: abstract)",
        "fig3",
        t.general_bound,
        "the same O(1/k) rate as FW on general cases",
    ),
    Claim(
        "l1-rate",
        "AFW: 1/k² on the l1 ball when one entry of ∇f(x*) is largest in modulus.",
        "theorem on the l1 ball",
        "vertex",
        t.vertex_rate,
    ),
    Claim(
        "l1-freeze", "… because v is constant from a finite T on.", "theorem on the l1 ball, proof", "vertex", t.vertex
    ),
    Claim(
        "lp-rate",
        "AFW: Õ(1/k²) on active lp balls when no entry of ∇f(x*) is near zero.",
        "section on lp balls",
        "beyond",
        t.rates("lp"),
    ),
    Claim("support-rate", "The same on n-support balls.", "section on n-support balls", "beyond", t.rates("ksupport")),
    Claim(
        "group-rate",
        "The same on group balls, s and p in (1, 2].",
        "section on group balls",
        "beyond",
        t.rates("group"),
    ),
    Claim(
        "lemma-es",
        "f(xₖ) ≤ Φₖ* + ξₖ (the estimate sequence).",
        "lemma on the estimate sequence",
        "certificates",
        t.lemma,
    ),
    Claim("lemma-7", "|∇f(yₖ) − ∇f(x*)| ≤ C₁/√(k+3).", "Lemma 7", "proven", t.lemma_seven),
    Claim("lemma-8", "|θₖ₊₁ − ∇f(x*)| ≤ C₂/(√(k+3) − 1).", "Lemma 8", "proven", t.lemma_eight),
    Claim("lemma-9", "|vₖ₊₁ − vₖ| ≤ C₃/(√(k+2) − 1) for k > T.", "Lemma 9", "proven", t.lemma_nine),
    Claim(
        "settling",
        "|θₖ₊₁| ≥ |∇f(x*)|/2 from T = (2C₂/√G + 1)² − 3 on.",
        "Theorem 3, proof",
        "proven",
        t.settling_time,
    ),
    Claim(
        "dominates",
        "AFW is never behind FW.",
        "discussion of Theorem 3",
        "map-mushrooms",
        t.dominates,
        "strictly dominates",
    ),
    Claim(
        "lower-bound", "No method of this kind beats 1/k while k is below d.", "introduction", "simplex", t.slow_simplex
    ),
    Claim(
        "jumping",
        "f = x² on [−1, 1]: v jumps from end to end, so acceleration fails.",
        "section on AFW, general sets",
        "why",
        t.jumping,
    ),
    Claim(
        "fig1",
        "The function that AGM minimises for v flattens into that of a Frank-Wolfe step.",
        "Fig. 1",
        "fig1",
        t.flattening,
    ),
    Claim("connection-1-gd", "With vₖ₊₁ = xₖ₊₁ AGM is gradient descent.", "Connection 1", "agm", t.gradient_descent),
    Claim(
        "connection-1-ball",
        "AGM's step for v is a linear minimisation over a ball of bounded radius.",
        "Connection 1",
        "agm",
        t.ball_step,
    ),
    Claim(
        "theorem-4",
        "AGM's weighted tangent values exceed f* by at most 2L|x₀ − x*|²/(k(k+3)).",
        "Connection 2, Theorem 4",
        "agm",
        t.theorem_four,
        "(almost) an under-estimate",
    ),
    Claim("agm", "AGM: error, gradient and |vₖ − x*| obey their bounds.", "section on AGM", "agm", t.agm),
    Claim(
        "inactive",
        "With an inactive constraint AFW is ahead of GD and FW, and behind AGM.",
        "Fig. 2",
        "fig2",
        m.inactive,
    ),
    Claim("stable", "AFW zig-zags much less than FW.", "Fig. 2", "fig2", m.stable, "AFW is much more stable"),
    Claim(
        "faster",
        "AFW is much faster than FW on every dataset, on active l2 and l1 balls.",
        "Fig. 3",
        "fig3",
        m.faster_than_fw,
    ),
    Claim(
        "l2-agm",
        "On active l2 balls AFW beats AGM, except on covtype.",
        "Fig. 3, first row",
        "fig3",
        m.against_agm("l2", {"mushrooms": "better", "mnist": "better", "covtype": "worse"}),
    ),
    Claim(
        "l1-agm",
        "On active l1 balls AFW is comparable to AGM on mnist and covtype, and better on mushroom.",
        "Fig. 3, second row",
        "fig3",
        m.against_agm("l1", {"mushrooms": "better", "mnist": "comparable", "covtype": "comparable"}),
    ),
    Claim(
        "completion",
        "Matrix completion: AFW is about 1.4 times faster than FW.",
        "Fig. 4a",
        "fig4",
        m.completion,
        "1.4×",
    ),
    Claim("rank", "Matrix completion: AFW finds solutions of lower rank.", "Fig. 4b", "fig4", m.lower_rank),
    Claim("rank-bound", "The rank of Xₖ is at most k + 1.", "section on matrix completion", "fig4", t.rank_bound),
    Claim(
        "free",
        "An iteration of AFW costs hardly more than one of FW.",
        "abstract",
        "fig4",
        m.free,
        "at almost no extra cost",
    ),
    Claim(
        "sliding",
        "AFW takes one FW step a time, CGS solves up to O(k) of them.",
        "related work",
        "cost",
        m.one_oracle_call,
    ),
    Claim(
        "cheaper",
        "On l1 balls an iteration of AFW is cheaper than one of AGM.",
        "numerical tests",
        "cost",
        m.cheaper_than_agm,
    ),
    Claim(
        "expensive",
        "GD and AGM are too expensive for MovieLens 100K.",
        "numerical tests, matrix completion",
        "fig4",
        m.too_expensive,
    ),
)


def claim(key: str) -> Claim:
    """Return a claim by its key."""
    return next(c for c in (*FINDINGS, *CLAIMS) if c.key == key)
