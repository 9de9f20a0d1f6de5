"""`response_match_score`: ADK's numbers with the stated differences, and reasons of our own."""

from pathlib import Path
from typing import Any

import pytest

from proctor.common.registry import METRICS
from proctor.errors import MetricError
from proctor.metrics.text.answer import NO_REFERENCE
from proctor.metrics.text.response_match import NO_WORDS, OTHER_ORDER, ResponseMatch
from proctor.metrics.text.word_overlap import IDENTICAL
from proctor.schema.format.case import EvalCase
from proctor.schema.format.content import text_of
from proctor.schema.format.criterion import BaseCriterion
from tests.metrics.invocations import turn, view
from tests.metrics.recorded import as_recorded, equal, status, vectors, view as recorded_view


def metric(compat: str | None = None) -> ResponseMatch:
    return ResponseMatch(BaseCriterion.model_validate({"threshold": 0.8, "compat": compat}))


def outcome(measure: ResponseMatch, vector: dict[str, Any]) -> dict[str, Any]:
    try:
        return {"ok": as_recorded(measure.score(recorded_view(vector)), vector["threshold"])}
    except MetricError:
        return {"error": "ValueError"}


def test_recorded_pairs_in_adk_mode(shared: Path) -> None:
    for vector in vectors(shared, "rouge_pairs.json", 288):
        score = metric("adk").score(view([turn(vector["candidate"])], [turn(vector["reference"])])).value
        assert equal(score, vector["score"]), vector
        assert status(score, vector["threshold"]) == vector["status"]


def test_recorded_pairs_by_default_differ_only_where_stated(shared: Path) -> None:
    for vector in vectors(shared, "rouge_pairs.json", 288):
        reference, candidate = vector["reference"], vector["candidate"]
        score = metric().score(view([turn(candidate)], [turn(reference)])).value
        if not reference.strip():
            assert score is None
        elif reference.strip() == candidate.strip():
            assert score == 1.0
        else:
            assert equal(score, vector["score"]), vector


def test_recorded_invocations_in_adk_mode(shared: Path) -> None:
    for vector in vectors(shared, "rouge_invocations.json", 70):
        assert equal(outcome(metric("adk"), vector), vector["result"]), vector


def test_recorded_invocations_by_default_differ_only_where_stated(shared: Path) -> None:
    differing = 0
    for vector in vectors(shared, "rouge_invocations.json", 70):
        if not equal(outcome(metric(), vector), vector["result"]):
            differing += 1
            assert has_a_stated_difference(recorded_view(vector)), vector
    assert differing > 0


def has_a_stated_difference(case: Any) -> bool:
    if case.expected is None:
        return True
    turns = [each.final_response for each in [*case.actual, *case.expected]]
    thoughts = any(part.thought for each in turns if each for part in each.parts or ())
    texts = [
        (text_of(e.final_response), text_of(a.final_response))
        for e, a in zip(case.expected, case.actual, strict=False)
    ]
    return thoughts or any(not reference.strip() or reference == answer for reference, answer in texts)


@pytest.mark.parametrize(
    ("reference", "answer", "default", "adk"),
    [
        ("👍", "👍", 1.0, 0.0),
        ("...", " ...\n", 1.0, 0.0),
        ("👍", "👎", 0.0, 0.0),
        ("", "", None, 0.0),
        ("", "something", None, 0.0),
        ("  \n", "", None, 0.0),
        (None, "something", None, 0.0),
        ("something", None, 0.0, 0.0),
        ("it rains", "it rains", 1.0, 1.0),
    ],
)
def test_differences_from_adk(
    reference: str | None, answer: str | None, default: float | None, adk: float
) -> None:
    case = view([turn(answer)], [turn(reference)])
    assert metric().score(case).value == default
    assert metric("adk").score(case).value == adk


