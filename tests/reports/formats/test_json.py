"""The JSON report: documented, versioned, complete, always valid JSON."""

import io
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, strategies as st

from proctor.reports.base import load_report
from proctor.reports.formats.json import VERSION, JsonReport
from proctor.schema.evidence.trial import Trial
from proctor.schema.results.run_result import CaseResult, Outcome, RunResult, TrialResult
from proctor.schema.results.score import MetricScore, Score
from tests.reports.hostile_texts import HOSTILE, everywhere
from tests.reports.sample_runs import E, F, case, crashed, good, metric, run, sketch, wrong_covers
from tests.reports.terminal.test_run import two_agents, two_sets


def text_of(*runs: RunResult) -> str:
    out = io.StringIO()
    JsonReport().write(list(runs), out)
    return out.getvalue()


def written(*runs: RunResult) -> dict[str, Any]:
    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is not JSON")

    data: dict[str, Any] = json.loads(text_of(*runs), parse_constant=refuse)
    return data


@pytest.fixture(scope="module")
def schema(root: Path) -> Any:
    return jsonschema.Draft202012Validator(
        json.loads((root / "docs/schemas/report.schema.json").read_text(encoding="utf-8"))
    )


RUNS: dict[str, Callable[[], list[RunResult]]] = {
    "the sketch": lambda: [sketch(3)],
    "several sets, one broken": lambda: [two_sets()],
    "several agents": two_agents,
    "nothing run": lambda: [run()],
    "no run": list,
    "hostile": lambda: [everywhere(HOSTILE[0])],
    "skipped and not reached": lambda: [
        run(case("a", Outcome.SKIPPED, trials=[]), case("b", Outcome.NOT_RUN, trials=[]))
    ],
}


@pytest.mark.parametrize("runs", RUNS.values(), ids=RUNS)
def test_it_fits_its_schema(runs: Callable[[], list[RunResult]], schema: Any) -> None:
    assert [error.message for error in schema.iter_errors(written(*runs()))] == []


def test_the_schema_refuses_what_is_not_a_report(schema: Any) -> None:
    report = written(sketch(1))
    report["runs"][0]["cases"][0]["outcome"] = "green"
    assert not schema.is_valid(report)
    assert not schema.is_valid({**written(), "proctor_report": VERSION + 1})


def test_everything_is_in_it() -> None:
    report = written(run(wrong_covers(), crashed(), num_runs=5))
    assert (report["proctor_report"], report["outcome"], report["exit_code"]) == (1, "failed", 1)
    (first,) = report["runs"]
    assert first["counts"] == {"error": 1, "failed": 1}
    failed, error = first["cases"]
    trajectory = failed["metrics"]["tool_trajectory_avg_score"]
    assert (trajectory["outcome"], trajectory["threshold"], round(trajectory["score"], 2)) == (
        "failed",
        0.9,
        0.7,
    )
    assert [invocation["outcome"] for invocation in trajectory["trials"][2]["invocations"]] == [
        "passed",
        "failed",
    ]
    assert trajectory["trials"][2]["invocations"][1]["details"]["alignment"][1]["kind"] == "differs"
    evidence = failed["trials"][2]["evidence"]
    assert evidence["turns"][1]["user_content"]["parts"][0]["text"] == "La Trattoria."
    assert evidence["turns"][1]["events"][0]["content"]["parts"][0]["text"] == "Done."
    assert evidence["final_state"] == {"covers": 4}
    assert error["metrics"]["response_match_score"]["trials"][4]["score"] is None
    assert error["trials"][4]["failure"]["traceback"].startswith("Traceback")
    assert error["reason"] == "agent raised in turn 1: KeyError: 'covers'"


def test_a_rate_that_is_unknown_has_no_interval() -> None:
    (found,) = written(run(good("a"), case("b", Outcome.NOT_RUN, trials=[])))["runs"]
    assert found["pass_rate"] == {"passed": 1, "of": 2, "rate": None, "low": None, "high": None}


def test_evidence_that_was_not_kept_is_null() -> None:
    result = CaseResult("s", "a", Outcome.PASSED, trials=[TrialResult(0, Outcome.PASSED, evidence=None)])
    assert written(run(result))["runs"][0]["cases"][0]["trials"][0]["evidence"] is None


