"""Metrics of the user's own: two forms of function, three ways to name them, and no answer taken on trust."""

import asyncio
import inspect
import math
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import proctor
from proctor.common import registry
from proctor.common.registry import METRICS
from proctor.engine.planning.criteria import bind
from proctor.engine.run_options import RunOptions
from proctor.engine.trial.failure_attribution import failure_from
from proctor.errors import CriterionError, MetricError, SetupProblems
from proctor.metrics.base import CaseView, MetricFacts
from proctor.metrics.custom import function_metric as custom
from proctor.metrics.custom.function_metric import as_factory, from_config
from proctor.metrics.trajectory.tool_trajectory import ToolTrajectory
from proctor.schema.format.case import ConversationScenario
from proctor.schema.format.config import CustomMetricConfig, EvalConfig
from proctor.schema.format.criterion import BaseCriterion
from proctor.schema.format.result import EvalStatus
from proctor.schema.results.score import LARGEST_SCORE, MetricScore, Outcome, Score, mean_score
from tests.metrics.invocations import turn, view

TWO_TURNS = view([turn("a"), turn("b")], [turn("a"), turn("x")])


def ask(function: Callable[..., Any], case: CaseView = TWO_TURNS, **criterion: Any) -> MetricScore:
    metric = as_factory("mine", function)(BaseCriterion.model_validate({"threshold": 0.5, **criterion}))

    async def run() -> MetricScore:
        score = metric.score(case)
        result: MetricScore = await score if inspect.isawaitable(score) else score
        return result

    return asyncio.run(run())


def answering(answer: Any) -> Callable[..., Any]:
    return lambda actual_invocations: answer


@dataclass
class InvocationResult:
    score: float | None
    rubric_scores: list[Any] | None = None


@dataclass
class EvaluationResult:
    overall_score: float | None = None
    per_invocation_results: list[InvocationResult] = field(default_factory=list)


# --- the two forms ----------------------------------------------------------------------------------------------------


def cheats_in_whole(actual_invocations: Any, expected_invocations: Any) -> float:
    for made, wanted in zip(actual_invocations, expected_invocations, strict=True):
        made.final_response.parts[0].text = wanted.final_response.parts[0].text
        wanted.user_content = made.user_content = None
    expected_invocations.clear()
    return 1.0


def cheats_by_turn(actual: Any, expected: Any) -> float:
    expected.final_response.parts = actual.final_response.parts
    actual.final_response = None
    return 1.0


@pytest.mark.parametrize("function", [cheats_in_whole, cheats_by_turn])
def test_what_a_function_does_to_its_invocations_changes_no_evidence(function: Callable[..., Any]) -> None:
    case = view([turn("a"), turn("b")], [turn("a"), turn("x")])
    assert ask(function, case).value == 1.0
    assert case == view([turn("a"), turn("b")], [turn("a"), turn("x")])


def test_the_whole_form_gets_what_adk_passes() -> None:
    seen: dict[str, Any] = {}

    def whole(
        eval_metric: Any, actual_invocations: Any, expected_invocations: Any, conversation_scenario: Any
    ) -> float:
        seen.update(locals())
        return 0.7

    scenario = ConversationScenario(starting_prompt="hi", conversation_plan="talk")
    assert ask(whole, view([turn("a")], scenario=scenario), length=10).value == 0.7
    assert seen["eval_metric"].metric_name == "mine"
    assert seen["eval_metric"].threshold is None
    assert seen["eval_metric"].criterion.threshold == 0.5
    assert seen["eval_metric"].criterion.length == 10
    assert seen["conversation_scenario"] is scenario
    assert (len(seen["actual_invocations"]), seen["expected_invocations"]) == (1, None)


def test_the_turn_form_is_asked_once_per_turn_and_averaged() -> None:
    def by_turn(actual_invocation: Any, expected_invocation: Any, criterion: Any) -> float:
        same = actual_invocation.final_response == expected_invocation.final_response
        return criterion.weight if same else 0.0

    score = ask(by_turn, weight=0.5)
    assert (score.value, [each.value for each in score.per_invocation]) == (0.25, [0.5, 0.0])


async def late(actual: Any, expected: Any) -> bool:
    await asyncio.sleep(0)
    return bool(actual.final_response == expected.final_response)


class Judge:
    def __call__(self, expected: Any, actual: Any) -> int:
        return int(actual.final_response == expected.final_response)


