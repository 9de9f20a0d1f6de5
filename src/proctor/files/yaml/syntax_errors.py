"""Explain the errors of the YAML parser, with hints."""

from __future__ import annotations

import re
from typing import Any

from proctor.files.text.problems import Place, Problem, SourceText, quote

_QUOTE = "put texts with `: `, ` #`, or brackets or quotes at their start, in quotes"

# The parser's message -> our message and hint. The first match counts.
_MESSAGES: tuple[tuple[str, str, str], ...] = (
    (r"'\\t' that cannot start", "a tab, where YAML takes only spaces", "indent with spaces"),
    (
        "mapping values are not allowed",
        "a `: ` where no key can be",
        f"{_QUOTE}; or is the line indented too far?",
    ),
    ("could not find expected ':'", "expected `key: value`", "is the `:` and a space missing, or a quote?"),
    ("unexpected end of stream", "the quote that is opened here is never closed", "close it"),
    ("unexpected document separator", "the quote that is opened here is not closed before `---`", "close it"),
    (
        "expected <block end>, but found|did not find expected '-' indicator|did not find expected key",
        "this does not belong here",
        f"entries of one list or object start in one column; {_QUOTE}",
    ),
    (
        r"expected ',' or '\]'",
        "expected `,` or `]` in this list",
        "put texts with commas or brackets in quotes",
    ),
    (
        r"expected ',' or '\}'",
        "expected `,` or `}` in this object",
        "put texts with commas or brackets in quotes",
    ),
    ("that cannot start any token", "a text cannot start with this character", "put the text in quotes"),
    (
        "(special|control) characters are not allowed",
        "a control character",
        "remove it, or write it as an escape in double quotes",
    ),
    (
        "sequence entries are not allowed",
        "a list item (`- `) where none can be",
        "put the list on separate lines",
    ),
    (
        "found unknown escape character",
        "an escape that YAML does not have",
        "a backslash in double quotes is written `\\\\`",
    ),
    ("escape sequence of", "an escape with too few digits", "as in `\\u00e9`"),
    ("expected the node content", "a value is missing here", ""),
    ("expected alphabetic or numeric character", "a name is missing after `&` or `*`", _QUOTE),
    (
        "unexpected character after",
        "a text starts with `|` or `>`",
        "they start a text of several lines; else use quotes",
    ),
    (
        "expected chomping or indentation",
        "a text starts with `|` or `>`",
        "they start a text of several lines; else use quotes",
    ),
    (
        "expected '<document start>'",
        "text after the end of the document",
        "is it indented less than what is before it?",
    ),
    ("incompatible YAML document", "a version of YAML that is not known", "remove the `%YAML` line"),
    (
        "undefined tag handle",
        "a tag, which is not read",
        "remove it; a text that starts with `!` goes in quotes",
    ),
)


def syntax_problem(source: SourceText, error: Any) -> Problem:
    """Return the problem for an error of PyYAML's parser."""
    reason = str(getattr(error, "problem", None) or getattr(error, "reason", None) or error)
    place, offset = _place(source, error)
    unknown = ("", f"not readable as YAML: {reason}", "")
    _, message, hint = next((known for known in _MESSAGES if re.search(known[0], reason)), unknown)
    context = getattr(error, "context_mark", None)
    if "quote that is opened here" in message and context is not None:
        place = Place(context.line + 1, context.column + 1)
    elif offset < len(source.text) and (near := source.text[offset : offset + 60].split("\n", 1)[0].strip()):
        message = f"{message}, at {quote(near, 30)}"
        if message.startswith("expected `,`") and context is not None:
            message += f"; it is opened at {context.line + 1}:{context.column + 1}"
    return Problem("error", source.name, *place, "", message, hint)


def _place(source: SourceText, error: Any) -> tuple[Place, int]:
    mark = getattr(error, "problem_mark", None)
    if mark is not None:
        return Place(mark.line + 1, mark.column + 1), mark.index
    position = getattr(error, "position", 0)  # of a character that YAML forbids
    return source.place(position), position
