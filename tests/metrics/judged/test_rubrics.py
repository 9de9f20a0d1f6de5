"""Rubrics: which ones apply to which turn, their weights, and the errors reported before the run."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

import proctor
from proctor.errors import CriterionError, MetricError
from proctor.judges.base import Question
from proctor.metrics.base import INTERMEDIATE, idle_options, metric_options
from proctor.metrics.judged.rubrics.base import RubricMetric, excluded_fraction
from proctor.metrics.judged.rubrics.final_response import RubricFinalResponse
from proctor.metrics.judged.rubrics.tool_use import RubricToolUse
from proctor.metrics.judged.rubrics.trajectory import RubricTrajectory
from proctor.schema.format.case import EvalCase
from proctor.schema.format.criterion import BaseCriterion, JudgeModelOptions, RubricsBasedCriterion
from proctor.schema.format.rubric import Rubric, stable_rubric_id
from proctor.schema.results.score import MetricScore
from tests.metrics.invocations import turn, view
from tests.metrics.judged.judges import Repeating, passages, rubric, verdicts

FINAL, TOOLS, WHOLE = "FINAL_RESPONSE_QUALITY", "TOOL_USE_QUALITY", "TRAJECTORY_QUALITY"


def metric(
    *rubrics: dict[str, Any], kind: type[RubricMetric] = RubricFinalResponse, **more: Any
) -> RubricMetric:
    return kind(BaseCriterion.model_validate({"threshold": 0.5, "rubrics": [*rubrics], **more}))


def scored(built: RubricMetric, case: Any, answer: Any) -> MetricScore:
    built.use(Repeating(answer))
    return asyncio.run(built.score(case))


def yes_to(*texts: str) -> Any:
    """Return a judge that affirms the rubrics with these texts."""

    def answer(question: Question[Any], number: int) -> Any:
        asked = [each.text for each in question.passages if each.label.startswith("rubric ")]
        return verdicts(*(text in texts for text in asked))

    return answer


def rubrics_of(*found: dict[str, Any]) -> list[Rubric]:
    return [Rubric.model_validate(each) for each in found]


def test_each_turn_is_judged_by_its_own_list() -> None:
    """Those of the criterion always, those of case and turn where they are of the metric's type."""
    case = view(
        [
            turn("a", rubrics=rubrics_of(rubric("first", "F", type=FINAL))),
            turn("b", rubrics=rubrics_of(rubric("other", "O", type=TOOLS), rubric("none", "N"))),
        ],
        rubrics=rubrics_of(rubric("case", "C", type=FINAL)),
    )
    score = scored(metric(rubric("all", "A", type="ANY")), case, yes_to("A", "F"))
    ids = [[each["rubric_id"] for each in (one.details or {})["rubrics"]] for one in score.per_invocation]
    assert ids == [["all", "case", "first"], ["all", "case"]]
    assert [one.value for one in score.per_invocation] == [2 / 3, 1 / 2]
    assert score.value == 3 / 5, "every verdict counts alike"


def test_rubrics_of_case_and_recorded_turn_are_combined_without_duplicates() -> None:
    both = rubrics_of(rubric("r", "R", type=FINAL))
    case = view(
        [turn("a", rubrics=both)], [turn("a", rubrics=[*both, *rubrics_of(rubric("s", "S", type=FINAL))])]
    )
    score = scored(metric(), case, yes_to("R"))
    assert [each["rubric_id"] for each in (score.per_invocation[0].details or {})["rubrics"]] == ["r", "s"]


def test_points_are_weights() -> None:
    built = metric({"criterion": "heavy", "points": 3}, {"criterion": "light"})
    assert scored(built, view([turn("a")]), yes_to("heavy")).value == 3 / 4
    assert (
        scored(
            metric({"criterion": "heavy", "points": 3}, {"criterion": "light"}),
            view([turn("a")]),
            yes_to("light"),
        ).value
        == 1 / 4
    )


