"""Serialization of evidence and cases to bytes, and their content hashes."""

from __future__ import annotations

import json
from hashlib import blake2b
from typing import Any

from pydantic_core import to_json

from proctor.schema.evidence.event import Recipe, WaitingEvent, recipe_of
from proctor.schema.evidence.trial import Trial
from proctor.schema.format.invocation import KEEP_WRITTEN
from proctor.schema.format.wire_model import WireModel


def kept_json(model: WireModel) -> bytes:
    """Return a model as JSON (UTF-8). An unpaired surrogate, which UTF-8 cannot encode, becomes U+FFFD."""
    try:
        if type(model) is Trial:
            return _trial_json(model)
        text: Any = model.__pydantic_serializer__.to_json(model, exclude_none=True, context=KEEP_WRITTEN)
    except ValueError:
        plain = json.dumps(
            model.model_dump(exclude_none=True, context=KEEP_WRITTEN), ensure_ascii=False, default=str
        )
        return plain.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()
    kept: bytes = text
    return kept


def _trial_json(trial: Trial) -> bytes:
    """Serialize a trial without a pydantic serializer, which takes as long to build as a short run and settles lazy events."""
    return to_json(_plain(trial), by_alias=False, exclude_none=True, bytes_mode="base64", inf_nan_mode="null")


def _plain(value: Any) -> Any:
    """Convert models to dicts without null values; `to_json` handles the rest."""
    kind = type(value)
    if kind in _ATOMS:
        return value
    if kind is list:
        return [_plain(each) for each in value]
    if kind is WaitingEvent and (recipe := recipe_of(value)) is not None:
        return _plain_event(recipe)
    if not isinstance(value, WireModel):
        return value
    made = {  # one call less for most values: this runs for every trial
        name: each if type(each) in _ATOMS else _plain(each)
        for name, each in value.__dict__.items()
        if each is not None
    }
    if extra := value.__pydantic_extra__:
        made |= {name: _plain(each) for name, each in extra.items() if each is not None}
    return made


_ATOMS = frozenset({str, int, float, bool, dict, bytes})


def _plain_event(recipe: Recipe) -> dict[str, Any]:
    """Return the data of the event that `recipe` describes."""
    kind, author, _, given = recipe[:4]
    role = "user" if kind == "function_response" else "model"
    if kind != "text":
        _, _, _, name, its_id, inside = recipe
        if kind == "function_call":
            given = {"id": its_id, "args": inside, "name": name}
        else:
            given = {"id": its_id, "name": name, "response": inside}
        if its_id is None:
            del given["id"]
    content = {"parts": [{kind: given}], "role": role}
    return {"author": author, "content": content, "invocation_id": ""}


HASH_BYTES = 16


def content_hash(content: bytes) -> str:
    """Return the content hash: 128 bits of BLAKE2b, in hex."""
    return blake2b(content, digest_size=HASH_BYTES).hexdigest()


def hash_of_many(first: bytes = b"") -> blake2b:
    """Return the hash object of `content_hash` for contents in sequence: `update` it, then `hexdigest`."""
    return blake2b(first, digest_size=HASH_BYTES)


def case_hash(case: WireModel) -> bytes:
    """Return the hash of a case's content, independent of spelling in its file: 16 bytes."""
    return blake2b(kept_json(case), digest_size=HASH_BYTES).digest()
