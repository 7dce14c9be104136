"""Every claim of the paper with its place and the verdict on it, computed from what was measured."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from frankwolfe.paper.claims import measured, theorems
from frankwolfe.paper.claims.verdicts import UNKNOWN, Case, Judge, across, counted
from frankwolfe.paper.runner import NotRunError, Results
from frankwolfe.paper.words import fill, read


def judge(key: str) -> Judge:
    """Return the function that judges a claim: the one of its key, with underscores."""
    name = key.replace("-", "_")
    return getattr(theorems if hasattr(theorems, name) else measured, name)


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
