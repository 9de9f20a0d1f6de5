"""What is told of a case where many read it: in a pull request, in the log of a CI server. Secrets are hidden."""

from __future__ import annotations

from collections.abc import Iterator

from proctor.common.secrets import without_secrets
from proctor.reports.content.symbols import WORDS
from proctor.reports.evidence.case_evidence import reason_of
from proctor.reports.plain.evidence import evidence_lines
from proctor.schema.evidence.trial import Failure
from proctor.schema.results.run_result import CaseResult

_LONGEST = 40_000
"""Characters that are looked at; no report shows as many."""


def reason(case: CaseResult) -> str:
    """Return why a case ended as it did; its outcome where nothing says why."""
    return hidden(reason_of(case)) or WORDS[case.outcome]


def lines(case: CaseResult, *, full: bool = False) -> Iterator[str]:
    """Return the evidence of a case line by line, without what its reason has told already."""
    return map(hidden, evidence_lines(case, reason_of(case), full=full))


def cause(failure: Failure) -> str:
    """Return what failed and why."""
    return hidden(failure.cause)


def hidden(text: str) -> str:
    """Return any text without secrets."""
    return without_secrets(text[:_LONGEST])
