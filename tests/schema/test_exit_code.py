"""The meaning of each exit code is in one place; help, schema and documentation refer to it."""

import json
import re

import pytest

from proctor.schema.results.exit_code import EXIT_CODES, LABELS, MEANINGS, ExitCode
from tests.docs.examples.pages import ROOT

DOCS = ROOT / "docs"
OF_OTHERS = {DOCS / "reference" / "pytest.md": "the exit codes of pytest"}
"""Pages with a list of codes that are not those of the commands."""


def test_every_code_has_a_meaning_and_is_in_the_help() -> None:
    assert list(MEANINGS) == list(ExitCode)
    for name in ("proctor", "proctor-eval"):
        help_text = " ".join((DOCS / "help" / f"{name}.txt").read_text(encoding="utf-8").split())
        assert EXIT_CODES in help_text, name


def test_schema_of_the_json_report_has_every_code() -> None:
    schema = json.loads((DOCS / "schemas" / "report.schema.json").read_text(encoding="utf-8"))
    assert schema["properties"]["exit_code"]["enum"] == list(ExitCode)
    of_run = schema["$defs"]["exit_code"]["enum"]
    assert of_run == [code for code in ExitCode if code < ExitCode.TERMINAL_CLOSED]


@pytest.mark.slow
def test_no_other_page_lists_the_codes() -> None:
    generated = (DOCS / "reference" / "exit-codes.md", *(DOCS / "reference" / "commands").iterdir())
    pages = {page: page.read_text(encoding="utf-8") for page in DOCS.rglob("*.md")}
    assert {
        page.relative_to(ROOT).as_posix()
        for page, text in pages.items()
        if page not in (*generated, *OF_OTHERS) and any(map(_lists_codes, re.split(r"\n\n|\n(?=\|)", text)))
    } == set()


def _lists_codes(paragraph: str) -> bool:
    """Return whether at least three codes have their meaning: `0 passed`, `2: a configuration error`."""
    found = re.findall(r"\b(\d+):? ([^.:,;|]*)", paragraph)
    return (
        len(
            {
                code
                for code in ExitCode
                for number, text in found
                if number == str(code) and LABELS[code] in text
            }
        )
        >= 3
    )
