"""Spans as objects with plain attributes: what SDKs print, what google-adk's own exporters keep.

Read: `ReadableSpan.to_json` of the Python SDK (`context`, `parent_id`, ISO times), the spans of google-adk's web server
(`/debug/trace`), and the rows of its SQLite file (`SqliteSpanExporter`: a table `spans`).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Any

from pydantic_core import from_json

from proctor.files.text.problems import Path_, Problem, file_error
from proctor.files.traces.otlp_json import Malformed, is_error_code, is_kept
from proctor.files.traces.span_tree import SECOND, Span, SpanEvent

SQLITE = b"SQLite format 3\0"


def is_plain_span(value: Any) -> bool:
    """Whether this is a span whose attributes are an object."""
    if not isinstance(value, dict) or not isinstance(value.get("attributes", {}), dict):
        return False
    context = value.get("context")
    return "span_id" in (context if isinstance(context, dict) else value) and "name" in value


def plain_span(given: dict[str, Any], path: Path_ = ()) -> Span:
    """Read such a span.

    Raises:
        Malformed: it has no ids, or a value is of another kind.
    """
    context = given.get("context")
    context = context if isinstance(context, dict) else given
    status = given.get("status")
    status = status if isinstance(status, dict) else {}
    resource = given.get("resource")
    events = given.get("events")
    return Span(
        trace_id=_id(context.get("trace_id"), (*path, "trace_id"), digits=32),
        span_id=_id(context.get("span_id"), (*path, "span_id"), digits=16),
        parent_id=_id(given.get("parent_id", given.get("parent_span_id")), path, digits=16, needed=False),
        name=str(given.get("name") or ""),
        start=_time(given.get("start_time", given.get("start_time_unix_nano"))),
        end=_time(given.get("end_time", given.get("end_time_unix_nano"))),
        attributes=_kept(given.get("attributes")),
        events=[_event(one) for one in events if isinstance(one, dict)] if isinstance(events, list) else [],
        is_error=is_error_code(status.get("status_code")),
        status=str(status.get("description") or ""),
        resource=_kept(resource.get("attributes")) if isinstance(resource, dict) else {},
    )


def _event(given: dict[str, Any]) -> SpanEvent:
    return SpanEvent(
        str(given.get("name") or ""), _time(given.get("timestamp")), _kept(given.get("attributes"), given)
    )


def _kept(attributes: Any, owner: dict[str, Any] | None = None) -> dict[str, Any]:
    if not isinstance(attributes, dict):
        return {}
    return {name: value for name, value in attributes.items() if is_kept(name, owner)}


def _id(given: Any, path: Path_, *, digits: int, needed: bool = True) -> str:
    """An id as hex digits, whether it came as such or as a number."""
    if isinstance(given, int) and not isinstance(given, bool) and given > 0:
        return f"{given:0{digits}x}"
    if isinstance(given, str) and given.removeprefix("0x").strip("0"):
        return given.removeprefix("0x")
    if needed:
        raise Malformed(path, "an id", given)
    return ""


def _time(given: Any) -> int:
    """Nanoseconds, from nanoseconds or an ISO time; 0 for what is neither."""
    if isinstance(given, int | float) and not isinstance(given, bool):
        return max(0, int(given)) if abs(given) < 1 << 63 else 0
    try:
        return int(datetime.fromisoformat(str(given)).timestamp() * SECOND)
    except (ValueError, OverflowError):
        return 0


def sqlite_spans(path: Path) -> Iterator[Span]:
    """Read the spans that google-adk keeps in a SQLite file.

    Raises:
        EvalFileError: the file has another form, or cannot be read.
        Malformed: a row is not what it should be.
    """
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as connection:
            connection.row_factory = sqlite3.Row
            for number, row in enumerate(connection.execute(_ROWS)):
                where = ("spans", number)
                given = {**row, "attributes": _json(row["attributes_json"], (*where, "attributes_json"))}
                yield plain_span(given, where)
    except sqlite3.Error as error:
        message = f"this SQLite file cannot be read as google-adk's spans: {error}"
        raise file_error([Problem("error", str(path), 1, 1, "", message)]) from None


_ROWS = (
    "SELECT span_id, trace_id, parent_span_id, name, start_time_unix_nano, end_time_unix_nano, attributes_json "
    "FROM spans ORDER BY start_time_unix_nano"
)


def _json(text: Any, path: Path_) -> Any:
    """Return the attributes of a row; without them the span cannot be interpreted."""
    try:
        value = from_json(text) if isinstance(text, str | bytes) else {}
    except ValueError:
        raise Malformed(path, "attributes as JSON", text) from None
    if not isinstance(value, dict):
        raise Malformed(path, "an object of attributes", value)
    return value
