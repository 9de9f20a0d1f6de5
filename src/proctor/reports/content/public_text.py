"""Texts about a case for public places, such as a pull request or a CI log. Secrets are hidden."""

from __future__ import annotations

from collections.abc import Iterator

from proctor.common.secrets import hide_secrets
from proctor.reports.content.symbols import WORDS
from proctor.reports.evidence.case_evidence import reason_of
from proctor.reports.plain.evidence import evidence_lines
from proctor.schema.evidence.trial import Failure
from proctor.schema.results.run_result import CaseResult

_LONGEST = 40_000
"""Characters that are searched for secrets; no report shows more."""


def reason(case: CaseResult) -> str:
    """Return why a case has its outcome, or the outcome if there is no reason."""
    return hidden(reason_of(case)) or WORDS[case.outcome]


def lines(case: CaseResult, *, full: bool = False) -> Iterator[str]:
    """Return the evidence of a case line by line, without what its reason already states."""
    return map(hidden, evidence_lines(case, reason_of(case), full=full))


def cause(failure: Failure) -> str:
    """Return the failed component and the error."""
    return hidden(failure.cause)


def hidden(text: str) -> str:
    """Return any text without secrets."""
    return hide_secrets(text[:_LONGEST])
