"""Every claim of the paper with its place and the verdict on it, computed from what was measured; and its slips."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from frankwolfe.paper.problems import Data
from frankwolfe.paper.publication.figure_data import Table
from frankwolfe.paper.runner import NotRunError, Results
from frankwolfe.paper.sections import MODULES, dataset_table, fig1
from frankwolfe.paper.verdicts import UNKNOWN, Case, Judge, across, counted
from frankwolfe.paper.words import fill, read


def judge(key: str) -> Judge:
    """Return the function that judges a claim, in the section that shows it: the one of its key, with underscores."""
    name = key.replace("-", "_")
    return next(getattr(module, name) for module in MODULES.values() if hasattr(module, name))


class Claim(NamedTuple):
    """A claim, where it is made, and the figure that shows it, as ``text/claims.toml`` has them, and what was found.

    `text` says it in our words or as a formula; `quotation` has the paper's own words, where they are what is judged,
    and `quoted_from` where they stand if not in the same place;
    `number` and `sentence` are filled in with what the claim's judge found.
    """

    key: str
    text: str
    where: str
    figure: str
    sentence: str
    number: str = ""
    quotation: str = ""
    quoted_from: str = ""
    verdict: str = ""
    cases: Sequence[Case] = ()

    def judged(self, results: Results, quick: bool) -> Claim:
        """Return it with the judgement, or with the remark that the runs it needs are not there."""
        try:
            cases, values, verdict = judge(self.key)(results, quick)
        except NotRunError:
            words = "The runs that this verdict rests on have not been done."
            return self._replace(verdict=UNKNOWN, number="", sentence=words)
        number, sentence = (fill(text, values) for text in (self.number, self.sentence))
        verdict = verdict or across([c.verdict for c in cases])
        return self._replace(verdict=verdict, number=number or counted(cases), sentence=sentence, cases=list(cases))


def _read(group: str) -> tuple[Claim, ...]:
    """Return the claims of a group; `like` names one whose sentence and number a claim shares."""
    found, out = read("claims")[group], []
    for key, entry in found.items():
        told = {name: text for name, text in entry.items() if name != "like"}
        like = found.get(entry.get("like"), {})
        out.append(Claim(key, **{name: like[name] for name in ("sentence", "number") if name in like} | told))
    return tuple(out)


FINDINGS = _read("findings")
"""What is new here and holds; the page leads with it."""

CLAIMS = _read("claims")


def claim(key: str) -> Claim:
    """Return a claim by its key."""
    return next(c for c in (*FINDINGS, *CLAIMS) if c.key == key)


ERRATA: list[dict[str, str]] = read("errata")["errata"]


def errata_table(results: Results, quick: bool) -> Table:
    """Return the list of errata with what was measured."""
    rows = [[e["printed"], e["corrected"], _evidence(e, results, quick)] for e in ERRATA]
    return Table("errata", "Errata", ["the paper prints", "should be", "how we know"], rows, words=True)


def _evidence(erratum: dict[str, str], results: Results, quick: bool) -> str:
    """Return how we know; in the words of a verdict where there is one, so that the two cannot differ."""
    if "claim" in erratum:
        told = claim(erratum["claim"]).judged(results, quick)
        if told.verdict == UNKNOWN:
            return UNKNOWN
        measured = f"{told.verdict} ({told.number})"
        whole = erratum["corrected"].startswith("As measured")
        return f"{measured}: {told.sentence}" if whole else f"by reading; as corrected it {measured}"
    try:
        return fill(erratum["measured"], _measured(results)) if "measured" in erratum else "by reading"
    except NotRunError:
        return UNKNOWN


def _measured(results: Results) -> dict[str, Any]:
    mushrooms, mnist = (results[dataset_table.Count(Data(name))].facts for name in ("mushrooms", "mnist"))
    printed, convex = dataset_table.PAPER["mushrooms"].columns, results[fig1.StronglyConvex()]
    return {
        "rows": mushrooms["rows"],
        "columns": mushrooms["columns"],
        "density": dataset_table.density(mushrooms),
        "implied": dataset_table.density({**mushrooms, "columns": printed}),
        "printed": printed,
        "mnist": dataset_table.density(mnist),
        "steps": int(convex["k"][-1]),
        "start": convex["error"][0],
        "typo": convex["printed"][-1],
        "corrected": convex["error"][-1],
    }
