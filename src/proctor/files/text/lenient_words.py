"""Words and strings of JSON, and what people write instead of them."""

from __future__ import annotations

import re

from proctor.files.text.problems import quote

ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|.)")
_NUMBER_LIKE = re.compile(r"[+-]?\.?[0-9]")
_SOUND_STRING = re.compile(r'"[^"\\\x00-\x1f]*(?:\\[^\x00-\x1f][^"\\\x00-\x1f]*)*')
LITERALS = frozenset({"true", "false", "null"})
_OTHER_LANGUAGES = {
    "True": "true", "False": "false", "None": "null", "TRUE": "true", "FALSE": "false", "NULL": "null",
    "undefined": "null", "nil": "null", "yes": "true", "no": "false",
}  # fmt: skip
NOT_FINITE = frozenset({"NaN", "Infinity", "-Infinity", "+Infinity", "nan", "inf", "-inf"})


def unescape_char(escape: str, code: int) -> str:
    """Return the character of an escape; `code` is that of a `\\u` escape, otherwise -1."""
    if code >= 0:
        return chr(code)
    return {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}.get(escape[1], escape[1])


def unescape(raw: str) -> tuple[str, list[int], list[int]]:
    """Return the text of a string with escapes, the offsets of its lone surrogates, and those of NUL."""
    pieces: list[str] = []
    lone: list[int] = []
    nul: list[int] = []
    last, pending = 0, -1  # pending: the offset of a high surrogate without its second half
    for match in ESCAPE.finditer(raw):
        code = int(match[1], 16) if match[1] else -1
        is_second = 0xDC00 <= code < 0xE000
        is_pair = pending >= 0 and is_second and match.start() == last
        if pending >= 0 and not is_pair:
            lone.append(pending)
        if is_second and not is_pair:
            lone.append(match.start())
        if code == 0:
            nul.append(match.start())
        pending = match.start() if 0xD800 <= code < 0xDC00 else -1
        pieces += raw[last : match.start()], unescape_char(match[0], code)
        last = match.end()
    if pending >= 0:
        lone.append(pending)
    text = "".join([*pieces, raw[last:]])
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"), lone, nul


def key_hint(char: str) -> str:
    """Return the hint for a key that starts with `char` instead of a double quote."""
    if char == "'":
        return "JSON uses double quotes"
    return "put the key in double quotes" if char.isalpha() or char == "_" else ""


def broken_string(text: str, start: int) -> tuple[int, str, str]:
    """Return the offset at which the string at `start` breaks, the message and the hint."""
    sound = _SOUND_STRING.match(text, start)
    stop = sound.end() if sound else start
    beginning = quote(text[start + 1 : stop], 40)
    char = text[stop : stop + 1]
    if char == "\\" and stop + 1 < len(text):
        char = text[stop + 1]
    if char in {"\n", "\r"}:
        return start, f"the text {beginning} is broken by a line end", "close the quote, or write `\\n`"
    if char in {"", "\\"}:
        return start, f"the text {beginning} has no closing quote", ""
    return (
        stop,
        f"a string contains the control character U+{ord(char):04X}",
        f"write it as `\\u{ord(char):04x}`",
    )


def strange_word(word: str) -> tuple[str, str]:
    """Return the message and the hint for a word that is not a JSON value."""
    if word in _OTHER_LANGUAGES:
        return f"{quote(word)} is not JSON", f"JSON writes `{_OTHER_LANGUAGES[word]}`"
    if word[0] in "'‘’“”`":
        return f"{quote(word, 30)} is not in double quotes", 'JSON uses straight double quotes: "text"'
    if word.startswith("/*"):
        return "comments of this kind are not read", "use `//` or `#`, or none: JSON has no comments"
    if _NUMBER_LIKE.match(word):
        return f"{quote(word, 30)} is not a number as JSON writes it", "as in 1, -1, 0.5, 1e6"
    if word.startswith("<"):
        return (
            f"this looks like HTML or XML ({quote(word, 30)}), not JSON",
            "was a web page saved in place of the file?",
        )
    return f"expected a value, got {quote(word, 30)}", "text goes in double quotes"


def string_offsets(text: str) -> tuple[str, list[int]]:
    """Return the text inside the JSON string `text`, and the offset in `text` of each of its characters and of its end."""
    start = text.index('"') + 1
    stop = text.rindex('"')
    raw = text[start:stop]
    inner: list[str] = []
    offsets: list[int] = []
    last = 0
    for match in ESCAPE.finditer(raw):
        inner.append(raw[last : match.start()])
        offsets += range(start + last, start + match.start())
        last = match.end()
        inner.append(unescape_char(match[0], int(match[1], 16) if match[1] else -1))
        offsets.append(start + match.start())
    inner.append(raw[last:])
    offsets += range(start + last, stop + 1)
    joined = "".join(inner)
    if not any(0xD800 <= ord(char) < 0xE000 for char in joined):
        return joined, offsets
    return _join_surrogates(joined, offsets)


def _join_surrogates(text: str, offsets: list[int]) -> tuple[str, list[int]]:
    kept = [
        offset
        for index, offset in enumerate(offsets)
        if not (index and index < len(text) and 0xDC00 <= ord(text[index]) < 0xE000)
    ]
    return text.encode("utf-16", "surrogatepass").decode("utf-16"), kept
