"""The text of files, as ADK writes them."""

import json
import re
from typing import Any

from pydantic import BaseModel
from pydantic_core import PydanticSerializationError, to_json

from proctor.schema.base import unknown_keys

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def to_adk_json(model: BaseModel, *, full: bool = False) -> str:
    """The text of a file as ADK writes it: two-space indent, snake_case, non-ASCII kept, no newline at the end.

    Fields that are null or equal to their default are left out, as in eval sets; `full` writes every field, as in
    results and migrated files. Unknown keys are always written, null ones too.
    """
    # ADK also leaves out what was never set, which loses what was appended to a default; the bytes are the same
    document: dict[str, Any] = model.model_dump(mode="json", exclude_defaults=not full, exclude_none=not full)
    if not full:
        _restore_null_unknowns(document, model)
    try:
        return to_json(document, indent=2).decode()
    except PydanticSerializationError:  # half of a surrogate pair: valid in JSON only as an escape
        text = json.dumps(document, indent=2, ensure_ascii=False)
        return _LONE_SURROGATE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def _restore_null_unknowns(document: Any, model: BaseModel) -> None:
    for path, owner in unknown_keys(model):
        if (owner.model_extra or {})[str(path[-1])] is None:
            place = document
            for step in path[:-1]:
                place = place[step]
            place[path[-1]] = None
