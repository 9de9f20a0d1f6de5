"""The page on plain lines explains every word that begins one."""

import inspect
import re

from proctor.reports.content import run_list
from proctor.schema.analysis.comparison import CaseChange
from proctor.schema.analysis.history import Course
from proctor.schema.results.score import Outcome
from tests.docs.examples.pages import ROOT

PAGE = (ROOT / "docs" / "reference" / "results" / "plain-lines.md").read_text(encoding="utf-8")
LEGEND = PAGE.partition("## Legend")[2].partition("\n## ")[0]
_WORD = re.compile(r"(?:fields\(|record=\(|Record\(\(|\.Record\(|Verdict\([^\n]*\()\s*\"([A-Z][A-Z_-]+)\"")
_FIELD = re.compile(r"\bf\"([a-z_]+)=\{")
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


def test_page_has_every_field_with_a_name() -> None:
    folders = ("reports/content", "analysis", "cli/runs")
    files = [path for folder in folders for path in (ROOT / "src" / "proctor" / folder).rglob("*.py")]
    names = {name for path in files for name in _FIELD.findall(path.read_text(encoding="utf-8"))}
    assert len(names) > 25
    assert {name for name in names if f"`{name}=" not in PAGE} == set()


def test_row_of_the_list_of_runs_has_every_field() -> None:
    row = re.search(r"^\| `RUN` .*", PAGE.partition("## Stored runs")[2], re.MULTILINE)
    names = {*_FIELD.findall(inspect.getsource(run_list._record)), *run_list._LIVE_FIGURES}
    assert len(names) > 10
    assert row is not None
    assert {name for name in names if f"`{name}=`" not in row[0]} == set()
