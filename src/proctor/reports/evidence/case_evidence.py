"""What a case has to show for its outcome: for each turn that missed, the two sides and how they differ."""

from __future__ import annotations

import io
import os
import re
import tokenize
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

from proctor.reports.content.case_digest import TELLING, deciding, reason_of
from proctor.reports.content.text_blocks import (
    LONGEST_CALL,
    Cause,
    Evidence,
    EvidenceBlock,
    Findings,
    RecordedFact,
    Remark,
    Section,
    Steps,
    TextDifference,
    TrialEvidence,
)
from proctor.reports.evidence.judge_findings import findings_of
from proctor.reports.evidence.simulated_users import add_simulator_facts
from proctor.reports.evidence.trajectory_diff import alignment_lines, call_text, state_difference
from proctor.reports.evidence.value_diff import elide, word_difference
from proctor.schema.evidence.trial import Failure, Trial
from proctor.schema.format.invocation import Invocation
from proctor.schema.results.run_result import CaseResult, MetricVerdict, Outcome, TrialResult
from proctor.schema.results.score import MetricScore, Score


def evidence_of(
    case: CaseResult, *, full: bool = False, longest_call: int = LONGEST_CALL
) -> list[TrialEvidence]:
    """Return what to show of a case.

    Of each metric that missed, and of each kind of failure, the first trial is taken: one good example explains more than
    five alike. Calls are shortened to about `longest_call` characters. `full` takes every such trial (of a case that
    passed the first) with all its turns, and shortens nothing.
    """
    trials = _problems_by_trial(case, None if full else longest_call, full=full)
    visible_trials = [trial for trial in trials if trial.sections]
    if full and not visible_trials:
        visible_trials = [trials[number] for number in shown_trials(case)]
    for evidence in visible_trials:
        if full:
            add_turns(evidence, case)
        recorded = _recorded_trial(evidence, case.trials)
        add_simulator_facts(evidence, recorded, full=full)
        _sort_turns(evidence, recorded)
    return visible_trials


def evidence_block(case: CaseResult, *, full: bool = False, longest_call: int = LONGEST_CALL) -> Evidence:
    """Return the evidence of a case below the reason of its outcome."""
    trials = evidence_of(case, full=full, longest_call=longest_call)
    return Evidence(without_reason(trials, reason_of(case)), len(case.trials))


def without_reason(trials: Iterable[TrialEvidence], reason: str) -> list[TrialEvidence]:
    """Return the evidence without what `reason` already states, and without turns and trials that then have nothing to show."""
    result = []
    for trial in trials:
        sections = [
            replace(section, blocks=[*_blocks_without(section.blocks, reason)]) for section in trial.sections
        ]
        if sections := [section for section in sections if section.blocks or section.user_text]:
            result.append(replace(trial, sections=sections))
    return result


def _blocks_without(blocks: Iterable[EvidenceBlock], reason: str) -> Iterator[EvidenceBlock]:
    for block in blocks:
        if isinstance(block, Cause) and block.error in reason:
            if block.place:
                yield replace(block, error="")
        elif not isinstance(block, Remark) or block.text not in reason:
            yield block


def _problems_by_trial(case: CaseResult, limit: int | None, *, full: bool) -> list[TrialEvidence]:
    """Return every trial of a case with the metrics that it missed, and its failure."""
    trials = [TrialEvidence(number) for number in range(_trial_count(case))]
    for metric in deciding(case):
        for number, score in _missed_scores(metric, every=full):
            _add_metric(trials[number].sections, metric, score, limit)
    for number, failure in _failures(case, every=full):
        _extend(trials[number].sections, failure.turn, [failure_cause(failure)])
    if full:
        _add_notes(trials, case)
    return trials


def _trial_count(case: CaseResult) -> int:
    of_metrics = (len(metric.per_trial) for metric in case.metrics.values())
    of_trials = (trial.number + 1 for trial in case.trials)
    return max([1, *of_metrics, *of_trials])


