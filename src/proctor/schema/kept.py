"""Evidence and cases as the bytes that are kept, and the hash that they are known by."""

from __future__ import annotations

import json
from hashlib import blake2b
from typing import Any

from proctor.schema.base import WireModel


def kept_json(model: WireModel) -> bytes:
    """Return a model as JSON (UTF-8). Half a character, which no file can hold, becomes U+FFFD."""
    try:
        text: Any = model.__pydantic_serializer__.to_json(model, exclude_none=True)
    except ValueError:
        plain = json.dumps(model.model_dump(exclude_none=True), ensure_ascii=False, default=str)
        return plain.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()
    kept: bytes = text
    return kept


HASH_BYTES = 16


def content_hash(content: bytes) -> str:
    """Return the name of some content: 128 bits of BLAKE2b, in hex."""
    return blake2b(content, digest_size=HASH_BYTES).hexdigest()


def hash_of_many(first: bytes = b"") -> blake2b:
    """Return what `content_hash` says of contents one after the other: `update` it, then `hexdigest`."""
    return blake2b(first, digest_size=HASH_BYTES)


def case_hash(case: WireModel) -> bytes:
    """Return the hash of what a case says, however its file spells it: 16 bytes."""
    return blake2b(kept_json(case), digest_size=HASH_BYTES).digest()
