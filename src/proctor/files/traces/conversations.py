"""Conversations in traces: turns with events, and a list of what is missing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from proctor.common.secrets import hide_secrets
from proctor.files.traces.contents import Reader
from proctor.files.traces.events import TraceCall, TurnBuilder, TurnEvents
from proctor.files.traces.messages import TraceMessage
from proctor.files.traces.read_files import read_traces
from proctor.files.traces.semantic_conventions import TraceSpanKind, error_of, kind_of, user_id
from proctor.files.traces.span_tree import SECOND, Forest, TraceSpan
from proctor.files.traces.stored_spans import stored_spans
from proctor.files.traces.turns import ConversationTurns, TurnSpans, groups_of, inside
from proctor.schema.evidence.event import Event
from proctor.schema.evidence.trial import Failure, FailureKind
from proctor.schema.evidence.turn import Span

TRACE = "trace"
"""The origin of a failure of the trace itself, instead of the agent: the trace lacks something."""

_MOST_NOTES = 10

CAPTURE = "contents are captured with OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=SPAN_ONLY, see docs/reference/traces.md"
"""Instrumentation omits contents by default."""


@dataclass(slots=True)
class TracedTurn:
    """One message of the user and what the agent did, as far as the trace contains it."""

    asked: dict[str, Any]
    """The message as a content; without parts if it is unknown."""
    events: list[Event]
    started_at: float
    duration: float | None
    model_duration: float | None
    tool_duration: float | None
    app_details: dict[str, Any] | None
    failure: Failure | None = None
    unanswered: int = 0
    """The number of calls without a tool response in the trace."""
    notes: list[str] = field(default_factory=list)
    """Remarks that are not failures."""
    spans: Callable[[], Iterable[Span]] = field(default=tuple, compare=False, repr=False)
    """Builds the stored spans on demand: those of many conversations together would be large."""

    @property
    def text(self) -> str:
        """The text of the user's message."""
        return "\n".join(part["text"] for part in self.asked["parts"] if part.get("text"))


@dataclass(slots=True)
class TracedConversation:
    """One conversation in some traces."""

    id: str
    is_trace: bool
    """Whether its id is that of the trace, because there is no conversation id."""
    case_id: str
    """The id of its case, if the trace states it (`proctor.eval_id`, `test.case.name`)."""
    is_case_ours: bool
    """Whether Proctor's attribute states the case, and not a test framework's."""
    app_name: str
    user_id: str
    turns: list[TracedTurn]
    place: str
    """`file:line` of its first span."""
    notes: list[str] = field(default_factory=list)

    @property
    def failure(self) -> Failure | None:
        """The reason why it cannot be scored, if there is one: the first failure."""
        return next((turn.failure for turn in self.turns if turn.failure is not None), None)


@dataclass(slots=True)
class TraceContent:
    """The conversations in some trace files."""

    conversations: list[TracedConversation]
    warnings: list[str]
    """Problems of the files as a whole."""


def read_conversations(paths: Iterable[str | Path]) -> TraceContent:
    """Read the conversations in some files, or folders, of traces; they may be spread over any of them.

    Raises:
        EvalFileError: a file cannot be read, or is not a trace.
    """
    return conversations_of(read_traces(paths))


def conversations_of(forest: Forest) -> TraceContent:
    """Return the conversations in some spans, in the order of their starts."""
    reader = Reader()
    conversations = [_conversation(group, reader) for group in groups_of(forest, reader)]
    return TraceContent(conversations, list(_warnings(forest)))


def _warnings(forest: Forest) -> Iterable[str]:
    if forest.doubled:
        yield f"{forest.doubled} span(s) came more than once and count once"
    if lone := sum(
        bool(root.parent_id) and kind_of(root) in (TraceSpanKind.MODEL, TraceSpanKind.TOOL)
        for root in forest.roots
    ):
        yield f"{lone} span(s) of models and tools lack the span around them: is that all of the trace?"
    if forest.unread:
        yield f"not read, though there may be traces in it: {', '.join(forest.unread[:10])}"
    if forest.clashes:
        yield f"{forest.clashes} span(s) have the id of another span: whose they are is not certain"
    if forest.circles:
        yield f"{forest.circles} span(s) enclose themselves; they are taken as the outermost"