def with_underscores(_eval_metric: Any, actual_invocations: Any, _expected_invocations: Any) -> float:
    return len(actual_invocations) / 4


def with_more(actual: Any, expected: Any, strict: bool = True, *args: Any, **kwargs: Any) -> float:
    assert (strict, args, kwargs) == (True, (), {})
    return float(actual.final_response == expected.final_response)


@pytest.mark.parametrize("function", [late, Judge(), with_underscores, with_more])
def test_forms_that_fit(function: Callable[..., Any]) -> None:
    assert ask(function).value == 0.5


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda: 1, "it takes no actual invocation"),
        (lambda expected: 1, "it takes no actual invocation"),
        (lambda eval_metric: 1, "it takes no actual invocation"),
        (lambda *args, **kwargs: 1, "it takes no actual invocation"),
        (lambda a, b: 1, "unknown parameter 'a'"),
        (
            lambda actual_invocation, expcted: 1,
            "unknown parameter 'expcted'. Did you mean 'expected'",
        ),
        (lambda eval_metric, actual, expected: 1, "it mixes both forms (eval_metric with actual, expected)"),
        (lambda actual, /: 1, "its parameter 'actual' is positional-only"),
        (dict, "its parameters cannot be inspected"),
        (0.5, "is of type float, not a function"),
    ],
)
def test_any_other_form_is_a_setup_error_that_shows_both(function: Any, message: str) -> None:
    with pytest.raises(CriterionError) as caught:
        as_factory("mine", function)
    assert message in str(caught.value)
    if callable(function):
        assert "(actual_invocation, expected_invocation, criterion)" in str(caught.value)
        assert "(eval_metric, actual_invocations, expected_invocations, conversation_scenario)" in str(
            caught.value
        )


def test_a_function_that_must_have_an_expected_turn_needs_a_recorded_case() -> None:
    def may(actual: Any, expected: object | None) -> float:
        return 0.0

    needs = {function: as_factory("mine", function).facts.needs for function in (late, may, with_underscores)}
    assert needs == {late: {"expected"}, may: set(), with_underscores: set()}
    assert ask(lambda actual, expected=None: expected is None, view([turn("a")])).value == 1.0


# --- answers ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "value", "per_invocation"),
    [
        (0.25, 0.25, []),
        (1, 1.0, []),
        (True, 1.0, []),
        (Fraction(1, 4), 0.25, []),
        (Score(0.5, "half"), 0.5, []),
        (Score(None, "nothing to see", not_applicable=True), None, []),
        ([1.0, 0.0], 0.5, [1.0, 0.0]),
        ([Score(None, "no", not_applicable=True), True], 1.0, [None, 1.0]),
        (MetricScore(0.9, [Score(1.0), Score(0.0)]), 0.9, [1.0, 0.0]),
        (EvaluationResult(0.7), 0.7, []),
        (EvaluationResult(0.7, [InvocationResult(0.2), InvocationResult(None)]), 0.7, [0.2, None]),
        (EvaluationResult(None, [InvocationResult(0.2), InvocationResult(None)]), 0.2, [0.2, None]),
        ({"overall_score": 0.7}, 0.7, []),
        ({"overallScore": 1, "perInvocationResults": [{"score": 0.5}, {"score": 1}]}, 1.0, [0.5, 1.0]),
    ],
)
def test_answers(answer: Any, value: float | None, per_invocation: list[float | None]) -> None:
    score = ask(answering(answer))
    assert score.value == value
    assert [each.value for each in score.per_invocation] == per_invocation


@pytest.mark.parametrize("passed", [1, "PASSED", "passed", EvalStatus.PASSED])
@pytest.mark.parametrize("failed", [2, "FAILED", "failed", EvalStatus.FAILED])
def test_a_verdict_that_contradicts_score_and_threshold_is_an_error(passed: Any, failed: Any) -> None:
    for status, score in [(passed, 0.49), (failed, 0.5), (failed, 1.0)]:
        with pytest.raises(MetricError, match="a higher score must be better"):
            ask(answering({"overall_score": score, "overall_eval_status": status}))
    for status, score in [(passed, 0.5), (failed, 0.49), (3, 1.0), (None, 0.0)]:
        assert ask(answering({"overall_score": score, "overallEvalStatus": status})).value == score


