"""One turn of a trial: expected and actual steps side by side, and the scores of the turn."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from proctor.common.json_values import json_line
from proctor.reports.content.symbols import DiffKind
from proctor.reports.content.text_blocks import StepLine
from proctor.reports.evidence.trajectory_diff import alignment_lines, call_text
from proctor.schema.evidence.trial import Failure
from proctor.schema.evidence.turn import Turn
from proctor.schema.format.content import Part, text_of
from proctor.schema.format.invocation import Invocation
from proctor.schema.format.wire_model import PageModel
from proctor.schema.results.run_result import MetricVerdict
from proctor.schema.results.score import Outcome, Score
from proctor.web.pages.case.page_parts import (
    CausePart,
    Clip,
    MarkedText,
    NotePart,
    OpenCalls,
    Piece,
    ScorePart,
    agent_events,
    cause_part,
    clip,
    marked_pieces,
    score_part,
    text_difference,
)

Align = Callable[[Invocation, Invocation], Sequence[Mapping[str, object]]]
"""Aligns an expected with an actual turn; returns the steps (see `alignment` in `proctor.schema.results.score`)."""


class StepPart(PageModel):
    """One step: the expected call, the actual one, or both."""

    kind: DiffKind | None
    """How the two differ; null if the expected calls are unknown."""
    expected: MarkedText | None
    actual: MarkedText | None
    author: str
    """The agent that made the call; empty if unknown."""
    response: Clip | None
    """The tool's response as JSON; null without a response or a call."""
    call: int | None
    """The index of the actual call among those of the turn, from 0."""
    expected_call: int | None
    """The index of the expected call among the expected ones of the turn, from 0."""
    broken: list[str]
    """The rules that the actual call breaks."""


class MessagePart(PageModel):
    """A text of an agent before its answer."""

    author: str
    text: Clip
    thought: bool
    before: int
    """The index of the call that follows it, from 0."""


class AnswerPart(PageModel):
    """The answer of a turn, and the expected one."""

    expected: MarkedText | None
    """Null if the case has no answer for the turn."""
    actual: MarkedText | None
    """Null if there was none."""
    same: bool
    """Whether both are the same text."""


class UsagePart(PageModel):
    """The durations and tokens of a turn, as far as the agent reports them."""

    seconds: float | None
    model_seconds: float | None
    tool_seconds: float | None
    input_tokens: int | None
    output_tokens: int | None
    total_tokens: int | None
    models: list[str]


class TurnPart(PageModel):
    """One turn."""

    index: int
    """From 0."""
    user: Clip
    media: list[str]
    """The other parts of the message than text: MIME types and names."""
    steps: list[StepPart]
    messages: list[MessagePart]
    answer: AnswerPart
    scores: list[ScorePart]
    usage: UsagePart
    authors: list[str]
    """The agents that took part, in order of appearance."""
    notes: list[NotePart]
    """Faults of a simulated user, and calls that the alignment left out."""
    failure: CausePart | None
    """The failure that ended the turn."""
    differs: bool
    """Whether the turn has a failure, an unexpected step, or a deciding metric that did not pass."""


IN_USAGE = frozenset(
    {"tool_call_count_v1", "inference_call_count_v1", "token_usage_v1", "invocation_duration_v1"}
)
"""Metrics whose values `UsagePart` already contains."""


def turn_part(
    index: int,
    turn: Turn,
    actual: Invocation,
    expected: Invocation | None,
    scores: Sequence[tuple[MetricVerdict, Score]],
    *,
    failure: Failure | None = None,
    notes: Sequence[NotePart] = (),
    align: Align | None = None,
) -> TurnPart:
    """Return the page's model of a turn."""
    details = [score.details or {} for _, score in scores]
    record = _TurnRecord(turn, actual)
    steps = _steps(details, record, actual, expected, align)
    answer = _answer(details, actual, expected)
    parts = [
        score_part(metric, score) for metric, score in scores if metric.gate or metric.name not in IN_USAGE
    ]
    left_out = [NotePart(label="note", text=str(one["note"])) for one in details if one.get("note")]
    return TurnPart(
        index=index,
        user=clip(text_of(turn.user_content)),
        media=_media(turn),
        steps=steps,
        messages=record.messages,
        answer=answer,
        scores=parts,
        usage=_usage(turn, actual),
        authors=record.authors,
        notes=[*notes, *left_out],
        failure=cause_part(failure),
        differs=failure is not None or _has_difference(steps, parts),
    )


