"""The JSON Lines report: a line a trial, complete in itself, of one shape throughout."""

import io
import json
from collections import Counter
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given

from proctor.reports.base import load_report
from proctor.schema.evidence.trial import Failure
from proctor.schema.results.run_result import (
    CaseResult,
    MetricVerdict,
    Outcome,
    RunResult,
    SetSummary,
    TrialResult,
)
from proctor.schema.results.score import MetricScore
from tests.reports.generated_runs import runs
from tests.reports.hostile_texts import GROUPS, everywhere, for_each_text
from tests.reports.sample_runs import E, P, case, crashed, good, run, sketch, trial, wrong_covers
from tests.reports.terminal.test_hostile import bad_characters


def written(*results: RunResult) -> str:
    out = io.StringIO()
    load_report("jsonl").write(list(results), out)
    return out.getvalue()


def lines(*results: RunResult) -> list[dict[str, Any]]:
    return [json.loads(line) for line in written(*results).splitlines()]


@pytest.fixture(scope="module")
def schema(root: Path) -> Any:
    text = (root / "docs/schemas/trials.schema.json").read_text(encoding="utf-8")
    return jsonschema.Draft202012Validator(json.loads(text))


def test_a_line_a_trial_with_what_it_belongs_to() -> None:
    found = lines(run(wrong_covers(), crashed(), num_runs=5))
    assert [(line["eval_id"], line["trial"], line["outcome"]) for line in found] == [
        *(("two_turn_booking", n, "passed" if n < 2 else "failed") for n in range(5)),
        *(("refund_policy", n, "passed" if n < 4 else "error") for n in range(5)),
    ]
    third, last = found[2], found[9]
    assert third["scores"]["tool_trajectory_avg_score"]["score"] == 0.5
    assert third["scores"]["tool_trajectory_avg_score"]["outcome"] == "failed"
    assert third["scores"]["tool_trajectory_avg_score"]["threshold"] == 0.9
    assert third["scores"]["tool_trajectory_avg_score"]["reason"].startswith("`book_table`")
    assert third["case"]["outcome"] == "failed"
    assert third["case"]["pass_rate"]["passed"] == 2
    assert third["evidence"]["turns"][1]["user_content"]["parts"][0]["text"] == "La Trattoria."
    assert last["failure"]["type"] == "KeyError"


def test_a_metric_that_found_nothing_to_score_is_left_out() -> None:
    broke = Failure(where="agent", message="gone")
    verdict = MetricVerdict("m", Outcome.ERROR, 1.0, 0.5, per_trial=[MetricScore(1.0), None])
    result = case("a", E, verdict, trials=[trial(0, P), trial(1, E, failure=broke)])
    assert [sorted(line["scores"]) for line in lines(run(result))] == [["m"], []]


def test_what_has_no_trial_has_a_line() -> None:
    result = run(case("left", Outcome.SKIPPED, trials=[]), case("never", Outcome.NOT_RUN, trials=[]))
    result.sets.append(SetSummary("torn", None, "", 0, failure=Failure(where="file", message="no JSON")))
    result.failure = Failure(where="store", message="disk full")
    found = [(line["eval_set_id"], line["eval_id"], line["trial"], line["outcome"]) for line in lines(result)]
    assert found == [
        ("booking", "left", None, "skipped"),
        ("booking", "never", None, "not_run"),
        ("torn", None, None, "error"),
        (None, None, None, "error"),
    ]


def test_evidence_that_was_not_kept_is_null() -> None:
    result = CaseResult("s", "a", P, trials=[TrialResult(0, P, evidence=None)])
    assert lines(run(result))[0]["evidence"] is None


@pytest.mark.nightly
@given(runs())
def test_every_line_has_the_same_keys_in_the_same_order(result: RunResult) -> None:
    assert len({tuple(line) for line in lines(result)}) == 1


@pytest.mark.slow
@given(runs())
def test_every_line_fits_its_schema(schema: Any, result: RunResult) -> None:
    for line in lines(result):
        assert [error.message for error in schema.iter_errors(line)] == []


def test_schema_refuses_other_lines(schema: Any) -> None:
    (line,) = lines(run(good("a")))
    assert not schema.is_valid(line | {"outcome": "green"})
    assert not schema.is_valid({key: line[key] for key in line if key != "trial"})


@pytest.mark.slow
@for_each_text(GROUPS)
def test_nothing_in_it_is_obeyed_by_a_terminal_and_no_text_breaks_a_line(text: str) -> None:
    result = everywhere(text)
    assert bad_characters(written(result)) == set()
    assert len(lines(result)) == sum(len(each.trials) or 1 for each in result.cases) + 1


@pytest.mark.slow
def test_a_trial_is_the_longest_thing_written_at_once() -> None:
    class Longest(io.StringIO):
        longest = 0

        def write(self, text: str) -> int:
            self.longest = max(self.longest, len(text))
            return super().write(text)

    few, many = Longest(), Longest()
    load_report("jsonl").write([run(good("a", 2))], few)
    load_report("jsonl").write([run(*(good("a", 2) for _ in range(200)))], many)
    assert many.longest < 1.2 * few.longest


class Once(list[CaseResult]):
    """Cases that count their iterations; they know the number of each outcome, as those of a store do."""

    passes = 0

    def counts(self) -> dict[Outcome, int]:
        cases = super().__iter__()
        return dict(Counter(case.outcome for case in cases))

    def __iter__(self) -> Any:
        self.passes += 1
        return super().__iter__()


@pytest.mark.parametrize("form", ["jsonl", "csv", "csv-raw", "adk"])
def test_the_cases_of_a_run_are_gone_through_once(form: str) -> None:
    result = sketch(2)
    result.cases = cases = Once(result.cases)
    load_report(form).write([result], io.StringIO())
    assert cases.passes == 1
