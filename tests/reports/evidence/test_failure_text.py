"""A failure names the last line of the user's own code."""

import os
from pathlib import Path

import pytest

import proctor
from proctor.reports.evidence.case_evidence import failure_cause
from proctor.schema.evidence.trial import Failure, FailureKind
from tests.reports.sample_runs import TRACEBACK

LIBRARY = Path(os.__file__).parent
OURS = Path(proctor.__file__).parent


def frame(file: object, line: int, name: str, code: str) -> str:
    return f'  File "{file}", line {line}, in {name}\n    {code}\n'


def failure(traceback: str) -> Failure:
    return Failure(where="agent", type="KeyError", message="'x'", traceback=traceback)


TRACEBACKS = {
    "the user's last line, not the framework's": (TRACEBACK, ("travel/tools.py:42 in book_table", 'covers = args["covers"]')),
    "of the user's frames the last": (
        frame("app.py", 1, "ask", "find()") + frame("tools.py", 2, "find", "rows[0]"),
        ("tools.py:2 in find", "rows[0]"),
    ),
    "libraries below the user's code": (
        frame("app.py", 3, "ask", "json.loads(text)") + frame(LIBRARY / "json/__init__.py", 346, "loads", "return decode(s)"),
        ("app.py:3 in ask", "json.loads(text)"),
    ),
    "our frames around it": (
        frame(OURS / "engine/inference.py", 9, "run", "await answer") + frame("app.py", 1, "<module>", "boom()"),
        ("app.py:1", "boom()"),
    ),
    "only libraries: the last of them": (
        frame(LIBRARY / "asyncio/tasks.py", 5, "wait_for", "raise TimeoutError"),
        (f"{LIBRARY / 'asyncio/tasks.py'}:5 in wait_for", "raise TimeoutError"),
    ),
    "no source line": ('  File "<string>", line 1, in f\nKeyError: 1\n', ("<string>:1 in f", "")),
    "exception group": ('  | Traceback (most recent call last):\n  |   File "app.py", line 7, in f\n  |     g()\n', ("app.py:7 in f", "g()")),
    "a path below the working folder": (frame(Path.cwd() / "agent.py", 2, "f", "x"), ("agent.py:2 in f", "x")),
    "none": ("", ("", "")),
    "not a traceback": ("Segmentation fault", ("", "")),
}  # fmt: skip


@pytest.mark.parametrize(("traceback", "place"), TRACEBACKS.values(), ids=TRACEBACKS)
def test_place_and_code(traceback: str, place: tuple[str, str]) -> None:
    cause = failure_cause(failure(traceback))
    assert (cause.place, cause.code) == place


@pytest.mark.parametrize(
    ("failed", "what", "error"),
    [
        (Failure(where="agent", type="ValueError", message="no"), "agent raised", "ValueError: no"),
        (
            Failure(where="judge", kind=FailureKind.UNUSABLE_ANSWER, message="empty"),
            "judge unusable answer",
            "empty",
        ),
        (
            Failure(where="metric", kind=FailureKind.TIMED_OUT, type="TimeoutError"),
            "metric timed out",
            "TimeoutError",
        ),
    ],
)
def test_what_happened(failed: Failure, what: str, error: str) -> None:
    cause = failure_cause(failed)
    assert (cause.what, cause.error) == (what, error)


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("day = parse(text)  # noqa: X1  (why)", "day = parse(text)"),
        ("say('#1')  # not '#2'", "say('#1')"),
        ("say('#1')", "say('#1')"),
        ("book(covers,  # how many", "book(covers,"),
        ('x = """ # a text that goes on', 'x = """ # a text that goes on'),
    ],
)
def test_a_comment_at_the_end_of_the_line_is_left_out(line: str, shown: str) -> None:
    traceback = f'Traceback (most recent call last):\n  File "a.py", line 1, in f\n    {line}\nKeyError: 1\n'
    assert failure_cause(Failure(where="agent", type="KeyError", traceback=traceback)).code == shown


def test_location_in_our_own_code_is_not_shown() -> None:
    import proctor

    traceback = f'Traceback (most recent call last):\n  File "{proctor.__file__}", line 1, in f\n    x\nTypeError: 1\n'
    assert failure_cause(Failure(where="agent", type="TypeError", traceback=traceback)).place == ""
