"""Laws of every metric of the final answer's text, for any comparison."""

import json
from typing import Any

import pytest
from hypothesis import given, strategies as st

import proctor
from proctor.common.registry import METRICS
from proctor.errors import CriterionError, MetricError, SetupError
from proctor.metrics.base import CaseView
from proctor.metrics.text.answer import NO_REFERENCE, NOT_ASKED
from proctor.metrics.text.numeric.numeric_match import NO_NUMBER
from proctor.metrics.text.word_overlap import NO_ANSWER
from proctor.schema.format.case import ConversationScenario, EvalCase
from tests.metrics.invocations import turn, view
from tests.metrics.text.text_scores import (
    TEXT_METRICS,
    case_of,
    conversation,
    explanation,
    metric,
    scored,
    value,
)

# The expected text of a metric, a matching text, and another one. The text must suit every metric's reading.
EXPECTING: dict[str, dict[str, Any]] = {
    **{name: {"expected": "the answer is 42"} for name in TEXT_METRICS},
    "regex_match": {"pattern": "answer is \\d+"},
    "json_equal": {"expected": {"answer": 42}},
    "numeric_match": {"expected": 42},
}
RIGHT = {**dict.fromkeys(TEXT_METRICS, "the answer is 42"), "json_equal": '{"answer": 42}'}
WRONG = {**dict.fromkeys(TEXT_METRICS, "something else"), "json_equal": "[]"}

# Texts that are JSON, a pattern that matches itself, and a number.
REFERENCES = st.from_regex(r"[1-9][0-9]{0,8}", fullmatch=True)


