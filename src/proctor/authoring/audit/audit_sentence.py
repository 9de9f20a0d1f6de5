"""The result of an audit in one sentence, and why it does not meet `--fail-under`."""

from __future__ import annotations

from collections.abc import Iterator

from proctor.common.safe_text import count_text
from proctor.reports.content.summary import bounds, percent
from proctor.reports.content.symbols import UNICODE
from proctor.schema.analysis.audit_result import AGENTS, AuditResult
from proctor.stats.intervals import wilson


def audit_sentence(audit: AuditResult) -> str:
    """Return the result in one sentence: how many mutants are caught, and which are not."""
    score = audit.score
    if not score.made:
        return "No mutant could be made and scored: nothing was measured."
    share = f"{percent(score.caught / score.made)} %, 95 % CI {bounds(*score.interval, UNICODE)} %"
    errors = [f"{score.errors:,} could not be scored"] if score.errors else []
    parts = [f"Catches {score.caught:,} of {score.made:,} mutants ({share})", *errors, *_weaknesses(audit)]
    return "; ".join(parts) + "."


def shortfall(audit: AuditResult, required: float) -> str:
    """Explain why an audit does not meet the required share; empty if it does."""
    if problem := _shortfall_of_share(audit, required) or _shortfall_of_sample(audit, required):
        return problem
    if passed := audit.passed_by_any:
        return f"an agent that does nothing passes {count_text(len(passed), 'case')}"
    if failed := audit.contradictions:
        return f"the recorded conversation of {count_text(len(failed), 'case')} does not pass or cannot be scored"
    check = audit.leakage
    return f"{check.agent} could see expected values" if check is not None and check.leaks else ""


def _shortfall_of_share(result: AuditResult, required: float) -> str:
    score = result.score
    if score.share is None:
        return "no mutant could be scored"
    share = score.caught / (score.made + score.errors)
    if share >= required:
        return ""
    unscored = f"; {count_text(score.errors, 'mutant')} could not be scored" if score.errors else ""
    return f"{percent(share)} % of the mutants are caught, and {percent(required)} % are required{unscored}"


def _shortfall_of_sample(result: AuditResult, required: float) -> str:
    """Explain why a sample of mutants does not show the required share; empty if it does, or if all were judged."""
    judged, score = result.judged, result.score
    if judged is None or not judged.limit:
        return ""
    total = score.made + score.errors
    low, high = wilson(score.caught, total)
    basis = f"a sample of {count_text(total, 'mutant')}, because of {judged.limit}"
    if low < required:
        interval = f"95 % CI {bounds(low, high, UNICODE)} %"
        return f"inconclusive: {interval} by {basis}, and {percent(required)} % are required"
    if count := judged.agents_left_out:
        return f"inconclusive: {count_text(count, 'agent')} that do nothing were not judged ({judged.limit})"
    return ""


def _weaknesses(audit: AuditResult) -> Iterator[str]:
    weak = [each for each in audit.by_operator if each.score.is_weak and each.family != AGENTS]
    for word, is_blind in (("blind to", True), ("weak on", False)):
        labels = [each.label for each in weak if each.score.is_blind is is_blind]
        if labels:
            yield f"{word} {', '.join(labels)}"
