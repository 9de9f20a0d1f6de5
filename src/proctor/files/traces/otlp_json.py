"""OTLP's JSON encoding: an ExportTraceServiceRequest (or ExportLogsServiceRequest) as spans and log records.

Source: the OpenTelemetry protocol's JSON encoding; ids as hex, 64-bit numbers as texts. Read as well: snake_case names,
ids as base64 (protobuf's own mapping), numbers as numbers, `instrumentationLibrarySpans` of older exporters.

Only attributes about agents are kept: everything else that the instrumentation wrote (headers of requests, for example, which
may contain secrets) is dropped here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from proctor.files.text.problems import Path_, quote
from proctor.files.text.validation_messages import DocumentFinding
from proctor.files.traces.span_tree import SpanEvent, TraceSpan

_KEPT = re.compile(
    r"(gen_ai|gcp\.vertex\.agent|llm|openinference|langfuse|traceloop|pydantic_ai|logfire\.msg|proctor|session|tool"
    r"|input|output|user|enduser|error|exception|event|events|service|test)(\.|$)"
    r"|(agent_name|final_result|all_messages_events|tool_arguments|tool_response|model_name)$"
)
_OF_MESSAGES = frozenset({"content", "id", "index", "message", "name", "role", "tool_call_id", "tool_calls"})
"""Attributes of events that contain one message each; on other events these names have another meaning."""
_MOST_LEVELS = 100
_MOST_NANOSECONDS = 1 << 63


class Malformed(Exception):  # noqa: N818 - it never leaves this package
    """A value is not what OTLP has there."""

    def __init__(self, path: Path_, expected: str, got: object) -> None:
        self.finding = DocumentFinding(
            path, f"expected {expected}, got {_named(got)}", "is this an OTLP JSON file?"
        )
        super().__init__(self.finding.message)


class LogRecord(SpanEvent):
    """An event that names the span that it belongs to."""

    trace_id: str = ""
    span_id: str = ""


def is_request(value: object) -> bool:
    """Whether this is a request of traces or logs, or the data of a file of them."""
    return isinstance(value, dict) and any(key in value for key in _REQUEST_KEYS)


_REQUEST_KEYS = ("resourceSpans", "resource_spans", "resourceLogs", "resource_logs")


def spans_in(request: dict[str, Any], path: Path_ = ()) -> Iterator[TraceSpan | LogRecord]:
    """Return the spans and the log records of a request, in order.

    Raises:
        Malformed: something is not what OTLP has there.
    """
    for group, at in _listed(request, path, "resourceSpans", "resource_spans"):
        resource = _attributes(_nested(group, at, "resource"), (*at, "resource"))
        for scoped, where in _listed(group, at, "scopeSpans", "scope_spans", "instrumentationLibrarySpans"):
            scope = _text(_nested(scoped, where, "scope", "instrumentationLibrary"), "name", where)
            for span, here in _listed(scoped, where, "spans"):
                yield _span(span, here, scope, resource)
    for group, at in _listed(request, path, "resourceLogs", "resource_logs"):
        for scoped, where in _listed(group, at, "scopeLogs", "scope_logs"):
            for record, here in _listed(scoped, where, "logRecords", "log_records"):
                yield _log(record, here)


def _span(fields: dict[str, object], path: Path_, scope: str, resource: dict[str, object]) -> TraceSpan:
    status = _nested(fields, path, "status")
    span = TraceSpan(
        trace_id=_id(fields, path, "traceId", "trace_id"),
        span_id=_id(fields, path, "spanId", "span_id"),
        parent_id=_id(fields, path, "parentSpanId", "parent_span_id", needed=False),
        name=_text(fields, "name", path),
        start=_time(fields, path, "startTimeUnixNano", "start_time_unix_nano"),
        end=_time(fields, path, "endTimeUnixNano", "end_time_unix_nano"),
        attributes=_attributes(fields, path),
        events=[_event(event, at) for event, at in _listed(fields, path, "events")],
        is_error=is_error_code(status.get("code")),
        status=_text(status, "message", (*path, "status")),
        scope=scope,
        resource=resource,
    )
    counts = (fields.get(key) for key in _DROPPED)
    span.dropped = sum(int(str(count)) for count in counts if str(count).isdecimal())
    return span


def is_error_code(code: object) -> bool:
    """Whether a status is an error, in any spelling: 2, `STATUS_CODE_ERROR`, `ERROR`."""
    return str(code) == "2" or str(code).upper().endswith("ERROR")


_DROPPED = (
    "droppedAttributesCount",
    "droppedEventsCount",
    "dropped_attributes_count",
    "dropped_events_count",
)


def _event(fields: dict[str, object], path: Path_) -> SpanEvent:
    time = _time(fields, path, "timeUnixNano", "time_unix_nano")
    return SpanEvent(_text(fields, "name", path), time, _attributes(fields, path))


def _log(fields: dict[str, object], path: Path_) -> LogRecord:
    attributes = _attributes(fields, path)
    event_name = _text(fields, "eventName", path) or _text(fields, "event_name", path)
    name = event_name or str(attributes.get("event.name", ""))
    time = _time(fields, path, "timeUnixNano", "time_unix_nano")
    body = fields.get("body")
    record = LogRecord(name, time, attributes, None if body is None else _value(body, (*path, "body")))
    record.trace_id = _id(fields, path, "traceId", "trace_id", needed=False)
    record.span_id = _id(fields, path, "spanId", "span_id", needed=False)
    return record


# --- values -----------------------------------------------------------------------------------------------------------


def _attributes(fields: dict[str, object], path: Path_) -> dict[str, object]:
    """Return the attributes about agents, by name."""
    attributes: dict[str, object] = {}
    for pair, at in _listed(fields, path, "attributes"):
        key = pair.get("key")
        if not isinstance(key, str):
            raise Malformed((*at, "key"), "the name of an attribute", key)
        if is_kept(key, fields) and pair.get("value") is not None:
            attributes[key] = _value(pair["value"], (*at, "value"))
    return attributes


def is_kept(name: str, owner: dict[str, object] | None = None) -> bool:
    """Whether an attribute of this name, of this span or event, may be about an agent."""
    if name in _OF_MESSAGES and owner is not None:
        return _event_name(owner).startswith("gen_ai.")
    return _KEPT.match(name) is not None


def _event_name(owner: dict[str, object]) -> str:
    """Return the name of an event, or of a log record, which may be an attribute."""
    names = (owner.get(key) for key in ("name", "eventName", "event_name"))
    return str(next(filter(None, names), None) or _name_attribute(owner.get("attributes")))


def _name_attribute(attributes: object) -> object:
    """Return the value of the attribute `event.name`; empty if there is none."""
    pairs = attributes if isinstance(attributes, list) else []
    matches = (pair for pair in pairs if isinstance(pair, dict) and pair.get("key") == "event.name")
    value = next(matches, {}).get("value")
    values = value.values() if isinstance(value, dict) else ()
    return next((value for value in values if value is not None), "")


def keep_agent_attributes(value: object) -> object:
    """Return a request without the attributes that are not about agents; the rest is unchanged."""
    if isinstance(value, list):
        return [keep_agent_attributes(one) for one in value]
    if not isinstance(value, dict):
        return value
    return {
        key: _kept_attributes(inner, value) if key == "attributes" else keep_agent_attributes(inner)
        for key, inner in value.items()
    }


def _kept_attributes(attributes: object, owner: dict[str, object]) -> object:
    if not isinstance(attributes, list):
        return attributes
    return [one for one in attributes if isinstance(one, dict) and is_kept(str(one.get("key")), owner)]


def _value(any_value: object, path: Path_, depth: int = 0) -> object:
    """Return what an AnyValue holds."""
    if not isinstance(any_value, dict):
        raise Malformed(path, "a value such as {“stringValue”: …}", any_value)
    if depth > _MOST_LEVELS:
        raise Malformed(path, f"at most {_MOST_LEVELS} levels of values", any_value)
    for key, value in any_value.items():
        kind = (
            _KINDS.get(key) if value is not None else None
        )  # some exporters write each kind, all but one as null
        if kind == "array":
            return _items(_object(value, (*path, key)), (*path, key), depth)
        if kind == "object":
            return _pairs(_object(value, (*path, key)), (*path, key), depth)
        if kind is not None:
            return _plain(kind, value, (*path, key))
    return None  # an empty AnyValue is OTLP's null


_KINDS = {
    "stringValue": "text", "boolValue": "bool", "intValue": "int", "doubleValue": "number", "bytesValue": "text",
    "arrayValue": "array", "kvlistValue": "object",
    "string_value": "text", "bool_value": "bool", "int_value": "int", "double_value": "number", "bytes_value": "text",
    "array_value": "array", "kvlist_value": "object",
}  # fmt: skip


def _items(fields: dict[str, object], path: Path_, depth: int) -> list[object]:
    items = fields.get("values")
    if not isinstance(items, list | None):
        raise Malformed((*path, "values"), "a list", items)
    return [
        None if item is None else _value(item, (*path, "values", index), depth + 1)
        for index, item in enumerate(items or ())
    ]


def _pairs(fields: dict[str, object], path: Path_, depth: int) -> dict[str, object]:
    pairs = {}
    for pair, at in _listed(fields, path, "values"):
        if not isinstance(pair.get("key"), str):
            raise Malformed((*at, "key"), "a key", pair.get("key"))
        value = pair.get("value")
        pairs[pair["key"]] = None if value is None else _value(value, (*at, "value"), depth + 1)
    return pairs


def _plain(kind: str, value: object, path: Path_) -> object:
    expected, types, convert = _PLAIN_KINDS[kind]
    if not isinstance(value, types) or (isinstance(value, bool) and kind != "bool"):
        raise Malformed(path, expected, value)
    try:
        return convert(value)
    except (ValueError, OverflowError):
        raise Malformed(path, expected, value) from None


_PLAIN_KINDS: dict[str, tuple[str, tuple[type, ...], Callable[[Any], Any]]] = {
    "text": ("text", (str,), str),
    "bool": ("true or false", (bool,), bool),
    "int": ("a number", (str, int), int),
    "number": ("a number", (str, int, float), float),
}
"""The expected value of each kind for messages, the types that are read, and their conversion."""


def _listed(fields: dict[str, object], path: Path_, *names: str) -> Iterator[tuple[dict[str, Any], Path_]]:
    """Return the objects of the first of these lists that is there, each with its path."""
    for name in names:
        items = fields.get(name)
        if items is None:
            continue
        if not isinstance(items, list):
            raise Malformed((*path, name), "a list", items)
        for index, item in enumerate(items):
            yield _object(item, (*path, name, index)), (*path, name, index)
        return


def _object(value: object, path: Path_) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise Malformed(path, "an object", value)
    return value


def _nested(fields: dict[str, object], path: Path_, *names: str) -> dict[str, Any]:
    key = next((name for name in names if fields.get(name) is not None), None)
    return {} if key is None else _object(fields[key], (*path, key))


def _text(fields: dict[str, object], name: str, path: Path_) -> str:
    value = fields.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise Malformed((*path, name), "text", value)
    return value


def _id(fields: dict[str, object], path: Path_, *names: str, needed: bool = True) -> str:
    text = next((_text(fields, name, path) for name in names if fields.get(name) is not None), "")
    is_one = bool(text.strip("0"))
    if needed and not is_one:
        raise Malformed((*path, names[0]), "an id", fields.get(names[0]))
    return text if is_one else ""


def _time(fields: dict[str, object], path: Path_, *names: str) -> int:
    for name in names:
        value = _whole(fields.get(name))
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, int | str):
            raise Malformed((*path, name), "nanoseconds since 1970", value)
        try:
            return max(0, min(int(value), _MOST_NANOSECONDS))
        except ValueError:
            raise Malformed((*path, name), "nanoseconds since 1970", value) from None
    return 0


def _whole(value: object) -> object:
    """Return a 64-bit number that older JavaScript exporters write in two halves; other values are unchanged."""
    if not isinstance(value, dict) or not all(type(value.get(half)) is int for half in ("low", "high")):
        return value
    return (value["high"] << 32) + (value["low"] & 0xFFFFFFFF) if abs(value["high"]) < 1 << 32 else value


def _named(value: object) -> str:
    if isinstance(value, str):
        return quote(value)
    kinds = {dict: "an object", list: "a list", bool: "a truth value", type(None): "nothing"}
    return kinds.get(
        type(value), f"the number {value}" if isinstance(value, int | float) else "something else"
    )