@pytest.mark.parametrize("name", TEXT_METRICS)
class TestEveryTextMetric:
    def test_an_answer_that_is_the_reference_is_a_one(self, name: str) -> None:
        assert value(name, RIGHT[name], RIGHT[name]) == 1.0

    def test_an_answer_that_is_another_is_a_zero(self, name: str) -> None:
        if name == "edit_similarity":
            assert (value(name, RIGHT[name], WRONG[name]) or 0) < 0.5
        else:
            assert value(name, RIGHT[name], WRONG[name]) == 0.0

    @pytest.mark.parametrize("answer", ["", "  \n", None])
    def test_missing_answer_is_a_zero_with_a_reason(self, name: str, answer: str | None) -> None:
        assert value(name, RIGHT[name], answer) == 0.0
        assert explanation(name, RIGHT[name], answer).reason == NO_ANSWER

    def test_a_wrong_answer_is_not_called_none(self, name: str) -> None:
        assert explanation(name, RIGHT[name], WRONG[name]).reason != NO_ANSWER

    @pytest.mark.parametrize("reference", ["", " \n", None])
    def test_no_reference_is_not_applicable(self, name: str, reference: str | None) -> None:
        score = scored(metric(name), case_of(reference, "something"))
        assert score.not_applicable
        assert score.value is None
        assert score.reason == (NO_NUMBER if name == "numeric_match" else NO_REFERENCE)

    def test_a_scenario_is_not_applicable(self, name: str) -> None:
        assert scored(metric(name), view([turn("something")])).not_applicable
        assert "expected" in metric(name).facts.needs

    def test_criterion_can_set_the_expected_text(self, name: str) -> None:
        measure = metric(name, **EXPECTING[name])
        assert scored(measure, case_of(None, RIGHT[name])).value == 1.0
        assert (scored(measure, case_of(RIGHT[name], WRONG[name])).value or 0) < 0.5

    def test_then_it_serves_scenarios_too(self, name: str) -> None:
        measure = metric(name, **EXPECTING[name])
        played = CaseView(
            eval_id="case",
            actual=[turn(RIGHT[name])],
            scenario=ConversationScenario(starting_prompt="hi", conversation_plan="ask"),
        )
        assert scored(measure, played).value == 1.0
        assert "expected" not in measure.facts.needs
        assert "expected" in METRICS.get(name).facts.needs

    def test_turns_without_reference_do_not_count(self, name: str) -> None:
        right, wrong = RIGHT[name], WRONG[name]
        score = scored(metric(name), conversation([right, None, right], [right, wrong, right]))
        assert score.value == 1.0
        assert [turn.not_applicable for turn in score.per_invocation] == [False, True, False]

    def test_the_last_turn_can_be_the_only_one_asked_about(self, name: str) -> None:
        right, wrong = RIGHT[name], WRONG[name]
        measure = metric(name, turns="last")
        case = conversation([right, right], [wrong, right])
        score = scored(measure, case)
        assert score.value == 1.0
        assert score.per_invocation[0].reason == NOT_ASKED
        assert measure.explain(case, score, 0).reason == NOT_ASKED

    def test_the_mean_of_the_turns_counts(self, name: str) -> None:
        right, wrong = RIGHT[name], WRONG[name]
        score = scored(metric(name), conversation([right, right], [right, wrong]))
        values = [turn.value for turn in score.per_invocation]
        assert score.value == pytest.approx(sum(filter(None, values)) / 2)

    def test_other_numbers_of_turns_cannot_be_compared(self, name: str) -> None:
        with pytest.raises(MetricError, match="turn by turn"):
            scored(metric(name), conversation([RIGHT[name]], [RIGHT[name], RIGHT[name]]))

    def test_thoughts_are_no_part_of_the_answer(self, name: str) -> None:
        case = view([turn(RIGHT[name], thought="something else 7")], [turn(RIGHT[name])])
        assert scored(metric(name), case).value == 1.0
        case = view([turn(thought=RIGHT[name])], [turn(RIGHT[name])])
        assert scored(metric(name), case).value == 0.0

    def test_whether_it_applies_is_known_before_the_run(self, name: str) -> None:
        def case(*references: str | None) -> EvalCase:
            return EvalCase(eval_id="a", conversation=[turn(reference) for reference in references])

        assert metric(name).applies(case(None, RIGHT[name]))
        assert not metric(name).applies(case(None, " "))
        assert metric(name, **EXPECTING[name]).applies(case(None))
        assert not metric(name, turns="last").applies(case(RIGHT[name], None))

    @pytest.mark.parametrize("side", [RIGHT, WRONG])
    def test_reasons_are_sentences_and_details_are_json(self, name: str, side: dict[str, str]) -> None:
        found = explanation(name, RIGHT[name], side[name])
        assert found.reason
        assert "\n" not in found.reason
        assert json.loads(json.dumps(found.details, allow_nan=False)) == found.details

    @pytest.mark.parametrize(
        ("options", "problem"),
        [
            ({"expceted": "a"}, "unknown option 'expceted'|unknown option"),
            ({"turns": "first"}, "turns: Input should be 'all' or 'last'"),
            ({"threshold": 0}, "threshold 0 cannot fail"),
            ({"threshold": 1.5}, "threshold 1.5 cannot pass"),
        ],
    )
    def test_impossible_options_are_refused(self, name: str, options: dict[str, Any], problem: str) -> None:
        with pytest.raises(CriterionError, match=problem):
            metric(name, **options)

    def test_every_option_is_explained(self, name: str) -> None:
        plugin = METRICS.get(name)
        shared = {"threshold", "include_intermediate_responses_in_final"}
        assert set(plugin.kind.model_fields) - shared == set(plugin.facts.options)

    def test_its_first_option_can_be_shown_as_an_example(self, name: str) -> None:
        """`proctor metrics NAME` shows it with the first word of its description."""
        option, meaning = next(iter(METRICS.get(name).facts.options.items()))
        word = meaning.split(" ", 1)[0]
        metric(name, **{option: True if word == "true:" else word})

    def test_it_can_be_built_without_a_criterion(self, name: str) -> None:
        facts = METRICS.get(name)().facts
        assert facts.default_threshold is not None
        assert facts.minimum < facts.default_threshold <= facts.maximum
        metric(name, threshold=facts.default_threshold)

    def test_no_state_is_kept_between_cases(self, name: str) -> None:
        measure = metric(name)
        first = scored(measure, case_of(RIGHT[name], WRONG[name])).value
        scored(measure, case_of(RIGHT[name], RIGHT[name]))
        assert scored(measure, case_of(RIGHT[name], WRONG[name])).value == first

    @pytest.mark.nightly(check=2)
    @given(reference=REFERENCES, answer=st.text(max_size=30) | REFERENCES)
    def test_scores_are_between_zero_and_one(self, name: str, reference: str, answer: str) -> None:
        score = value(name, reference, answer)
        assert score is not None
        assert 0 <= score <= 1
        assert value(name, reference, reference) == 1.0


BEST_OF_SEVERAL = [*TEXT_METRICS[:6], "edit_similarity"]


