"""What a person sees on a terminal, at several widths, with and without colour and signs."""

import io
import re
from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given, strategies as st

from proctor.common.safe_text import cells
from proctor.reports.base import Report, ReportOptions
from proctor.reports.plain import PlainReport
from proctor.reports.terminal.run import TerminalReport
from proctor.schema.evidence.trial import Failure
from proctor.schema.results.run_result import CaseResult, Outcome, RunResult, SetSummary
from proctor.schema.results.score import MetricScore, Score
from tests.reports.sample_runs import (
    RESPONSE,
    STATE,
    TRAJECTORY,
    F,
    P,
    call,
    case,
    crashed,
    good,
    metric,
    run,
    sketch,
    trial,
    undecided,
    wrong_covers,
)

Snapshot = Callable[[str, str], None]


def draw(*runs: RunResult, width: int = 100, color: bool = False, **options: Any) -> str:
    out = io.StringIO()
    TerminalReport().write(runs, out, options=ReportOptions(width=width, color=color, **options))
    return out.getvalue()


def two_agents() -> list[RunResult]:
    first = run(*(good(f"weather_{n:02}") for n in range(3)), wrong_covers(), crashed(), agent="main")
    second = run(
        *(good(f"weather_{n:02}") for n in range(3)), good("two_turn_booking"), crashed(), agent="branch"
    )
    return [first, second]


def two_sets() -> RunResult:
    result = run(
        good("a"),
        good("b", eval_set_id="refunds"),
        case("c", F, metric(TRAJECTORY, [0.0]), reason="no call", eval_set_id="refunds"),
    )
    result.sets[1].config_source = "refunds/test_config.json"
    result.sets[0].skipped_metrics = {"hallucinations_v1": "--no-judge"}
    result.sets.append(
        SetSummary(
            "old",
            "sets/old.json",
            "not scored",
            0,
            failure=Failure(where="file", message="old.json:3:1: expected a list"),
        )
    )
    result.warnings.append("config: unknown key `treshold`")
    return result


# --- the whole picture ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [60, 100, 160])
def test_a_run(width: int, snapshot: Snapshot) -> None:
    snapshot(f"run_{width}.txt", draw(sketch(), width=width))


def test_a_run_in_ascii(snapshot: Snapshot) -> None:
    text = draw(sketch(3), symbols=False)
    assert text.isascii()
    snapshot("run_ascii.txt", text)


@pytest.mark.slow
def test_a_run_in_full(snapshot: Snapshot) -> None:
    snapshot("run_verbose.txt", draw(sketch(25), verbose=True))


def test_a_run_that_passed(snapshot: Snapshot) -> None:
    snapshot("run_passed.txt", draw(run(*(good(f"weather_{n:02}") for n in range(3)))))


def test_several_sets_a_broken_one_and_warnings(snapshot: Snapshot) -> None:
    snapshot("run_two_sets.txt", draw(two_sets()))


def test_several_agents(snapshot: Snapshot) -> None:
    snapshot("matrix.txt", draw(*two_agents()))


class FreshCases(Sequence[CaseResult]):
    """Cases that are created at every access, as those of a stored run are."""

    def __init__(self, cases: Sequence[CaseResult]) -> None:
        self._cases = cases

    def __len__(self) -> int:
        return len(self._cases)

    def __getitem__(self, index: Any) -> Any:
        return deepcopy(self._cases[index])


@pytest.mark.slow
@pytest.mark.nightly(check=2)
@pytest.mark.parametrize("report", [TerminalReport(), PlainReport()], ids=["terminal", "plain"])
@pytest.mark.parametrize("only_different", [False, True])
def test_cases_read_from_a_store_look_the_same(report: Report, only_different: bool) -> None:
    def written(runs: list[RunResult]) -> str:
        out = io.StringIO()
        report.write(runs, out, options=ReportOptions(width=100, color=False, only_different=only_different))
        return out.getvalue()

    for runs in (two_agents(), [sketch(3)]):
        kept = written(runs)
        for one in runs:
            one.cases = FreshCases(one.cases)
        assert written(runs) == kept


def test_several_agents_only_where_they_differ(snapshot: Snapshot) -> None:
    text = draw(*two_agents(), only_different=True)
    assert "weather_00" not in text
    snapshot("matrix_only_different.txt", text)


def test_in_colour_the_words_are_the_same(snapshot: Snapshot) -> None:
    text = draw(sketch(3), width=110, color=True)
    snapshot("run_color.txt", text)
    bare = re.sub(r"\x1b\[[0-9;]*m", "", text)
    plain = re.sub(r"\[-|-\]|\{\+|\+\}|`", "", draw(sketch(3), width=110))
    assert re.sub(r"\s+", " ", bare) == re.sub(r"\s+", " ", plain)


