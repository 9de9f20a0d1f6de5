"""Serialization: evidence and cases as bytes for stores, their content hashes, and documents as ADK writes them in files."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from typing import Any

from pydantic import BaseModel
from pydantic_core import PydanticSerializationError, to_json

from proctor.schema.evidence.event import plain_evidence
from proctor.schema.evidence.trial import Trial
from proctor.schema.format.case import EvalCase, EvalSet
from proctor.schema.format.invocation import KEEP_WRITTEN
from proctor.schema.format.wire_model import WireModel, unknown_keys


def kept_json(model: WireModel) -> bytes:
    """Return a model as JSON (UTF-8). An unpaired surrogate, which UTF-8 cannot encode, becomes U+FFFD."""
    try:
        if (
            type(model) is Trial
        ):  # its serializer takes as long to build as a short run, and settles lazy events
            data = plain_evidence(model)
            return to_json(data, by_alias=False, exclude_none=True, bytes_mode="base64", inf_nan_mode="null")
        text: Any = model.__pydantic_serializer__.to_json(model, exclude_none=True, context=KEEP_WRITTEN)
    except ValueError:
        plain = json.dumps(
            model.model_dump(exclude_none=True, context=KEEP_WRITTEN), ensure_ascii=False, default=str
        )
        return plain.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()
    json_bytes: bytes = text
    return json_bytes


HASH_BYTES = 16


def content_hash(content: bytes) -> str:
    """Return the content hash: 128 bits of BLAKE2b, in hex."""
    return blake2b(content, digest_size=HASH_BYTES).hexdigest()


def json_hash(value: Any) -> str:
    """Return the content hash of plain data; other values count as their text."""
    return content_hash(json.dumps(value, sort_keys=True, ensure_ascii=True, default=str).encode())


def hash_of_many(first: bytes = b"") -> blake2b:
    """Return the hash object of `content_hash` for contents in sequence: `update` it, then `hexdigest`."""
    return blake2b(first, digest_size=HASH_BYTES)


def case_hash(case: WireModel) -> bytes:
    """Return the hash of a case's content, independent of spelling in its file: 16 bytes."""
    return blake2b(kept_json(case), digest_size=HASH_BYTES).digest()


# --- Files as ADK writes them ----------------------------------------------------------------------------------------


_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_LINE_ENDS = {ord(char): f"\\u{ord(char):04x}" for char in "\x85\u2028\u2029"}
"""Characters that some readers interpret as line ends."""


def to_adk_json(model: BaseModel, *, full: bool = False, keep_written: bool = False) -> str:
    """Return the text of a file as ADK writes it: two-space indent, snake_case, non-ASCII preserved, no newline at the end.

    Fields that are null or equal to their default are omitted, as in eval sets; `full` writes every field, as in
    results and migrated files. Unknown keys are always written, null values too. `keep_written`: unlike ADK, preserve the
    difference between a written `tool_uses: []`, which asserts that no tool is called, and an absent one.
    """
    return _text(_document(model, full=full, keep_written=keep_written), 2)


def to_lines(eval_set: EvalSet, cases: Iterable[EvalCase]) -> Iterator[str]:
    """Return the lines of a set as JSON Lines, each with a line feed: first the set's own fields, then one case per line.

    Keys and omissions are those of `to_adk_json` with `keep_written`. `cases` replaces the cases of the set, to stream them.
    """
    header = _document(eval_set, keep_written=True)
    header.pop("eval_cases")
    yield _line(header)
    for case in cases:
        yield _line(_document(case, keep_written=True))


def _line(document: dict[str, Any]) -> str:
    return _text(document, None).translate(_LINE_ENDS) + "\n"


def _document(model: BaseModel, *, full: bool = False, keep_written: bool) -> dict[str, Any]:
    # ADK also omits unset fields, which loses items appended to a default; otherwise the bytes are the same
    document: dict[str, Any] = model.model_dump(
        mode="json",
        exclude_defaults=not full,
        exclude_none=not full,
        context=KEEP_WRITTEN if keep_written else None,
    )
    if not full:
        _restore_null_unknowns(document, model)
    return document


def _text(document: dict[str, Any], indent: int | None) -> str:
    try:
        return to_json(document, indent=indent).decode()
    except PydanticSerializationError:  # an unpaired surrogate: valid in JSON only as an escape
        separators = (",", ":") if indent is None else None
        text = json.dumps(document, indent=indent, separators=separators, ensure_ascii=False)
        return _LONE_SURROGATE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def _restore_null_unknowns(document: Any, model: BaseModel) -> None:
    for path, owner in unknown_keys(model):
        if (owner.model_extra or {})[str(path[-1])] is None:
            place = document
            for step in path[:-1]:
                place = place[step]
            place[path[-1]] = None