def _has_difference(steps: Sequence[StepPart], scores: Sequence[ScorePart]) -> bool:
    return any(step.kind not in (None, DiffKind.SAME, DiffKind.ALLOWED) for step in steps) or any(
        score.gate and score.outcome in (Outcome.FAILED, Outcome.ERROR) for score in scores
    )


# --- the actual turn -----------------------------------------------------------------------------------------------------


class _TurnRecord:
    """The events of a turn, sorted into calls with their callers and responses, and texts before the answer."""

    def __init__(self, turn: Turn, actual: Invocation) -> None:
        self.messages: list[MessagePart] = []
        self.authors: list[str] = []
        self.callers: list[str] = []
        self.responses: list[Clip | None] = []
        self._open: OpenCalls[int] = OpenCalls()
        for event, parts in agent_events(turn):
            if event.author not in self.authors:
                self.authors.append(event.author)
            for part in parts:
                self._add_part(part, event.author, is_answer=event.content is actual.final_response)

    def _add_part(self, part: Part, author: str, *, is_answer: bool) -> None:
        if (call := part.function_call) is not None:
            self._open.add(len(self.callers), call.id, call.name)
            self.callers.append(author)
            self.responses.append(None)
        elif (response := part.function_response) is not None:
            place = self._open.take(response.id, response.name)
            if place is not None:
                self.responses[place] = clip(json_line(response.response))
        elif part.text and (part.thought or not is_answer):
            self._add_text(author, part.text, thought=bool(part.thought))

    def _add_text(self, author: str, text: str, *, thought: bool) -> None:
        self.messages.append(
            MessagePart(author=author, text=clip(text), thought=thought, before=len(self.callers))
        )


def _steps(
    details: Sequence[Mapping[str, Any]],
    record: _TurnRecord,
    actual: Invocation,
    expected: Invocation | None,
    align: Align | None,
) -> list[StepPart]:
    alignment = _alignment(details, actual, expected, align)
    steps = [step for step in alignment if isinstance(step, Mapping)] if isinstance(alignment, list) else []
    lines = zip(steps, alignment_lines(steps, longest=None).lines, strict=True)
    aligned = [_step(record, step, line) for step, line in lines if isinstance(line, StepLine)]
    parts = _with_other_calls(aligned, record, actual)
    for part in parts:
        part.broken = _broken_rules(details, part.call)
    return parts


def _with_other_calls(aligned: Sequence[StepPart], record: _TurnRecord, actual: Invocation) -> list[StepPart]:
    """Insert the calls that the alignment omits: a metric of rules stores only the calls that break one."""
    known = {part.call for part in aligned}
    others = [
        _call(record, place, call_text(call.name or "", call.args))
        for place, call in enumerate(actual.tool_calls)
        if place not in known
    ]
    parts: list[StepPart] = []
    for part in aligned:
        while others and part.call is not None and others[0].call is not None and others[0].call < part.call:
            parts.append(others.pop(0))
        parts.append(part)
    return [*parts, *others]


def _broken_rules(details: Sequence[Mapping[str, Any]], call: int | None) -> list[str]:
    """Return the rules that a call breaks, as the metric of rules has stored them."""
    entries = [entry for one in details for entry in one.get("broken") or () if isinstance(entry, Mapping)]
    rules = [
        str(entry.get("rule")) for entry in entries if call is not None and entry.get("call") == call + 1
    ]
    return list(dict.fromkeys(rules))


