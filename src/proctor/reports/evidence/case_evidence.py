"""What a case has to show for its outcome: for each turn that missed, the two sides and how they differ."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from proctor.reports.content.reasons import TELLING, deciding, reason_of, warnings_of
from proctor.reports.evidence.blocks import Block, Findings, Note, Section, TextDifference, TrialEvidence
from proctor.reports.evidence.failure_text import cause_of
from proctor.reports.evidence.judge_findings import findings_of
from proctor.reports.evidence.simulated_users import add_simulator_facts
from proctor.reports.evidence.trajectory_diff import LONGEST_CALL, state_of, steps_of
from proctor.reports.evidence.turn_text import add_turns, shown_trials
from proctor.reports.evidence.word_diff import elide, word_difference
from proctor.schema.evidence.trial import Trial
from proctor.schema.results.run_result import CaseResult, MetricVerdict, Outcome, TrialResult
from proctor.schema.results.score import MetricScore, Score

__all__ = ["deciding", "evidence_of", "reason_of", "warnings_of"]


def evidence_of(
    case: CaseResult, *, full: bool = False, longest_call: int = LONGEST_CALL
) -> list[TrialEvidence]:
    """Return what to show of a case.

    Of each metric that missed, and of each kind of failure, the first trial is taken: one good example says more than
    five alike. Calls are shortened to about `longest_call` characters. `full` takes every such trial (of a case that
    passed the first) with all its turns, and shortens nothing.
    """
    limit = None if full else longest_call
    trials = [TrialEvidence(number) for number in range(_trial_count(case))]
    for metric in deciding(case):
        missed = [
            (n, score)
            for n, score in enumerate(metric.per_trial)
            if score is not None and _misses(metric, score)
        ]
        for number, score in missed if full else missed[:1]:
            _add_metric(trials[number].sections, metric, score, limit)
    for trial in _failed_trials(case, every=full):
        turn = trial.failure.turn if trial.failure else None
        if trial.failure:
            _extend(trials[trial.number].sections, turn, [cause_of(trial.failure)])
    if full:
        _add_notes(trials, case)
    telling = [trial for trial in trials if trial.sections]
    shown = telling or ([trials[number] for number in shown_trials(case)] if full else [])
    for evidence in shown:
        if full:
            add_turns(evidence, case)
        recorded = _recorded_trial(evidence, case.trials)
        add_simulator_facts(evidence, recorded, full=full)
        _in_order(evidence, recorded)
    return shown


def _trial_count(case: CaseResult) -> int:
    of_metrics = (len(metric.per_trial) for metric in case.metrics.values())
    of_trials = (trial.number + 1 for trial in case.trials)
    return max([1, *of_metrics, *of_trials])


def _misses(metric: MetricVerdict, score: MetricScore) -> bool:
    if score.failure is not None:
        return True
    return score.value is not None and metric.threshold is not None and score.value < metric.threshold


def _failed_trials(case: CaseResult, *, every: bool) -> Iterator[TrialResult]:
    """Trials that broke off; one of each cause is enough, unless every one is asked for."""
    seen: set[str] = set()
    for trial in case.trials:
        if trial.failure and (every or trial.failure.cause not in seen):
            seen.add(trial.failure.cause)
            yield trial


def _add_metric(
    sections: list[Section], metric: MetricVerdict, score: MetricScore, limit: int | None
) -> None:
    """Append the blocks of one metric about one trial."""
    before = sum(len(section.blocks) for section in sections)
    for turn, each in enumerate(score.per_invocation):
        if metric.judge(each).outcome in TELLING:
            _extend(sections, turn, _of_turn(metric, each, limit, _blocks(sections, turn)))
    drawn = _detail_blocks(score.details, metric.name, limit)
    overall = [block for block in drawn if block not in _blocks(sections, None)]
    if any(isinstance(block, Findings) for section in sections for block in section.blocks):
        overall = [
            block for block in overall if not isinstance(block, Findings)
        ]  # the details of each turn are more precise
    if score.failure is not None:
        overall.append(cause_of(score.failure))
    _extend(sections, None, overall)
    if sum(len(section.blocks) for section in sections) == before and (score.reason or metric.reason):
        _extend(sections, None, [Note(metric.name, score.reason or metric.reason)])


def _blocks(sections: Iterable[Section], turn: int | None) -> list[Block]:
    """What is shown of a turn so far."""
    return [block for section in sections if section.turn == turn for block in section.blocks]


def _of_turn(
    metric: MetricVerdict, score: Score, limit: int | None, shown: Sequence[Block]
) -> Iterator[Block]:
    """Return what one metric found in a turn; if another metric has the same blocks, only the reason."""
    drawn = [block for block in _detail_blocks(score.details, metric.name, limit) if block not in shown]
    yield from drawn
    has_findings = any(isinstance(block, Findings) for block in drawn)  # they contain the reasons
    if score.reason and not has_findings and (limit is None or not drawn):
        yield Note(metric.name, score.reason)
    if score.warning and (warning := Note("warning", score.warning)) not in shown:
        yield warning


def _detail_blocks(details: Mapping[str, Any] | None, metric: str, limit: int | None) -> list[Block]:
    """Return the details of the documented shapes (see `proctor.schema.results.score`) as blocks."""
    found: list[Block] = []
    if not details:
        return found
    if alignment := _dicts(details.get("alignment")):
        found.append(steps_of(alignment, longest=limit))
    if note := details.get("note"):
        found.append(Note("note", str(note)))
    if isinstance(text := details.get("text"), Mapping):
        found.append(
            _text(str(text.get("expected") or ""), str(text.get("actual") or ""), full=limit is None)
        )
    if (state := _dicts(details.get("state"))) and (difference := state_of(state, full=limit is None)).lines:
        found.append(difference)
    return [*found, *findings_of(details, metric, full=limit is None)]


def _dicts(value: Any) -> list[Mapping[str, Any]]:
    """The objects in a list: a metric that is not ours may have put anything there."""
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, Sequence) else []


def _text(expected: str, actual: str, *, full: bool) -> TextDifference:
    wanted, made = word_difference(expected, actual)
    return TextDifference(wanted, made) if full else TextDifference(elide(wanted), elide(made))


def _extend(sections: list[Section], turn: int | None, blocks: Iterable[Block]) -> None:
    """Add blocks to the section of a turn; a section without any is not made."""
    new = list(blocks)
    found = next((section for section in sections if section.turn == turn), None)
    if found is not None:
        found.blocks += new
    elif new:
        sections.append(Section(turn, blocks=new))


def _add_notes(trials: Iterable[TrialEvidence], case: CaseResult) -> None:
    """Add why a metric did not apply, for each of these metrics."""
    evidence = next((trial for trial in trials if trial.sections), None)
    silent = [
        m for m in case.metrics.values() if m.gate and m.outcome in {Outcome.NOT_APPLICABLE, Outcome.SKIPPED}
    ]
    if evidence is not None and silent:
        notes = [
            Note(metric.outcome.value.replace("_", " "), f"{metric.name}: {metric.reason}")
            for metric in silent
        ]
        _extend(evidence.sections, None, notes)


def _recorded_trial(evidence: TrialEvidence, trials: Sequence[TrialResult]) -> Trial | None:
    """Return the trial of the evidence, if it was kept."""
    result = next((trial for trial in trials if trial.number == evidence.trial), None)
    return result.trial if result is not None else None


def _in_order(evidence: TrialEvidence, recorded: Trial | None) -> None:
    """Turns in their order with the user's words, then what concerns the trial as a whole."""
    evidence.sections.sort(key=lambda section: (section.turn is None, section.turn or 0))
    if not any(section.turn is not None for section in evidence.sections):
        return
    for section in evidence.sections:
        if recorded and section.turn is not None and section.turn < len(recorded.turns):
            section.said = recorded.turns[section.turn].user_content.joined_text()
