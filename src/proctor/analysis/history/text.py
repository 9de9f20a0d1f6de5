"""What runs say of cases over time, in words and as plain lines; the words are those of every form."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TextIO

from proctor.common.safe_text import clean, encodable
from proctor.reports.base import DEFAULTS, ReportOptions
from proctor.reports.plain.run_list import short_commit, when
from proctor.reports.terminal.choose import is_terminal
from proctor.reports.terminal.sparkline import sparkline
from proctor.reports.terminal.symbols import WORDS
from proctor.schema.analysis.history import (
    CaseHistory,
    CasePoint,
    Course,
    HistoryRun,
    MetricPoint,
    RunHistory,
    Turning,
)
from proctor.schema.results.outcome import Outcome
from proctor.schema.results.score import score_text

HEADINGS = {
    Course.BROKE: "broke in their newest run",
    Course.FAILING: "still failing",
    Course.UNDECIDED: "could not be judged",
    Course.FLAKY: "flaky",
    Course.FIXED: "fixed in their newest run",
    Course.STEADY: "steady",
}
LETTERS = {
    Outcome.PASSED: "p", Outcome.FAILED: "f", Outcome.ERROR: "e", Outcome.INCONCLUSIVE: "i", Outcome.NOT_RUN: "n",
    Outcome.SKIPPED: "s",
}  # fmt: skip
MOST = 50
"""Cases of a course that are named, unless every one is asked for."""
LISTED = tuple(course for course in Course if course is not Course.STEADY)
"""Courses whose cases are named one by one."""


def write_history(
    found: RunHistory, out: TextIO, *, metric: str = "", options: ReportOptions = DEFAULTS
) -> None:
    """Write `found` to `out`: drawn on a terminal, plain lines elsewhere; of `metric` only, where one is named."""
    if is_terminal(out):
        from proctor.analysis.history.terminal import draw_history

        draw_history(found, out, metric, options)
        return
    encoding = getattr(out, "encoding", None)
    out.writelines(encodable(clean(line), encoding) + "\n" for line in _lines(found, metric, options))


# --- words -----------------------------------------------------------------------------------------------------------


def run_name(run: HistoryRun) -> str:
    """Return how a run is told: `run 7f3k2c (2026-11-22 14:02, commit 4f2c91a30)`."""
    commit = f", commit {short_commit(run.commit)}" if run.commit else ""
    return f"run {run.short} ({when(run.started_at)}{commit})"


def times(count: int, what: str) -> str:
    """Return `1 run`, `3 runs`."""
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"


def sentence_of(case: CaseHistory, older: int = 0) -> str:
    """Return in a sentence what became of a case; `older` is how many runs were not looked at."""
    if case.course is Course.FLAKY:
        return _flaky(case)
    if case.turn is None:
        if case.failed:
            return f"passes; failed {case.failed:,} of {times(case.decided, 'run')}"
        return (
            f"passed in {'the one run' if case.decided == 1 else f'all {case.decided:,} runs'} that judged it"
        )
    if case.turn.before is None:
        return f"{_always(case, case.turn, older)}{_wavers(case)}"
    return f"{_since(case, case.turn)}; {_before(case, case.turn.before)}{_wavers(case)}"


def without_trials(case: CaseHistory, older: int = 0) -> tuple[str, str]:
    """Return the sentence in two: what cases that turned together have in common, and what is to be said of trials."""
    trials = _wavers(case) if case.turn is not None and case.course is not Course.FLAKY else ""
    return sentence_of(case, older).removesuffix(trials), trials.removeprefix("; ")


def _since(case: CaseHistory, turn: Turning) -> str:
    where = run_name(turn.first)
    failed = sum(point.outcome is Outcome.FAILED for point in case.points[: case.lasted])
    if case.course is Course.BROKE:
        if case.lasted == 1:
            return f"broke in {where}"
        return f"failed in {run_name(case.points[0].run)}, and could not be judged before that, since {where}"
    if case.course is Course.FIXED:
        return f"fixed in {where}"
    word = "fails" if failed == case.lasted else "did not pass" if failed else "could not be judged"
    return (
        f"{word} in {where}" if case.lasted == 1 else f"{word} for {times(case.lasted, 'run')}, since {where}"
    )


def _always(case: CaseHistory, turn: Turning, older: int) -> str:
    """Of a case that never passed, as far as is known."""
    word = "failed" if case.failed == case.lasted else "did not pass"
    runs = f"the one run that has it, {run_name(turn.first)}"
    if case.lasted > 1:
        runs = f"all {case.lasted:,} runs that have it, since {run_name(turn.first)}"
    more = f" ({times(older, 'older run')} not looked at)" if older else ""
    return f"{word} in {runs}{more}"


def _before(case: CaseHistory, before: HistoryRun) -> str:
    return f"{'failed before' if case.course is Course.FIXED else 'last passed'} in {run_name(before)}"


def _wavers(case: CaseHistory) -> str:
    """Of a case that fails: in how many runs some of its trials passed all the same."""
    mixed = sum(point.is_mixed for point in case.points[: case.lasted])
    if not mixed or case.course is Course.FIXED:
        return ""
    return f"; some trials passed in {f'{mixed:,} of these' if case.lasted > 1 else 'it'}"


def _flaky(case: CaseHistory) -> str:
    told = [f"failed {case.failed:,} of {times(case.decided, 'run')}"]
    if case.flips:
        same = (
            f", {case.unexplained:,} of them with nothing known to have changed" if case.unexplained else ""
        )
        told.append(f"went back or forth {times(case.flips, 'time')}{same}")
    if case.mixed:
        told.append(f"some trials passed and some failed in {times(case.mixed, 'run')}")
    return "; ".join(told)


def unlike_text(turn: Turning) -> str:
    """Return what is to be said where the runs before and after a turn are not alike, or nothing is known of it."""
    if turn.warnings:
        return f"not alike: {'; '.join(turn.warnings)}"
    if turn.before is not None and not turn.changed and not turn.known:
        return "the runs do not tell whether the agent was another one"
    return ""


def reason_of(case: CaseHistory) -> str:
    """Return why it failed, in the newest run in which it did."""
    return next((point.reason for point in case.points if point.outcome is not Outcome.PASSED), "")


def strip_of_runs(case: CaseHistory, runs: Sequence[HistoryRun]) -> list[CasePoint | None]:
    """Return what the case came to in each of `runs`, oldest first; `None` where a run did not reach it."""
    there = {point.run.run_id: point for point in case.points}
    return [there.get(run.run_id) for run in reversed(runs)]


def runs_of(case: CaseHistory, runs: Sequence[HistoryRun]) -> list[HistoryRun]:
    """Return the runs that have the eval set of a case: where it is missing from one of these, that says something."""
    return [run for run in runs if case.eval_set_id in run.sets]


def metric_names(found: RunHistory, metric: str = "", *, every: bool = False) -> list[str]:
    """Return the metrics that are shown: `metric`, where one is asked for; else those that decide, or `every` one."""
    if metric:
        return [metric]
    deciding = {name for name, points in found.metrics.items() if any(one.gate for one in points.values())}
    shown = found.metrics if every else deciding
    return sorted(
        shown, key=lambda name: (name != "passed", name not in deciding, [*found.metrics].index(name))
    )


def metric_values(found: RunHistory, metric: str) -> list[float | None]:
    """Return the score of a metric in each run that was looked at, oldest first."""
    points = found.metrics.get(metric, {})
    return [points[run.run_id].score if run.run_id in points else None for run in reversed(found.runs)]


def point_text(point: MetricPoint) -> str:
    """Return a score with its interval: `0.79 (95 %: 0.76 to 0.82)`."""
    if point.score is None:
        return WORDS[point.outcome]
    text = score_text(point.score, point.threshold)
    if point.low is None or point.high is None:
        return text
    return f"{text} (95 %: {point.low:.2f} to {point.high:.2f})"


# --- plain lines -----------------------------------------------------------------------------------------------------


def _lines(found: RunHistory, metric: str, options: ReportOptions) -> Iterator[str]:
    if found.case:
        yield from _one_case(found, found.cases[0], metric, every=bool(options.verbose))
        return
    yield _fields("RUNS", str(len(found.runs)), f"older={found.older}" if found.older else "")
    if metric:
        yield from _metric(found, metric)
        return
    for course in LISTED:
        cases = found.of(course)
        shown = cases if options.verbose else cases[:MOST]
        for case in shown:
            yield from _case(found, case)
        if len(shown) < len(cases):
            yield f"    ... {len(cases) - len(shown)} more (-v: all)"
    yield _fields("CASES", *(f"{course.value}={count}" for course, count in found.counts().items() if count))


def _case(found: RunHistory, case: CaseHistory) -> Iterator[str]:
    letters = "".join(_letter(point) for point in strip_of_runs(case, runs_of(case, found.runs)))
    yield _fields(case.course.value.upper(), case.name, letters, sentence_of(case, found.older))
    yield from _why(case)


def _letter(point: CasePoint | None) -> str:
    return "-" if point is None else LETTERS.get(point.outcome, "-")


def _why(case: CaseHistory) -> Iterator[str]:
    if reason := reason_of(case):
        yield f"    {'before' if case.course is Course.FIXED else 'reason'}: {reason}"
    if case.turn is not None and case.course is not Course.FLAKY:
        for one in case.turn.changed:
            yield f"    {'differs' if one.expected else 'warning'}: {one.text}"
        if not case.turn.changed and (text := unlike_text(case.turn)):
            yield f"    warning: {text}"


def _one_case(found: RunHistory, case: CaseHistory, metric: str, *, every: bool) -> Iterator[str]:
    yield _fields("CASE", case.name, case.course.value, sentence_of(case, found.older))
    for name in metric_names(found, metric, every=every):
        line = sparkline(metric_values(found, name), rich=False)
        yield _fields("METRIC", name, line)
    for point in case.points:
        yield from _point(point, metric)


def _point(point: CasePoint, metric: str) -> Iterator[str]:
    scores = {name: one for name, one in point.metrics.items() if not metric or name == metric}
    yield _fields(
        "RUN",
        point.run.short,
        point.outcome.value,
        when(point.run.started_at),
        f"trials={''.join(LETTERS.get(one, '-') for one in point.trials)}" if point.trials else "",
        *(
            f"{name}={point_text(one) if metric else _score(one)}"
            for name, one in scores.items()
            if one.gate or metric
        ),
        f"agent={point.run.agent}",
        f"commit={short_commit(point.run.commit)}" if point.run.commit else "",
    )
    if point.reason:
        yield f"    reason: {point.reason}"
    for one in point.changed:
        yield f"    {'differs' if one.expected else 'warning'}: {one.text}"


def _score(point: MetricPoint) -> str:
    return (
        WORDS[point.outcome].replace(" ", "_")
        if point.score is None
        else score_text(point.score, point.threshold)
    )


def _metric(found: RunHistory, metric: str) -> Iterator[str]:
    points = found.metrics[metric]
    yield _fields("METRIC", metric, sparkline(metric_values(found, metric), rich=False))
    for run in found.runs:
        if (point := points.get(run.run_id)) is not None:
            needs = f"needs={point.threshold:g}" if point.threshold is not None else ""
            commit = f"commit={short_commit(run.commit)}" if run.commit else ""
            yield _fields(
                "RUN", run.short, when(run.started_at), point_text(point), f"cases={point.count}", needs,
                f"agent={run.agent}", commit,
            )  # fmt: skip


def _fields(*fields: str) -> str:
    return "  ".join(field for field in fields if field)
