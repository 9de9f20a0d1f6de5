"""Text in XML: what XML 1.0 cannot hold, and what a terminal would obey, stands as a visible escape."""

from __future__ import annotations

import re
from typing import TextIO

from proctor.common.safe_text import clean

_FORBIDDEN = re.compile("[\ufffe\uffff]")  # of what XML refuses, all else is cleaned already
_MARKUP = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"}
_SPECIAL = re.compile('[&<>"]')


def attribute(text: str) -> str:
    """Return `text` as the value of an attribute, quotes around it; on one line."""
    return f'"{_escaped(clean(text))}"'


def content(text: str) -> str:
    """Return `text` as the content of an element; newlines and tabs stay."""
    return _escaped(clean(text, lines=True))


def _escaped(text: str) -> str:
    text = _FORBIDDEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
    return _SPECIAL.sub(lambda found: _MARKUP[found[0]], text)


class CharacterReferences:
    """A stream of XML that writes to another: what that one's encoding may not hold becomes `&#…;`."""

    def __init__(self, out: TextIO) -> None:
        """Take where to write; text in UTF-8 goes there as it is."""
        encoding = (getattr(out, "encoding", None) or "utf-8").lower().replace("-", "").replace("_", "")
        self._out = out
        self._is_utf8 = encoding.startswith("utf8")

    def write(self, text: str) -> int:
        """Write `text`."""
        if not self._is_utf8:
            text = text.encode("ascii", "xmlcharrefreplace").decode("ascii")
        return self._out.write(text)
