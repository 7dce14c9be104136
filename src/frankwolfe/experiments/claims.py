"""Every claim of the paper with what was measured here, and a verdict computed from it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from frankwolfe.experiments import theory
from frankwolfe.experiments.measured import (
    against_agm,
    completion,
    equal_products,
    faster_than_fw,
    free,
    inactive,
    lower_rank,
    too_expensive,
)
from frankwolfe.experiments.runner import Results
from frankwolfe.experiments.store import Task
from frankwolfe.experiments.theorems import (
    agm,
    agm_estimate,
    dominates,
    general_bound,
    jumping,
    lemma,
    rank_bound,
    rates,
    separation,
    settling,
    slow_simplex,
    vertex,
    vertex_rate,
)
from frankwolfe.experiments.verdicts import UNKNOWN, Judged, Verdict


@dataclass(frozen=True)
class Claim:
    """A claim of the paper, where it is made, the figure that shows it, and how it is judged."""

    text: str
    where: str
    figure: str
    judge: Callable[[Results, bool], Judged]

    def judged(self, results: Results, quick: bool) -> Judged:
        """Return the judgement, or say that the runs it needs are not there."""
        try:
            return self.judge(results, quick)
        except KeyError:
            return Judged("", "", Verdict(UNKNOWN))


def tasks(quick: bool) -> list[Task]:
    return [theory.Checks()]


CLAIMS = (
    Claim("With an inactive constraint AFW is ahead of GD and FW, and behind AGM.", "Fig. 2", "fig2", inactive),
    Claim("AFW is much faster than FW on every dataset, on l2 and l1 balls.", "Fig. 3", "fig3", faster_than_fw),
    Claim(
        "On l2 balls AFW beats AGM, except on covtype.",
        "Fig. 3, first row",
        "fig3",
        against_agm("l2", {"mushrooms": "better", "mnist": "better", "covtype": "worse"}),
    ),
    Claim(
        "On l1 balls AFW is comparable to AGM on mnist and covtype, and better on mushroom.",
        "Fig. 3, second row",
        "fig3",
        against_agm("l1", {"mushrooms": "better", "mnist": "comparable", "covtype": "comparable"}),
    ),
    Claim("Matrix completion: AFW is about 1.4 times more accurate than FW.", "Fig. 4a", "fig4", completion),
    Claim("Matrix completion: AFW finds solutions of lower rank.", "Fig. 4b", "fig4", lower_rank),
    Claim("Momentum comes at almost no extra cost.", "text", "fig4", free),
    Claim("… so that AFW is also ahead for the same work.", "text", "fig4", equal_products),
    Claim("GD and AGM are too expensive for MovieLens 100K.", "text", "fig4", too_expensive),
    Claim("h_k ≤ 2h_0/((k+1)(k+2)) + 2LD²/(k+2) on every compact convex set.", "any set", "fig3", general_bound),
    Claim("AFW: 1/k² up to logarithms on an active l2 ball.", "Theorem 3, l2", "beyond", rates(("l2",))),
    Claim("AFW: 1/k² on the l1 ball when one entry of ∇f(x*) is largest.", "theorem, l1", "beyond", vertex_rate),
    Claim("… because v is constant from a finite k on.", "theorem, l1", "certificates", vertex),
    Claim("AFW: 1/k² up to logarithms on active lp balls.", "theorem, lp", "beyond", rates(("lp",))),
    Claim("The same on k-support balls.", "text, n-support", "beyond", rates(("ksupport",))),
    Claim("The same on group balls.", "text, groups", "beyond", rates(("group",))),
    Claim("Plain FW has no such rate: momentum is what accelerates.", "introduction", "beyond", separation),
    Claim("AFW strictly dominates FW.", "text", "beyond", dominates),
    Claim("f(x_k) ≤ Φ_k* + ξ_k (the estimate sequence).", "lemma, estimate sequence", "certificates", lemma),
    Claim("θ_k converges to ∇f(x*), at least like 1/√k.", "Lemma 8", "proofs", settling),
    Claim("f = x² on [−1, 1]: v jumps from end to end, so acceleration fails.", "text", "proofs", jumping),
    Claim("No method of this kind beats 1/k while k is below d.", "introduction", "beyond", slow_simplex),
    Claim("AGM: error, gradient and |v_k − x*| obey their bounds.", "AGM's theorem", "fig1", agm),
    Claim("AGM's v-update, like FW's, estimates f* from a linear bound.", "Connection 2", "fig1", agm_estimate),
    Claim("The rank of x_k is at most k + 1.", "text", "fig4", rank_bound),
)
