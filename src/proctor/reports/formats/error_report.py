"""A configuration error as the report that should have held a comparison or an audit."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import TextIO

from proctor.common.safe_text import clean
from proctor.reports.content.public_text import hidden, write_note_page
from proctor.reports.formats.github import annotation
from proctor.reports.formats.json_text import write_json


def write_error_report(
    name: str, message: str, out: TextIO, *, what: str, data: Mapping[str, object]
) -> None:
    """Write a configuration error in place of a comparison or an audit, as the report `name`.

    `what` was not done: `not compared`. JSON has `data` and the sentence.
    """
    text = hidden(clean(message, lines=True))
    sentence = f"configuration error: {text}"
    if name == "json":
        write_json({**data, "sentence": sentence}, out)
    elif name == "html":
        write_note_page(out, sentence)
    elif name == "text":
        out.write(f"ERROR  configuration error: {clean(text)}\n")
    elif name == "github":
        out.write(annotation("error", f"Proctor: {what}", [sentence]) + "\n")
    else:
        out.write(f"<h3>! configuration error: {what}</h3>\n\n<pre>\n{escape(text)}\n</pre>\n\n")
