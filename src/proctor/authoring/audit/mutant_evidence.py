"""The evidence of the mutants that survive in one case: what was recorded, what was planted, and why the case passes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from proctor.authoring.audit.audit_case import AuditedCase, CaseScorer, trial_of
from proctor.common.json_values import equal_json
from proctor.metrics.trajectory.alignment import align
from proctor.reports.content.text_blocks import (
    Block,
    Evidence,
    EvidenceBlock,
    Gap,
    Section,
    StateDifference,
    TextDifference,
    TrialEvidence,
    text_line,
)
from proctor.reports.evidence.trajectory_diff import alignment_lines, state_difference
from proctor.reports.evidence.value_diff import word_difference
from proctor.schema.analysis.audit_result import AuditResult, CaseAudit, Fate, MutantEvidence
from proctor.schema.evidence.trial import Trial
from proctor.schema.format.content import text_of
from proctor.schema.format.invocation import Invocation
from proctor.schema.results.score import MetricVerdict, Outcome, score_text


def evidence_of_survivors(case: AuditedCase) -> list[MutantEvidence]:
    """Return each surviving mutant of a case with its scores and what was recorded."""
    scorer = CaseScorer(case.plan, case.recording, None, judges=True)
    set_id = case.plan.source.eval_set_id
    recorded = trial_of(set_id, case.recording, case.recording.turns, case.recording.state)
    evidence = []
    for survivor in case.survivors:
        mutant = survivor.mutant
        trial, metrics = scorer.verdicts(mutant.turns, mutant.state, survivor.scored.computed)
        evidence.append(compare_mutant(mutant.operator.name, mutant.fault, recorded, trial, metrics))
    return evidence


def compare_mutant(
    operator: str, fault: str, recorded: Trial, mutated: Trial, metrics: Mapping[str, MetricVerdict]
) -> MutantEvidence:
    """Return what differs between a recorded conversation and a mutant of it, with the verdicts on the mutant."""
    turns = [
        turn
        for turn, (one, other) in enumerate(zip(recorded.turns, mutated.turns, strict=True))
        if _data(one) != _data(other)
    ]
    expected, actual = recorded.invocations, mutated.invocations
    return MutantEvidence(
        recorded.eval_id,
        operator,
        fault,
        turns,
        [expected[turn] for turn in turns],
        [actual[turn] for turn in turns],
        recorded.final_state or {},
        mutated.final_state or {},
        {name: each for name, each in metrics.items() if each.outcome is not Outcome.INFORMATIONAL},
    )


def _data(turn: Any) -> Any:
    return turn.model_dump(mode="json", exclude={"started_at", "duration"})


# --- As text ---------------------------------------------------------------------------------------------------------


def survivor_blocks(audit: AuditResult, eval_id: str) -> Iterator[Block]:
    """Yield the mutants that survive in a case, each with what differs and the scores."""
    for case in audit.cases:
        if case.eval_id == eval_id:
            yield from _case_blocks_of_audit(audit, case)


def _case_blocks_of_audit(audit: AuditResult, case: CaseAudit) -> Iterator[Block]:
    place = f" ({case.place})" if case.place else ""
    if case.problem:
        yield text_line(f"{case.eval_id}{place}: {case.problem}")
    else:
        yield text_line(f"{case.eval_id}{place}: {survivors_text(audit, case)}", role="strong")
        yield text_line(
            "Each is the recorded conversation with one planted fault, made for this audit. No agent was called."
        )
    for number, each in enumerate(audit.evidence, 1):
        yield Gap(is_everywhere=True)
        yield text_line(f"mutant {number}: {audit.operators[each.operator][0]}: {each.fault}", role="bad")
        yield Evidence([TrialEvidence(0, [*_sections(each)])])
        yield from map(text_line, _pass_reasons(each.metrics))


def _sections(each: MutantEvidence) -> Iterator[Section]:
    for turn, expected, mutated in zip(each.turns, each.expected, each.mutated, strict=True):
        yield Section(turn, text_of(expected.user_content), [*_differences(expected, mutated)])
    state = _state(each.expected_state, each.mutated_state)
    if state:
        yield Section(None, "", [state])


def _differences(expected: Invocation, mutated: Invocation) -> Iterator[EvidenceBlock]:
    alignment = align(expected.tool_calls, mutated.tool_calls)
    if alignment.differing:
        yield alignment_lines([step.to_data() for step in alignment.steps])
    before, after = (text_of(turn.final_response, thoughts=False) for turn in (expected, mutated))
    if before != after:
        yield TextDifference(*word_difference(before, after))


def _state(expected: Mapping[str, Any], mutated: Mapping[str, Any]) -> StateDifference | None:
    entries = [
        {
            "key": key,
            "kind": "missing" if key not in mutated else "differs",
            "expected": value,
            "actual": mutated.get(key),
        }
        for key, value in expected.items()
        if key not in mutated or not equal_json(value, mutated[key])
    ]
    return state_difference(entries) if entries else None


def survivors_text(audit: AuditResult, case: CaseAudit) -> str:
    """Return how many mutants of a case survive; the agents that do nothing are no mutants."""
    agents = sum(each.operator in audit.agent_names for each in case.mutants)
    idle = len(audit.agents_that_pass(case))
    survived = sum(each.fate is Fate.SURVIVED for each in case.mutants) - idle
    text = f"{survived:,} of {len(case.mutants) - agents:,} mutants survive"
    return f"{text}, and {idle} of {agents} agents that do nothing pass" if idle else text


def _pass_reasons(metrics: Mapping[str, MetricVerdict]) -> Iterator[str]:
    """Yield why the case passes: the scores of the metrics that decide, those that do not decide, and warnings."""
    labels = {
        (True, True): "passes",
        (True, False): "does not apply",
        (False, True): "reported only (`gate` is false)",
    }
    groups: dict[tuple[bool, bool], list[str]] = {each: [] for each in labels}
    for verdict in metrics.values():
        groups.setdefault((verdict.gate, verdict.score is not None), []).append(_score(verdict))
    yield from (f"  {label}: {', '.join(groups[each])}" for each, label in labels.items() if groups[each])
    deciding = [each for each in metrics.values() if each.gate]
    yield from (f"  warning: {warning}" for warning in dict.fromkeys(_warnings(deciding)))


def _score(verdict: MetricVerdict) -> str:
    if verdict.score is None:
        return verdict.name
    limit = "" if verdict.threshold is None else f" (needs {verdict.threshold:g})"
    return f"{verdict.name} {score_text(verdict.score, verdict.threshold)}{limit}"


def _warnings(verdicts: Sequence[MetricVerdict]) -> Iterator[str]:
    for verdict in verdicts:
        for score in verdict.per_trial:
            yield from (
                each.warning for each in (score.per_invocation if score is not None else ()) if each.warning
            )


# --- As plain data ---------------------------------------------------------------------------------------------------


def evidence_data(each: MutantEvidence) -> dict[str, Any]:
    """Return it as plain data, marked as a mutant."""
    return {
        "mutant": {"operator": each.operator, "fault": each.fault, "outcome": Outcome.PASSED.value},
        "eval_id": each.eval_id,
        "turns": [
            {"turn": turn, "expected": _invocation(expected), "mutated": _invocation(mutated)}
            for turn, expected, mutated in zip(each.turns, each.expected, each.mutated, strict=True)
        ],
        "state": {"expected": each.expected_state, "mutated": each.mutated_state},
        "metrics": {
            name: {
                "score": one.score,
                "threshold": one.threshold,
                "gate": one.gate,
                "outcome": one.outcome.value,
            }
            for name, one in each.metrics.items()
        },
    }


def _invocation(turn: Invocation) -> Any:
    return turn.model_dump(mode="json", exclude_none=True)