# --- its parts -----------------------------------------------------------------------------------------------------------


@pytest.mark.nightly(check=13)
@pytest.mark.parametrize("width", [40, 60, 80, 83, 84, 100, 160])
@pytest.mark.parametrize(
    "runs", [[sketch(3)], two_agents(), [two_sets()], [run()]], ids=["one", "two", "sets", "empty"]
)
def test_no_line_is_wider_than_the_page(width: int, runs: list[RunResult]) -> None:
    for symbols in (True, False):
        assert max(map(cells, draw(*runs, width=width, symbols=symbols).splitlines())) <= width


def test_no_line_ends_in_blanks() -> None:
    assert [line for line in draw(sketch()).splitlines() if line != line.rstrip()] == []


def test_blank_lines_in_an_answer_are_blank() -> None:
    state = metric("m", [0.0], 0.5, reason="r")
    result = run(
        case("a", F, state, trials=[trial(0, F, "first\n\n  \nlast", failure=Failure(where="agent", turn=0))])
    )
    assert [line for line in draw(result).splitlines() if line != line.rstrip()] == []


@pytest.mark.slow
def test_the_bar_shows_even_one_failure_of_a_thousand() -> None:
    bar = draw(run(*(good(f"c{n}") for n in range(999)), case("x", F)), color=True).splitlines()[2]
    assert "\x1b[31m━\x1b[0m" in bar


def test_agents_with_the_same_score_and_another_outcome_differ() -> None:
    first = run(case("a", P, metric("m", [0.5], 0.5)), agent="one")
    second = run(case("a", F, metric("m", [0.5], 0.6)), agent="two")
    assert "0 of 1 cases are the same" in draw(first, second, only_different=True)