def _alignment(
    details: Sequence[Mapping[str, Any]], actual: Invocation, expected: Invocation | None, align: Align | None
) -> object:
    """Return the alignment that a metric has stored; without one, make it if the case states calls for the turn."""
    stored = next((steps for one in details if (steps := one.get("alignment"))), None)
    if stored is not None or align is None or expected is None or expected.intermediate_data is None:
        return stored
    return align(expected, actual)


def _call(record: _TurnRecord, place: int, text: str) -> StepPart:
    """Return a call without an expected one."""
    return _step_part(
        record, place, None, None, MarkedText(pieces=[Piece(text=text, changed=False)], left_out=0)
    )


def _step(record: _TurnRecord, step: Mapping[str, object], line: StepLine) -> StepPart:
    part = _step_part(
        record,
        _index(step.get("actual")),
        line.kind,
        marked_pieces(line.expected) if line.expected else None,
        marked_pieces(line.actual) if line.actual else None,
    )
    part.expected_call = _index(step.get("expected"))
    return part


def _index(call: object) -> int | None:
    """Return the position that an alignment states for a call."""
    place = call.get("index") if isinstance(call, Mapping) else None
    return place if isinstance(place, int) else None


def _step_part(
    record: _TurnRecord,
    place: int | None,
    kind: DiffKind | None,
    expected: MarkedText | None,
    actual: MarkedText | None,
) -> StepPart:
    known = place is not None and place < len(record.callers)
    return StepPart(
        kind=kind,
        expected=expected,
        actual=actual,
        author=record.callers[place] if known and place is not None else "",
        response=record.responses[place] if known and place is not None else None,
        call=place,
        expected_call=None,
        broken=[],
    )


def _answer(
    details: Sequence[Mapping[str, Any]], actual: Invocation, expected: Invocation | None
) -> AnswerPart:
    answer = text_of(actual.final_response, thoughts=False) if actual.final_response is not None else None
    reference = _reference_text(details, expected)
    if reference is None or answer is None:
        sides = [None if text is None else marked_text(text) for text in (reference, answer)]
        return AnswerPart(expected=sides[0], actual=sides[1], same=False)
    left, right = text_difference(reference, answer)
    return AnswerPart(expected=left, actual=right, same=reference == answer)


def _reference_text(details: Sequence[Mapping[str, Any]], expected: Invocation | None) -> str | None:
    """Return the expected answer: that of the case, else the one that a metric has stored."""
    if expected is not None and expected.final_response is not None:
        return text_of(expected.final_response, thoughts=False)
    stored = next((one["text"] for one in details if isinstance(one.get("text"), Mapping)), None)
    return None if stored is None else str(stored.get("expected") or "")


def marked_text(text: str) -> MarkedText:
    """Return a text without marks."""
    part = clip(text)
    return MarkedText(
        pieces=[Piece(text=part.text, changed=False)] if part.text else [], left_out=part.left_out
    )


def _media(turn: Turn) -> list[str]:
    media = []
    for part in turn.user_content.parts or ():
        if (blob := part.inline_data) is not None:
            media.append(" ".join(filter(None, [blob.mime_type, blob.display_name])) or "data")
        elif (file := part.file_data) is not None:
            media.append(" ".join(filter(None, [file.mime_type, file.file_uri])) or "file")
    return media


def _usage(turn: Turn, actual: Invocation) -> UsagePart:
    usages = actual.usage_metadata
    counts = [
        [one.prompt_token_count for one in usages],
        [one.candidates_token_count for one in usages],
        [one.tokens for one in usages],
    ]
    sums = [sum(known) if (known := [n for n in each if n is not None]) else None for each in counts]
    models = dict.fromkeys(event.model_version for event in turn.events if event.model_version)
    return UsagePart(
        seconds=turn.duration,
        model_seconds=turn.model_duration,
        tool_seconds=turn.tool_duration,
        input_tokens=sums[0],
        output_tokens=sums[1],
        total_tokens=sums[2],
        models=list(models),
    )
