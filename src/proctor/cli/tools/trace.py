"""`proctor trace`: receive traces from OTLP exporters into a file, and show the conversations in such files."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from proctor.cli.command_base import (
    NumberType,
    SectionedCommand,
    SectionedGroup,
    argument,
    common_options,
    option,
)
from proctor.cli.messages import notify
from proctor.cli.print_lines import print_lines
from proctor.common.safe_text import clean, clean_json, one_line

if TYPE_CHECKING:
    from proctor.files.traces.conversations import TracedConversation, TracedTurn
    from proctor.schema.format.content import Part

WHERE, END, SHOW = "Where", "When it ends", "What to show"

EXAMPLES = """
proctor trace receive traces.jsonl --max-requests 1
proctor trace show traces.jsonl
"""


@click.group("trace", cls=SectionedGroup, examples=EXAMPLES)
@common_options
def trace() -> None:
    """Receive traces from an OTLP exporter, or show the contents of a trace file."""


@trace.command(
    "receive",
    cls=SectionedCommand,
    examples="""
proctor trace receive traces.jsonl
proctor trace receive traces.jsonl --max-time 60 --listen 127.0.0.1:0
OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4318 python my_agent.py    in another terminal
""",
)
@argument("path", metavar="FILE", type=click.Path(path_type=Path))
@option("--listen", section=WHERE, metavar="HOST:PORT", default="127.0.0.1:4318",
        help="Where to listen; port 0 is any that is free. Beyond this machine only with a token in "
             "PROCTOR_TRACE_TOKEN.  [127.0.0.1:4318]")  # fmt: skip
@option("--max-requests", "count", old=("--count",), section=END, type=NumberType(least=1), metavar="N",
        help="Stop after N requests.")  # fmt: skip
@option("--max-time", "seconds", old=("--for",), section=END, type=NumberType(float, above=0), metavar="S",
        help="Stop after S seconds.  [until Ctrl-C]")  # fmt: skip
@common_options
def receive(path: Path, *, listen: str, count: int | None, seconds: float | None) -> None:
    """Receive traces from exporters and append them to a file.

    Takes OTLP/HTTP, and appends to FILE, a request a line: POST /v1/traces and /v1/logs, as JSON, or as protobuf where proctor[traces] is installed, up to
    16 MiB a request. Only data about agents is written, no headers of requests. Ctrl-C ends the receiver;
    the file then holds all data received.
    """
    from proctor.runs.traces.receiver import TraceReceiver

    with _catch_signals() as stopped, TraceReceiver(path, listen) as receiver:
        notify(
            f"listening on {receiver.url}; OTEL_EXPORTER_OTLP_ENDPOINT={receiver.url} makes an exporter send there"
        )
        reason_count = 0

        def look() -> bool:
            nonlocal reason_count
            for why in receiver.reasons[
                reason_count:
            ]:  # report at once, so that the user can correct the exporter
                notify(f"refused: {why}")
                reason_count += 1
            return bool(stopped)

        received = receiver.wait(count=count, seconds=seconds, stopped=look)
        look()
    refused = f"; {received.refused} refused" if received.refused else ""
    click.echo(clean(f"{path}: {received.spans} span(s) in {received.requests} request(s){refused}"))


@contextmanager
def _catch_signals() -> Iterator[list[int]]:
    """Collect Ctrl-C and SIGTERM in a list inside the block; both end the receiver in order."""
    signals: list[int] = []

    def note(number: int, _frame: object) -> None:
        signals.append(number)

    before = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield signals
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


# --- Show ---------------------------------------------------------------------------------------------------------------


@trace.command(
    "show",
    cls=SectionedCommand,
    examples="""
proctor trace show traces.jsonl
proctor trace show traces/ --json
""",
)
@argument("traces", nargs=-1, required=True, metavar="TRACE...")
@option("--json", "as_json", section=SHOW, is_flag=True, help="The conversations as JSON.")
@common_options
def show(traces: tuple[str, ...], *, as_json: bool) -> None:
    """List the conversations in traces.

    Each turn is shown with its tool calls, responses and texts, and with what is missing: TRACE as for
    `proctor score-trace`.
    """
    from proctor.files.traces.conversations import read_conversations

    traced = read_conversations(traces)
    if as_json:
        data = {"conversations": [_data(one) for one in traced.conversations], "warnings": traced.warnings}
        click.echo(clean_json(json.dumps(data, ensure_ascii=False, indent=2)))
        return
    for conversation in traced.conversations:
        print_lines(_lines(conversation))
    for warning in traced.warnings:
        notify(warning)
    if not traced.conversations:
        notify("there is no span of an agent, a model or a tool in it")


def _lines(conversation: TracedConversation) -> Iterator[str]:
    kind = "trace" if conversation.is_trace else "conversation"
    about = [conversation.app_name, f"user {conversation.user_id}" if conversation.user_id else ""]
    about.append(f"case {conversation.case_id}" if conversation.case_id else "")
    yield "  ".join([f"{kind} {conversation.id}", *filter(None, about)])
    for turn in conversation.turns:
        yield f"  you> {_short(turn.text) or '(not in the trace)'}"
        yield from _events(turn)
        if turn.failure is not None:
            yield f"    ! {turn.failure.cause}"
    for note in conversation.notes:
        yield f"  ({note})"


def _events(turn: TracedTurn) -> Iterator[str]:
    for event in turn.events:
        for part in (event.content and event.content.parts) or ():
            yield from _part_lines(event.author, part)
        if event.error_code:
            yield f"    {event.author}  error {event.error_code}: {_short(event.error_message or '')}"


def _part_lines(author: str, part: Part) -> Iterator[str]:
    from proctor.files.yaml.call_syntax import write_call

    if (call := part.function_call) is not None:
        name = call.name or "?"
        yield f"    {author}  {_short(write_call(name, call.args or {}) or name)}"
    elif (answer := part.function_response) is not None:
        yield f"      -> {_short(json.dumps(answer.response, ensure_ascii=False, default=str))}"
    elif part.text and not part.thought:
        yield f"    {author}> {_short(part.text)}"


def _short(text: str) -> str:
    return one_line(text, 120)


def _data(conversation: TracedConversation) -> dict[str, Any]:
    turns = [
        {
            "user": turn.text,
            "events": [event.model_dump(mode="json", exclude_none=True) for event in turn.events],
            "started_at": turn.started_at,
            "duration": turn.duration,
            "failure": turn.failure.cause if turn.failure is not None else None,
        }
        for turn in conversation.turns
    ]
    return {
        "id": conversation.id,
        "named_by": "trace" if conversation.is_trace else "conversation",
        "case": conversation.case_id or None,
        "app_name": conversation.app_name or None,
        "user_id": conversation.user_id or None,
        "turns": turns,
        "notes": conversation.notes,
    }
