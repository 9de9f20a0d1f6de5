"""The history of a case over runs, for any outcomes."""

import re
from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given, strategies as st

from proctor.analysis.history.text import case_history_sentence, point_text, rate_of
from proctor.analysis.history.trends import BACK_AND_FORTH, MetricMeans, case_histories, case_history
from proctor.reports.content.symbols import sparkline
from proctor.schema.analysis.comparison import RunDifference
from proctor.schema.analysis.history import CaseHistory, CasePoint, Course, HistoryRun
from proctor.schema.results.score import Outcome

OUTCOMES = {"p": Outcome.PASSED, "f": Outcome.FAILED, "e": Outcome.ERROR, "i": Outcome.INCONCLUSIVE}
AGENT = RunDifference("agent", "the agent was a and is b", expected=True)
CASE = RunDifference("case", "the case itself was changed")


def run(number: int) -> HistoryRun:
    return HistoryRun(f"run{number}", f"run{number}", float(number), "agent", None, None, None, 1, 1)


def points(strip: str) -> list[CasePoint]:
    """Return runs, oldest first: a letter each, with the trials in brackets where they matter: `p(ppf)`."""
    found: list[CasePoint] = []
    for letter in strip.replace("(", " (").replace(")", ") ").split():
        if letter.startswith("("):
            found[-1].trials = [OUTCOMES[one] for one in letter.strip("()")]
            continue
        for one in letter:
            found.append(CasePoint(run(len(found)), OUTCOMES[one], [OUTCOMES[one]], "", 0))
    return found[::-1]


def history_of(strip: str, changed: Sequence[RunDifference] | None = (AGENT,)) -> CaseHistory:
    return case_history(("", "set", "case", 0), points(strip), lambda *_: changed)


COURSES = {
    "p": Course.STEADY,
    "f": Course.FAILING,
    "e": Course.UNDECIDED,
    "pi": Course.UNDECIDED,
    "pf": Course.BROKE,
    "pff": Course.FAILING,
    "fp": Course.FIXED,
    "fpp": Course.STEADY,
    "pfp": Course.FIXED,
    "pef": Course.BROKE,
    "pfef": Course.FAILING,
    "pfpf": Course.FLAKY,
    "fpfpp": Course.FLAKY,
    "p(ppf)p": Course.FLAKY,
    "p(ppf)f(pff)": Course.FLAKY,
    "pf(pff)": Course.FLAKY,
    "f(pff)p": Course.FLAKY,
    "f(fffff)p(pppff)": Course.FIXED,
    "pf(pppf)": Course.FLAKY,
    "pf(ffff)": Course.BROKE,
    "ff(pff)": Course.FAILING,
}


@pytest.mark.parametrize(("strip", "course"), COURSES.items(), ids=str)
def test_the_course_where_another_build_was_run_each_time(strip: str, course: Course) -> None:
    assert history_of(strip).course is course


@pytest.mark.parametrize(
    ("strip", "course"),
    [
        ("pf", Course.FLAKY),
        ("fp", Course.FLAKY),
        ("fpp", Course.FLAKY),
        ("pff", Course.FAILING),
        ("pp", Course.STEADY),
    ],
)
def test_what_comes_out_differently_without_a_change_is_flaky(strip: str, course: Course) -> None:
    found = history_of(strip, ())
    assert found.course is course
    assert found.unexplained == found.flips


@pytest.mark.parametrize(("strip", "course"), [("pf", Course.BROKE), ("fpp", Course.STEADY)])
def test_where_nothing_is_known_of_the_agent_nothing_is_called_chance(strip: str, course: Course) -> None:
    found = history_of(strip, None)
    assert (found.course, found.unexplained) == (course, 0)


def test_turn_is_from_the_last_passing_run_to_the_first_that_did_not_pass() -> None:
    found = history_of("ppfef", (AGENT, CASE))
    assert found.turn is not None
    assert found.turn.before is not None
    assert (found.turn.before.run_id, found.turn.first.run_id, found.lasted) == ("run1", "run2", 3)
    assert found.turn.warnings == [CASE.text]


@pytest.mark.parametrize(
    ("strip", "sentence"),
    [
        ("pf", "now fails, since run run1 "),
        ("pef", "failed in run run2 (1970-01-01), and could not be scored before that, since run run1 "),
        ("pif", "failed in run run2 (1970-01-01), and was inconclusive before that, since run run1 "),
        ("pief", "failed in run run3 (1970-01-01), and was not decided before that, since run run1 "),
        ("pff", "fails for 2 runs, since run run1 "),
        ("pffe", "did not pass for 3 runs, since run run1 "),
        ("pfef", "did not pass for 3 runs, since run run1 "),
        ("pee", "could not be scored for 2 runs, since run run1 "),
        ("pi", "is inconclusive in run run1 "),
        ("pii", "is inconclusive for 2 runs, since run run1 "),
        ("pie", "did not pass for 2 runs, since run run1 "),
    ],
)
def test_run_in_error_is_neither_a_failure_nor_a_pass(strip: str, sentence: str) -> None:
    assert re.sub(
        r"\d\d\d\d-[-\d]+ [\d:]+", "1970-01-01", case_history_sentence(history_of(strip))
    ).startswith(sentence)


