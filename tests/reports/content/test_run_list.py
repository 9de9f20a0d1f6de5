"""A list of runs, one case with all that is known of it, and what another scoring changed: as people see them."""

import io
import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import count

import pytest
from hypothesis import given, strategies as st

from proctor import evaluate_sync
from proctor.common.safe_text import cells
from proctor.reports.base import ReportOptions
from proctor.reports.content.case_blocks import case_blocks, write_case
from proctor.reports.content.case_data import CaseScoring, StoredCase, view_trial
from proctor.reports.content.rescoring_changes import changes_of, write_changes
from proctor.reports.content.run_list import ListedRun, run_list_blocks, write_list
from proctor.reports.content.symbols import SHORTEST, short_ids
from proctor.reports.terminal.block_drawing import draw_blocks
from proctor.schema.evidence.trial import Failure
from proctor.schema.results.manifest import RunRecord, RunState, RunSummary
from proctor.schema.results.run_result import CaseResult, Outcome, RunResult
from proctor.schema.results.score import MetricScore

IDS = st.lists(st.text("23456789bcdfg", min_size=10, max_size=10), unique=True, max_size=30)


@given(IDS)
def test_a_short_id_means_one_run(run_ids: list[str]) -> None:
    short = short_ids(run_ids)
    assert list(short) == sorted(run_ids)
    for run_id, beginning in short.items():
        assert [other for other in run_ids if other.startswith(beginning)] == [run_id]
        shorter = beginning[:-1]
        clear = len([other for other in run_ids if other.startswith(shorter)]) == 1
        assert len(beginning) == SHORTEST or not clear


# --- the list --------------------------------------------------------------------------------------------------------


def record(run_id: str = "7f3k2cdghj", **more: object) -> RunRecord:
    summary = RunSummary(
        outcome=Outcome.FAILED, counts={"passed": 37, "failed": 2, "error": 1}, duration=192.0
    )
    known = {
        "created_at": 1_700_000_000.0, "agent": "travel_agent", "sets": ("booking",), "num_runs": 5, "cases": 40,
        "state": RunState.FINISHED, "summary": summary, "scorings": 1,
    }  # fmt: skip
    return RunRecord(run_id, **{**known, **more})  # type: ignore[arg-type]  # a table of fields


def drawn(*runs: RunRecord, width: int = 110, more: int = 0, commit: str | None = "4f2c91a" * 6 + "+") -> str:
    out = io.StringIO()
    listed = [ListedRun(run, run.run_id[:6], commit) for run in runs]
    options = ReportOptions(width=width, color=False, symbols=True)
    draw_blocks(partial(run_list_blocks, listed, more), out, options)
    return out.getvalue()


def test_a_run_in_a_row() -> None:
    (row,) = re.findall(r".*7f3k2c.*", drawn(record()))
    assert re.sub(r"  +", "  ", row).strip() == (
        "✕ failed  7f3k2c  2023-11-14 22:13  travel_agent  booking  40 × 5  37 ✓  2 ✕  1 !  3m 12s  4f2c91a4f+"
    ).replace("2023-11-14 22:13", re.findall(r"2023-11-1\d \d\d:13", row)[0])