def test_rationales_of_an_evaluation_result_become_reasons() -> None:
    rubric = {"rubric_id": "r", "score": 0.0, "rationale": "It was rude."}
    score = ask(
        answering(
            {"overall_score": 0, "per_invocation_results": [{"score": 0, "rubric_scores": [rubric]}] * 2}
        )
    )
    assert score.per_invocation[0].reason == "It was rude."
    assert score.per_invocation[0].details == {"rubric_scores": [rubric]}


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (None, "returned None; expected a number"),
        ("0.9", "returned a str '0.9'; expected a number"),
        (math.nan, "returned nan, which is not a score; expected a number .* neither NaN nor infinite"),
        (math.inf, "returned inf, which is not a score"),
        (-1.7e308, r"returned -1.7e\+308, which is not a score; expected a number of at most 1e\+100"),
        (1j, "returned a complex"),
        ({}, "returned a dict"),
        (Score(), "neither a value nor a reason"),
        (Score(None, "the judge was away"), "gave no score: the judge was away"),
        (Score(math.nan), "returned nan"),
        (MetricScore(), "without value and reason"),
        (MetricScore(math.nan), "returned nan"),
        (MetricScore(1.0, [Score(math.inf)]), "returned inf for turn 1"),
        ([], r"returned 0 scores for 2 turn\(s\)"),
        ([1, None], "returned None for turn 2"),
        (EvaluationResult(), "returned no score"),
        (EvaluationResult(None, [InvocationResult(None)] * 2), "returned no score"),
        (
            EvaluationResult(1.0, [InvocationResult(1.0)]),
            r"returned 1 per_invocation_results for 2 turn\(s\)",
        ),
        ({"overall_score": "high"}, "returned a str 'high' as overall_score"),
    ],
)
def test_invalid_score_is_an_error(answer: Any, message: str) -> None:
    with pytest.raises(MetricError, match=message):
        ask(answering(answer))


@pytest.mark.parametrize("answer", [None, math.nan, "1", [1.0]])
def test_invalid_score_per_turn_is_an_error(answer: Any) -> None:
    with pytest.raises(MetricError, match="for turn 1"):
        ask(lambda actual: answer)


def test_an_error_of_a_function_names_the_turn_and_the_answer() -> None:
    def fails(actual: Any) -> float:
        raise KeyError("x")

    with pytest.raises(KeyError) as raised:
        ask(fails)
    failure = failure_from(raised.value, where="metric")
    assert failure.message.startswith("'x' (turn 1, in which the agent answered \"")
    with pytest.raises(MetricError) as refused:
        ask(lambda actual: "great")
    assert failure_from(refused.value, where="metric").message.startswith(
        "returned a str 'great' for turn 1; expected "
    )
    assert " (the agent answered " in failure_from(refused.value, where="metric").message


def test_what_a_function_raises_is_not_swallowed() -> None:
    def broken(actual: Any) -> float:
        raise ZeroDivisionError("in my metric")

    with pytest.raises(ZeroDivisionError, match="in my metric"):
        ask(broken)


# --- three ways to name them ------------------------------------------------------------------------------------------


@pytest.fixture
def registered() -> Iterator[None]:
    before = set(METRICS.names())
    yield
    for name in set(METRICS.names()) - before:
        METRICS.remove(name)


@pytest.mark.usefixtures("registered")
def test_the_decorator_registers_and_leaves_the_function_alone() -> None:
    @custom.metric("politeness", threshold=0.8, minimum=0, maximum=5)
    def score(actual: Any) -> float:
        """How polite the answers are."""
        return 5.5

    @custom.metric
    def brevity(actual: Any) -> float:
        return 0.1

    @custom.metric()
    def wit(actual: Any) -> float:
        return 0.2

    assert score(None) == 5.5
    facts = METRICS.get("politeness").facts
    assert (facts.default_threshold, facts.minimum, facts.maximum) == (0.8, 0, 5)
    assert facts.description == "How polite the answers are."
    assert {"brevity", "wit"} <= set(METRICS.names())
    with pytest.raises(CriterionError, match="threshold 6 cannot pass"):
        METRICS.get("politeness")(BaseCriterion(threshold=6))
    with pytest.raises(MetricError, match=r"returned 5\.5 for turn 1, outside its range of 0 to 5"):
        asyncio.run(METRICS.get("politeness")().score(TWO_TURNS))


# --- the range --------------------------------------------------------------------------------------------------------