def test_no_escape_sequence_without_colour(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "\x1b" not in draw(sketch(3), color=False)
    monkeypatch.setenv("NO_COLOR", "1")
    out = io.StringIO()
    TerminalReport().write([sketch(3)], out, options=ReportOptions(width=100))
    assert "\x1b" not in out.getvalue()
    assert "[-2-]" in out.getvalue()


def test_failures_come_before_errors_before_the_rest() -> None:
    text = draw(sketch(3))
    places = [
        text.index(f"/{eval_id}")
        for eval_id in ("two_turn_booking", "refund_policy", "cancel_flight", "weather_00")
    ]
    assert places == sorted(places)


@pytest.mark.parametrize(
    ("width", "line"),
    [
        (60, "⇄ find_flight() expected as call 1, made as call 2"),
        (100, "⇄ find_flight() as call 1 find_flight() as call 2"),
    ],
)
def test_moved_call_is_shown_at_its_expected_place(width: int, line: str) -> None:
    first, second = call("find_flight"), call("book_flight")
    alignment = [
        {"kind": "moved", "expected": {**first, "index": 0}, "actual": {**first, "index": 1}},
        {"kind": "matched", "expected": {**second, "index": 1}, "actual": {**second, "index": 0}},
    ]
    scored = MetricScore(value=0.0, per_invocation=[Score(0.0, details={"alignment": alignment})])
    text = draw(run(case("c", F, metric(TRAJECTORY, [scored]))), width=width)
    assert line in " ".join(text.split())


def test_on_a_narrow_page_ids_stay_whole_and_the_names_of_metrics_go() -> None:
    wide, narrow = (draw(*two_agents(), width=width) for width in (100, 44))
    assert re.search(r"two_turn_booking +✕ 0.70 2/5 +✓ 1.00 +tool_trajectory\n", wide)
    assert re.search(r"two_turn_booking\n +✕ 0.70 2/5 +✓ 1.00\n", narrow)


@pytest.mark.slow
def test_more_than_twenty_passing_cases_list_five_and_a_count() -> None:
    text = draw(run(*(good(f"c{n:02}") for n in range(57))))
    assert text.count("✓ passed  booking/c") == 5
    assert "✓ … 52 more passed (-v: all)" in text
    assert draw(run(*(good(f"c{n:02}") for n in range(57))), verbose=True).count("✓ passed  booking/c") == 57


def test_skipped_and_unreached_cases_are_marked() -> None:
    text = draw(run(good("a"), case("b", Outcome.SKIPPED), case("c", Outcome.NOT_RUN)))
    assert "– skipped  booking/b" in text
    assert "– not run  booking/c" in text


@pytest.mark.slow
def test_evidence_of_very_many_failures_is_left_to_verbose() -> None:
    failing = [
        case(f"c{n}", F, metric("m", [0.0], 0.5, reason="because"), reason=f"reason {n}") for n in range(60)
    ]
    text = draw(run(*failing))
    assert all(f"reason {n}" in text for n in range(60))
    assert "… the evidence of 10 more cases: -v shows it" in text


def test_many_trials_are_counted() -> None:
    trials = [trial(n, P if n < 12 else F) for n in range(15)]
    assert "●12 ○3" in draw(run(case("a", F, trials=trials, reason="r"), num_runs=15))


def test_what_did_not_happen_is_missing_from_the_bar() -> None:
    result = run(good("a"), good("b"))
    result.sets[0].cases = 5
    result.interrupted = True
    assert " 2/5 " in draw(result)


@pytest.mark.parametrize("width", [60, 100, 160])
def test_failed_metric_is_next_to_its_threshold_at_any_width(width: int) -> None:
    text = " ".join(draw(run(wrong_covers(), num_runs=5), width=width).split())
    assert f"{TRAJECTORY} 0.70 < 0.9" in text
    assert "response_match_score 0.82 < 0.9" in text
    assert f"{STATE} 0.40 < 1" in text


def test_very_many_metrics_fill_the_width_and_no_failure_is_lost() -> None:
    metrics = [metric(f"quality_number_{n}_score", [float(n != 11)], 0.5) for n in range(12)]
    text = draw(run(case("b", P, *metrics), case("a", F, *metrics, reason="see below")))
    head = text[text.index("scores") : text.index("✓ passed")]
    assert "number" in head.split()
    assert "11" not in head.split()
    assert "quality_number_11_score 0.00 < 0.5" in text


def test_scores_are_shown_as_long_as_the_row_has_room() -> None:
    trials = [trial(number, P) for number in range(3)]
    row = case(
        "dice",
        P,
        metric(TRAJECTORY, [1.0] * 3),
        metric("response_match_score", [1.0] * 3),
        trials=trials,
    )
    needed = len("  ✓ passed  booking/dice  trials  95 % CI  trajectory  response")
    shown, hidden = (draw(run(row), width=width) for width in (needed, needed - 1))
    assert "response" in shown
    assert "scores: -v, or a wider terminal" not in shown
    assert "scores: -v, or a wider terminal" in hidden


def test_metrics_without_room_for_their_column_are_counted() -> None:
    names = [f"a_metric_with_a_long_name_{letter}" for letter in "abcdefghij"]
    runs = run(case("steady", P, *(metric(name, [1.0]) for name in names)))
    few = re.search(r"(\d) more metrics: -v, or a wider terminal", draw(runs, width=80))
    assert few is not None
    assert 0 < int(few[1]) < len(names)
    assert "wider terminal" not in draw(runs, width=300)


def test_the_heading_of_a_long_name_has_few_lines() -> None:
    name = "_".join(["word"] * 20)
    text = draw(run(*(case(f"case{n}", P, metric(name, [1.0])) for n in range(2))), width=80)
    heading = text[: text.index("booking/case0")].splitlines()
    assert sum("word" in line for line in heading) == 3
    assert "word word word" in text


def test_a_stream_that_cannot_write_a_character_gets_its_escape() -> None:
    raw = io.BytesIO()
    out = io.TextIOWrapper(raw, encoding="ascii")
    result = run(case("caffè", F, metric("m", [0.0], reason="perché no 🍕"), reason="perché no 🍕"))
    TerminalReport().write([result], out, options=ReportOptions(width=100, color=False))
    out.flush()
    assert b"perch\\xe9 no \\U0001f355" in raw.getvalue()
    assert b"x failed" in raw.getvalue()


@pytest.mark.nightly
@given(
    st.lists(
        st.sampled_from([good("a", 2), wrong_covers(), crashed(), undecided(), case("x", F), case("y", P)]),
        max_size=5,
    ),
    st.integers(1, 200),
)
def test_any_mixture_draws_at_any_width(cases: list[Any], width: int) -> None:
    text = draw(run(*cases, num_runs=2), width=width)
    assert text.count("\n") > 3


def test_the_cell_of_a_case_that_failed_only_by_another_metric_names_that_metric() -> None:
    runs = [
        run(case("a", F, metric(TRAJECTORY, [path]), metric(RESPONSE, [text], 0.8)), agent=agent)
        for agent, path, text in (("main", 1.0, 0.39), ("branch", 0.5, 0.9))
    ]
    assert re.search(r"booking/a +✕ response_match 0\.39 +✕ 0\.50 +tool_trajectory\n", draw(*runs))
