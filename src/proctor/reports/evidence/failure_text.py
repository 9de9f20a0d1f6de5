"""A failure with the location in the user's code where to start looking."""

from __future__ import annotations

import io
import os
import re
import tokenize
from pathlib import Path

from proctor.reports.evidence.blocks import Cause
from proctor.schema.evidence.trial import Failure

_FRAME = re.compile(
    r'^[ |+]*File "(?P<file>[^"\n]+)", line (?P<line>\d+)(?:, in (?P<name>[^\n]+))?(?:\n[ |]+(?P<code>[^\n]+))?',
    re.MULTILINE,
)
_LIBRARY = str(Path(os.__file__).parent)
_PROCTOR = str(Path(__file__).parents[2])
_NO_CODE = re.compile(r"^(File \"|[\^~ ]+$)")


def cause_of(failure: Failure) -> Cause:
    """Return what failed, how, and the last line of the user's own code that the traceback names."""
    what = f"{failure.where} {failure.kind.value.replace('_', ' ')}"
    kind, message = failure.type, failure.message
    error = f"{kind}: {message}" if kind and message else kind or message
    frame = _frame(failure.traceback or "")
    if frame is None:
        return Cause(what, error)
    inside = f" in {frame['name']}" if frame["name"] and frame["name"] != "<module>" else ""
    code = _without_comment((frame["code"] or "").strip())
    return Cause(
        what,
        error,
        f"{_relative_path(frame['file'])}:{frame['line']}{inside}",
        "" if _NO_CODE.match(code) else code,
    )


def _without_comment(code: str) -> str:
    """Remove a trailing comment from a line of Python; a `#` in a string is kept, and so is text that is not Python."""
    if "#" not in code:
        return code
    try:
        for token in tokenize.generate_tokens(io.StringIO(code).readline):
            if token.type == tokenize.COMMENT and token.start[0] == 1:
                return code[: token.start[1]].rstrip()
    except (tokenize.TokenError, SyntaxError):  # part of a longer statement or text
        pass
    return code


def _frame(traceback: str) -> re.Match[str] | None:
    """Return the last frame in the user's code, else the last frame of a library; never one of Proctor."""
    frames = [frame for frame in _FRAME.finditer(traceback) if not frame["file"].startswith(_PROCTOR)]
    return next(
        (frame for frame in reversed(frames) if _is_users(frame["file"])), frames[-1] if frames else None
    )


def _is_users(file: str) -> bool:
    installed = "site-packages" in file or "dist-packages" in file
    return not (installed or file.startswith((_LIBRARY, "<frozen ")))


def _relative_path(file: str) -> str:
    """Return a path below the working folder relative to it."""
    here = f"{Path.cwd()}{os.sep}"
    return file.removeprefix(here)
