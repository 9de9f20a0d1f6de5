"""Texts for public places, such as a pull request or a CI log: evidence without secrets, source locations, a page without a run."""

from __future__ import annotations

import html
import os
import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import TextIO

from proctor.common.safe_text import clean
from proctor.common.secrets import hide_secrets
from proctor.reports.content.case_digest import reason_of
from proctor.reports.content.case_words import WORDS
from proctor.reports.evidence.case_evidence import evidence_block
from proctor.reports.plain import evidence_lines
from proctor.schema.evidence.trial import Failure
from proctor.schema.results.run_result import CaseResult

_LONGEST = 40_000
"""Characters that are searched for secrets; no report shows more."""


def reason(case: CaseResult) -> str:
    """Return why a case has its outcome, or the outcome if there is no reason."""
    return hidden(reason_of(case)) or WORDS[case.outcome]


def lines(case: CaseResult, *, full: bool = False) -> Iterator[str]:
    """Return the evidence of a case line by line, without what its reason already states."""
    return map(hidden, evidence_lines(evidence_block(case, full=full)))


def cause(failure: Failure) -> str:
    """Return the failed component and the error."""
    return hidden(failure.cause)


def hidden(text: str) -> str:
    """Return any text without secrets."""
    return hide_secrets(text[:_LONGEST])


# --- source locations: a path from the root of the git working copy, and a line ---------------------------------------

_PLACE = re.compile(r"(?P<file>.+):(?P<line>[1-9]\d{0,8})", re.DOTALL)


def file_and_line(place: str) -> tuple[str, int | None]:
    """Return file and line of `file:line`; a place of another form is all file, and ("", None) is nowhere.

    The file is named from the root of the git working copy that it is in, with `/` between folders; outside of one,
    as it came.
    """
    match = _PLACE.fullmatch(place)
    file, line = (match["file"], int(match["line"])) if match else (place, None)
    return file_of(file), line


def file_of(file: str) -> str:
    """Return how a file is named from the root of its working copy."""
    try:
        return _from_root(file, str(Path.cwd())) if file else ""
    except (OSError, ValueError):  # no path at all (too long, NUL), or the working folder is gone
        return file


@lru_cache(maxsize=256)
def _from_root(file: str, here: str) -> str:
    path = Path(os.path.normpath(Path(here, file)))  # links stay: git has them under this name
    root = next((above for above in path.parents if (above / ".git").exists()), None)
    if root is None or not path.is_file():
        return file.replace(os.sep, "/")
    return path.relative_to(root).as_posix()


# --- a page without a run ---------------------------------------------------------------------------------------------


def write_note_page(out: TextIO, note: str) -> None:
    """Write a page that loads nothing and shows `note`."""
    text = html.escape(clean(note, lines=True))
    out.write(
        '<!doctype html>\n<html lang="en">\n  <head>\n'
        '    <meta http-equiv="Content-Security-Policy" content="default-src \'none\'">\n'
        '    <meta charset="utf-8" />\n    <title>Proctor: nothing was run</title>\n  </head>\n'
        f"  <body>\n    <h1>Nothing was run</h1>\n    <pre>{text}</pre>\n  </body>\n</html>\n"
    )