PERCENT = {"metric_name": "p", "metric_value_info": {"interval": {"min_value": 0, "max_value": 100}}}


def percent(actual: Any) -> float:
    """Of a hundred."""
    return 85


class Percent:
    """The same as a class without a range in its facts."""

    facts = MetricFacts(name="percent", description="Of a hundred.", default_threshold=0.9)

    def __init__(self, criterion: Any = None) -> None: ...

    def score(self, case: CaseView) -> MetricScore:
        return mean_score([Score(85.0) for _ in case.actual])


class PercentLater(Percent):
    async def score(self, case: CaseView) -> MetricScore:  # type: ignore[override] # either is a metric
        return super().score(case)


class PercentOfTurns(Percent):
    def score(self, case: CaseView) -> MetricScore:
        return MetricScore(0.95, [Score(85.0)])


def judged(threshold: float, name: str, **more: Any) -> Any:
    turn = {"user_content": {}, "final_response": {"parts": [{"text": "x"}]}}
    custom_metrics = {"p": {"code_config": {"name": f"{__name__}.{name}"}, **more}}
    config = {"criteria": {"p": threshold}, "custom_metrics": custom_metrics}
    return proctor.score_sync(turn, turn, criteria=config)["p"]


@pytest.mark.parametrize("name", ["percent", "Percent", "PercentLater", "PercentOfTurns"])
def test_score_beyond_the_range_is_an_error_with_the_remedy(name: str) -> None:
    """85 of a hundred must not pass a threshold of 0.9."""
    found = judged(0.9, name)
    assert (found.outcome, found.score) == (Outcome.ERROR, None)
    assert "returned 85" in found.reason
    assert (
        "outside its range of 0 to 1; another range is declared by `@proctor.metric(…, maximum=100)`"
        in found.reason
    )
    assert '"metric_info": {' in found.reason


def test_what_is_declared_is_the_range() -> None:
    assert judged(80, "percent", metric_info=PERCENT).outcome is Outcome.PASSED
    assert judged(90, "percent", metric_info=PERCENT).outcome is Outcome.FAILED
    with pytest.raises(
        SetupProblems, match=r"threshold 80 cannot pass \(scores go from 0 to 1\).*another range is declared"
    ):
        judged(80, "percent")
    with pytest.raises(SetupProblems, match="threshold 0 cannot fail"):
        judged(0, "percent")


@pytest.mark.usefixtures("registered")
def test_decorator_reads_its_arguments_with_a_range_of_0_to_1_by_default() -> None:
    ranges: list[tuple[str, dict[str, Any], Any]] = [
        ("usual", {}, (0, 1)),
        ("from_below", {"minimum": -1}, (-1, 1)),
        ("stars", {"maximum": 5}, (0, 5)),
        ("count", {"maximum": math.inf}, (0, None)),
        ("any", {"minimum": -math.inf, "maximum": math.inf}, (-math.inf, None)),
    ]
    for name, stated, expected in ranges:
        custom.metric(name, **stated)(percent)
        facts = METRICS.get(name).facts
        assert (facts.minimum, facts.maximum) == expected
    with pytest.raises(CriterionError, match="'empty' has the range from 2 to 1: `minimum` must be below"):
        custom.metric("empty", minimum=2)(percent)


def test_an_infinite_maximum_is_no_upper_limit_in_every_declaration() -> None:
    facts = MetricFacts(name="count", description="Calls.", maximum=math.inf)
    assert (facts.maximum, facts.score_range, facts.score_limits) == (None, None, (0.0, math.inf))


def test_a_limit_as_large_as_the_largest_score_is_no_limit() -> None:
    facts = MetricFacts(name="count", description="Calls.", minimum=-LARGEST_SCORE, maximum=LARGEST_SCORE)
    assert (facts.minimum, facts.maximum, facts.score_range) == (-math.inf, None, None)