STRIPS = st.text("pfei", min_size=1, max_size=12)


@given(STRIPS, st.sampled_from([(), (AGENT,), None]))
def test_counts_and_turn_hold_for_any_runs(strip: str, changed: Sequence[RunDifference] | None) -> None:
    found = history_of(strip, changed)
    decided = [one for one in strip if one in "pf"]
    assert (found.decided, found.failed) == (len(decided), decided.count("f"))
    assert found.flips == sum(a != b for a, b in pairwise(decided))
    assert found.unexplained == (found.flips if changed == () else 0)
    assert (found.course is Course.UNDECIDED) == (strip[-1] in "ei")
    assert found.flips < BACK_AND_FORTH or strip[-1] in "ei" or found.course is Course.FLAKY
    assert (found.turn is None) == (found.course is Course.STEADY)
    if found.turn is not None:
        passes = strip[-1] == "p"
        stretch = strip[len(strip) - found.lasted :]
        assert all((one == "p") is passes for one in stretch)
        before = strip[: len(strip) - found.lasted]
        assert (found.turn.before is None) == (not before)
        assert not before or (before[-1] == "p") is not passes
    assert case_history_sentence(found)


@given(st.dictionaries(st.text("abc", min_size=1, max_size=3), STRIPS, min_size=1))
def test_what_matters_comes_first_and_nothing_is_lost(cases: dict[str, str]) -> None:
    each = [(("", "set", name, 0), point) for name, strip in cases.items() for point in points(strip)]
    found = case_histories(each, lambda *_: (AGENT,))
    assert {case.eval_id for case in found} == set(cases)
    order = [*Course]
    assert all(order.index(a.course) <= order.index(b.course) for a, b in pairwise(found))
    for course in (Course.BROKE, Course.FAILING):
        turned = [case.turn.first.started_at for case in found if case.course is course and case.turn]
        assert turned == sorted(turned, reverse=True)


@given(st.lists(st.none() | st.floats(-10, 10), max_size=20), st.booleans())
def test_a_sparkline_has_a_sign_for_each_value_and_more_is_never_lower(
    values: list[float | None], rich: bool
) -> None:
    line = sparkline(values, rich=rich)
    assert len(line) == len(values)
    signs = {sign: place for place, sign in enumerate("▁▂▃▄▅▆▇█" if rich else "0123456789")}
    known = [(value, signs[sign]) for value, sign in zip(values, line, strict=True) if value is not None]
    assert all(a[1] <= b[1] for a, b in pairwise(sorted(known)))
    assert all((sign in "·.") == (value is None) for value, sign in zip(values, line, strict=True))


def test_the_share_that_passed_is_of_all_cases_that_were_run() -> None:
    means = MetricMeans()
    means.begin("run")
    for outcome in (Outcome.PASSED, Outcome.FAILED, Outcome.ERROR, Outcome.INCONCLUSIVE):
        means.add(outcome, {})
    point = means.points(lambda name: None)["passed"]["run"]
    assert (point.score, point.count, point.not_run) == (0.25, 4, 0)


def test_a_run_with_cases_that_were_not_run_has_counts_and_no_pass_rate() -> None:
    means = MetricMeans()
    means.begin("run")
    means.add(Outcome.PASSED, {"m": {"score": 0.5, "outcome": "passed"}})
    for _ in range(7):
        means.add_not_run("run")
    points = means.points(lambda name: None)
    rate = rate_of(points["passed"]["run"])
    assert (rate.rate, rate.text) == (None, "1 of 8 cases passed, 7 not run")
    assert point_text(points["m"]["run"]) == "0.50, 7 not run"


def test_a_run_with_a_set_that_could_not_be_run_has_counts_and_no_pass_rate() -> None:
    means = MetricMeans()
    means.begin("run", unread_sets=1)
    means.add(Outcome.PASSED, {"m": {"score": 0.5, "outcome": "passed"}})
    points = means.points(lambda name: None)
    rate = rate_of(points["passed"]["run"])
    assert (rate.rate, rate.text) == (None, "1 of 1 case passed, 1 set could not be run")
    assert point_text(points["m"]["run"]) == "0.50, 1 set could not be run"
    assert points["passed"]["run"].is_partial
