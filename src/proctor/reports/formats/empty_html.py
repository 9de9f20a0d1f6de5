"""A page without a run: why there is nothing to show."""

from __future__ import annotations

import html
from typing import TextIO

from proctor.common.safe_text import clean


def write_note_page(out: TextIO, note: str) -> None:
    """Write a page that loads nothing and shows `note`."""
    text = html.escape(clean(note, lines=True))
    out.write(
        '<!doctype html>\n<html lang="en">\n  <head>\n'
        '    <meta http-equiv="Content-Security-Policy" content="default-src \'none\'">\n'
        '    <meta charset="utf-8" />\n    <title>Proctor: nothing was run</title>\n  </head>\n'
        f"  <body>\n    <h1>Nothing was run</h1>\n    <pre>{text}</pre>\n  </body>\n</html>\n"
    )