@pytest.mark.parametrize("name", BEST_OF_SEVERAL)
def test_the_best_of_several_texts_counts(name: str) -> None:
    options = {"expected": ["something else", RIGHT[name], "it is so"]}
    assert value(name, None, RIGHT[name], **options) == 1.0
    assert explanation(name, None, RIGHT[name], **options).reason
    assert (value(name, None, "quite another", **options) or 0) < 0.5


@pytest.mark.parametrize("name", [name for name in BEST_OF_SEVERAL if name != "exact_match"])
@pytest.mark.parametrize("expected", ["", " \n", ["right", ""]])
def test_a_blank_text_is_nothing_to_expect(name: str, expected: Any) -> None:
    with pytest.raises(CriterionError, match="a blank text"):
        metric(name, expected=expected)


@pytest.mark.parametrize("name", BEST_OF_SEVERAL)
@pytest.mark.parametrize("expected", [[], 5, {"text": "a"}, [None]])
def test_expected_texts_are_texts(name: str, expected: Any) -> None:
    with pytest.raises(CriterionError, match="expected"):
        metric(name, expected=expected)


@pytest.mark.parametrize(("name", "reference"), [("regex_match", "("), ("json_equal", "{")])
def test_a_reference_that_cannot_be_read_is_known_before_the_run(name: str, reference: str) -> None:
    case = EvalCase(eval_id="a", conversation=[turn(RIGHT[name]), turn(None), turn(reference)])
    (problem,) = metric(name).check(case)
    assert problem.startswith(f"{name}: turn 3: the reference answer")
    assert [*metric(name, **EXPECTING[name]).check(case)] == []
    played = EvalCase.model_validate(
        {"eval_id": "a", "conversation_scenario": {"starting_prompt": "hi", "conversation_plan": "ask"}}
    )
    assert [*metric(name).check(played)] == []


@pytest.mark.parametrize(("name", "reference"), [("regex_match", "("), ("json_equal", "{")])
def test_then_nothing_is_run(name: str, reference: str) -> None:
    asked: list[str] = []
    case = {"eval_id": "a", "conversation": [turn(reference).model_dump(exclude_none=True)]}
    with pytest.raises(SetupError, match=rf"case 'a': {name}: turn 1: the reference answer"):
        proctor.evaluate_sync(
            asked.append, {"eval_set_id": "s", "eval_cases": [case]}, config={"criteria": {name: 1}}
        )
    assert asked == []


@pytest.mark.parametrize(("name", "reference"), [("regex_match", "("), ("json_equal", "{")])
def test_unreadable_reference_stays_applicable(name: str, reference: str) -> None:
    """Left out silently, the case would never be checked; scoring reports an error."""
    case = EvalCase(eval_id="a", conversation=[turn(reference)])
    assert metric(name).applies(case)
    with pytest.raises(MetricError, match="the reference answer"):
        value(name, reference, "something")


DRAWN = [
    "rouge_1",
    "rouge_2",
    "rouge_l",
    "final_response_match_v1",
    "token_set_f1",
    "exact_match",
    "edit_similarity",
]


@pytest.mark.parametrize("name", TEXT_METRICS)
def test_both_texts_are_drawn_where_their_difference_is_the_reason(name: str) -> None:
    """Reports draw `text` as a difference, instead of the reason; for a required part of a text, that is misleading."""
    details = explanation(name, RIGHT[name], WRONG[name]).details or {}
    if name == "json_equal":
        assert details["text"] == {"expected": '{\n  "answer": 42\n}', "actual": "[]"}
        assert explanation(name, RIGHT[name], "none").details is None
    elif name in DRAWN:
        assert details["text"] == {"expected": RIGHT[name], "actual": WRONG[name]}
    else:
        assert "text" not in details


def test_an_empty_answer_that_is_right_is_not_called_none() -> None:
    assert explanation("exact_match", None, "", expected="").reason == "the answer is the expected text"
    assert explanation("regex_match", None, "", pattern="^$").reason == 'matched: ""'


@pytest.mark.parametrize("name", ["json_equal", "regex_match"])
def test_a_turn_that_is_not_asked_about_is_not_read(name: str) -> None:
    """Only the last turn answers in JSON, or is matched by a pattern: other turns may have any text."""
    unreadable = {"json_equal": "hi there", "regex_match": "hi (there"}[name]
    readable = {"json_equal": '{"a": 1}', "regex_match": "hi there"}[name]
    spoken = EvalCase(eval_id="a", conversation=[turn(unreadable), turn(readable)])
    assert list(metric(name, turns="last").unreadable(spoken)) == []
    assert len(list(metric(name).unreadable(spoken))) == 1
