"""The page on plain lines explains every word that begins one."""

import re

from proctor.schema.analysis.comparison import CaseChange
from proctor.schema.analysis.history import Course
from proctor.schema.results.score import Outcome
from tests.docs.examples.pages import ROOT

PAGE = (ROOT / "docs" / "reference" / "results" / "plain-lines.md").read_text(encoding="utf-8")
LEGEND = PAGE.partition("## Legend")[2].partition("\n## ")[0]
_WORD = re.compile(r"(?:fields\(|record=\(|Record\(\(|\.Record\(|Verdict\([^\n]*\()\s*\"([A-Z][A-Z_-]+)\"")
_PRINTED = re.compile(r"f\"([A-Z][A-Z-]+) {2,}\{")
OUTCOMES = {*Outcome} - {Outcome.NOT_APPLICABLE, Outcome.INFORMATIONAL}
"""Outcomes of cases; the other two are outcomes of metrics."""


def test_legend_has_every_heading_word() -> None:
    source = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "src" / "proctor").rglob("*.py"))
    words = {*_WORD.findall(source), *_PRINTED.findall(source)}
    words |= {str(one.value).upper() for one in (*OUTCOMES, *CaseChange, *Course)}
    assert len(words) > 30
    assert {word for word in words if f"| `{word}` |" not in LEGEND} == set()


def test_legend_is_sorted() -> None:
    words = re.findall(r"^\| `([A-Z_-]+)`", LEGEND, re.MULTILINE)
    assert words == sorted(words)