def _misses(metric: MetricVerdict, score: MetricScore) -> bool:
    if score.failure is not None:
        return True
    return score.value is not None and metric.threshold is not None and score.value < metric.threshold


def _missed_scores(metric: MetricVerdict, *, every: bool) -> list[tuple[int, MetricScore]]:
    """Return the scores that miss, with the numbers of their trials: the first one, or every one."""
    scores = enumerate(metric.per_trial)
    missed = [(n, score) for n, score in scores if score is not None and _misses(metric, score)]
    return missed if every else missed[:1]


def _failures(case: CaseResult, *, every: bool) -> Iterator[tuple[int, Failure]]:
    """Yield the failures of trials, with their numbers: one of each cause, or every one."""
    causes: set[str] = set()
    for trial in case.trials:
        if trial.failure and (every or trial.failure.cause not in causes):
            causes.add(trial.failure.cause)
            yield trial.number, trial.failure


def _add_metric(
    sections: list[Section], metric: MetricVerdict, score: MetricScore, limit: int | None
) -> None:
    """Append the blocks of one metric about one trial."""
    before = _block_count(sections)
    for turn, each in enumerate(score.per_invocation):
        if metric.judge(each).outcome in TELLING:
            _extend(sections, turn, _turn_section(metric, each, limit, _blocks(sections, turn)))
    _extend(sections, None, _trial_section(metric, score, limit, sections))
    reason = score.reason or metric.reason
    if reason and _block_count(sections) == before:
        _extend(sections, None, [Remark(metric.name, reason)])


def _block_count(sections: Iterable[Section]) -> int:
    return sum(len(section.blocks) for section in sections)


def _has(kind: type[EvidenceBlock], blocks: Iterable[EvidenceBlock]) -> bool:
    return any(isinstance(block, kind) for block in blocks)


def _blocks(sections: Iterable[Section], turn: int | None) -> list[EvidenceBlock]:
    """What is shown of a turn so far."""
    return [block for section in sections if section.turn == turn for block in section.blocks]


def _trial_section(
    metric: MetricVerdict, score: MetricScore, limit: int | None, sections: Sequence[Section]
) -> list[EvidenceBlock]:
    """Return what one metric found in a trial as a whole; findings only if no turn has more precise ones.

    An error that a turn has given as its reason is not repeated.
    """
    earlier_blocks, of_turns = _blocks(sections, None), [*chain.from_iterable(one.blocks for one in sections)]
    blocks = [
        block for block in _detail_blocks(score.details, metric.name, limit) if block not in earlier_blocks
    ]
    if _has(Findings, of_turns):
        blocks = [block for block in blocks if not isinstance(block, Findings)]
    if score.failure is not None:
        blocks.append(_metric_cause(metric, score.failure, of_turns))
    return blocks


def _metric_cause(metric: MetricVerdict, failure: Failure, of_turns: Iterable[EvidenceBlock]) -> Cause:
    """Return the cause of a metric's error, with its name."""
    cause = failure_cause(failure)
    is_known = any(isinstance(block, Remark) and cause.error in block.text for block in of_turns)
    return replace(cause, what=f"{metric.name}: {cause.what}", error="" if is_known else cause.error)


def _turn_section(
    metric: MetricVerdict, score: Score, limit: int | None, earlier_blocks: Sequence[EvidenceBlock]
) -> Iterator[EvidenceBlock]:
    """Return what one metric found in a turn; if another metric has the same blocks, only the reason."""
    blocks = [
        block for block in _detail_blocks(score.details, metric.name, limit) if block not in earlier_blocks
    ]
    has_findings = _has(Findings, blocks)  # they contain the reasons
    reason = [Remark(metric.name, score.reason)] if score.reason and not has_findings else []
    if _has_kind_of(earlier_blocks, blocks):  # the reason names the metric of the second ones
        yield from [*reason, *blocks]
    else:
        yield from [*blocks, *(reason if limit is None or not blocks else ())]
    if score.warning and (warning := Remark("warning", score.warning)) not in earlier_blocks:
        yield warning