@pytest.mark.parametrize(
    ("run", "expected"),
    [
        (record(state=RunState.RUNNING), "… running"),
        (record(state=RunState.UNFINISHED), "– unfinished"),
        (record(summary=RunSummary(outcome=Outcome.PASSED)), "✓ passed"),
        (record(summary=RunSummary(outcome=Outcome.INCONCLUSIVE)), "? inconclusive"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_state_of_a_run(run: RunRecord, expected: str) -> None:
    assert f"  {expected}  7f3k2c" in drawn(run)


@pytest.mark.parametrize("width", [50, 63, 64, 71, 72, 91, 92, 103, 104, 140])
def test_every_run_has_one_line_that_fits(width: int) -> None:
    long = record(agent="an_agent_with_a_long_name" * 3, sets=tuple(f"set_{n}" for n in range(20)))
    text = drawn(record(), long, width=width)
    assert len(re.findall("7f3k2c", text)) == 2
    assert max(cells(line) for line in text.splitlines()) <= width


def test_what_a_narrow_page_leaves_out() -> None:
    heads = {width: drawn(record(), width=width).split("\n")[1].split() for width in (60, 70, 80, 95, 110)}
    assert heads[60] == ["run", "began", "agent", "cases"]
    assert heads[70] == ["run", "began", "agent", "sets", "cases"]
    assert heads[95][-1] == "took"
    assert heads[110][-1] == "commit"
    assert "37 ✓" in drawn(record(), width=80)


def test_control_sequences_of_names_are_shown_not_obeyed() -> None:
    evil = record(agent="\x1b]0;owned\x07", sets=("\x1b[2J\n",))
    out = io.StringIO()
    write_list([ListedRun(evil, "7f3k2c", "\x1b[31m")], out)
    for text in (out.getvalue(), drawn(evil, commit="\x1b[31m")):
        assert "\x1b" not in text
        assert "\x07" not in text
        assert r"\x1b]0;owned\x07" in text


def test_how_many_there_are_beyond() -> None:
    assert "1 of 2,001 runs: --limit 0 lists all" in drawn(record(), more=2000)
    assert "--limit" not in drawn(record())


# --- a case ----------------------------------------------------------------------------------------------------------


SET = {
    "eval_set_id": "booking",
    "eval_cases": [
        {
            "eval_id": "table",
            "conversation": [
                {
                    "user_content": {"parts": [{"text": "A table for two."}]},
                    "final_response": {"parts": [{"text": "Booked for 2."}]},
                    "intermediate_data": {"tool_uses": [{"name": "book", "args": {"covers": 2}}]},
                }
            ],
        }
    ],
}
CONFIG = {"criteria": {"tool_trajectory_avg_score": 1.0, "response_match_score": 0.1}}


def answering(*covers: int) -> Callable[[str], dict[str, object]]:
    """An agent that books for so many, trial by trial."""
    asked = count()

    def agent(text: str) -> dict[str, object]:
        number = covers[next(asked)]
        return {
            "tool_calls": [{"name": "book", "args": {"covers": number}}],
            "text": f"Booked for {number}.",
        }

    return agent


def case_of(*covers: int) -> CaseResult:
    result = evaluate_sync(
        answering(*covers), SET, config=CONFIG, num_runs=len(covers), concurrency=1, explain="all"
    )
    return result.cases[0]


def view(case: CaseResult, *history: CaseScoring, trials: tuple[int, ...] = ()) -> StoredCase:
    judged = history or (CaseScoring(1, 1_700_000_000.0, "test_config.json", case),)
    return StoredCase(
        "7f3k2cdghj", "7f3k2c", "desk", 1_700_000_000.0, case, judged[-1].number, judged, trials
    )


def page(shown: StoredCase, *, verbose: bool = False, width: int = 100) -> str:
    out = io.StringIO()
    options = ReportOptions(width=width, color=False, symbols=True, verbose=verbose)
    draw_blocks(partial(case_blocks, shown), out, options)
    return out.getvalue()


def test_the_verdict_comes_first_then_the_reason() -> None:
    first, facts, _, reason, *_ = [*page(view(case_of(2, 4, 4))).strip().splitlines()]
    assert first.startswith("✕ failed  booking/table  ●○○  1 of 3 trials passed (33.3 %")
    assert facts.strip().startswith("run 7f3k2c · desk · ")
    assert reason.strip().startswith("tool_trajectory_avg_score 0.33 < 1")


def test_every_metric_with_its_score_of_each_trial() -> None:
    text = page(view(case_of(2, 4, 4)))
    assert re.search(r"✕ tool_trajectory_avg_score +0\.33 < 1 +1\.00 0\.00 0\.00\n", text)
    assert re.search(r"✓ response_match_score +0\.\d+ ≥ 0\.1 +1\.00 0\.67 0\.67\n", text)
    assert "token_usage_v1" not in text  # nothing is known of it


def test_each_trial_is_judged_by_itself() -> None:
    case = case_of(2, 4, 4)
    outcomes = [
        view_trial(case, place).alone.metrics["tool_trajectory_avg_score"].outcome for place in range(3)
    ]
    assert outcomes == [Outcome.PASSED, Outcome.FAILED, Outcome.FAILED]


def test_a_metric_that_broke_is_an_error_of_that_trial_alone() -> None:
    case = case_of(2, 4)
    metric = case.metrics["response_match_score"]
    broken = MetricScore(failure=Failure(where="metric", type="KeyError", message="'covers'"))
    metric.per_trial = [metric.per_trial[0], broken]
    first, second = (view_trial(case, place).alone.metrics["response_match_score"] for place in range(2))
    assert (first.outcome, second.outcome) == (Outcome.PASSED, Outcome.ERROR)
    assert second.reason == "metric raised: KeyError: 'covers'"


def test_trials_that_went_alike_are_drawn_once() -> None:
    text = page(view(case_of(2, 4, 4, 5)))
    assert [
        line.split("·")[0].strip() for line in text.splitlines() if "trial" in line and "turn" in line
    ] == [
        "● trial 1",
        "○ trial 2",
        "○ trial 3",
        "○ trial 4",
    ]
    assert text.count("like trial 2") == 1
    assert "covers=[-2-]" in text
    assert "{+5+}" in text


def test_of_those_that_passed_one_is_an_example() -> None:
    quiet, loud = page(view(case_of(2, 2, 2))), page(view(case_of(2, 2, 2)), verbose=True)
    assert "● … 2 more that passed (-v: all, --trial N: one)" in quiet
    assert quiet.count("A table for two.") == 1
    assert loud.count("A table for two.") == 3


def test_only_the_trial_that_was_asked_for() -> None:
    text = page(view(case_of(2, 4, 4), trials=(2,)))
    assert re.findall(r"^ *[●○] (trial \d)", text, re.MULTILINE) == ["trial 3"]


def test_how_it_was_judged_before() -> None:
    case = case_of(2)
    before = replace(case, outcome=Outcome.FAILED)
    history = (CaseScoring(1, 1.0, "strict.json", before), CaseScoring(2, 2.0, "mild.json", case))
    text = page(view(case, *history))
    assert "scoring 2 of 2" in text
    assert re.search(r"1  ✕ failed +1970.* criteria from strict\.json", text)
    assert re.search(r"2  ✓ passed +1970.* criteria from mild\.json", text)


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_a_case_fits_the_page(width: int) -> None:
    text = page(view(case_of(2, 4)), width=width)
    assert max(cells(line) for line in text.splitlines()) <= width


def test_trial_without_stored_evidence_is_marked() -> None:
    case = case_of(2, 4)
    for trial in case.trials:
        trial._evidence = None
    assert page(view(case)).count("its evidence was not kept") == 2
    out = io.StringIO()
    write_case(view(case), out)
    assert "TRIAL  1  passed  its evidence was not kept" in out.getvalue()


# --- what changed ----------------------------------------------------------------------------------------------------


def changes(before: dict[int, Outcome], now: dict[int, Outcome]) -> list[str]:
    cases = [CaseResult("booking", f"c{n}", now.get(n, Outcome.NOT_RUN)) for n in range(4)]
    out = io.StringIO()
    write_changes(changes_of(RunResult("desk", cases=cases), before, now, numbers=(2, 3)), out)
    return out.getvalue().splitlines()


P, F = Outcome.PASSED, Outcome.FAILED


@pytest.mark.parametrize(
    ("before", "now", "expected"),
    [
        ({0: P, 1: F}, {0: P, 1: F}, ["SCORING  3  every case came out as in scoring 2"]),
        (
            {0: P, 1: F},
            {0: F, 1: F},
            [
                "CHANGED  booking/c0  passed -> failed",
                "SCORING  3  1 of 4 cases came out differently than in scoring 2",
            ],
        ),
        (
            {0: P},
            {1: P},
            [
                "CHANGED  booking/c0  passed -> not_run",
                "CHANGED  booking/c1  not_run -> passed",
                "SCORING  3  2 of 4 cases came out differently than in scoring 2",
            ],
        ),
    ],
    ids=["nothing", "one", "what was not decided"],
)
def test_what_changed(before: dict[int, Outcome], now: dict[int, Outcome], expected: list[str]) -> None:
    assert changes(before, now) == expected
