"""The contract of a metric: its facts, the view of a trial that it scores, and the methods that the engine calls."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Any, Protocol

from proctor.errors import MetricError
from proctor.metrics.text.visible_text import is_blank
from proctor.schema.evidence.convert_events import RecordedInvocations, TurnFacts, facts_of_invocation
from proctor.schema.evidence.trial import Trial
from proctor.schema.format.case import ConversationScenario, EvalCase, Statement
from proctor.schema.format.content import text_of
from proctor.schema.format.criterion import BaseCriterion
from proctor.schema.format.invocation import IntermediateData, Invocation
from proctor.schema.format.rubric import Rubric
from proctor.schema.results.score import LARGEST_SCORE, MetricScore, Score

RECORDED = "recorded"
SCENARIO = "scenario"

StatementReader = Callable[[EvalCase], Statement]
"""Finds what a case states for a metric."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricFacts:
    """The properties of a metric that are known without running it."""

    name: str
    description: str
    kind: str = "deterministic"
    """`deterministic`, `judge` or `custom`."""
    minimum: float = 0.0
    maximum: float | None = 1.0
    default_threshold: float | None = None
    gates: bool = True
    """False for informational metrics: always reported, never deciding, no threshold allowed."""
    needs: frozenset[str] = frozenset()
    """Any of `expected` (a recorded conversation), `expected_state`, `rubrics`, `scenario`, `judge`, `scores` (of other
    metrics), `tools` (the agent's declarations)."""
    options: Mapping[str, str] = field(default_factory=dict)
    """The options of the criterion and their meaning, without the common options."""
    required: frozenset[str] = frozenset()
    """The options without a default; a criterion that lacks one is a configuration error."""
    source: str = ""
    """The source of the definition."""
    example: Mapping[str, Any] = field(default_factory=dict)
    """The `criteria` of a config that uses the metric, with its options."""
    every_trial: bool = False
    """With repeats: every trial must pass; other metrics are decided by the mean over trials."""
    statement: StatementReader | None = None
    """Finds what a case states for this metric (see `statements`). `None`: every case states something, unless it lacks one of `needs`.

    A metric whose criterion supplies the expected values replaces it in the facts of the instance."""

    def __post_init__(self) -> None:
        # there is one form of "no limit", also for a config, which cannot leave a limit out and writes a very large one
        if self.maximum is not None and self.maximum >= LARGEST_SCORE:
            object.__setattr__(self, "maximum", None)
        if self.minimum <= -LARGEST_SCORE:
            object.__setattr__(self, "minimum", -inf)

    @property
    def score_range(self) -> tuple[float, float] | None:
        """The lowest and the highest score; `None` if one of them has no limit or is larger than a score, or both are equal."""
        if self.maximum is None or not 0 < self.maximum - self.minimum <= LARGEST_SCORE:
            return None
        return float(self.minimum), float(self.maximum)

    @property
    def score_limits(self) -> tuple[float, float]:
        """The lowest and the highest score; the highest is infinite without a limit."""
        return float(self.minimum), inf if self.maximum is None else float(self.maximum)

    def statement_in(self, case: EvalCase) -> Statement:
        """Return the strongest statement that this metric finds in a case."""
        return by_needs(self.needs, case) if self.statement is None else self.statement(case)


@dataclass(slots=True, kw_only=True)
class CaseView:
    """What a metric sees of one trial; a metric must not change it."""

    eval_id: str
    actual: Sequence[Invocation]
    expected: list[Invocation] | None = None
    """The recorded conversation; `None` for a scenario case."""
    scenario: ConversationScenario | None = None
    opening: Sequence[Invocation] = ()
    """The recorded turns before a scenario; the first of `actual` are the agent's answers to them."""
    rubrics: Sequence[Rubric] = ()
    expected_state: Mapping[str, Any] | None = None
    actual_state: Mapping[str, Any] | None = None
    trial: Trial | None = None
    """The evidence behind `actual`; `None` if only invocations are available."""
    extra: Mapping[str, Any] | None = None
    """Keys of the case and of its session input that are not part of the format (`expectations`, a user's own)."""
    scores: Mapping[str, MetricScore] = field(default_factory=dict)
    """The scores of other metrics by name, for metrics that need `scores`; only metrics that ran before are included."""
    _turns: list[TurnFacts] | None = field(default=None, init=False, repr=False, compare=False)

    @property
    def turns(self) -> list[TurnFacts]:
        """The countable facts of each invocation in `actual`, computed once for all metrics."""
        if self._turns is None:
            actual = self.actual
            if isinstance(actual, RecordedInvocations):
                self._turns = actual.facts()
            else:
                self._turns = [facts_of_invocation(invocation) for invocation in actual]
        return self._turns