def _has_kind_of(earlier_blocks: Sequence[EvidenceBlock], blocks: Sequence[EvidenceBlock]) -> bool:
    """Return whether one of the blocks is of the kind of an earlier one; remarks are not compared."""
    kinds = {type(block) for block in earlier_blocks} - {Remark}
    return any(type(block) in kinds for block in blocks)


def _detail_blocks(
    details: Mapping[str, object] | None, metric: str, limit: int | None
) -> list[EvidenceBlock]:
    """Return the details of the documented shapes (see `proctor.schema.results.score`) as blocks."""
    blocks: list[EvidenceBlock] = []
    if not details:
        return blocks
    if alignment := _dicts(details.get("alignment")):
        blocks.append(alignment_lines(alignment, longest=limit))
    if note := details.get("note"):
        blocks.append(Remark("note", str(note)))
    if isinstance(text := details.get("text"), Mapping):
        blocks.append(
            _text(str(text.get("expected") or ""), str(text.get("actual") or ""), full=limit is None)
        )
    if (state := _dicts(details.get("state"))) and (
        difference := state_difference(state, full=limit is None)
    ).lines:
        blocks.append(difference)
    return [*blocks, *findings_of(details, metric, full=limit is None)]


def _dicts(value: object) -> list[Mapping[str, object]]:
    """The objects in a list: a metric that is not ours may have put anything there."""
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, Sequence) else []


def _text(expected: str, actual: str, *, full: bool) -> TextDifference:
    expected_pieces, actual_pieces = word_difference(expected, actual)
    return (
        TextDifference(expected_pieces, actual_pieces)
        if full
        else TextDifference(elide(expected_pieces), elide(actual_pieces))
    )


def _extend(sections: list[Section], turn: int | None, blocks: Iterable[EvidenceBlock]) -> None:
    """Add blocks to the section of a turn; a section without any is not made."""
    new = list(blocks)
    section_of_turn = next((section for section in sections if section.turn == turn), None)
    if section_of_turn is not None:
        section_of_turn.blocks += new
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
            Remark(metric.outcome.value.replace("_", " "), f"{metric.name}: {metric.reason}")
            for metric in silent
        ]
        _extend(evidence.sections, None, notes)


def _recorded_trial(evidence: TrialEvidence, trials: Sequence[TrialResult]) -> Trial | None:
    """Return the trial of the evidence, if it was kept."""
    result = next((trial for trial in trials if trial.number == evidence.trial), None)
    return result.trial if result is not None else None


def _sort_turns(evidence: TrialEvidence, recorded: Trial | None) -> None:
    """Turns in their order with the user's words, then what concerns the trial as a whole."""
    evidence.sections.sort(key=lambda section: (section.turn is None, section.turn or 0))
    if not any(section.turn is not None for section in evidence.sections):
        return
    for section in evidence.sections:
        if recorded and section.turn is not None and section.turn < len(recorded.turns):
            section.user_text = recorded.turns[section.turn].user_content.joined_text()


# --- a trial turn by turn, for --verbose ------------------------------------------------------------------------------


def shown_trials(case: CaseResult) -> list[int]:
    """Return the trials of a passed case that are shown: the first, and each that did not pass."""
    missed = [trial.number for trial in case.trials if trial.outcome is not Outcome.PASSED]
    return sorted({*(trial.number for trial in case.trials[:1]), *missed})


def add_turns(evidence: TrialEvidence, case: CaseResult) -> None:
    """Add to `evidence` what it does not show yet of each turn: calls, answer, scores."""
    recorded = _recorded_trial(evidence, case.trials)
    invocations = recorded.invocations if recorded else []
    scores = _scores(case, evidence.trial)
    for turn in range(max([len(invocations), *(len(each) for _, each in scores)])):
        section = evidence.section(turn)
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
    return [(m, score.per_invocation) for m in deciding if (score := m.per_trial[number]) is not None]