def test_thoughts_are_not_the_answer() -> None:
    case = view([turn("it rains", thought="let me think about it")], [turn("it rains")])
    assert metric().score(case).value == 1.0
    assert metric("adk").score(case).value == pytest.approx(4 / 9)
    case = view([turn("it rains")], [turn(thought="it rains")])
    assert metric().score(case).not_applicable


def test_turns_without_reference_do_not_count() -> None:
    case = view([turn("a b"), turn("x"), turn("c")], [turn("a b c d"), turn(), turn("c")])
    score = metric().score(case)
    assert score.value == pytest.approx((2 / 3 + 1) / 2)
    assert [each.not_applicable for each in score.per_invocation] == [False, True, False]
    assert score.per_invocation[1].reason == NO_REFERENCE


def test_a_case_without_any_reference_is_known_before_the_run() -> None:
    def case(*references: str | None) -> EvalCase:
        return EvalCase(eval_id="a", conversation=[turn(reference) for reference in references])

    assert metric().applies(case(None, "text"))
    assert not metric().applies(case(None, " "))
    assert metric("adk").applies(case(None))


@pytest.mark.parametrize(
    ("reference", "answer", "reason", "warning"),
    [
        ("No rain", "no rain", "the answer has the reference's words", ""),
        ("no rain", "no rain", IDENTICAL, ""),
        ("no rain", "rain? no!", "the answer has the reference's words", OTHER_ORDER),
        ("no rain", " ", "the agent gave no answer text", ""),
        ("👍", "👎", NO_WORDS, NO_WORDS),
        (
            "yes",
            "no",
            """0 of the reference's 1 word is in the answer of 1 word; missing: "yes"; not in the reference: "no\"""",
            "",
        ),
        (
            "It will rain in Paris",
            "It will snow",
            """2 of the reference's 5 words are in the answer of 3 words; missing: "rain", "in", "paris"; not in the reference: "snow\"""",
            "",
        ),
    ],
)
def test_reasons(reference: str, answer: str, reason: str, warning: str) -> None:
    case = view([turn(answer)], [turn(reference)])
    explanation = metric().explain(case, metric().score(case), 0)
    assert (explanation.reason, explanation.warning) == (reason, warning)


def test_details_hold_figures_and_words() -> None:
    case = view([turn("a b b")], [turn("a b c c")])
    assert metric().explain(case, metric().score(case), 0).details == {
        "text": {"expected": "a b c c", "actual": "a b b"},
        "precision": pytest.approx(2 / 3),
        "recall": 1 / 2,
        "fmeasure": pytest.approx(4 / 7),
        "missing_words": ["c", "c"],
        "extra_words": ["b"],
    }


def test_details_of_an_identical_answer() -> None:
    case = view([turn("👍")], [turn("👍")])
    assert metric().explain(case, metric().score(case), 0).details == {
        "text": {"expected": "👍", "actual": "👍"},
        "precision": 1.0,
        "recall": 1.0,
        "fmeasure": 1.0,
    }


def test_a_scenario_has_nothing_to_compare_with() -> None:
    assert metric().score(view([turn("a")])).not_applicable
    with pytest.raises(MetricError, match="no recorded conversation"):
        metric("adk").score(view([turn("a")]))


@pytest.mark.parametrize("name", ["response_match_score", "rouge_1", "rouge_l"])
@pytest.mark.parametrize(
    ("reference", "answer", "warning"),
    [
        (
            "The result is -5",
            "The result is 5",
            'signs differ, which this metric ignores (missing: "-"',
        ),
        ("It is sunny.", "it is sunny", ""),
        ("It is sunny.", "It is sunny.", ""),
        ("It is sunny.", "It is raining.", ""),
    ],
)
def test_full_score_names_the_differences_that_it_ignores(
    name: str, reference: str, answer: str, warning: str
) -> None:
    """With or without a request for reasons: a pass has no reader."""
    found = METRICS.get(name)(BaseCriterion(threshold=0.5)).score(view([turn(answer)], [turn(reference)]))
    shown = found.per_invocation[0].warning
    assert (warning in shown) if warning else shown == ""