@dataclass(frozen=True, slots=True)
class AgentDeclaration:
    """What the agent declares about its tools, before the first message."""

    app_details: Mapping[str, Any]
    """Instructions and tool declarations by agent name, in the shape of AppDetails."""
    is_complete: bool = True
    """False if the agent may have other tools, for example those that only a server could list."""


class Survey(Protocol):
    """Sees every case that a metric will score, then reports the problems of its criterion."""

    def add_case(self, case: EvalCase) -> None:
        """Record what one case states."""

    def problems(self) -> Iterable[str]:
        """Return why the criterion is pointless for all cases seen: configuration errors."""
        return ()

    def warnings(self) -> Iterable[str]:
        """Return warnings: parts of the criterion that match no case, or only some of the cases."""
        return ()


class Metric(Protocol):
    """Measures one trial.

    A metric is built from its criterion (`Metric(criterion)`), which checks its own options and raises
    `CriterionError` for an invalid one. It keeps no state between cases: one instance scores many at once.

    A metric that needs `scores` also has `combines`, the names of the metrics whose scores it combines: they are scored
    first, and a config without one of them is rejected. If it has `meet(facts)`, that is called once with their facts
    and may raise `CriterionError`.

    A metric that needs `judge` has `use(judges)`, which is called once before scoring, with the judges of the run
    (`judges/base.py`). It selects its judges there, and may raise `SetupError`.

    Optional: `applies(case) -> bool`, and `reason_not_applicable(case) -> str`, which names what a case lacks (earlier name: `why_not`).

    Optional: `check(case) -> Iterable[str]` returns, before the run, what is wrong with the values that a case states.
    `survey() -> Survey | None` does the same for the criterion, with all cases in view.

    Optional: `check_agent(case, described) -> Iterable[str]` does the same with the agent's tool declarations, for a case
    or, for `None`, for the criterion; it is called before the first message.

    Optional: `explain(case, score, index) -> Explanation` returns why invocation `index` got its score. It is only called
    if the explanation is shown or something failed, so `score` can stay fast.
    """

    @property
    def facts(self) -> MetricFacts:
        """The facts of the metric; may be an attribute of the class."""
        ...

    def score(self, case: CaseView) -> MetricScore | Awaitable[MetricScore]:
        """Score one trial: overall, and one `Score` per invocation. Plain or async."""
        ...


NEEDS: Mapping[str, str] = {
    "expectations": "`expectations` in the case, its session input or the criterion",
    "expected": "a recorded conversation",
    "expected_state": "final_session_state in the case, or `state` in the criterion",
    "judge": "a judge model",
    "response_schema": "`response_schema` in the case, or `schema` in the criterion",
    "rubrics": "rubrics",
    "scenario": "a conversation scenario",
    "scores": "the scores of other metrics of the config",
    "tools": "what the agent declares about its tools",
    "trajectory_rules": "`trajectory_rules` in the case or its session input, or `rules` in the criterion",
}
"""The values of `needs` in words."""

COMMON_OPTIONS: Mapping[str, str] = {
    "threshold": "the score needed to pass",
    "gate": "false: report this metric, but let it decide nothing",
    "applies_to": "'recorded' or 'scenario': score only cases of that kind",
    "aggregate": "of the turns' scores: 'mean' (the default), 'min', or 'every_invocation' (each must reach the threshold)",
    "compat": "'adk': score exactly as google-adk does, known weaknesses included",
    "include_intermediate_responses_in_final": "true: text of the agent between tool calls is part of the answer that is scored",
    "judge_model_options": "the judge model and how it is asked: `judge_model`, `num_samples`, `parallelism_limit`, `judge_model_config`",
}


