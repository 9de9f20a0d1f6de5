"""The sentences about cases over time that the reports and the page share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from proctor.common.safe_text import count_text
from proctor.reports.content.case_words import NOW_FAILS, NOW_PASSES, WORDS
from proctor.reports.content.run_list import short_commit, when
from proctor.reports.content.summary import PassRate, missing_text, share_text
from proctor.reports.content.symbols import Marks
from proctor.schema.analysis.comparison import PASSED
from proctor.schema.analysis.history import (
    CaseHistory,
    CasePoint,
    ChangedBy,
    Course,
    HistoryRun,
    MetricPoint,
    RunChange,
    RunHistory,
    VerdictChange,
)
from proctor.schema.results.score import Outcome, score_text


def run_name(run: HistoryRun) -> str:
    """Return the name of a run: `run 7f3k2c (2026-11-22 14:02, commit 4f2c91a30)`."""
    commit = f", commit {short_commit(run.commit)}" if run.commit else ""
    return f"run {run.short} ({when(run.started_at)}{commit})"


def run_fields(run: HistoryRun) -> tuple[str, str]:
    """Return the agent of a run and its commit as fields of a plain line."""
    return f"agent={run.agent}", f"commit={short_commit(run.commit)}" if run.commit else ""


def case_history_sentence(case: CaseHistory, older: int = 0) -> str:
    """Return the history of a case as a sentence; `older` is the number of runs that were not read."""
    if case.course is Course.FLAKY:
        return _flaky(case)
    if case.turn is None:
        if case.failed:
            return f"passes; failed {case.failed:,} of {count_text(case.decided, 'run')}"
        return f"passed in {_of_runs(case.decided)} that scored it"
    if case.turn.before is None:
        return f"{_always(case, case.turn, older)}{_mixed_text(case)}"
    return f"{_since(case, case.turn)}; {_before(case, case.turn.before)}{_mixed_text(case)}"


def without_trials(case: CaseHistory, older: int = 0) -> tuple[str, str]:
    """Return the sentence in two parts: the common part of cases that changed together, and the part about trials."""
    trials = _mixed_text(case) if case.turn is not None and case.course is not Course.FLAKY else ""
    return case_history_sentence(case, older).removesuffix(trials), trials.removeprefix("; ")


_WITHOUT_PASS = {Outcome.FAILED: "fails", Outcome.INCONCLUSIVE: "is inconclusive"}
_BEFORE = {Outcome.INCONCLUSIVE: "was inconclusive"}
_NOT_SCORED = "could not be scored"


def _common_word(points: Sequence[CasePoint], words: Mapping[Outcome, str], several: str) -> str:
    """Return the word for the outcome of all `points`; `several` if they differ."""
    outcomes = {point.outcome for point in points}
    return words.get(outcomes.pop(), _NOT_SCORED) if len(outcomes) == 1 else several


def _since(case: CaseHistory, turn: VerdictChange) -> str:
    where = run_name(turn.first)
    if case.course is Course.BROKE:
        if case.lasted == 1:
            return f"{NOW_FAILS.state}, since {where}"
        earlier = _common_word(case.points[1 : case.lasted], _BEFORE, "was not decided")
        return f"failed in {run_name(case.points[0].run)}, and {earlier} before that, since {where}"
    if case.course is Course.FIXED:
        return f"{NOW_PASSES.state}, since {where}"
    word = _common_word(case.points[: case.lasted], _WITHOUT_PASS, "did not pass")
    return (
        f"{word} in {where}"
        if case.lasted == 1
        else f"{word} for {count_text(case.lasted, 'run')}, since {where}"
    )


def _always(case: CaseHistory, turn: VerdictChange, older: int) -> str:
    """Return the sentence about a case that never passed in these runs."""
    word = "failed" if case.failed == case.lasted else "did not pass"
    runs = f"its only run, {run_name(turn.first)}"
    if case.lasted > 1:
        runs = f"{'both' if case.lasted == 2 else f'all {case.lasted:,}'} of its runs, since {run_name(turn.first)}"
    more = f" ({count_text(older, 'older run')} not read)" if older else ""
    return f"{word} in {runs}{more}"


def _of_runs(count: int) -> str:
    return "the only run" if count == 1 else "both runs" if count == 2 else f"all {count:,} runs"


def _before(case: CaseHistory, before: HistoryRun) -> str:
    return f"{'failed before' if case.course is Course.FIXED else 'last passed'} in {run_name(before)}"


def _mixed_text(case: CaseHistory) -> str:
    """Return in how many runs some trials of a failing case passed."""
    mixed = sum(point.is_mixed for point in case.points[: case.lasted])
    if not mixed or case.course is Course.FIXED:
        return ""
    return f"; some trials passed in {f'{mixed:,} of these' if case.lasted > 1 else 'it'}"


def _flaky(case: CaseHistory) -> str:
    texts = [f"failed {case.failed:,} of {count_text(case.decided, 'run')}"]
    if case.flips:
        same = (
            f", {case.unexplained:,} of them with nothing known to have changed" if case.unexplained else ""
        )
        texts.append(f"went back or forth {count_text(case.flips, 'time')}{same}")
    if case.mixed:
        texts.append(f"some trials passed and some failed in {count_text(case.mixed, 'run')}")
    return "; ".join(texts)


def not_comparable_text(turn: VerdictChange) -> str:
    """Return a warning if the runs before and after a change are not comparable, or if that is unknown."""
    if turn.warnings:
        return f"not alike: {'; '.join(turn.warnings)}"
    if turn.before is not None and not turn.changed and not turn.known:
        return "it is unknown whether the agent changed between the runs"
    return ""


def change_text(one: RunChange) -> str:
    """Return who changed what between two runs: `you changed: the source of the agent retail has changed`."""
    text = "; ".join(difference.text for difference in one.differences)
    return f"you changed: {text}" if one.changed_by is ChangedBy.YOU else text


def reason_of(case: CaseHistory) -> str:
    """Return the reason of the newest run in which the case did not pass."""
    return next((point.reason for point in case.points if point.outcome is not Outcome.PASSED), "")


def strip_of_runs(case: CaseHistory, runs: Sequence[HistoryRun]) -> list[CasePoint | None]:
    """Return the result of the case in each of `runs`, oldest first; `None` if a run did not reach it."""
    there = {point.run.run_id: point for point in case.points}
    return [there.get(run.run_id) for run in reversed(runs)]


def runs_of(case: CaseHistory, runs: Sequence[HistoryRun]) -> list[HistoryRun]:
    """Return the runs of the agent that have the eval set of a case, so that a gap shows where the case was not reached."""
    return [run for run in runs if case.eval_set_id in run.sets and case.agent in ("", run.agent)]


def metric_names(history: RunHistory, metric: str = "", *, every: bool = False) -> list[str]:
    """Return the metrics that are shown: `metric`, where one is asked for; else those that decide, or `every` one."""
    if metric:
        return [metric]
    deciding = {name for name, points in history.metrics.items() if any(one.gate for one in points.values())}
    metrics = history.metrics if every else deciding
    return sorted(
        metrics, key=lambda name: (name != "passed", name not in deciding, [*history.metrics].index(name))
    )


def metric_values(history: RunHistory, metric: str, runs: Sequence[HistoryRun]) -> list[float | None]:
    """Return the score of a metric in each of `runs`, oldest first."""
    points = history.metrics.get(metric, {})
    return [points[run.run_id].score if run.run_id in points else None for run in reversed(runs)]


def value_text(metric: str, point: MetricPoint, marks: Marks) -> str:
    """Return the value of a metric in a run: a score as `point_text` does, the pass rate as `rate_text`."""
    return rate_text(point, marks) if metric == PASSED else point_text(point)


def rate_text(point: MetricPoint, marks: Marks) -> str:
    """Return how many cases of a run passed: `75 % (6 of 8, 95 % CI: 41–93)`, or `2 of 8 cases passed, 6 not run`."""
    cases = rate_of(point)
    return cases.text if cases.rate is None else share_text(cases.passed, cases.of, cases.interval, marks)


def point_text(point: MetricPoint) -> str:
    """Return a score with its interval: `0.79 (95 % CI: 0.76 to 0.82)`; the interval of equal values is left out."""
    if point.score is None:
        return WORDS[point.outcome]
    text = score_text(point.score, point.threshold)
    missing = missing_text(point.not_run, point.unread_sets)
    largest = max(point.score, point.high or 0.0, key=abs)
    low, high = (score_text(end, largest=largest) for end in (point.low, point.high))
    if low == high:  # both unknown, or equal
        return f"{text}{missing}"
    return f"{text} (95 % CI: {low} to {high}){missing}"


def rate_of(point: MetricPoint) -> PassRate:
    """Return how many cases passed, of all of the run, from its point of the pass rate."""
    passed = round((point.score or 0.0) * point.count)
    return PassRate(passed, point.count + point.not_run, point.not_run, point.unread_sets)