def test_a_rubric_of_a_criterion_may_be_its_text_alone() -> None:
    built = RubricFinalResponse(
        BaseCriterion.model_validate({"threshold": 0.5, "rubrics": ["R", rubric("s", "S")]})
    )
    score = scored(built, view([turn("a")]), yes_to("R"))
    found = [
        (each["rubric_id"], each["text"], each["score"])
        for each in (score.per_invocation[0].details or {})["rubrics"]
    ]
    assert found == [(stable_rubric_id("R"), "R", 1.0), ("s", "S", 0.0)]
    for wrong in ("", " ", 7, None):
        with pytest.raises(CriterionError, match="rubrics"):
            RubricFinalResponse(BaseCriterion.model_validate({"threshold": 0.5, "rubrics": [wrong]}))


def test_turn_without_rubrics_is_not_applicable_and_a_case_an_error() -> None:
    case = view([turn("a", rubrics=rubrics_of(rubric("r", "R", type=FINAL))), turn("b")])
    score = scored(metric(), case, yes_to("R"))
    assert (score.value, [each.not_applicable for each in score.per_invocation]) == (1.0, [False, True])
    with pytest.raises(MetricError, match="no rubrics of type FINAL_RESPONSE_QUALITY"):
        scored(metric(), view([turn("a")]), yes_to())


def test_a_conversation_is_judged_once_by_the_list_of_its_last_turn() -> None:
    case = view([turn(f"t{i}", rubrics=rubrics_of(rubric(f"r{i}", f"R{i}", type=WHOLE))) for i in range(3)])
    judges = Repeating(yes_to("R2"))
    built = metric(kind=RubricTrajectory, judge_model_options={"num_samples": 1})
    built.use(judges)
    score = asyncio.run(built.score(case))
    assert (score.value, judges.asked) == (1.0, 1)
    assert [each.not_applicable for each in score.per_invocation] == [True, True, False]


def test_a_tie_is_a_no_and_the_rationale_is_of_the_winning_side() -> None:
    def answer(question: Question[Any], number: int) -> Any:
        return verdicts(number == 0, rationale=f"vote {number}")

    score = scored(metric(rubric("r"), judge_model_options={"num_samples": 2}), view([turn("a")]), answer)
    [found] = (score.per_invocation[0].details or {})["rubrics"]
    assert (found["score"], found["rationale"], found["agreement"]) == (0.0, "vote 1", 0.5)
    assert score.per_invocation[0].reason == "the rubric is not met: r: vote 1"


@pytest.mark.parametrize(
    "answer",
    [
        {"verdicts": []},
        verdicts("yes"),
        verdicts("yes", "yes", "no"),
        verdicts("yes", "perhaps"),
        {"verdicts": [verdicts("yes")["verdicts"][0]] * 2},
        {"verdicts": [*verdicts("yes", "no")["verdicts"], verdicts("no")["verdicts"][0]]},
        {"verdicts": "yes"},
        {"score": 1},
    ],
    ids=[
        "none",
        "one missing",
        "one too many",
        "no such word",
        "one twice",
        "one twice among all",
        "no list",
        "another form",
    ],
)
def test_an_answer_that_is_none_is_an_error_and_no_number(answer: Any) -> None:
    score = scored(metric(rubric("a"), rubric("b")), view([turn("a")]), lambda question, number: answer)
    assert (score.value, score.failure is not None) == (None, True)
    assert score.per_invocation[0].value is None


def test_turns_that_could_be_decided_keep_their_scores() -> None:
    def answer(question: Question[Any], number: int) -> Any:
        return verdicts("yes") if question.turn == 0 else {}

    score = scored(metric(rubric("r")), view([turn("a"), turn("b")]), answer)
    assert score.failure is not None
    assert score.failure.turn == 1
    assert [each.value for each in score.per_invocation] == [1.0, None]


# --- before anything runs ----------------------------------------------------------------------------------------------


def case_of(*turns: list[dict[str, Any]] | None, rubrics: list[dict[str, Any]] | None = None) -> EvalCase:
    conversation: list[dict[str, Any]] = [{"user_content": {}, "rubrics": each} for each in turns]
    return EvalCase.model_validate({"eval_id": "c", "conversation": conversation, "rubrics": rubrics})