INTERMEDIATE = "include_intermediate_responses_in_final"
SEE_EVERY_STEP = frozenset(
    {
        "hallucinations_v1",
        "multi_turn_task_success_v1",
        "multi_turn_tool_use_quality_v1",
        "multi_turn_trajectory_quality_v1",
        "per_turn_user_simulator_quality_v1",
        "rubric_based_multi_turn_trajectory_quality_v1",
        "rubric_based_tool_use_quality_v1",
        "user_simulator_faults_v1",
    }
)
"""Metrics that score the steps or the simulated user, not only the final answer."""


def metric_options(facts: MetricFacts) -> dict[str, str]:
    """Return the options that affect a metric, its own first; none for an informational metric."""
    if not facts.gates:
        return {}
    common = {
        name: meaning
        for name, meaning in COMMON_OPTIONS.items()
        if (facts.kind == "judge" or "judge" not in meaning)
        and not (name == INTERMEDIATE and facts.name in SEE_EVERY_STEP)
    }
    own = {
        name: f"{meaning} (required)" if name in facts.required else meaning
        for name, meaning in facts.options.items()
    }
    return {**own, **common}


def example_of(facts: MetricFacts) -> dict[str, Any]:
    """Return the `criteria` of a config that uses a metric; empty for an informational metric."""
    if not facts.gates:
        return {}
    threshold = 0.8 if facts.default_threshold is None else facts.default_threshold
    return dict(facts.example) or {facts.name: threshold}


def range_of(facts: MetricFacts) -> str:
    """Return the range of the scores in words: `0 to 1`."""
    low = "any number" if facts.minimum == float("-inf") else f"{facts.minimum:g}"
    high = "any number" if facts.maximum is None else f"{facts.maximum:g}"
    return low if low == high else f"{low} to {high}"


def how_to_declare(facts: MetricFacts) -> str:
    """Return how a custom metric declares a range other than 0 to 1; empty for other metrics."""
    if facts.kind != "custom" or (facts.minimum, facts.maximum) != (0.0, 1.0):
        return ""
    return (
        "; another range is declared by `@proctor.metric(…, maximum=100)`, the `facts` of a class, or in the config next to "
        '`code_config`: "metric_info": {"metric_name": "…", "metric_value_info": {"interval": {"min_value": 0, "max_value": 100}}}'
    )


def beyond_range(facts: MetricFacts, number: float) -> str:
    """Return a message that a number is outside the range of a metric; empty if it is inside."""
    if facts.minimum <= number and (facts.maximum is None or number <= facts.maximum):
        return ""
    return f"outside its range of {range_of(facts)}{how_to_declare(facts)}"


def needs_of(facts: MetricFacts) -> str:
    """Return what a metric needs, in words; `nothing` if it only needs the agent's trial."""
    return ", ".join(NEEDS.get(need, need) for need in sorted(facts.needs)) or "nothing"


def idle_options(facts: MetricFacts, criterion: BaseCriterion | None) -> Iterator[str]:
    """Yield a message for each option of ADK that the criterion has and the metric ignores."""
    if criterion is None:
        return
    if criterion.include_intermediate_responses_in_final and facts.name in SEE_EVERY_STEP:
        yield f"{INTERMEDIATE}: {_IGNORED_BY_STEP_METRICS}"
    if facts.kind != "deterministic":
        return
    if criterion.include_intermediate_responses_in_final:
        yield f"{INTERMEDIATE}: {_IGNORED_WITHOUT_JUDGE}"
    if {"judge_model_options", "judgeModelOptions"} & (criterion.model_extra or {}).keys():
        yield f"judge_model_options: {_IGNORED_WITHOUT_JUDGE}"


_IGNORED_BY_STEP_METRICS = (
    "this option has no effect here: it is for metrics that score the final answer only"
)
_IGNORED_WITHOUT_JUDGE = "this option has no effect here: the metric uses no judge model"


def is_adk_compatible(criterion: BaseCriterion) -> bool:
    """Return whether a criterion requests the exact behaviour of google-adk."""
    return (criterion.model_extra or {}).get("compat") == "adk"


