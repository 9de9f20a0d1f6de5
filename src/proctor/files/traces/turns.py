"""Where conversations, and turns in them, begin and end.

A conversation is what shares a conversation (session) id, else a trace, and is of one case. A turn is one run of the outermost agent; where no span
is an agent's, it is what follows one message of the user.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from proctor.files.traces.contents import Reader
from proctor.files.traces.messages import TraceMessage
from proctor.files.traces.semantic_conventions import (
    TraceSpanKind,
    agent_name,
    case_id_of,
    conversation_id,
    kind_of,
)
from proctor.files.traces.span_tree import Forest, TraceSpan, order


@dataclass(slots=True, eq=False)
class TurnSpans:
    """One run of an agent, or one call of a model or tool outside of any; later one turn."""

    spans: list[TraceSpan]
    conversation: str
    """The id; empty if it is not stated."""
    asked: TraceMessage | None = None
    """The last message of the user before it."""
    count: int = 0
    """The number of user messages that the model received."""
    case: str = ""
    """The id of its case, if the trace states it."""
    is_case_ours: bool = False
    """Whether Proctor's attribute (`proctor.eval_id`) states the case."""

    @property
    def trace(self) -> str:
        """The id of its trace."""
        return self.spans[0].trace_id

    @property
    def is_agent(self) -> bool:
        """Whether it is the run of an agent."""
        return kind_of(self.spans[0]) is TraceSpanKind.AGENT

    @property
    def agents(self) -> set[str]:
        """The names of the agents that ran."""
        return {agent_name(span) for span in self.spans if kind_of(span) is TraceSpanKind.AGENT}


@dataclass(slots=True)
class ConversationTurns:
    """The turns of one conversation, in order of time."""

    id: str
    is_trace: bool
    """Whether it is named by its trace, for want of a conversation id."""
    turns: list[TurnSpans] = field(default_factory=list)


def groups_of(forest: Forest, reader: Reader) -> list[ConversationTurns]:
    """Return the conversations, in the order in which they begin."""
    pieces_by_group: dict[tuple[bool, str], list[TurnSpans]] = {}
    for pieces in _by_trace(forest, reader):
        ids = {piece.conversation for piece in pieces} - {""}
        for piece in pieces:
            name = piece.conversation or (next(iter(ids)) if len(ids) == 1 else "")
            pieces_by_group.setdefault((not name, name or piece.trace), []).append(piece)
    groups = []
    for (is_trace, name), pieces in pieces_by_group.items():
        pieces.sort(key=lambda piece: order(piece.spans[0]))
        groups += [ConversationTurns(name, is_trace, list(_turns(each))) for each in _by_case(pieces)]
    return sorted(groups, key=lambda group: order(group.turns[0].spans[0]))


def _by_case(pieces: list[TurnSpans]) -> Iterable[list[TurnSpans]]:
    """Separate the parts of several cases that were run in one session."""
    if len({piece.case for piece in pieces} - {""}) < 2:
        return [pieces]
    by_case: dict[str, list[TurnSpans]] = {}
    for piece in pieces:
        by_case.setdefault(piece.case, []).append(piece)
    return by_case.values()


def _by_trace(forest: Forest, reader: Reader) -> Iterable[list[TurnSpans]]:
    by_trace: dict[str, list[TurnSpans]] = {}
    for root in forest.roots:
        for span in _outermost(root):
            piece = TurnSpans([span], _conversation(span))
            piece.asked, piece.count = _user_message(span, reader)
            piece.case, piece.is_case_ours = case_id_of([*inside(span), *span.above()])
            by_trace.setdefault(span.trace_id, []).append(piece)
    return by_trace.values()


def _outermost(root: TraceSpan) -> Iterator[TraceSpan]:
    """The spans about an agent, a model or a tool that no other of these encloses."""
    waiting = [root]
    while waiting:
        span = waiting.pop()
        if kind_of(span) is not TraceSpanKind.OTHER:
            yield span
        else:
            waiting += span.children


def _conversation(span: TraceSpan) -> str:
    """Return the id of the conversation: of the span, of a span around it, or of the first one inside it."""
    for one in (span, *span.above()):
        if name := conversation_id(one):
            return name
    return next((name for one in inside(span) if (name := conversation_id(one))), "")


def inside(span: TraceSpan) -> Iterator[TraceSpan]:
    """Return a span and what it encloses, in order, but for what happens in tools: another agent may run there."""
    waiting = [span]
    while waiting:
        one = waiting.pop()
        yield one
        if kind_of(one) is not TraceSpanKind.TOOL:
            waiting += reversed(one.children)


def _user_message(span: TraceSpan, reader: Reader) -> tuple[TraceMessage | None, int]:
    """Return the last message of the user: from the first model call, else from the agent's own span."""
    for one in inside(span):
        if kind_of(one) is TraceSpanKind.MODEL and (message := _last_of_user(one, reader))[0] is not None:
            return message
    return _last_of_user(span, reader) if kind_of(span) is not TraceSpanKind.TOOL else (None, 0)


def _last_of_user(span: TraceSpan, reader: Reader) -> tuple[TraceMessage | None, int]:
    messages = reader.of(span).input or ()
    users = [
        message for message in messages if message.role == "user" and (message.has_content or message.lost)
    ]
    return (users[-1], len(users)) if users else (None, 0)


def _turns(pieces: Iterable[TurnSpans]) -> Iterator[TurnSpans]:
    """Group the spans of each turn."""
    turn: TurnSpans | None = None
    for piece in pieces:
        if turn is None:
            turn = piece
        elif _continues_turn(turn, piece):
            turn.spans += piece.spans
            if turn.asked is None:
                turn.asked, turn.count = piece.asked, piece.count
        else:
            yield turn
            turn = piece
    if turn is not None:
        yield turn


def _continues_turn(turn: TurnSpans, piece: TurnSpans) -> bool:
    """Whether a piece belongs to the turn before it: no other user message separates them."""
    if _invocation(turn) and _invocation(turn) == _invocation(piece):
        return True
    if piece.is_agent and (turn.trace != piece.trace or turn.agents & piece.agents):
        return False
    if piece.asked is None or turn.asked is None:
        return turn.trace == piece.trace
    same = turn.asked.parts == piece.asked.parts and piece.count <= turn.count
    return same and (turn.trace == piece.trace or not (turn.is_agent or piece.is_agent))


def _invocation(piece: TurnSpans) -> str:
    """Return google-adk's name for a turn, if the outermost span states it."""
    return piece.spans[0].text("gcp.vertex.agent.invocation_id")
