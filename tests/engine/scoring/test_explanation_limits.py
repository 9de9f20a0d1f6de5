"""Explanations of metrics: stored whole, or changed with a note; in the result and in the store."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

import proctor
from proctor.common.registry import METRICS
from proctor.engine.scoring.score_trial import fit_explanation, fit_failure, fit_text, fit_to_keep
from proctor.schema.evidence.trial import Failure
from proctor.schema.results.run_result import RunResult
from proctor.schema.results.score import Explanation, MetricScore, Score
from proctor.stores.sql.encoding import scores_json

MIB = 2**20
UNREADABLE = "unreadable characters (NUL, half a surrogate pair) replaced by U+FFFD: 1"


class Hostile:
    """Raises on every operation."""

    def _no(self, *_: object, **__: object) -> Any:
        raise RuntimeError("leave me alone")

    __repr__ = __str__ = __eq__ = __hash__ = __bool__ = __len__ = __iter__ = __getattr__ = _no


def nested(levels: int) -> Any:
    found: Any = "deep"
    for _ in range(levels):
        found = [found]
    return found


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("", ""),
        ("fits: ä 漢 😀\n", "fits: ä 漢 😀\n"),
        ("half \ud800", f"half \ufffd [reason: {UNREADABLE}]"),
        ("a NUL \0 in it", f"a NUL \ufffd in it [reason: {UNREADABLE}]"),
        ("x" * MIB, "x" * MIB),
    ],
    ids=["empty", "any language", "half a character", "NUL", "the longest"],
)
def test_text_is_kept_whole_or_ends_with_a_note(text: str, kept: str) -> None:
    assert fit_text(text) == kept


def test_note_of_a_cut_text_gives_its_original_length() -> None:
    kept = fit_text("x" * (3 * MIB))
    assert len(kept) < MIB + 200
    assert kept.endswith(
        "x… [cut: 3,145,728 characters in all] [reason: text of 3,145,728 characters cut to 1,048,576]"
    )


def test_every_text_of_a_score_is_checked() -> None:
    odd = "half \ud800"
    failure = Failure(where="metric", message=odd, traceback=odd)
    one = Score(0.5, odd, {"at": [{"deep": odd}]}, warning=odd)
    fitted = fit_to_keep(MetricScore(0.5, [one], odd, {odd: 1}, failure=failure))
    stored = json.loads(scores_json({"m": fitted}))["m"]
    assert "\ud800" not in repr(fitted)
    assert stored["reason"] == f"half \ufffd [reason: {UNREADABLE}] [details: {UNREADABLE}]"
    assert stored["details"] == {"half \ufffd": 1}
    (stated,) = stored["per_invocation"]
    assert stated["details"] == {"at": [{"deep": "half \ufffd"}]}
    assert stated["warning"] == f"half \ufffd [warning: {UNREADABLE}]"
    assert stored["failure"]["message"] == f"half \ufffd [error message: {UNREADABLE}]"
    assert stored["failure"]["traceback"] == f"half \ufffd [traceback: {UNREADABLE}]"


def test_an_explanation_and_a_failure_alone() -> None:
    assert fit_explanation(Explanation("\0", None, "\0")).warning == f"\ufffd [warning: {UNREADABLE}]"
    assert fit_failure(Failure(where="metric", message="fine")).message == "fine"


@pytest.mark.parametrize(
    ("details", "kept", "message"),
    [
        ({"a": 1, "b": [None, True, 1.5, "x"]}, {"a": 1, "b": [None, True, 1.5, "x"]}, ""),
        ({"a": float("nan")}, {"a": "NaN"}, " [details: NaN became text]"),
        ({"a": object}, {"a": "<class 'object'>"}, " [details: type kept as text]"),
        (
            {"a": Hostile()},
            {"a": "Hostile (its repr raised RuntimeError)"},
            " [details: Hostile kept as text]",
        ),
        ({"a": 10**5000}, None, "int kept as text"),
        ({"a": nested(10_000)}, None, "list kept as text"),
        ({"a": ["x" * MIB] * 20}, None, "cut"),
    ],
    ids=["JSON", "NaN", "a class", "a hostile object", "5,000 digits", "10,000 levels", "20 MiB"],
)
def test_details_are_json_within_limits_and_the_reason_names_changes(
    details: dict[str, Any], kept: dict[str, Any] | None, message: str
) -> None:
    score = fit_to_keep(MetricScore(1.0, reason="why", details=details))
    assert message in score.reason
    assert score.reason.startswith("why")
    if kept is not None:
        assert (score.details, score.reason) == (kept, f"why{message}")
    assert len(scores_json({"m": score})) < 10 * MIB


@given(st.text(st.characters(codec=None)))
def test_result_is_serializable_and_a_second_pass_changes_nothing(text: str) -> None:
    kept = fit_text(text)
    assert kept.encode().decode() == kept
    assert fit_text(kept) == kept


# --- in a run ------------------------------------------------------------------------------------------------------------

TURN = {"user_content": {"parts": [{"text": "hi"}]}, "final_response": {"parts": [{"text": "hi"}]}}
SET = {"eval_set_id": "s", "eval_cases": [{"eval_id": "a", "conversation": [TURN]}]}


def run_with(metric: Any, store: Path) -> tuple[RunResult, RunResult]:
    """Run a case with a metric; return the result, and the same as the store has it."""
    proctor.metric("odd_metric", threshold=0.5)(metric)
    try:
        result = proctor.evaluate_sync(
            lambda text: text, SET, config={"criteria": {"odd_metric": 0.5}}, store=store
        )
    finally:
        METRICS.remove("odd_metric")
    return result, proctor.load_run(result.run_id, store=store)


def test_unreadable_explanation_of_a_metric_is_named_in_every_report(tmp_path: Path) -> None:
    def odd(actual: Any, expected: Any) -> Score:
        return Score(1.0, "half \ud800", {"at": Hostile()}, warning="all \0")

    for result in run_with(odd, tmp_path / "s.db"):
        assert result.passed
        (score,) = result.cases[0].metrics["odd_metric"].per_trial
        assert score is not None
        assert score.per_invocation[0].warning == f"all \ufffd [warning: {UNREADABLE}]"
        assert score.per_invocation[0].reason.startswith(f"half \ufffd [reason: {UNREADABLE}]")
        assert "Hostile kept as text" in score.per_invocation[0].reason


def test_unreadable_error_of_a_metric_is_named_in_the_reason_of_the_case(tmp_path: Path) -> None:
    def odd(actual: Any, expected: Any) -> float:
        raise ValueError("half \ud800")

    for result in run_with(odd, tmp_path / "s.db"):
        assert result.outcome.value == "error"
        assert "ValueError: half \ufffd (turn 1, in which" in result.cases[0].reason
        assert f"[error message: {UNREADABLE}]" in result.cases[0].reason
