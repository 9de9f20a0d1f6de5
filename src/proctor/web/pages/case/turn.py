"""One turn of a trial: what was expected beside what was done, step by step, and what the metrics say of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from proctor.reports.evidence.blocks import StepLine
from proctor.reports.evidence.diff_kind import Kind
from proctor.reports.evidence.trajectory_diff import call_text, steps_of
from proctor.reports.evidence.value_text import value_text
from proctor.schema.evidence.trial import Failure, Turn
from proctor.schema.format.content import text_of
from proctor.schema.format.invocation import Invocation
from proctor.schema.results.outcome import Outcome
from proctor.schema.results.page_model import PageModel
from proctor.schema.results.run_result import MetricVerdict
from proctor.schema.results.score import Score
from proctor.web.pages.case.scores import CausePart, NotePart, ScorePart, cause_part, score_part
from proctor.web.pages.case.texts import Clip, Marked, Piece, clip, marked, text_difference

__all__ = ["Align", "TurnPart", "turn_part"]

Align = Callable[[Invocation, Invocation], Sequence[Mapping[str, Any]]]
"""From what was expected of a turn, and what was done, to the steps (see `alignment` in `proctor.schema.results.score`)."""


class StepPart(PageModel):
    """One step: the expected call, the actual one, or both."""

    kind: Kind | None
    """How the two differ; null where nothing is known of what was expected."""
    expected: Marked | None
    actual: Marked | None
    author: str
    """The agent that made the call; empty where it is not told."""
    response: Clip | None
    """What the tool answered, as JSON; null where it did not, or no call was made."""
    call: int | None
    """The place of the actual call among those of the turn, from 0."""


class SaidPart(PageModel):
    """What an agent said before its answer."""

    author: str
    text: Clip
    thought: bool
    before: int
    """It was said before the call of this place, from 0."""


class AnswerPart(PageModel):
    """The answer of a turn, beside the expected one."""

    expected: Marked | None
    """Null where the case has no answer for the turn."""
    actual: Marked | None
    """Null where there was none."""
    same: bool
    """Whether both are the same text."""


class UsagePart(PageModel):
    """What a turn took, as far as the agent told."""

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
    """What was sent along that is no text: MIME types and names."""
    steps: list[StepPart]
    said: list[SaidPart]
    answer: AnswerPart
    scores: list[ScorePart]
    usage: UsagePart
    authors: list[str]
    """The agents that took part, in order of appearance."""
    notes: list[NotePart]
    """What is out of the ordinary: faults of a played user, what the alignment left out."""
    failure: CausePart | None
    """What broke the turn off."""
    differs: bool
    """Whether there is anything in it that is not as expected, or that a metric that decides did not pass."""


IN_USAGE = frozenset(
    {"tool_call_count_v1", "inference_call_count_v1", "token_usage_v1", "invocation_duration_v1"}
)
"""Metrics that say of a turn what its usage says already."""


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
    """Return what there is to show of a turn."""
    details = [score.details or {} for _, score in scores]
    told = _Told(turn, actual)
    steps = _steps(details, told, actual, expected, align)
    answer = _answer(details, actual, expected)
    parts = [
        score_part(metric, score) for metric, score in scores if metric.gate or metric.name not in IN_USAGE
    ]
    left_out = [NotePart(label="note", text=str(one["note"])) for one in details if one.get("note")]
    broken = cause_part(failure) if failure is not None else None
    return TurnPart(
        index=index,
        user=clip(text_of(turn.user_content)),
        media=_media(turn),
        steps=steps,
        said=told.said,
        answer=answer,
        scores=parts,
        usage=_usage(turn, actual),
        authors=told.authors,
        notes=[*notes, *left_out],
        failure=broken,
        differs=broken is not None
        or any(step.kind not in (None, Kind.SAME) for step in steps)
        or any(part.gate and part.outcome in (Outcome.FAILED, Outcome.ERROR) for part in parts),
    )


# --- what was done -----------------------------------------------------------------------------------------------------


class _Told:
    """What the events of a turn tell: who called what, what came back, what was said on the way."""

    def __init__(self, turn: Turn, actual: Invocation) -> None:
        self.said: list[SaidPart] = []
        self.authors: list[str] = []
        self.callers: list[str] = []
        self.responses: list[Clip | None] = []
        self._open: list[tuple[int, str | None, str | None]] = []
        for event in turn.events:
            if event.partial or event.author.lower() == "user":
                continue
            if event.author not in self.authors:
                self.authors.append(event.author)
            final = event.content is actual.final_response
            for part in (event.content.parts or ()) if event.content is not None else ():
                if (call := part.function_call) is not None:
                    self._open.append((len(self.callers), call.id, call.name))
                    self.callers.append(event.author)
                    self.responses.append(None)
                elif (response := part.function_response) is not None:
                    self._answered(response.id, response.name, value_text(response.response))
                elif part.text and not (final and not part.thought):
                    self._says(event.author, part.text, thought=bool(part.thought))

    def _answered(self, its_id: str | None, name: str | None, text: str) -> None:
        """Give an answer to the call of its id, or else to the first open one of its name."""
        found = next((one for one in self._open if its_id is not None and one[1] == its_id), None)
        found = found or next((one for one in self._open if one[2] == name), None)
        if found is not None:
            self._open.remove(found)
            self.responses[found[0]] = clip(text)

    def _says(self, author: str, text: str, *, thought: bool) -> None:
        said = SaidPart(author=author, text=clip(text), thought=thought, before=len(self.callers))
        self.said.append(said)


def _steps(
    details: Sequence[Mapping[str, Any]],
    told: _Told,
    actual: Invocation,
    expected: Invocation | None,
    align: Align | None,
) -> list[StepPart]:
    alignment = next((found for one in details if (found := one.get("alignment"))), None)
    states_calls = expected is not None and expected.intermediate_data is not None
    if alignment is None and expected is not None and states_calls and align is not None:
        alignment = align(expected, actual)
    if not isinstance(alignment, list):
        return [
            _call(told, place, call_text(one.name or "", one.args))
            for place, one in enumerate(actual.tool_calls)
        ]
    steps = [step for step in alignment if isinstance(step, Mapping)]
    lines = steps_of(steps, longest=None).lines
    return [
        _step(told, step, line) for step, line in zip(steps, lines, strict=True) if isinstance(line, StepLine)
    ]


def _call(told: _Told, place: int, text: str) -> StepPart:
    """A call that nothing is expected beside."""
    return _with_told(told, place, None, None, Marked(pieces=[Piece(text=text, changed=False)], left_out=0))


def _step(told: _Told, step: Mapping[str, Any], line: StepLine) -> StepPart:
    made = step.get("actual")
    place = made.get("index") if isinstance(made, Mapping) else None
    expected = marked(line.expected) if line.expected else None
    return _with_told(
        told,
        place if isinstance(place, int) else None,
        line.kind,
        expected,
        marked(line.actual) if line.actual else None,
    )


def _with_told(
    told: _Told, place: int | None, kind: Kind | None, expected: Marked | None, actual: Marked | None
) -> StepPart:
    known = place is not None and place < len(told.callers)
    return StepPart(
        kind=kind,
        expected=expected,
        actual=actual,
        author=told.callers[place] if known and place is not None else "",
        response=told.responses[place] if known and place is not None else None,
        call=place,
    )


def _answer(
    details: Sequence[Mapping[str, Any]], actual: Invocation, expected: Invocation | None
) -> AnswerPart:
    made = text_of(actual.final_response, thoughts=False) if actual.final_response is not None else None
    wanted = None
    if expected is not None and expected.final_response is not None:
        wanted = text_of(expected.final_response, thoughts=False)
    text = next((one["text"] for one in details if isinstance(one.get("text"), Mapping)), None)
    if wanted is None and text is not None:
        wanted = str(text.get("expected") or "")
    if wanted is None or made is None:
        alone = [None if one is None else marked_text(one) for one in (wanted, made)]
        return AnswerPart(expected=alone[0], actual=alone[1], same=False)
    left, right = text_difference(wanted, made)
    return AnswerPart(expected=left, actual=right, same=wanted == made)


def marked_text(text: str) -> Marked:
    """Return a text of which nothing is marked."""
    part = clip(text)
    return Marked(pieces=[Piece(text=part.text, changed=False)] if part.text else [], left_out=part.left_out)


def _media(turn: Turn) -> list[str]:
    found = []
    for part in turn.user_content.parts or ():
        if (blob := part.inline_data) is not None:
            found.append(" ".join(filter(None, [blob.mime_type, blob.display_name])) or "data")
        elif (file := part.file_data) is not None:
            found.append(" ".join(filter(None, [file.mime_type, file.file_uri])) or "file")
    return found


def _usage(turn: Turn, actual: Invocation) -> UsagePart:
    usages = actual.usage_metadata
    counts = [
        [one.prompt_token_count for one in usages],
        [one.candidates_token_count for one in usages],
        [one.total_token_count for one in usages],
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