# --- What a case states for a metric: the readers that `MetricFacts.statement` names ----------------------------------
#
# A case asserts something if a gating metric finds a statement in it. A statement is *negative* if an agent that does
# nothing satisfies it: an explicit `tool_uses: []`, a forbidden text, an upper limit.


def always(_case: EvalCase) -> Statement:
    """Return a statement for every case: the criterion supplies it, or the metric needs none of the case."""
    return Statement.POSITIVE


def prohibition(_case: EvalCase) -> Statement:
    """Return a negative statement for every case: the metric only looks for something that must not happen."""
    return Statement.NEGATIVE


def reference_answers(case: EvalCase) -> Statement:
    """Find a reference text with visible characters in any turn."""
    texts = (text_of(turn.final_response, thoughts=False) for turn in case.conversation or ())
    return Statement.NONE if all(map(is_blank, texts)) else Statement.POSITIVE


def expected_calls(case: EvalCase) -> Statement:
    """Find an expected call in any turn, or else an explicit empty list of calls, which is negative."""
    turns = case.conversation or ()
    if any(turn.tool_calls for turn in turns):
        return Statement.POSITIVE
    data = (turn.intermediate_data for turn in turns)
    states_none = any(isinstance(each, IntermediateData) and each.states_calls for each in data)
    return Statement.NEGATIVE if states_none else Statement.NONE


def limits_of_calls(case: EvalCase) -> Statement:
    """Find the same as `expected_calls`, for a metric that an agent without calls always meets."""
    return min(expected_calls(case), Statement.NEGATIVE)


def supplied(values: Sequence[object]) -> StatementReader:
    """Return the reader for a criterion that supplies the expected values; a blank value accepts an agent without answer."""
    is_negative = not values or any(isinstance(value, str) and is_blank(value) for value in values)
    return prohibition if is_negative else always


def by_needs(needs: frozenset[str], case: EvalCase) -> Statement:
    """Find a statement unless the case lacks something that the metric needs; for metrics that name no reader."""
    statement = Statement.POSITIVE
    if "expected" in needs:
        statement = max(reference_answers(case), expected_calls(case))
    if "expected_state" in needs and not case.final_session_state:
        statement = Statement.NONE
    turns = case.conversation or case.opening or ()
    if "rubrics" in needs and not (case.rubrics or any(turn.rubrics for turn in turns)):
        statement = Statement.NONE
    return statement


def comparison_facts(
    name: str,
    description: str,
    source: str,
    *,
    options: Mapping[str, str],
    threshold: float = 1.0,
    example: Mapping[str, Any] | None = None,
    statement: StatementReader = reference_answers,
) -> MetricFacts:
    """Return the facts of a metric that compares with a recorded conversation; `example` is the criterion of its example."""
    return MetricFacts(
        name=name,
        description=description,
        default_threshold=threshold,
        needs=frozenset({"expected"}),
        statement=statement,
        options=options,
        source=source,
        example={} if example is None else {name: example},
    )


# --- Actual and expected invocations in pairs, by the rules that all metrics share ------------------------------------


NOTHING_RECORDED = "the case has no recorded conversation to compare with"


def paired(case: CaseView) -> list[tuple[Invocation, Invocation]]:
    """Return each actual invocation with the expected one of the same turn.

    Raises:
        MetricError: there are no expected invocations, or another number of them.
    """
    return [*zip(case.actual, expected_turns(case), strict=True)]


def expected_turns(case: CaseView) -> list[Invocation]:
    """Return the expected invocations: one for each actual one.

    Raises:
        MetricError: there are no expected invocations, or another number of them.
    """
    if case.expected is None:
        raise MetricError(NOTHING_RECORDED)
    if len(case.actual) != len(case.expected):
        raise MetricError(
            f"the case has {len(case.expected)} invocation(s) and the agent's run {len(case.actual)}; "
            "they cannot be compared turn by turn"
        )
    return case.expected


def no_recording_score(case: CaseView) -> MetricScore:
    """Return the score of a case without recorded conversation: not applicable, in every invocation."""
    scores = [Score(reason=NOTHING_RECORDED, not_applicable=True) for _ in case.actual]
    return MetricScore(per_invocation=scores, reason=NOTHING_RECORDED, not_applicable=True)
