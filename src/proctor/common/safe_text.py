"""Text from agents, files, ids and errors that is safe to print on a terminal.

Control sequences and invisible characters become visible escapes: `\\x1b`, `\\u202e`. Text without them, which is nearly
all text, is returned unchanged after one search.

Escaped are: C0 controls and DEL (ESC starts CSI, OSC and DCS sequences; BEL, BS, CR and the rest act alone), C1
controls (0x9b is CSI in one character), direction marks, overrides and isolates, line and paragraph separators,
characters without width (joiners, byte order marks, fillers, tags, unusual variation selectors) and lone surrogates.
A joiner inside an emoji, or inside a word of a script that is written with joiners, is kept.
Only the introducer of a sequence is escaped; the rest is then ordinary text.
"""

from __future__ import annotations

import re
from unicodedata import category, east_asian_width

_INVISIBLE = (
    "\x7f-\x9f"  # DEL, C1
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"  # soft hyphen, joiners, fillers, direction mark
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f"  # no width; separators; direction; invisible operators, isolates
    "\u3164\ufe00-\ufe0d\ufeff\uffa0\ufff9-\ufffb"  # fillers, selectors (not those of emoji), annotations
    "\ud800-\udfff"  # lone surrogates: Python joins the pairs
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"  # shorthand and musical controls; tags
)
_UNSAFE = re.compile(f"[\x00-\x1f{_INVISIBLE}]")
_UNSAFE_IN_LINES = re.compile(f"[\x00-\x08\x0b-\x1f{_INVISIBLE}]")
_UNSAFE_IN_JSON = re.compile(f"[{_INVISIBLE}]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_UNSEEN = re.compile(f"[\\s\ufe0e\ufe0f{_INVISIBLE}]+")
_EXTRA_SPACE = re.compile("^ | $|(?<= ) ")
_JOINERS = "\u200c\u200d"
_JOINED_SCRIPTS = (
    "\u0620-\u077f\u08a0-\u08ff\ufb50-\ufdff\ufe70-\ufefc"  # Arabic, Syriac
    "\u0900-\u0dff\u1780-\u17b3\u17b6-\u17ff\u1820-\u18aa"  # the scripts of India and Sri Lanka, Khmer, Mongolian
)
_LETTER = re.compile(f"[{_JOINED_SCRIPTS}]")
_LETTER_ENDS = re.compile(f"[{_JOINED_SCRIPTS}]$")
_PICTURES = "\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u23ff\u25a0-\u27bf\u2934\u2935\u2b00-\u2bff\U0001f000-\U0001faff"
_EMOJI = re.compile(f"[{_PICTURES}]")
_EMOJI_ENDS = re.compile(f"[{_PICTURES}]\ufe0f?$")
_NAMED = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}


def clean(text: str, *, lines: bool = False) -> str:
    """Return `text` with everything unsafe as a visible escape, on one line; `lines` keeps newlines and tabs.

    Cleaning twice changes nothing more.
    """
    pattern = _UNSAFE_IN_LINES if lines else _UNSAFE
    return pattern.sub(_escape, text) if pattern.search(text) else text


def show_spaces(text: str) -> str:
    """Return a text with each space that readers could overlook as `\\x20`: at its ends, and behind another space."""
    return _EXTRA_SPACE.sub(r"\\x20", text)


def clean_json(json_text: str) -> str:
    """Return equivalent JSON text in which control characters are escaped as JSON escapes them.

    A lone surrogate, which UTF-8 cannot encode, becomes U+FFFD.
    """
    if json_text.isascii() and "\x7f" not in json_text:  # JSON has escaped the other controls of ASCII
        return json_text
    if not _UNSAFE_IN_JSON.search(json_text):
        return json_text
    return _UNSAFE_IN_JSON.sub(_escape_json, json_text)


def is_visible(text: str) -> bool:
    """Return whether `text` has visible characters: more than white space and characters without width."""
    return not (text.isspace() or _UNSEEN.fullmatch(text)) if text else False


def has_lone_surrogate(text: str) -> bool:
    """Return whether `text` contains a lone surrogate, so that UTF-8 cannot encode it."""
    return not text.isascii() and _SURROGATE.search(text) is not None


def encodable(text: str, encoding: str | None) -> str:
    """Return `text` with every character that `encoding` cannot write as a visible escape."""
    if text.isascii():
        return text
    try:
        text.encode(encoding or "utf-8")
    except UnicodeEncodeError:
        return text.encode(encoding or "utf-8", "backslashreplace").decode(encoding or "utf-8")
    except LookupError:  # unknown encoding: only ASCII is safe
        return text.encode("ascii", "backslashreplace").decode("ascii")
    return text


def cells(text: str) -> int:
    """Return how many columns of a terminal `text` takes: wide characters two, combining ones none."""
    return len(text) if text.isascii() else sum(map(_cells_of, text))


def lines_of(text: str) -> list[str]:
    """Return the lines of a file: only line ends part them, not what Unicode takes for one (U+2028)."""
    lines = text.split("\n")
    if "\r" in text:
        lines = [line.removesuffix("\r") for line in lines]
    return lines if lines[-1] else lines[:-1]


def count_text(number: int, noun: str) -> str:
    """Return a number with its noun: `1 case`, `1,200 cases`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def cut_text(text: str, most: int) -> str:
    """Return `text` cut to at most `most` characters, the last of which is then “…”."""
    return text if len(text) <= most else f"{text[: max(most - 1, 0)]}…"


def one_line(text: str, most: int) -> str:
    """Return `text` on one line of at most `most` characters."""
    return cut_text(" ".join(text.split()), most)


def shorten(text: str, width: int, *, mark: str = "…") -> str:
    """Return `text` cut to at most `width` columns, ending in `mark` where something was cut.

    Reads no more of a long text than it returns. A width too small for the mark gives the mark's first columns.
    """
    if len(text) <= width and text.isascii():
        return text
    room = width - cells(mark)
    if room < 0:
        return _fitting(mark, width)
    start = _fitting(text, width)
    return start if len(start) == len(text) else _fitting(start, room) + mark


def _fitting(text: str, width: int) -> str:
    used = 0
    for index, character in enumerate(text):
        used += _cells_of(character)
        if used > width:
            return text[:index]
    return text


def _cells_of(character: str) -> int:
    if character < "\u0300":
        return 1
    if category(character) in {"Mn", "Me", "Cf"}:
        return 0
    return 2 if east_asian_width(character) in "WF" else 1


def is_joiner(text: str, at: int) -> bool:
    """Return whether the character at `at` holds one emoji together, or letters together or apart, as Persian and Hindi are written."""
    if text[at] not in _JOINERS:
        return False
    before, after = text[max(0, at - 2) : at], text[at + 1 : at + 2]
    if _LETTER_ENDS.search(before) and _LETTER.match(after):
        return True
    return text[at] == "\u200d" and bool(_EMOJI_ENDS.search(before) and _EMOJI.match(after))


def _escape(match: re.Match[str]) -> str:
    character = match[0]
    if is_joiner(match.string, match.start()):
        return character
    if character in _NAMED:
        return _NAMED[character]
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _escape_json(match: re.Match[str]) -> str:
    code = ord(match[0])
    if 0xD800 <= code <= 0xDFFF:
        return "\ufffd"
    if code < 0x10000:
        return f"\\u{code:04x}"
    code -= 0x10000
    return f"\\u{0xD800 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"
