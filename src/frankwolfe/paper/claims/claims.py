"""Every claim of the paper with its place and the verdict on it, computed from what was measured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from frankwolfe.paper.claims import measured, theorems
from frankwolfe.paper.claims.verdicts import JUDGES, UNKNOWN, Case, across, counted
from frankwolfe.paper.runner import NotRunError, Results
from frankwolfe.paper.words import fill, read

__all__ = ["CLAIMS", "FINDINGS", "Claim", "Row", "claim", "measured", "theorems"]


class Row(NamedTuple):
    """A claim as `Claim` has it, the verdict on it, the one number behind that, a sentence of reasoning, the cases."""

    key: str
    text: str
    quotation: str
    where: str
    figure: str
    verdict: str
    number: str
    sentence: str
    cases: list[Case]


@dataclass(frozen=True)
class Claim:
    """A claim, where it is made, and the figure that shows it, as ``text/claims.toml`` has them.

    `text` says it in our words or as a formula; `quotation` has the paper's own words, where they are what is judged;
    `number` and `sentence` are filled in with what the claim's judge found.
    """

    key: str
    text: str
    where: str
    figure: str
    sentence: str
    number: str = ""
    quotation: str = ""

    def judged(self, results: Results, quick: bool) -> Row:
        """Return the judgement, or say that the runs it needs are not there."""
        told = (self.key, self.text, self.quotation, self.where, self.figure)
        try:
            cases, values, verdict = JUDGES[self.key](results, quick)
        except NotRunError:
            return Row(*told, UNKNOWN, "", "The runs that this verdict rests on have not been done.", [])
        number, sentence = (fill(text, values) for text in (self.number, self.sentence))
        verdict = verdict or across([c.verdict for c in cases])
        return Row(*told, verdict, number or counted(cases), sentence, list(cases))


def _read(group: str) -> tuple[Claim, ...]:
    """Return the claims of a group; `like` names one whose sentence and number a claim shares."""
    found = read("claims")[group]
    told = {key: {**found.get(entry.get("like"), {}), **entry} for key, entry in found.items()}
    names = ("text", "where", "figure", "sentence", "number")
    return tuple(
        Claim(key, **{name: told[key].get(name, "") for name in names}, quotation=entry.get("quotation", ""))
        for key, entry in found.items()
    )


FINDINGS = _read("findings")
"""What is new here and holds; the page leads with it."""

CLAIMS = _read("claims")


def claim(key: str) -> Claim:
    """Return a claim by its key."""
    return next(c for c in (*FINDINGS, *CLAIMS) if c.key == key)
