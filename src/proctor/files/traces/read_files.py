"""Files of traces: OTLP's JSON, whole or a request a line (as the collector's file exporter writes), and plain spans."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Any

from pydantic_core import from_json

from proctor.errors import EvalFileError
from proctor.files.eval_sets.documents import RESULT_LIMIT, problems_at, read_document, unreadable
from proctor.files.eval_sets.json_lines import JsonLine, JsonLineTooLongError, lines_in
from proctor.files.text.json_decode import has_refused_values, parse
from proctor.files.text.json_stream import FileBytes
from proctor.files.text.problems import Path_, Problem, field_name, file_error
from proctor.files.text.validation_messages import DocumentFinding
from proctor.files.traces.otlp_json import LogRecord, Malformed, is_error_code, is_kept, is_request, spans_in
from proctor.files.traces.span_tree import SECOND, Forest, SpanEvent, TraceSpan, grown

MOST_SPANS = 1_000_000
"""The most spans that are taken in; larger collections are to be given in parts."""

SUFFIXES = (".json", ".jsonl", ".ndjson")
"""Of the files that are taken of a folder."""

_OTHER_SUFFIXES = (".gz", ".zst", ".db", ".sqlite", ".sqlite3")
"""Of files in a folder that may be traces, and are only taken when they are given by name, or not at all."""

_WANTED = "an OTLP request (an object with `resourceSpans`), or spans as an SDK prints them"
_HINT = "the collector's file exporter and `proctor trace receive` write such files"
_GZIP = b"\x1f\x8b"


def read_traces(paths: Iterable[str | Path]) -> Forest:
    """Read all spans of some files, or of the files in some folders, as one collection.

    Raises:
        EvalFileError: a file cannot be read, or is not a trace.
    """
    spans: list[TraceSpan] = []
    logs: list[LogRecord] = []
    unread: list[str] = []
    for path in _files(paths, unread):
        for one in _read(path):
            if isinstance(one, LogRecord):
                logs.append(one)
            else:
                spans.append(one)
            if len(spans) + len(logs) > MOST_SPANS:
                message = f"more than {MOST_SPANS:,} spans; they are not read at once"
                raise file_error([_problem(str(path), message, hint="give the traces in parts")])
    forest = grown(spans)
    forest.unread = unread
    _attach_logs(logs, forest)
    return forest


def _files(paths: Iterable[str | Path], unread: list[str]) -> Iterator[Path]:
    for path in map(Path, paths):
        if path.is_dir():
            yield from _files_in(path, unread)
        else:
            yield path


def _files_in(folder: Path, unread: list[str]) -> list[Path]:
    """Return the traces in a folder; its folders, and files of other formats, are added to `unread`."""
    entries = sorted(folder.iterdir())
    traces = [entry for entry in entries if entry.suffix.lower() in SUFFIXES and entry.is_file()]
    unread += [str(entry) for entry in entries if entry.is_dir() or entry.suffix.lower() in _OTHER_SUFFIXES]
    if not traces:
        patterns = " or ".join(f"*{suffix}" for suffix in SUFFIXES)
        raise file_error([_problem(str(folder), f"there is no trace ({patterns}) in this folder")])
    return traces


def _attach_logs(logs: list[LogRecord], forest: Forest) -> None:
    """Add log records to the spans that they name; records of unknown spans are dropped."""
    if not logs:
        return
    known: dict[tuple[str, str], TraceSpan] = {}
    waiting = list(forest.roots)
    while waiting:
        span = waiting.pop()
        known[span.trace_id, span.span_id] = span
        waiting += span.children
    for record in sorted(logs, key=lambda one: one.time):
        if (owner := known.get((record.trace_id, record.span_id))) is not None:
            owner.events.append(SpanEvent(record.name, record.time, record.attributes, record.body))


# --- one file ---------------------------------------------------------------------------------------------------------


def _read(path: Path) -> Iterator[TraceSpan | LogRecord]:
    name = str(path)
    try:
        data = FileBytes(path, name)
        head = data.read(0, len(SQLITE))
    except OSError as error:
        raise unreadable(path, name, error) from None
    if not head:
        raise file_error([_problem(name, "the file is empty: no trace has been written into it")])
    if head == SQLITE:
        yield from _with_positions(sqlite_spans(path), name, lambda finding: _at(name, 1, finding))
    elif head.startswith(_GZIP):
        raise file_error(
            [_problem(name, "the file is compressed", hint=f"unpack it first: gunzip {path.name}")]
        )
    elif _is_lines(data):
        yield from _read_lines(data)
    else:
        yield from _read_whole(path)


def _is_lines(data: FileBytes) -> bool:
    """Whether the first line is a request, or a span, by itself."""
    try:
        first = next(lines_in(data), None)
        return first is not None and _is_trace(from_json(first.text))
    except (ValueError, JsonLineTooLongError):
        return False


def _is_trace(value: object) -> bool:
    return is_request(value) or is_plain_span(value)


def _read_whole(path: Path) -> Iterator[TraceSpan | LogRecord]:
    document = read_document(path, limit=RESULT_LIMIT)

    def place(finding: DocumentFinding) -> Problem:
        return problems_at(document, [finding])[0]

    values = document.value if isinstance(document.value, list) else [document.value]
    in_list = isinstance(document.value, list)
    for index, value in enumerate(values):
        where = (index,) if in_list else ()
        if not _is_trace(value):
            raise file_error([place(DocumentFinding(where, f"expected {_WANTED}", _HINT))])
        yield from _with_positions(_spans_of(value, where), str(path), place)


def _read_lines(data: FileBytes) -> Iterator[TraceSpan | LogRecord]:
    try:
        for line in lines_in(data):
            yield from _spans_of_line(line, data.name)
    except JsonLineTooLongError as error:
        problem = _problem(data.name, "the line is longer than 64 MiB", line=int(error.args[0]))
        raise file_error([problem]) from None


def _spans_of_line(line: JsonLine, name: str) -> Iterator[TraceSpan | LogRecord]:
    try:
        value = from_json(line.text, allow_inf_nan=False)
        if line.is_suspect and has_refused_values(line.text):
            raise ValueError
    except ValueError:
        raise _unreadable_line(line, name) from None
    if not _is_trace(value):
        problem = _problem(name, f"expected {_WANTED}", line=line.number, hint=_HINT)
        raise file_error([problem])
    yield from _with_positions(
        _spans_of(value, ()), name, lambda finding: _at(name, line.number, finding), line.number
    )


def _unreadable_line(line: JsonLine, name: str) -> EvalFileError:
    if line.is_cut:
        hint = (
            "the file was cut off while it was written, or is still being written: remove the line, or wait"
        )
        return file_error([_problem(name, "the last line is incomplete", line=line.number, hint=hint)])
    try:
        parse(line.text, name)
    except EvalFileError as error:
        first = error.problems[0]
        return file_error(
            [_problem(name, first.message, line=line.number, column=first.column, hint=first.hint)]
        )
    hint = "in JSON lines, a request is plain JSON on one line"
    return file_error([_problem(name, "this line is not readable as JSON", line=line.number, hint=hint)])


def _spans_of(value: Any, path: tuple[int, ...]) -> Iterator[TraceSpan | LogRecord]:
    if is_request(value):
        yield from spans_in(value, path)
    else:
        yield plain_span(value, path)


def _with_positions(
    spans: Iterable[TraceSpan | LogRecord],
    name: str,
    place: Callable[[DocumentFinding], Problem],
    line: int = 0,
) -> Iterator[TraceSpan | LogRecord]:
    """Add the file and the line to each span; for other rows, report their position."""
    try:
        for span in spans:
            if isinstance(span, TraceSpan):
                span.place = f"{name}:{line}" if line else name
            yield span
    except Malformed as error:
        raise file_error([place(error.finding)]) from None


def _at(name: str, line: int, finding: DocumentFinding) -> Problem:
    return Problem("error", name, line, 1, field_name(finding.path), finding.message, finding.hint)


def _problem(name: str, message: str, *, line: int = 1, column: int = 1, hint: str = "") -> Problem:
    return Problem("error", name, line, column, "", message, hint)


# --- spans as plain objects: the output of SDKs and of google-adk's own exporters -------------------------------------


SQLITE = b"SQLite format 3\0"


def is_plain_span(value: object) -> bool:
    """Whether this is a span whose attributes are an object."""
    if not isinstance(value, dict) or not isinstance(value.get("attributes", {}), dict):
        return False
    context = value.get("context")
    return "span_id" in (context if isinstance(context, dict) else value) and "name" in value


def plain_span(fields: dict[str, object], path: Path_ = ()) -> TraceSpan:
    """Read such a span.

    Raises:
        Malformed: it has no ids, or a value is of another kind.
    """
    context = fields.get("context")
    context = context if isinstance(context, dict) else fields
    status = fields.get("status")
    status = status if isinstance(status, dict) else {}
    resource = fields.get("resource")
    events = fields.get("events")
    return TraceSpan(
        trace_id=_id(context.get("trace_id"), (*path, "trace_id"), digits=32),
        span_id=_id(context.get("span_id"), (*path, "span_id"), digits=16),
        parent_id=_id(fields.get("parent_id", fields.get("parent_span_id")), path, digits=16, needed=False),
        name=str(fields.get("name") or ""),
        start=_time(fields.get("start_time", fields.get("start_time_unix_nano"))),
        end=_time(fields.get("end_time", fields.get("end_time_unix_nano"))),
        attributes=_kept_attributes(fields.get("attributes")),
        events=[_event(one) for one in events if isinstance(one, dict)] if isinstance(events, list) else [],
        is_error=is_error_code(status.get("status_code")),
        status=str(status.get("description") or ""),
        resource=_kept_attributes(resource.get("attributes")) if isinstance(resource, dict) else {},
    )


def _event(fields: dict[str, object]) -> SpanEvent:
    return SpanEvent(
        str(fields.get("name") or ""),
        _time(fields.get("timestamp")),
        _kept_attributes(fields.get("attributes"), fields),
    )


def _kept_attributes(attributes: object, owner: dict[str, object] | None = None) -> dict[str, Any]:
    if not isinstance(attributes, dict):
        return {}
    return {name: value for name, value in attributes.items() if is_kept(name, owner)}


def _id(value: object, path: Path_, *, digits: int, needed: bool = True) -> str:
    """An id as hex digits, whether it came as such or as a number."""
    if isinstance(value, int) and not isinstance(value, bool) and value > 0:
        return f"{value:0{digits}x}"
    if isinstance(value, str) and value.removeprefix("0x").strip("0"):
        return value.removeprefix("0x")
    if needed:
        raise Malformed(path, "an id", value)
    return ""


def _time(value: object) -> int:
    """Nanoseconds, from nanoseconds or an ISO time; 0 for what is neither."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return max(0, int(value)) if abs(value) < 1 << 63 else 0
    try:
        return int(datetime.fromisoformat(str(value)).timestamp() * SECOND)
    except (ValueError, OverflowError):
        return 0


def sqlite_spans(path: Path) -> Iterator[TraceSpan]:
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
                fields = {**row, "attributes": _json(row["attributes_json"], (*where, "attributes_json"))}
                yield plain_span(fields, where)
    except sqlite3.Error as error:
        message = f"this SQLite file cannot be read as google-adk's spans: {error}"
        raise file_error([Problem("error", str(path), 1, 1, "", message)]) from None


_ROWS = (
    "SELECT span_id, trace_id, parent_span_id, name, start_time_unix_nano, end_time_unix_nano, attributes_json "
    "FROM spans ORDER BY start_time_unix_nano"
)


def _json(text: object, path: Path_) -> Any:
    """Return the attributes of a row; without them the span cannot be interpreted."""
    try:
        value = from_json(text) if isinstance(text, str | bytes) else {}
    except ValueError:
        raise Malformed(path, "attributes as JSON", text) from None
    if not isinstance(value, dict):
        raise Malformed(path, "an object of attributes", value)
    return value