def _calls(section: Section, scored: _Scored, actual: Invocation | None) -> Iterator[EvidenceBlock]:
    if _has(Steps, section.blocks):
        return
    alignment = _detail(scored, "alignment")
    if alignment:
        yield alignment_lines(alignment, longest=None)
    elif actual is not None:
        for call in actual.tool_calls:
            yield RecordedFact("call", call_text(call.name or "", call.args))


def _answer(section: Section, scored: _Scored, actual: Invocation | None) -> Iterator[EvidenceBlock]:
    if _has(TextDifference, section.blocks):
        return
    text = _detail(scored, "text")
    answer = actual.final_response.joined_text() if actual and actual.final_response else ""
    if not answer and isinstance(text, Mapping):
        answer = str(text.get("actual") or "")
    if answer:
        yield RecordedFact("answer", answer)


def _judge_blocks(scored: _Scored) -> Iterator[EvidenceBlock]:
    for metric, score in scored:
        blocks = [*findings_of(score.details or {}, metric.name, full=True)]
        yield from blocks
        if blocks and score.reason and not _has(Findings, blocks):
            yield Remark(metric.name, score.reason)  # the words of the judge, also where it is content


def _reason_blocks(scored: _Scored) -> Iterator[EvidenceBlock]:
    scores = [
        f"{metric.name} {metric.text_of(score.value)}" for metric, score in scored if score.value is not None
    ]
    if scores:
        yield RecordedFact("scores", ", ".join(scores))


def _detail(scored: _Scored, key: str) -> Any:
    return next((detail for _, score in scored if (detail := (score.details or {}).get(key))), None)


# --- a failure, with its location in the user's code -------------------------------------------------------------------


_FRAME = re.compile(
    r'^[ |+]*File "(?P<file>[^"\n]+)", line (?P<line>\d+)(?:, in (?P<name>[^\n]+))?(?:\n[ |]+(?P<code>[^\n]+))?',
    re.MULTILINE,
)
_LIBRARY = str(Path(os.__file__).parent)
_PROCTOR = str(Path(__file__).parents[2])
_NO_CODE = re.compile(r"^(File \"|[\^~ ]+$)")


def failure_cause(failure: Failure) -> Cause:
    """Return what failed, how, and the last line of the user's own code that the traceback names."""
    what = f"{failure.where} {failure.kind.value.replace('_', ' ')}"
    kind, message = failure.type, failure.message
    error = f"{kind}: {message}" if kind and message else kind or message
    frame = _frame(failure.traceback or "")
    if frame is None:
        return Cause(what, error)
    inside = f" in {frame['name']}" if frame["name"] and frame["name"] != "<module>" else ""
    code = _without_comment((frame["code"] or "").strip())
    return Cause(
        what,
        error,
        f"{_relative_path(frame['file'])}:{frame['line']}{inside}",
        "" if _NO_CODE.match(code) else code,
    )


def _without_comment(code: str) -> str:
    """Remove a trailing comment from a line of Python; a `#` in a string is kept, and so is text that is not Python."""
    if "#" not in code:
        return code
    try:
        for token in tokenize.generate_tokens(io.StringIO(code).readline):
            if token.type == tokenize.COMMENT and token.start[0] == 1:
                return code[: token.start[1]].rstrip()
    except (tokenize.TokenError, SyntaxError):  # part of a longer statement or text
        pass
    return code


def _frame(traceback: str) -> re.Match[str] | None:
    """Return the last frame in the user's code, else the last frame of a library; never one of Proctor."""
    frames = [frame for frame in _FRAME.finditer(traceback) if not frame["file"].startswith(_PROCTOR)]
    return next(
        (frame for frame in reversed(frames) if _is_users(frame["file"])), frames[-1] if frames else None
    )


def _is_users(file: str) -> bool:
    installed = "site-packages" in file or "dist-packages" in file
    return not (installed or file.startswith((_LIBRARY, "<frozen ")))


def _relative_path(file: str) -> str:
    """Return a path below the working folder relative to it."""
    here = f"{Path.cwd()}{os.sep}"
    return file.removeprefix(here)
