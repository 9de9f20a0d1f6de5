"""Images, sounds and files within evidence: taken out, kept once, and put back byte for byte.

A piece of media appears in JSON as `"inline_data":{"data":"<base64>"…`. The base64 text is cut out, its position is noted,
and its bytes are kept by their hash. Reading puts it back at its place, so that the evidence is the same to the byte.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import re
from collections.abc import Callable

# A quote within a JSON text is escaped, so this never matches text of a message.
_PLACE = re.compile(rb'"inline_data":\{"data":"([A-Za-z0-9_-]{1366,}={0,2})"')
_MARK = b'"inline_data":{"data":"'


def take_out(body: bytes) -> tuple[bytes, str | None, dict[str, bytes]]:
    """Return `body` without its media, where they were (JSON; `None` without any), and the media by hash."""
    if _MARK not in body:
        return body, None, {}
    kept, places, media, end, length = [], [], {}, 0, 0
    for match in _PLACE.finditer(body):
        if (data := _decode(match[1])) is None:
            continue
        kept.append(body[end : match.start(1)])
        length += len(kept[-1])
        name = hashlib.sha256(data).hexdigest()
        places.append([length, name])
        media[name] = data
        end = match.end(1)
    if not places:
        return body, None, {}
    return b"".join([*kept, body[end:]]), json.dumps(places, separators=(",", ":")), media


def names(places: str) -> list[str]:
    """Return the hashes in what `take_out` noted."""
    return [name for _, name in json.loads(places)]


def put_back(body: bytes, places: str, read: Callable[[str], bytes]) -> bytes:
    """Return what `take_out` was given; `read` returns media by their hash."""
    pieces, end = [], 0
    for place, name in json.loads(places):
        pieces += [body[end:place], base64.urlsafe_b64encode(read(name))]
        end = place
    return b"".join([*pieces, body[end:]])


def _decode(text: bytes) -> bytes | None:
    """The bytes of a base64 text; `None` where encoding them again would give another text."""
    try:
        data = base64.b64decode(text, b"-_", validate=True)
    except (binascii.Error, ValueError):
        return None
    return data if base64.urlsafe_b64encode(data) == text else None