def test_evidence_kept_as_json_reads_the_same() -> None:
    kept, packed = good("a"), good("a")
    packed.trials = [
        TrialResult(
            each.number, each.outcome, evidence=each.trial.model_dump_json().encode() if each.trial else None
        )
        for each in packed.trials
    ]
    assert written(run(packed)) == written(run(kept))


def test_keys_come_in_the_same_order_every_time() -> None:
    assert text_of(sketch(2)) == text_of(sketch(2))
    assert list(written(sketch(1)))[:2] == ["proctor_report", "proctor_version"]


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_numbers_that_json_cannot_hold_become_null_with_a_note(number: float) -> None:
    score = MetricScore(number, [Score(number, details={"deep": [{"x": number}]})])
    result = written(run(case("a", E, metric("m", [score], 0.5, E))))["runs"][0]["cases"][0]
    assert result["metrics"]["m"]["score"] is None
    assert result["metrics"]["m"]["trials"][0]["invocations"][0]["details"] == {"deep": [{"x": None}]}
    assert f"/metrics/m/score is {number}, which JSON cannot hold: replaced by null" in result["notes"]


def test_half_a_character_is_replaced_with_a_note() -> None:
    report = written(run(case("a\ud800", F, reason="b\udc00")))
    result = report["runs"][0]["cases"][0]
    assert (result["eval_id"], result["reason"]) == ("a\ufffd", "b\ufffd")
    assert result["notes"] == ["half a character (a lone surrogate) is written as U+FFFD"]
    text_of(run(case("a\ud800", F))).encode("utf-8")


class Strange:
    def __repr__(self) -> str:
        return "<strange>"


def test_objects_in_details_are_written_as_their_text_with_a_note() -> None:
    nested: list[Any] = []
    nested.append(nested)
    details = {"when": Strange(), "loop": nested, "keys": {1: "one", None: (1, 2)}}
    score = MetricScore(0.0, [Score(0.0, details=details)])
    result = written(run(case("a", F, metric("m", [score], 0.5))))["runs"][0]["cases"][0]
    kept = result["metrics"]["m"]["trials"][0]["invocations"][0]["details"]
    assert kept["when"] == "<strange>"
    assert kept["keys"] == {"1": "one", "None": [1, 2]}
    assert any("is of type Strange: replaced by its text" in note for note in result["notes"])
    assert any("nested too deeply" in note for note in result["notes"])


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "latin-1", "ascii", "cp1252"])
def test_any_stream_can_take_it(encoding: str) -> None:
    raw = io.BytesIO()
    out = io.TextIOWrapper(raw, encoding=encoding)
    JsonReport().write([run(case("caffè 🍕 ✓", F))], out)
    out.flush()
    assert json.loads(raw.getvalue().decode(encoding))["runs"][0]["cases"][0]["eval_id"] == "caffè 🍕 ✓"


def test_a_trial_is_the_longest_thing_written_at_once() -> None:
    class Longest(io.StringIO):
        longest = 0

        def write(self, text: str) -> int:
            self.longest = max(self.longest, len(text))
            return super().write(text)

    few, many = Longest(), Longest()
    JsonReport().write([run(good("a", 2))], few)
    JsonReport().write([run(*(good("a", 2) for _ in range(200)))], many)
    assert many.longest < 1.2 * few.longest
    assert len(many.getvalue()) > 50 * few.longest


def test_it_asks_for_evidence_and_is_found_by_name() -> None:
    report = load_report("json")
    assert isinstance(report, JsonReport)
    assert report.needs_evidence


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(st.characters(), max_size=4), inner, max_size=3)
    ),
    max_leaves=12,
)


@pytest.mark.slow
@given(st.dictionaries(st.text(max_size=4), JSON, max_size=4), st.text(st.characters(), max_size=20))
def test_report_is_json_for_any_text_of_a_metric(details: dict[str, Any], reason: str) -> None:
    score = MetricScore(0.0, [Score(0.0, reason=reason, details=details)], details=details)
    text_of(run(case("a", F, metric("m", [score], 0.5), reason=reason))).encode("utf-8")
    assert written(run(case("a", F, metric("m", [score], 0.5), reason=reason)))["outcome"] == "failed"


def test_evidence_reads_back_as_a_trial() -> None:
    kept = written(run(good("a")))["runs"][0]["cases"][0]["trials"][0]["evidence"]
    original = good("a").trials[0].trial
    assert Trial.model_validate(kept) == original
