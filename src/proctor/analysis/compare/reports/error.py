"""A comparison that could not be made, in the forms that comparisons are written in."""

from __future__ import annotations

import html
import json
from typing import TextIO

from proctor.analysis.compare.reports.json import VERSION
from proctor.common.safe_text import clean
from proctor.reports.content import public_text
from proctor.reports.formats.html_note import write_note_page


def write_comparison_error(name: str, message: str, out: TextIO) -> None:
    """Write why there is no comparison, as the report `name` (`json`, `markdown`, `md`, `text` or `html`)."""
    text = public_text.hidden(clean(message, lines=True))
    if name == "json":
        sentence = f"configuration error: {text}"
        found = {"version": VERSION, "outcome": "error", "exit_code": 2, "sentence": sentence}
        out.write(json.dumps(found, indent=2) + "\n")
    elif name == "html":
        write_note_page(out, f"configuration error: {text}")
    elif name == "text":
        out.write(f"ERROR  configuration error: {clean(text)}\n")
    else:
        out.write(f"<h3>! configuration error: not compared</h3>\n\n<pre>\n{html.escape(text)}\n</pre>\n\n")
