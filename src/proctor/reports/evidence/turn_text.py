"""A trial turn by turn for --verbose: messages, calls, answers and scores."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from proctor.reports.evidence.blocks import (
    Block,
    Fact,
    Findings,
    Note,
    Section,
    Steps,
    TextDifference,
    TrialEvidence,
)
from proctor.reports.evidence.judge_findings import findings_of
from proctor.reports.evidence.trajectory_diff import call_text, steps_of
from proctor.schema.format.invocation import Invocation
from proctor.schema.results.run_result import CaseResult, MetricVerdict, Outcome
from proctor.schema.results.score import Score, score_text


def shown_trials(case: CaseResult) -> list[int]:
    """Return the trials of a passed case that are shown: the first, and each that did not pass."""
    missed = [trial.number for trial in case.trials if trial.outcome is not Outcome.PASSED]
    return sorted({*(trial.number for trial in case.trials[:1]), *missed})


def add_turns(evidence: TrialEvidence, case: CaseResult) -> None:
    """Add to `evidence` what it does not show yet of each turn: calls, answer, scores."""
    result = next((trial for trial in case.trials if trial.number == evidence.trial), None)
    recorded = result.trial if result is not None else None
    invocations = recorded.invocations if recorded else []
    scores = _scores(case, evidence.trial)
    for turn in range(max([len(invocations), *(len(each) for _, each in scores)])):
        section = next((one for one in evidence.sections if one.turn == turn), None)
        if section is None:
            section = Section(turn)
            evidence.sections.append(section)
        of_turn = [(metric, each[turn]) for metric, each in scores if turn < len(each)]
        actual = invocations[turn] if turn < len(invocations) else None
        section.blocks = [*_calls(section, of_turn, actual), *section.blocks]
        section.blocks += _answer(section, of_turn, actual)
        section.blocks += [block for block in _judge_blocks(of_turn) if block not in section.blocks]
        section.blocks += _reason_blocks(of_turn)


_Scored = list[tuple[MetricVerdict, Score]]


def _scores(case: CaseResult, number: int) -> list[tuple[MetricVerdict, list[Score]]]:
    """The scores of one trial by turn, of the metrics that decide."""
    deciding = (m for m in case.metrics.values() if m.gate and number < len(m.per_trial))
    return [(m, found.per_invocation) for m in deciding if (found := m.per_trial[number]) is not None]


def _calls(section: Section, scored: _Scored, actual: Invocation | None) -> Iterator[Block]:
    if any(isinstance(block, Steps) for block in section.blocks):
        return
    alignment = _detail(scored, "alignment")
    if alignment:
        yield steps_of(alignment, longest=None)
    elif actual is not None:
        for call in actual.tool_calls:
            yield Fact("call", call_text(call.name or "", call.args))


def _answer(section: Section, scored: _Scored, actual: Invocation | None) -> Iterator[Block]:
    if any(isinstance(block, TextDifference) for block in section.blocks):
        return
    text = _detail(scored, "text")
    said = actual.final_response.joined_text() if actual and actual.final_response else ""
    if not said and isinstance(text, Mapping):
        said = str(text.get("actual") or "")
    if said:
        yield Fact("answer", said)


def _judge_blocks(scored: _Scored) -> Iterator[Block]:
    for metric, score in scored:
        found = [*findings_of(score.details or {}, metric.name, full=True)]
        yield from found
        if found and score.reason and not any(isinstance(block, Findings) for block in found):
            yield Note(metric.name, score.reason)  # the words of the judge, also where it is content


def _reason_blocks(scored: _Scored) -> Iterator[Block]:
    scores = [
        f"{metric.name} {score_text(score.value, metric.threshold)}"
        for metric, score in scored
        if score.value is not None
    ]
    if scores:
        yield Fact("scores", ", ".join(scores))


def _detail(scored: _Scored, key: str) -> Any:
    return next((found for _, score in scored if (found := (score.details or {}).get(key))), None)