def _conversation(group: ConversationTurns, reader: Reader) -> TracedConversation:
    turns = [
        _turn(piece, index, recorded, reader)
        for index, (piece, recorded) in enumerate(_turns_of(group, reader))
    ]
    spans = [span for piece in group.turns for span in piece.spans]
    case, is_ours = next(
        ((piece.case, piece.is_case_ours) for piece in group.turns if piece.case), ("", False)
    )
    known = [one for span in spans for one in (*inside(span), *span.above())]
    return TracedConversation(
        id=group.id,
        is_trace=group.is_trace,
        case_id=case,
        is_case_ours=is_ours,
        app_name=_app_name(spans),
        user_id=next((name for one in known if (name := user_id(one))), ""),
        turns=turns,
        place=spans[0].place,
        notes=[*_gaps(group.turns[0], turns), *_notes(known)],
    )


def _turns_of(group: ConversationTurns, reader: Reader) -> Iterable[tuple[TurnSpans, TurnEvents]]:
    """Build each turn; a turn that repeats the user's last message continues the calls of the turn before."""
    before: TurnSpans | None = None
    calls: list[TraceCall] = []
    for piece in group.turns:
        is_continued = before is not None and before.asked == piece.asked and piece.count <= before.count
        recorded = TurnBuilder(reader, calls if is_continued else ()).build(piece.spans)
        calls = [*(calls if is_continued else ()), *recorded.calls]
        before = piece
        yield piece, recorded


def _app_name(spans: Sequence[TraceSpan]) -> str:
    """Return the service name; SDKs without a configured name report `unknown_service`."""
    names = (one.resource.get("service.name") for one in spans)
    return next((str(name) for name in names if name and not str(name).startswith("unknown_service")), "")


def _gaps(first: TurnSpans, turns: Sequence[TracedTurn]) -> Iterable[str]:
    """Report parts that are unknown but not required."""
    if earlier := first.count - 1 if first.count > 1 else 0:
        yield f"before the first turn the model received {earlier} more message(s) of the user: no trace contains these"
    if unanswered := sum(turn.unanswered for turn in turns):
        yield f"of {unanswered} call(s) the trace does not contain the tool's answer"
    for turn in turns:
        yield from turn.notes


def _turn_notes(recorded: TurnEvents) -> Iterable[str]:
    if recorded.forwarded_calls:
        yield f"{recorded.forwarded_calls} call(s) are recorded only in forwarded messages"
    for name in recorded.altered[:_MOST_NOTES]:
        yield f"the tool {name!r} was executed with other arguments than the model asked for; what it asked for is scored"
    if recorded.is_bare:
        yield "of a turn only what went into the agent and came out is recorded: no call would be seen"
    for name, message in recorded.survived[:_MOST_NOTES]:
        yield f"the agent {name!r} failed inside of a turn that continued: {hide_secrets(message)}"


def _notes(spans: Sequence[TraceSpan]) -> Iterable[str]:
    if dropped := sum(span.dropped for span in spans):
        yield f"the exporter of the trace dropped {dropped} attribute(s) or event(s) of its spans"
    if odd := sum(bool(span.start and span.end) and span.end < span.start for span in spans):
        yield f"{odd} span(s) end before they begin, by a clock that was set; their durations are not counted"


def _turn(piece: TurnSpans, index: int, recorded: TurnEvents, reader: Reader) -> TracedTurn:
    _settle_arguments(recorded, piece.asked)
    spans = piece.spans
    start = min((span.start for span in spans if span.start), default=0)
    end = max(span.end for span in spans)
    return TracedTurn(
        asked={"role": "user", "parts": piece.asked.parts if piece.asked is not None else []},
        events=recorded.validated_events(),
        started_at=start / SECOND,
        duration=round((end - start) / SECOND, 3) if 0 < start <= end else None,
        model_duration=round(recorded.model_seconds, 3) if recorded.errors else None,
        tool_duration=round(recorded.tool_seconds, 3) if recorded.calls else None,
        app_details={"agent_details": recorded.agents} if recorded.agents else None,
        failure=_failure(piece, recorded, index),
        unanswered=sum(not call.is_answered for call in recorded.calls),
        notes=list(_turn_notes(recorded)),
        spans=partial(stored_spans, spans, reader),
    )


