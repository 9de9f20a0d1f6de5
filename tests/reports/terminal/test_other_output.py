"""Other output while the bar is drawn is printed above it, whole lines at a time."""

import io
import logging
import os
import re
from collections.abc import Callable
from typing import TextIO, cast

import pytest

from proctor.reports.terminal.progress import BarWatch
from proctor.reports.terminal.progress_bar import StreamCapture
from proctor.schema.results.run_result import Outcome
from tests.reports.sample_runs import run
from tests.reports.terminal.test_progress import Terminal

ERASED = "\r\x1b[2K"


def during_a_bar(act: Callable[[Terminal], None]) -> str:
    out = Terminal()
    with BarWatch(out) as watching:
        watching.run_started(run(), 3)
        act(out)
        watching.trial_finished("s", "c", Outcome.PASSED)
    return out.getvalue()


def test_a_line_is_written_where_the_bar_was_and_the_bar_below() -> None:
    text = during_a_bar(lambda out: print("found a table", file=out))
    before, after = text.split("found a table")
    assert before.endswith(ERASED)
    assert re.match(r"\r?\n.*━.*0/3", after)


def test_a_log_handler_that_holds_the_stream_since_long_before_is_caught() -> None:
    out = Terminal()
    handler = logging.StreamHandler(out)
    with BarWatch(out) as watching:
        watching.run_started(run(), 3)
        handler.emit(logging.LogRecord("travel", logging.WARNING, "", 0, "no table", None, None))
    assert f"{ERASED}no table" in out.getvalue()


def test_a_line_in_pieces_is_one_line_and_one_without_end_is_not_lost() -> None:
    text = during_a_bar(lambda out: out.writelines(["ab", "cd\ne", "f"]))
    assert f"{ERASED}abcd" in text
    assert text.endswith("ef\n")


def test_what_would_move_the_cursor_does_not() -> None:
    assert "\x1b[2J" not in during_a_bar(lambda out: print("\x1b[2J\x1b[Hcleared", file=out))


def test_stream_is_restored_at_the_end() -> None:
    out = io.StringIO()
    aside = StreamCapture(out, lambda text: None)
    aside.begin()
    assert out.write("unseen\n") == 7
    aside.end()
    out.write("seen\n")
    assert out.getvalue() == "seen\n"
    assert vars(out) == {}


def test_a_stream_that_cannot_be_changed_is_left_alone() -> None:
    class Fixed:
        __slots__ = ()

        def write(self, text: str) -> int:
            return len(text)

    aside = StreamCapture(cast("TextIO", Fixed()), lambda text: None)
    aside.begin()
    aside.end()


def test_a_display_that_fails_does_not_reach_who_writes() -> None:
    def broken(text: str) -> None:
        raise OSError(text)

    out = io.StringIO()
    aside = StreamCapture(out, broken)
    aside.begin()
    print("still there", file=out)
    aside.end()
    assert out.getvalue() == "still there\n"


def test_a_child_process_writes_directly(monkeypatch: pytest.MonkeyPatch) -> None:
    out, shown = io.StringIO(), list[str]()
    aside = StreamCapture(out, shown.append)
    aside.begin()
    monkeypatch.setattr(os, "getpid", lambda: -1)
    print("from a child", file=out)
    assert (out.getvalue(), shown) == ("from a child\n", [])
