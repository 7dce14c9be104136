"""The summary: verdicts, tables and thinned figures as plain data, from which the page, the documentation's chapter and
the README's table are all made."""

from __future__ import annotations

import json
import os
import platform
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from frankwolfe.paper.claims import CLAIMS, FINDINGS, Claim, errata_table
from frankwolfe.paper.problems import METHODS
from frankwolfe.paper.publication.figure_data import Section, Table, from_payload, payload
from frankwolfe.paper.runner import Results
from frankwolfe.paper.store import write_text
from frankwolfe.paper.verdicts import KINDS, Case
from frankwolfe.paper.words import read, versions

TEXT = read("page")
POINTS, DIGITS = 45, 4  # places per curve and digits in the file: enough for a picture
FORMAT = 1


@dataclass(frozen=True)
class Summary:
    """Everything that is shown, wherever it is shown."""

    about: dict[str, Any]
    findings: list[Claim]
    claims: list[Claim]
    sections: list[Section]
    end: list[Section]  # errata and settings


def counts(summary: Summary) -> list[tuple[str, int]]:
    """Return how many claims there are of each verdict that occurs."""
    found = [(kind, sum(r.verdict == kind for r in summary.claims)) for kind in KINDS]
    return [(kind, n) for kind, n in found if n]


def summarise(results: Results, sections: list[Section], quick: bool, about: dict[str, Any]) -> Summary:
    """Judge every claim and put all together; errata, methods, versions and timings come last."""
    errata = Section("errata", "Errata", TEXT["errata"], [], [errata_table(results, quick)])
    methods = [[METHODS[key].name, about] for key, about in TEXT["methods"].items()]
    tables = [
        Table("methods", "Methods", ["name", "what it is"], methods, words=True),
        Table("this-page", "This page", ["what", "value"], [[k, v] for k, v in about.items()], words=True),
    ]
    settings = Section("settings", "Settings, versions and timings", TEXT["settings"], [], tables)
    findings, claims = ([c.judged(results, quick) for c in group] for group in (FINDINGS, CLAIMS))
    return Summary(about, findings, claims, sections, [errata, settings])


def about_machine() -> dict[str, str]:
    """Return versions and the machine, in words."""
    load = {"load in the last 15 minutes": f"{os.getloadavg()[2]:.1f}"} if hasattr(os, "getloadavg") else {}
    return versions("frankwolfe", "numpy", "scipy", "numba", "matplotlib") | {
        "machine": f"{platform.machine()}, {platform.system()}, {_processor()}",
        "cores": str(os.cpu_count()),
        **load,
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or "processor unknown"


def write_summary(path: Path, summary: Summary) -> None:
    """Write the summary as JSON, one entry a line: small, and readable in a diff."""
    data = {
        "format": FORMAT,
        "about": summary.about,
        "findings": [r._asdict() for r in summary.findings],
        "claims": [r._asdict() for r in summary.claims],
        "sections": list(map(_plain, summary.sections)),
        "end": list(map(_plain, summary.end)),
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, json.dumps(data, ensure_ascii=False, indent=0, separators=(",", ":")).replace(",\n", ",") + "\n")


def _plain(section: Section) -> dict[str, Any]:
    figures = [payload(f, POINTS, DIGITS) for f in section.figures]
    for figure in figures:
        first = next(iter(figure["axes"]))
        figure["axes"] = {first: figure["axes"][first]}  # pictures have one axis
        for panel in figure["panels"]:
            panel["curves"] = [{**c, "x": {first: c["x"][first]}} for c in panel["curves"] if c["shown"]]
    tables = [{**asdict(t), "rows": [[str(c) for c in row] for row in t.rows]} for t in section.tables]
    return {**vars(section), "figures": figures, "tables": tables}


def read_summary(path: Path) -> Summary:
    """Read what `write_summary` wrote."""
    data = json.loads(path.read_text(encoding="utf-8"))
    if data.get("format") != FORMAT:
        raise ValueError(f"{path}: written by another version; run `frankwolfe reproduce all --publish` again")
    findings, claims = (
        [Claim(**{**row, "cases": [Case(*case) for case in row["cases"]]}) for row in data[part]]
        for part in ("findings", "claims")
    )
    sections, end = ([_section(s) for s in data[part]] for part in ("sections", "end"))
    return Summary(data["about"], findings, claims, sections, end)


def _section(data: dict[str, Any]) -> Section:
    figures = [from_payload(f) for f in data["figures"]]
    return Section(**{**data, "figures": figures, "tables": [Table(**t) for t in data["tables"]]})