def _settle_arguments(recorded: TurnEvents, user_message: TraceMessage | None) -> None:
    """Set missing arguments: none if contents are captured; otherwise the arguments are unknown."""
    captured = user_message is not None and bool(user_message.text) and not user_message.lost
    for call in recorded.calls:
        if call.part["args"] is not None:
            continue
        if not (captured and call.by_model):
            recorded.lost.append(f"the arguments of {call.part['name']!r} are not in the trace")
        call.part["args"] = {}


# --- what went wrong --------------------------------------------------------------------------------------------------


def _failure(piece: TurnSpans, recorded: TurnEvents, index: int) -> Failure | None:
    if (error := _error(piece, recorded)) is not None:
        kind, message = error
        text = hide_secrets(message)
        return Failure(where="agent", kind=FailureKind.RAISED, type=kind, message=text, turn=index)
    if endless := next((span.name for span in piece.spans if not span.end), recorded.endless):
        message = f"the span {endless!r} never ended, or its end is not in the trace"
        return Failure(where=TRACE, kind=FailureKind.TRUNCATED, message=message, turn=index)
    if (lost := _missing_evidence(piece, recorded)) is not None:
        message = f"{lost}{_remedy(lost)}"
        return Failure(where=TRACE, kind=FailureKind.UNUSABLE_ANSWER, message=message, turn=index)
    if left := _open_end(recorded, is_agent=piece.is_agent):
        message = f"the trace ends with {left}, and has no answer of the agent"
        return Failure(where=TRACE, kind=FailureKind.TRUNCATED, message=message, turn=index)
    return None


def _remedy(lost: str) -> str:
    """What to do about what is missing."""
    if "captured" in lost or "not in the trace" in lost:
        return f"; {CAPTURE}"
    ways = {"cut": " (OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT?)", "dropped": " (OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT?)"}
    return next((way for word, way in ways.items() if word in lost), "")


def _error(piece: TurnSpans, recorded: TurnEvents) -> tuple[str, str] | None:
    """Return the error that ended a turn: the agent's own; without an agent's span that of the last call, or of a step above."""
    agents = [span for span in piece.spans if kind_of(span) is TraceSpanKind.AGENT]
    if agents:
        return _first_error(agents)
    last = recorded.errors[-1] if recorded.errors else None
    return last or _first_error(above for span in piece.spans for above in span.above())


def _first_error(spans: Iterable[TraceSpan]) -> tuple[str, str] | None:
    return next((error for span in spans if (error := error_of(span)) is not None), None)


def _missing_evidence(piece: TurnSpans, recorded: TurnEvents) -> str | None:
    """What is missing without which nothing can be scored; `None` where all is there."""
    if piece.asked is None:
        return "the user's message is not in the trace"
    if piece.asked.lost or not piece.asked.parts:
        return f"the user's message is not known: {piece.asked.lost or 'it is empty'}"
    if recorded.lost:
        more = f" (and {len(recorded.lost) - 1} more)" if len(recorded.lost) > 1 else ""
        return f"{recorded.lost[0]}{more}"
    if not recorded.events or not (recorded.spoke or recorded.errors):
        return "what the agent answered is not in the trace"
    return None


def _open_end(recorded: TurnEvents, *, is_agent: bool) -> str:
    """Return the call, or its response, after which the trace ends; a run may end so, unless a tool failed."""
    parts = (recorded.events[-1].get("content") or {}).get("parts") or ()
    called, answered = _first_name(parts, "function_call"), _first_name(parts, "function_response")
    if answered and recorded.failed == len(recorded.events):
        return f"the tool {answered!r}, which failed"
    if is_agent:
        return ""
    if called:
        return f"the call of {called!r}"
    return f"the answer of {answered!r}" if answered else ""


def _first_name(parts: Iterable[Mapping[str, Mapping[str, object]]], key: str) -> object:
    """Return the name of the tool in the first part that has a value under `key`."""
    return next((part[key]["name"] for part in parts if key in part), "")
