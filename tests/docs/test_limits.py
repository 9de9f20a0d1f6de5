"""docs/reference/limits.md states the values that the code has."""

import re

import pytest

from proctor.analysis.history import history
from proctor.cli.runs import history as history_command, runs as runs_command
from proctor.common import limits
from proctor.engine.run_options import OPTIONS
from proctor.files.text import json_scanner
from proctor.files.yaml import parser
from proctor.schema.format.config import DEFAULT_CRITERIA
from tests.docs.examples.pages import ROOT

PAGE = (ROOT / "docs" / "reference" / "limits.md").read_text(encoding="utf-8")


def _cell(row: str) -> str:
    """The second cell of the row that begins with `row`."""
    found = re.search(rf"^\| {re.escape(row)}[^|]*\| ([^|]*) \|", PAGE, flags=re.MULTILINE)
    assert found is not None, f"no row {row!r}"
    return found[1].replace(",", "").strip("`")


@pytest.mark.parametrize("name", ["concurrency", "timeout", "max_text", "max_events", "retry_errors"])
def test_default_number_of_an_option(name: str) -> None:
    assert float(_cell(f"`{name}`")) == OPTIONS[name].default


@pytest.mark.parametrize("name", ["explain", "keep_evidence"])
def test_default_word_of_an_option(name: str) -> None:
    assert _cell(f"`{name}`") == OPTIONS[name].default


@pytest.mark.parametrize(
    "name", ["trial_timeout", "max_failures", "max_time", "max_tokens", "max_cost", "max_judge_calls"]
)
def test_option_without_a_limit(name: str) -> None:
    assert OPTIONS[name].default is None
    row = next(line for line in PAGE.splitlines() if f"`{name}`" in line)
    assert row.split("|")[2].strip() == "–"


@pytest.mark.parametrize(
    ("row", "value"),
    [
        pytest.param("nesting of a tool argument", limits.MAX_DEPTH, id="evidence: nesting"),
        pytest.param("spans of one turn", limits.MAX_SPANS, id="evidence: spans"),
        pytest.param("one text of a span", limits.MAX_SPAN_TEXT, id="evidence: text of a span"),
        pytest.param("nesting of JSON and YAML", json_scanner.MAX_DEPTH, id="files: nesting"),
        pytest.param("digits of a whole number", json_scanner.MAX_DIGITS, id="files: digits"),
        pytest.param("values that YAML aliases repeat", parser.MAX_REPEATED, id="files: aliases"),
        pytest.param("values of a YAML file", parser.MAX_VALUES, id="files: values"),
        pytest.param("`proctor runs`", runs_command.LIMIT, id="runs"),
        pytest.param("`proctor history`", history_command.LIMIT, id="history"),
    ],
)
def test_limit_in_the_code(row: str, value: int) -> None:
    number = re.search(r"\d+", _cell(row))
    assert number is not None
    assert int(number[0]) == value


def test_history_in_python_has_the_limit_of_the_command() -> None:
    assert history.LIMIT == history_command.LIMIT


def test_default_criteria() -> None:
    stated = re.findall(r"`(\w+)` (\d\.\d)", PAGE.partition("the criteria are")[2].partition("\n\n")[0])
    assert {name: float(threshold) for name, threshold in stated} == DEFAULT_CRITERIA