@pytest.mark.slow
@pytest.mark.usefixtures("registered")
@pytest.mark.parametrize("minimum", [0.0, -math.inf])
def test_the_interval_of_a_mean_is_above_the_only_limit_of_the_metric(minimum: float, tmp_path: Path) -> None:
    @custom.metric("earned", minimum=minimum, maximum=math.inf, threshold=10)
    def earned(actual: Any, expected: Any) -> float:
        return 100.0 if actual.final_response == expected.final_response else 0.0

    def root_agent(text: str) -> str:
        return "right" if text == "0" else "wrong"

    cases = [
        {"eval_id": text, "conversation": [{"user_content": {"parts": [{"text": text}]},
         "final_response": {"role": "model", "parts": [{"text": "right"}]}}]}
        for text in "012"
    ]  # fmt: skip
    store = tmp_path / "s.db"
    run = proctor.evaluate_sync(
        root_agent,
        {"eval_set_id": "s", "eval_cases": cases},
        config={"criteria": {"earned": 10}},
        store=store,
    )
    METRICS.remove("earned")
    [point] = proctor.history_sync(store=store).metrics["earned"].values()
    means = run.means["earned"], proctor.load_run(run.run_id, store).means["earned"], point
    assert [one.low is not None and one.low >= 0 for one in means] == [minimum == 0] * 3


def test_a_built_in_name_is_not_taken_over() -> None:
    with pytest.raises(CriterionError, match="'response_match_score' is the name of a built-in metric"):
        custom.metric("response_match_score")(late)


SOURCE = '''
from proctor.metrics.custom import metric
from proctor.metrics.trajectory.tool_trajectory import ToolTrajectory

@metric("stars", threshold=4, minimum=1, maximum=5)
def stars(actual):
    """From one to five."""
    return 3

def always_07(eval_metric, actual_invocations, expected_invocations, conversation_scenario):
    """Always 0.7."""
    return 0.7

def odd(x):
    return 1

not_a_function = 3
a_class = ToolTrajectory
'''


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    (tmp_path / "my_metrics.py").write_text(SOURCE)
    (tmp_path / "broken_metrics.py").write_text("import nothing_of_that_name")
    (tmp_path / "leaving_metrics.py").write_text("raise SystemExit(3)")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield
    for name in ("my_metrics", "broken_metrics", "leaving_metrics"):
        sys.modules.pop(name, None)


def config(path: str, **more: Any) -> CustomMetricConfig:
    return CustomMetricConfig.model_validate({"code_config": {"name": path}, **more})


@pytest.mark.usefixtures("module")
@pytest.mark.parametrize("path", ["my_metrics.always_07", "my_metrics:always_07"])
def test_a_config_names_a_function(path: str) -> None:
    metric = from_config("always", config(path), BaseCriterion(threshold=0.5))
    assert metric.facts.description == "Always 0.7."
    scored = metric.score(TWO_TURNS)
    assert inspect.iscoroutine(scored)
    assert asyncio.run(scored).value == 0.7


@pytest.mark.usefixtures("module")
def test_a_config_states_range_and_description() -> None:
    info = {"metric_name": "x", "metric_value_info": {"interval": {"min_value": 0, "max_value": 10}}}
    metric = from_config("always", config("my_metrics.always_07", metric_info=info, description="Mine."))
    assert (metric.facts.minimum, metric.facts.maximum, metric.facts.description) == (0, 10, "Mine.")


@pytest.mark.usefixtures("module", "registered")
def test_a_function_that_a_config_names_has_the_facts_of_its_decorator() -> None:
    metric = from_config("quality", config("my_metrics.stars"))
    facts = metric.facts
    assert (facts.name, facts.minimum, facts.maximum, facts.default_threshold) == ("quality", 1, 5, 4)
    assert facts.description == "From one to five."
    info = {"metric_name": "x", "metric_value_info": {"interval": {"min_value": 0, "max_value": 10}}}
    other = from_config("quality", config("my_metrics.stars", metric_info=info, description="Mine.")).facts
    assert (other.minimum, other.maximum, other.description) == (0, 10, "Mine.")


@pytest.mark.usefixtures("module")
def test_a_config_may_name_a_metric_class() -> None:
    metric = from_config("mine", config("my_metrics.a_class"), BaseCriterion(threshold=1))
    assert isinstance(metric, ToolTrajectory)


@pytest.mark.usefixtures("module")
def test_a_metric_class_goes_by_the_name_that_the_config_gives_it() -> None:
    given = {"criteria": {"mine": 1.0, "tool_trajectory_avg_score": 1.0}}
    classes = {"mine": {"code_config": {"name": "my_metrics.a_class"}}}
    bound = bind(EvalConfig.model_validate({**given, "custom_metrics": classes}), RunOptions())
    assert [metric.name for metric in bound.metrics][:2] == ["mine", "tool_trajectory_avg_score"]
    assert bound.metrics[0].facts.name == "mine"


