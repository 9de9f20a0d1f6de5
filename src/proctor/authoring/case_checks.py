"""What a run would refuse about one case, said of its fields while it is being written; nothing is run."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from proctor.authoring.assertion_report import assertion_findings
from proctor.authoring.edit_case import NotACaseError, case_of
from proctor.engine.planning.case_checks import checks_of, problems_of
from proctor.files.text.message_location import finding_told
from proctor.files.text.validation_messages import Finding

__all__ = ["CheckedCase", "check_case"]

_OPTION = re.compile(r"`(\w+)`")


@dataclass(slots=True)
class CheckedCase:
    """What there is to say about a case, each finding with its path."""

    wrong: list[Finding] = field(default_factory=list)
    """Why it is no case: it cannot be saved so."""
    refused: list[Finding] = field(default_factory=list)
    """What it expects and nobody could check: it can be saved, and no run of it begins."""
    doubtful: list[Finding] = field(default_factory=list)


def check_case(value: Any, path: Path | None = None) -> CheckedCase:
    """Look at a case as a run would, whatever its metrics: expectations, rules, schema, final state.

    `path`: the file of its set; by that file's config, a case that asserts nothing is doubtful, too.
    """
    try:
        case, doubtful = case_of(value)
    except NotACaseError as error:
        return CheckedCase(wrong=error.findings)
    unasserted = [] if path is None else assertion_findings(case, path)
    said = dict.fromkeys(problems_of(case, checks_of(())))
    return CheckedCase(
        refused=[_at_its_field(finding_told(one, value), value) for one in said],
        doubtful=[*doubtful, *unasserted],
    )


def _at_its_field(finding: Finding, value: Any) -> Finding:
    """The finding at the key that its message begins with (`pattern`), where it is about one of an object's."""
    there = value
    for step in finding.path:
        there = there[step]
    named = _OPTION.match(finding.message)
    if (
        named is None or not isinstance(there, dict) or named[1] in [*there.values()]
    ):  # `number` is a kind, no key
        return finding
    return Finding((*finding.path, named[1]), finding.message, finding.hint)
