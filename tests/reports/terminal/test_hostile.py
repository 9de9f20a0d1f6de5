"""Texts of an agent, a file or an error reach the terminal as plain text only."""

import contextlib
import io
import json
import os
import pty
import re
import unicodedata
from typing import Any

import pytest

from proctor.reports.base import ReportOptions
from proctor.reports.formats.json import JsonReport
from proctor.reports.plain import PlainReport
from proctor.reports.terminal.progress import BarWatch, LineWatch
from proctor.reports.terminal.run import TerminalReport
from proctor.schema.results.run_result import Outcome, RunResult
from tests.reports.hostile_texts import GROUPS, HOSTILE, everywhere, for_each_text

_ESCAPE = re.compile(r"\x1b(?:\[[0-9;?]*[A-Za-z]|.)?", re.DOTALL)
_STYLES = re.compile(r"\x1b\[(?:[0-9]{1,3})(?:;[0-9]{1,3})*m")
_INVISIBLE = set("\u00ad\u061c\u115f\u3164\ufeff\u2060") | {
    chr(n) for n in (*range(0x200B, 0x2010), *range(0xE0000, 0xE0080))
}


def bad_characters(text: str, allowed: str = "\n") -> set[str]:
    """What a terminal would obey, or a reader could not see."""
    unsafe = {"Cc", "Cs", "Zl", "Zp"}
    found = {
        c for c in text if unicodedata.category(c) in unsafe or c in _INVISIBLE or 0x202A <= ord(c) <= 0x202E
    }
    return {c for c in found if c not in allowed and not 0x2066 <= ord(c) <= 0x2069} | {
        c for c in text if 0x2066 <= ord(c) <= 0x2069
    }


def written(report: Any, *runs: RunResult, **options: Any) -> str:
    out = io.StringIO()
    report.write(list(runs), out, options=ReportOptions(width=100, **options))
    return out.getvalue()


OWN_STYLES = set(
    _ESCAPE.findall(written(TerminalReport(), everywhere("x"), everywhere("y"), color=True))
) | set(_ESCAPE.findall(written(TerminalReport(), everywhere("x"), color=True)))


def test_there_are_enough_of_them() -> None:
    assert len(set(HOSTILE)) >= 200
    assert sum(bool(bad_characters(text)) for text in HOSTILE) >= 200
    assert all(_STYLES.fullmatch(style) for style in OWN_STYLES)
    assert len(OWN_STYLES) > 5


def test_a_failure_names_the_text_that_it_is_about() -> None:
    def no_digit(text: str) -> None:
        assert not text.isdigit()

    with pytest.raises(AssertionError) as failure:
        for_each_text({"two": ["a", "7"]})(no_digit)("two")
    assert failure.value.__notes__ == ["with the text '7'"]


@pytest.mark.slow
@pytest.mark.nightly(check=1)
@for_each_text(GROUPS)
def test_on_a_terminal_every_escape_sequence_is_our_own(text: str) -> None:
    drawn = written(TerminalReport(), everywhere(text), color=True)
    assert set(_ESCAPE.findall(drawn)) <= OWN_STYLES
    assert bad_characters(_STYLES.sub("", drawn)) == set()


@pytest.mark.nightly
@pytest.mark.slow  # many generated runs
@for_each_text({"every eighth": HOSTILE[::8]})
def test_the_same_holds_for_several_agents_and_for_everything_in_full(text: str) -> None:
    drawn = written(TerminalReport(), everywhere(text), everywhere("x"), color=True, verbose=True)
    assert set(_ESCAPE.findall(drawn)) <= OWN_STYLES
    assert bad_characters(_STYLES.sub("", drawn)) == set()
    bare = written(TerminalReport(), everywhere(text), color=False, verbose=True, symbols=False)
    assert bad_characters(bare) == set()


@pytest.mark.nightly(check=1)
@pytest.mark.slow  # many generated runs
@for_each_text(GROUPS)
def test_elsewhere_there_is_none_at_all(text: str) -> None:
    run = everywhere(text)
    assert bad_characters(written(TerminalReport(), run, color=False)) == set()
    assert bad_characters(written(PlainReport(), run, run)) == set()
    as_json = written(JsonReport(), run)
    assert bad_characters(as_json) == set()
    assert json.loads(as_json)["runs"][0]["cases"][0]["metrics"]


@for_each_text({"with a newline": [text for text in HOSTILE if "\n" in text]})
def test_a_newline_forges_no_line(text: str) -> None:
    plain = written(PlainReport(), everywhere(text))
    assert not re.search("^✓", plain, re.MULTILINE)
    assert len(re.findall("^VERDICT", plain, re.MULTILINE)) == 1


def test_markup_is_text() -> None:
    text = "[bold red]x[/] [link=https://evil.example]y[/link] [/nope] :smile:"
    assert text in written(TerminalReport(), everywhere(text), color=False)


@pytest.mark.slow
@for_each_text({"every eighth": HOSTILE[::8]})
def test_while_it_runs_only_the_bar_moves_the_cursor(text: str) -> None:
    drawn = _watched_on_a_terminal(everywhere(text))
    sequences = {s for s in _ESCAPE.findall(drawn) if not _STYLES.fullmatch(s)}
    assert sequences <= {"\x1b[?25l", "\x1b[?25h", "\x1b[2K", "\x1b[1A"}
    assert bad_characters(_ESCAPE.sub("", drawn), allowed="\r\n") == set()


def test_lines_off_a_terminal_carry_no_text_of_strangers() -> None:
    out = io.StringIO()
    now = [0.0]
    watch = LineWatch(out, clock=lambda: now[0])
    run = everywhere("\x1b]0;owned\x07")
    watch.run_started(run, 4)
    for _ in range(3):
        now[0] += 20
        watch.trial_finished("s\x1b", "c\x1b", Outcome.FAILED)
    watch.case_finished(run.cases[0])
    assert out.getvalue().count("\n") == 3
    assert bad_characters(out.getvalue()) == set()


def _watched_on_a_terminal(run: RunResult) -> str:
    """What a real pseudo-terminal receives."""
    theirs, ours = pty.openpty()
    with open(ours, "w", encoding="utf-8") as out:  # noqa: PTH123 - a file descriptor has no path
        with BarWatch(out, ReportOptions(width=80, color=True)) as watch:
            watch.run_started(run, len(run.cases))
            for result in run.cases:
                watch.trial_finished(result.eval_set_id, result.eval_id, result.outcome)
                watch.case_finished(result)
            watch.run_finished(run)
        out.flush()
        received = os.read(theirs, 1_000_000)
    with contextlib.suppress(OSError):
        os.close(theirs)
    return received.decode("utf-8")