@pytest.mark.usefixtures("module")
@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("my_metrics.alway_07", "'my_metrics' has no 'alway_07'. Did you mean 'always_07'?"),
        ("my_metrics.not_a_function", "is of type int, not a function"),
        ("my_metrics.odd", "unknown parameter 'x'"),
        ("always_07", "must be a dotted path to a function (package.module.function), got 'always_07'"),
        ("no_such_module.f", "importing 'no_such_module' failed: ModuleNotFoundError"),
        (
            "broken_metrics.f",
            "importing 'broken_metrics' failed: ModuleNotFoundError: No module named 'nothing_of_that_name'",
        ),
        ("leaving_metrics.f", "importing 'leaving_metrics' failed: SystemExit: 3"),
        ("", "must be a dotted path"),
        ("..", "must be a dotted path"),
    ],
)
def test_a_path_that_leads_nowhere_is_a_setup_error_with_its_cause(path: str, message: str) -> None:
    with pytest.raises(CriterionError) as caught:
        from_config("mine", config(path), BaseCriterion(threshold=0.5))
    assert message in str(caught.value)
    assert "'mine'" in str(caught.value)


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An installed package that offers metrics."""
    info = tmp_path / "my_package-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: my-package\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[proctor.metrics]\nalways = my_metrics:always_07\ntrajectory = my_metrics:a_class\n"
        "lost = my_metrics:gone\nbroken = broken_metrics:f\n"
        "ends = ending_metrics:f\n"
    )
    (tmp_path / "ending_metrics.py").write_text("import sys; sys.exit(0)")
    monkeypatch.syspath_prepend(str(tmp_path))
    registry._entry_points.cache_clear()
    yield
    registry._entry_points.cache_clear()


@pytest.mark.usefixtures("module", "package")
def test_entry_points_are_known_by_name_and_loaded_when_asked_for() -> None:
    assert {"always", "trajectory", "lost", "broken"} <= set(METRICS.names())
    assert "my_metrics" not in sys.modules
    bound = bind(EvalConfig(criteria={"always": 0.5, "trajectory": 1.0}), RunOptions())
    assert bound.problems == []
    always, trajectory = bound.metrics[:2]
    assert isinstance(trajectory.metric, ToolTrajectory)
    scored = always.metric.score(TWO_TURNS)
    assert inspect.iscoroutine(scored)
    assert asyncio.run(scored).value == 0.7


@pytest.mark.usefixtures("module", "package")
@pytest.mark.parametrize("name", ["lost", "broken", "ends"])
def test_an_entry_point_that_leads_nowhere_names_its_package(name: str) -> None:
    (problem,) = bind(EvalConfig(criteria={name: 0.5}), RunOptions()).problems
    assert f"{name!r} of the package 'my-package' cannot be loaded" in str(problem)


@pytest.mark.parametrize(
    ("made_so", "cause"),
    [
        ("def __init__(self, criterion): raise SystemExit(0)", "creating it with its criterion raised SystemExit: 0"),
        ("def __init__(self, criterion): raise ValueError('no key')", "creating it with its criterion raised ValueError: no key"),
        ("def __init__(self): pass", "creating it with its criterion raised TypeError: "),
    ],
    ids=["ends the program", "raises", "takes no criterion"],
)  # fmt: skip
def test_class_that_cannot_be_created_is_reported_with_its_cause(
    made_so: str, cause: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "unmade_metrics.py").write_text(
        f"class Unmade:\n    facts = None\n    {made_so}\n", encoding="utf-8"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "unmade_metrics", raising=False)
    config = EvalConfig.model_validate(
        {
            "criteria": {"mine": 0.5},
            "custom_metrics": {"mine": {"code_config": {"name": "unmade_metrics.Unmade"}}},
        }
    )
    (problem,) = bind(config, RunOptions()).problems
    assert str(problem).startswith(f"The custom metric 'mine': {cause}")


def test_a_score_just_beyond_its_range_is_shown_to_the_last_digit() -> None:
    """Not "1, outside its range of 0 to 1", as a sum of floats would have it."""
    with pytest.raises(
        MetricError, match=r"returned 1\.0000000000000002 for turn 1, outside its range of 0 to 1"
    ):
        ask(lambda actual, expected: 1.0000000000000002)