CHECKS = {
    "all is well": ([rubric("a")], case_of(None), []),
    "an id of criterion and case": (
        [rubric("a")],
        case_of(None, None, rubrics=[rubric("a", type=FINAL)]),
        ["rubrics[0]: the rubric_id 'a' is already used by criterion.rubrics[0]"],
    ),
    "an id of case and turn": (
        [],
        case_of(None, [rubric("b", type=FINAL)], rubrics=[rubric("b", type=FINAL)]),
        ["conversation[1].rubrics[0]: the rubric_id 'b' is already used by rubrics[0]"],
    ),
    "the same id in two turns": ([], case_of([rubric("b", type=FINAL)], [rubric("b", type=FINAL)]), []),
    "an id of another metric's": ([rubric("a")], case_of(None, rubrics=[rubric("a", type=TOOLS)]), []),
    "none at all": ([], case_of(None), ["rubric_based_final_response_quality_v1 has no rubrics"]),
    "only others": ([], case_of(None, rubrics=[rubric("a", type=TOOLS), rubric("b")]), ["there are 2, of type TOOL_USE_QUALITY, none"]),
    "no text": ([], case_of(None, rubrics=[rubric("a", " ", type=FINAL)]), ["rubrics[0]: the rubric 'a' has no text"]),
    "points that weigh nothing": (
        [],
        case_of(None, rubrics=[rubric("a", type=FINAL, points=0)]),
        ["rubrics[0].points: expected a number above 0"],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("common", "case", "messages"), CHECKS.values(), ids=CHECKS)
def test_invalid_case_is_reported_with_its_location(
    common: list[dict[str, Any]], case: EvalCase, messages: list[str]
) -> None:
    found = metric(*common).check(case)
    assert len(found) == len(messages)
    assert all(words in problem for words, problem in zip(messages, found, strict=True)), found


@pytest.mark.parametrize(
    ("rubrics", "message"),
    [
        ([rubric("a"), rubric("a")], r"rubrics\[1\]: the rubric_id 'a' is already used by rubrics\[0\]"),
        ([rubric("a", "")], r"rubrics\[0\]: the rubric 'a' has no text"),
        ([rubric("a", points=-1)], r"rubrics\[0\]\.points: expected a number above 0"),
        ([rubric("a", points=True)], r"rubrics\[0\]\.points: expected a number above 0"),
    ],
)
def test_invalid_criterion_is_reported_with_its_location(rubrics: list[dict[str, Any]], message: str) -> None:
    with pytest.raises(CriterionError, match=message):
        metric(*rubrics)


def test_misspelled_options_of_the_judge_are_refused() -> None:
    with pytest.raises(
        CriterionError, match=r"judge_model_options\.num_sample: unknown option\. Did you mean 'num_samples'"
    ):
        metric(rubric("a"), judge_model_options={"num_sample": 3})


def test_a_run_is_refused_with_the_place() -> None:
    case = {"eval_id": "c", "conversation": [{"user_content": {}}]}
    config = {"criteria": {"rubric_based_tool_use_quality_v1": 0.5}}
    with pytest.raises(proctor.SetupError, match="case 'c': rubric_based_tool_use_quality_v1 has no rubrics"):
        proctor.evaluate_sync(
            lambda text: "", {"eval_set_id": "s", "eval_cases": [case]}, config=config, judge=lambda m, o: {}
        )


ROUNDED = [
    (0.67, 3, "2/3"), (0.667, 3, "2/3"), (0.33, 3, None), (2 / 3, 3, None), (0.66, 3, None), (0.7, 3, None), (0.67, 6, "2/3"),
    (0.84, 6, None), (0.83, 6, None), (0.834, 6, None), (0.17, 6, "1/6"), (0.75, 4, None), (1.0, 3, None), (0.86, 7, "6/7"),
    (0.85, 13, None), (0.67, 4, None),
]  # fmt: skip


@pytest.mark.parametrize(("threshold", "total", "meant"), ROUNDED)
def test_rounded_threshold_is_reported(threshold: float, total: int, meant: str | None) -> None:
    found = excluded_fraction(threshold, total)
    assert (None if found is None else str(found)) == meant


def test_warnings_name_the_fraction_and_rubrics_that_nothing_reads() -> None:
    survey = metric(rubric("a"), rubric("b"), rubric("c"), threshold=0.67).survey()
    survey.add_case(case_of([rubric("x")]))
    threshold, untyped = survey.warnings()
    assert 'write "2/3"' in threshold
    assert "1 case(s) state rubrics without `type`" in untyped
    assert '"type": "FINAL_RESPONSE_QUALITY"' in untyped


# --- the judge that it asks ------------------------------------------------------------------------------------------------------


class Noted:
    """Judges that note what they are asked for."""

    def judge(self, metric: str, options: JudgeModelOptions, *, stated: bool) -> Any:
        self.options, self.stated = options, stated


@pytest.mark.parametrize(
    ("criterion", "stated", "model", "written"),
    [
        (BaseCriterion(threshold=0.5), False, "gemini-2.5-flash", set()),
        (BaseCriterion.model_validate({"threshold": 0.5, "judge_model_options": {"num_samples": 3}}), False, "gemini-2.5-flash", {"num_samples"}),
        (BaseCriterion.model_validate({"threshold": 0.5, "judgeModelOptions": {"judgeModel": "gpt-5"}}), True, "gpt-5", {"judge_model"}),
        (RubricsBasedCriterion(threshold=0.5), False, "gemini-2.5-flash", set()),
        (RubricsBasedCriterion(threshold=0.5, judge_model_options=JudgeModelOptions(judge_model="gpt-5")), True, "gpt-5", {"judge_model"}),
    ],
    ids=["nothing", "another option", "camelCase", "typed", "typed, with a model"],
)  # fmt: skip
def test_only_what_was_written_counts_as_stated(
    criterion: BaseCriterion, stated: bool, model: str, written: set[str]
) -> None:
    judges = Noted()
    RubricFinalResponse(criterion).use(judges)
    assert (judges.stated, judges.options.judge_model, judges.options.model_fields_set) == (
        stated,
        model,
        written,
    )


# --- what the judge sees -----------------------------------------------------------------------------------------------


def seen(built: RubricMetric, case: Any) -> dict[str, list[str]]:
    questions: list[Question[Any]] = []

    def answer(question: Question[Any], number: int) -> Any:
        questions.append(question)
        count = sum(each.label.startswith("rubric ") for each in question.passages)
        return verdicts(*[True] * count)

    scored(built, case, answer)
    return passages(questions[-1])


def test_the_answer_is_what_the_user_sees() -> None:
    case = view([turn("Sunny.", [("get_weather", {"city": "Rome"})], thought="I think.")])
    shown = seen(metric(rubric("r", "R")), case)
    assert shown["final answer"] == ["Sunny."]
    assert shown["rubric 1"] == ["R"]
    assert shown["tool call"] == ['{"tool": "get_weather", "arguments": {"city": "Rome"}}']
    assert seen(metric(rubric("r", "R"), compat="adk"), case)["final answer"] == ["I think.\nSunny."]


def test_of_tool_use_the_answer_is_not_shown() -> None:
    shown = seen(metric(rubric("r", "R"), kind=RubricToolUse), view([turn("Sunny.", [("f", {})])]))
    assert "final answer" not in shown
    assert shown["tool call"] == ['{"tool": "f", "arguments": {}}']


def test_of_a_conversation_calls_of_the_older_form_are_shown() -> None:
    shown = seen(
        metric(rubric("r", "R"), kind=RubricTrajectory),
        view([turn("a", [("f", {})]), turn("b", [("g", {})])]),
    )
    assert shown["turn 1, tool call"] == ['{"tool": "f", "arguments": {}}']
    assert shown["turn 2, final answer"] == ["b"]


@pytest.mark.parametrize(
    ("kind", "idle"), [(RubricFinalResponse, False), (RubricToolUse, True), (RubricTrajectory, True)]
)
def test_option_without_effect_is_reported(kind: type[RubricMetric], idle: bool) -> None:
    stated = {"threshold": 0.5, "rubrics": [rubric("r")], INTERMEDIATE: True}
    criterion = BaseCriterion.model_validate(stated)
    assert bool([*idle_options(kind.facts, criterion)]) is idle
    assert (INTERMEDIATE in metric_options(kind.facts)) is not idle


def test_of_a_conversation_only_the_list_of_its_last_turn_is_checked() -> None:
    built = metric(kind=RubricTrajectory)
    first, last = [rubric("a", type=WHOLE), rubric("a", type=WHOLE)], [rubric("b", type=WHOLE)]
    assert built.check(case_of(first, last)) == []
    assert "has no rubrics" in built.check(case_of(last, None))[0]
