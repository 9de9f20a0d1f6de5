"""Watching a run: cheap, quiet, and gone when the run is over."""

import io
import re
import time
from collections.abc import Callable

import pytest

from proctor.engine.execution.run_control import Progress
from proctor.reports.base import ReportOptions
from proctor.reports.terminal.progress import MOST_FAILURES, PATIENCE, BarWatch, LineWatch, watch
from proctor.schema.results.run_result import Outcome, RunResult
from tests.reports.sample_runs import E, F, P, U, case, run, sketch


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Terminal(io.StringIO):
    """A stream that claims to be a terminal."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


@pytest.fixture
def clock() -> Clock:
    return Clock()


def finish(watching: Progress, *outcomes: Outcome) -> None:
    for outcome in outcomes:
        watching.trial_finished("s", "c", outcome)


# --- lines ---------------------------------------------------------------------------------------------------------------


def lines(clock: Clock) -> tuple[LineWatch, io.StringIO]:
    out = io.StringIO()
    return LineWatch(out, clock=clock), out


def test_urgent_message_is_printed_at_once(clock: Clock) -> None:
    watching, out = lines(clock)
    watching.run_started(run(), 100)
    watching.warned("a limit \x1b[31mcannot act")
    assert out.getvalue() == "warning: a limit \\x1b[31mcannot act\n"


def test_line_shows_the_progress(clock: Clock) -> None:
    watching, out = lines(clock)
    watching.run_started(run(), 100)
    finish(watching, *[P] * 40, F, E)
    assert out.getvalue() == ""
    clock.now = 10
    finish(watching, P)
    assert out.getvalue() == "43/100 trials (43 %): 41 passed, 1 failed, 1 error; 4.3/s, 13s left\n"


def test_a_short_run_is_silent(clock: Clock) -> None:
    watching, out = lines(clock)
    watching.run_started(run(), 1000)
    for n in range(1000):
        clock.now = n / 1001
        finish(watching, P)
    watching.run_finished(run())
    assert out.getvalue() == ""


@pytest.mark.parametrize(("seconds", "most"), [(5, 5), (30, 10), (1000, 110)])
def test_at_most_a_line_each_tenth_or_each_ten_seconds(seconds: float, most: int, clock: Clock) -> None:
    watching, out = lines(clock)
    watching.run_started(run(), 2000)
    for n in range(2000):
        clock.now = seconds * (n + 1) / 2000
        finish(watching, P)
    assert 3 <= out.getvalue().count("\n") <= most


# --- the bar -------------------------------------------------------------------------------------------------------------


def drawn(actions: Callable[[BarWatch, Clock], None], clock: Clock) -> str:
    out = Terminal()
    with BarWatch(out, ReportOptions(width=80, color=True), clock=clock) as watching:
        actions(watching, clock)
    return out.getvalue()


def words(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)


def whole_run(watching: BarWatch, clock: Clock) -> None:
    result = sketch()
    watching.run_started(result, 200)
    for each in result.cases:
        clock.now += 1
        finish(watching, *(trial.outcome for trial in each.trials))
        watching.case_finished(each)
    watching.run_finished(result)


def test_failures_are_printed_as_they_come_and_the_counts_at_the_end(clock: Clock) -> None:
    text = words(drawn(whole_run, clock))
    places = [
        text.index(part)
        for part in (
            "✕ two_turn_booking  tool_trajectory",
            "! refund_policy  agent raised",
            "? cancel_flight",
            "200/200",
        )
    ]
    assert places == sorted(places)
    assert "195 ✓" in text
    assert "5.0/s, 0.0s left" in text


def test_when_it_is_over_the_bar_is_gone(clock: Clock) -> None:
    text = drawn(whole_run, clock)
    assert text.rstrip("\r\n").endswith("\x1b[1A\x1b[2K")
    assert text.rindex("\x1b[?25h") > text.rindex("\x1b[?25l")  # the cursor is back


def test_it_goes_away_when_the_run_dies(clock: Clock) -> None:
    out = Terminal()

    def die() -> None:
        with BarWatch(out, ReportOptions(color=True), clock=clock) as watching:
            watching.run_started(run(), 5)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        die()
    assert out.getvalue().rstrip("\r\n").endswith("\x1b[2K")


def test_of_very_many_failures_only_the_first_are_printed(clock: Clock) -> None:
    def many(watching: BarWatch, clock: Clock) -> None:
        watching.run_started(run(), 100)
        for n in range(100):
            clock.now += 1
            watching.case_finished(case(f"case{n}", F, reason="because"))

    text = words(drawn(many, clock))
    assert text.count("because") == MOST_FAILURES
    assert text.count("more failures are not shown here") == 1


def test_failures_at_once_are_printed_together_and_none_is_lost(clock: Clock) -> None:
    def burst(watching: BarWatch, clock: Clock) -> None:
        watching.run_started(run(), 10)
        clock.now = PATIENCE
        for outcome in (F, E, U):
            watching.case_finished(case(f"case_{outcome}", outcome, reason="because"))

    assert words(drawn(burst, clock)).count("because") == 3


def test_failures_of_a_short_run_are_left_to_the_report(clock: Clock) -> None:
    def short(watching: BarWatch, clock: Clock) -> None:
        watching.run_started(run(), 2)
        clock.now = PATIENCE - 0.1
        watching.case_finished(case("wrong", F, reason="because"))

    assert "because" not in words(drawn(short, clock))


def test_what_failed_at_the_start_of_a_long_run_is_printed_later(clock: Clock) -> None:
    def long(watching: BarWatch, clock: Clock) -> None:
        watching.run_started(run(), 2)
        watching.case_finished(case("wrong", F, reason="because"))
        clock.now = PATIENCE
        watching.trial_finished("s", "c", P)

    assert words(drawn(long, clock)).count("because") == 1


def test_passing_cases_are_not_printed(clock: Clock) -> None:
    def passing(watching: BarWatch, clock: Clock) -> None:
        watching.run_started(run(), 2)
        watching.case_finished(case("good_one", P))
        watching.case_finished(case("left_out", Outcome.SKIPPED))

    text = words(drawn(passing, clock))
    assert "good_one" not in text
    assert "left_out" not in text


def test_runs_one_after_the_other_share_the_bar(clock: Clock) -> None:
    def two(watching: BarWatch, clock: Clock) -> None:
        for _ in range(2):
            watching.run_started(run(), 3)
            finish(watching, P, P, F)
            watching.run_finished(run())

    assert "6/6" in words(drawn(two, clock))


def test_end_without_a_start_is_harmless(clock: Clock) -> None:
    drawn(lambda watching, _: watching.run_finished(run()), clock)


def test_counting_a_trial_draws_nothing() -> None:
    out = Terminal()
    with BarWatch(out, ReportOptions(width=80, color=True)) as watching:
        watching.run_started(run(), 20_000)
        started, before = time.monotonic(), out.getvalue().count("\x1b[2K")
        finish(watching, *[P] * 20_000)
        draws, seconds = out.getvalue().count("\x1b[2K") - before, time.monotonic() - started
    assert draws <= 2 + 10 * seconds


# --- which of them -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("stream", "environment", "options", "kind"),
    [
        (Terminal, {"TERM": "xterm"}, ReportOptions(), BarWatch),
        (io.StringIO, {"TERM": "xterm"}, ReportOptions(), LineWatch),
        (Terminal, {"TERM": "dumb"}, ReportOptions(), LineWatch),
        (Terminal, {"TERM": "xterm", "NO_COLOR": "1"}, ReportOptions(), LineWatch),
        (Terminal, {"TERM": "xterm"}, ReportOptions(color=False), LineWatch),
        (Terminal, {"TERM": "xterm", "NO_COLOR": "1"}, ReportOptions(color=True), BarWatch),
    ],
)
def test_a_bar_only_where_it_can_move(
    stream: type[io.StringIO],
    environment: dict[str, str],
    options: ReportOptions,
    kind: type,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert isinstance(watch(stream(), options), kind)


def test_both_are_what_the_engine_calls(clock: Clock) -> None:
    watchers: list[Progress] = [LineWatch(io.StringIO()), BarWatch(Terminal())]
    result: RunResult = sketch(1)
    for watching in watchers:
        watching.run_started(result, 20)
        watching.trial_finished("s", "c", P)
        watching.case_finished(result.cases[0])
        watching.run_finished(result)
