"""The contract of a metric: its facts, and a score for what it may look at."""

from __future__ import annotations

from collections.abc import Awaitable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from proctor.common.quick_dataclasses import dataclass, field
from proctor.metrics.statements import StatementReader, by_needs
from proctor.schema.evidence.to_invocations import Recorded, TurnFacts, facts_of_invocation
from proctor.schema.evidence.trial import Trial
from proctor.schema.format.case import EvalCase
from proctor.schema.format.criterion import BaseCriterion
from proctor.schema.format.invocation import Invocation
from proctor.schema.format.rubric import Rubric
from proctor.schema.format.scenario import ConversationScenario
from proctor.schema.format.statement import Statement
from proctor.schema.results.score import MetricScore

RECORDED = "recorded"
SCENARIO = "scenario"


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricFacts:
    """What there is to know about a metric without running it."""

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
    """Of `expected` (a recorded conversation), `expected_state`, `rubrics`, `scenario`, `judge`, `scores` (of other
    metrics), `tools` (what the agent says about its tools)."""
    options: Mapping[str, str] = field(default_factory=dict)
    """Criterion options of this metric and what each means; the common ones are not repeated."""
    required: frozenset[str] = frozenset()
    """Those of the options that have no default."""
    source: str = ""
    """Where the definition comes from."""
    example: Mapping[str, Any] = field(default_factory=dict)
    """The `criteria` of a config that uses it, options and all; what lists show where the threshold alone says little."""
    every_trial: bool = False
    """With repeats: must hold in every trial, where others are decided by the mean over trials."""
    statement: StatementReader | None = None
    """Finds what a case states for this metric (`statements.py`); `None`: a statement, unless the case lacks one of `needs`.

    A metric whose criterion supplies the statement replaces it in the facts of the instance."""

    def statement_in(self, case: EvalCase) -> Statement:
        """Return the strongest statement that this metric finds in a case."""
        return by_needs(self.needs, case) if self.statement is None else self.statement(case)


@dataclass(slots=True, kw_only=True)
class CaseView:
    """What a metric is shown of one trial; it changes nothing of it."""

    eval_id: str
    actual: Sequence[Invocation]
    expected: list[Invocation] | None = None
    """The recorded conversation; `None` for a scenario case."""
    scenario: ConversationScenario | None = None
    opening: Sequence[Invocation] = ()
    """The recorded turns before a scenario: the first of `actual` are what the agent did in them."""
    rubrics: Sequence[Rubric] = ()
    expected_state: Mapping[str, Any] | None = None
    actual_state: Mapping[str, Any] | None = None
    trial: Trial | None = None
    """The evidence behind `actual`; `None` when only invocations were given."""
    extra: Mapping[str, Any] | None = None
    """Keys of the case and of its session input that the format does not have (`expectations`, one's own …)."""
    scores: Mapping[str, MetricScore] = field(default_factory=dict)
    """What other metrics found, for those that need `scores`: by name, and only of metrics that were asked before."""
    counted: Any = field(default=None, init=False, repr=False, compare=False)
    """What the efficiency metrics count, once the first of them was asked: see `efficiency`."""
    _turns: list[TurnFacts] | None = field(default=None, init=False, repr=False, compare=False)

    @property
    def turns(self) -> list[TurnFacts]:
        """What there is to count in each of `actual`: read once, for all metrics."""
        if self._turns is None:
            actual = self.actual
            if isinstance(actual, Recorded):
                self._turns = actual.facts()
            else:
                self._turns = [facts_of_invocation(one) for one in actual]
        return self._turns


@dataclass(frozen=True, slots=True)
class Described:
    """What the agent under test says about its tools, before it is asked anything."""

    app_details: Mapping[str, Any]
    """Instructions and tool declarations by agent name, in the shape of AppDetails."""
    is_complete: bool = True
    """Whether it has no other tools (as those that only a server could list)."""


class Survey(Protocol):
    """Sees every case that a metric is to judge, and then says what is amiss with its criterion, in sentences."""

    def see(self, case: EvalCase) -> None:
        """Look at one case."""
        ...

    def problems(self) -> Iterable[str]:
        """What makes the criterion pointless for all cases seen: a set-up error."""
        ...

    def doubts(self) -> Iterable[str]:
        """What a person should know: parts of the criterion that are about none of the cases, or not about all."""
        ...


class Metric(Protocol):
    """Measures one trial.

    A metric is built from its criterion (`Metric(criterion)`), which checks its own options and raises
    `CriterionError` for what does not fit. It keeps no state between cases: one instance scores many at once.

    One that needs `scores` also has `combines`, the names of the metrics whose scores it must have: they are asked
    first, and a config without one of them is refused. `meet(facts)`, if there, is called once with their facts, and
    may raise `CriterionError`.

    One that needs `judge` has `use(judges)`, called once before anything is scored, with the judges of the run
    (`judges/base.py`); it takes its own from them, and may raise `SetupError`.

    Optional: `applies(case) -> bool`, and where it does not `why_not(case) -> str`: what the case lacks.

    Optional: `check(case) -> Iterable[str]` says, before anything runs, what is wrong with what a case states for it;
    `survey() -> Survey | None` does so with its criterion, seen beside all cases.

    Optional: `check_agent(case, described) -> Iterable[str]` says so once the agent has told which tools it has, of what a
    case states, or for `None` of the criterion; still before anything is asked of it.

    Optional: `explain(case, score, index) -> Explanation` says why invocation `index` got its score. It is called
    only where that is shown or something failed, so `score` can stay fast.
    """

    @property
    def facts(self) -> MetricFacts:
        """What there is to know about it; may be an attribute of the class."""
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
"""What `needs` of facts says, in words."""

COMMON_OPTIONS: Mapping[str, str] = {
    "threshold": "the score needed to pass",
    "gate": "false: report this metric, but let it decide nothing",
    "applies_to": "'recorded' or 'scenario': score only cases of that kind",
    "aggregate": "of the turns' scores: 'mean' (the default), 'min', or 'every_invocation' (each must reach the threshold)",
    "compat": "'adk': score exactly as google-adk does, known weaknesses included",
    "include_intermediate_responses_in_final": "true: what the agent said on the way belongs to the answer that is judged",
    "judge_model_options": "whom to ask, and how: `judge_model`, `num_samples`, `parallelism_limit`, `judge_model_config`",
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
"""Metrics that ask a judge about more than a final answer, or about something else."""


def options_of(facts: MetricFacts) -> dict[str, str]:
    """The options that mean something to this metric, its own first; none for one that is only reported."""
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
    """The `criteria` of a config that uses this metric; empty for one that is only reported."""
    if not facts.gates:
        return {}
    threshold = 0.8 if facts.default_threshold is None else facts.default_threshold
    return dict(facts.example) or {facts.name: threshold}


def range_of(facts: MetricFacts) -> str:
    """The scores that it gives, in words: `0 to 1`."""
    low = "any number" if facts.minimum == float("-inf") else f"{facts.minimum:g}"
    high = "any number" if facts.maximum is None else f"{facts.maximum:g}"
    return low if low == high else f"{low} to {high}"


def how_to_declare(facts: MetricFacts) -> str:
    """How a metric of somebody's own says that its scores go from and to other numbers than 0 and 1; else nothing."""
    if facts.kind != "custom" or (facts.minimum, facts.maximum) != (0.0, 1.0):
        return ""
    return (
        "; another range is declared by `@proctor.metric(…, maximum=100)`, the `facts` of a class, or in the config beside "
        '`code_config`: "metric_info": {"metric_name": "…", "metric_value_info": {"interval": {"min_value": 0, "max_value": 100}}}'
    )


def beyond_range(facts: MetricFacts, number: float) -> str:
    """Say that a number is outside the range of a metric; empty where it is not."""
    if facts.minimum <= number and (facts.maximum is None or number <= facts.maximum):
        return ""
    return f"outside its range of {range_of(facts)}{how_to_declare(facts)}"


def needs_of(facts: MetricFacts) -> str:
    """What it needs, in words; `nothing` for one that looks at the agent's run only."""
    return ", ".join(NEEDS.get(need, need) for need in sorted(facts.needs)) or "nothing"


def idle_options(facts: MetricFacts, criterion: BaseCriterion | None) -> Iterator[str]:
    """Options of ADK's that any criterion may have, where nothing reads them: the metric asks no model."""
    if criterion is None:
        return
    if criterion.include_intermediate_responses_in_final and facts.name in SEE_EVERY_STEP:
        yield f"{INTERMEDIATE}: {_SEEN}"
    if facts.kind != "deterministic":
        return
    if criterion.include_intermediate_responses_in_final:
        yield f"{INTERMEDIATE}: {_IDLE}"
    if {"judge_model_options", "judgeModelOptions"} & (criterion.model_extra or {}).keys():
        yield f"judge_model_options: {_IDLE}"


_SEEN = "nothing reads this option here: it is for metrics that judge the final answer by itself"
_IDLE = "nothing reads this option here: the metric asks no language model"


def is_adk_compatible(criterion: BaseCriterion) -> bool:
    """Tell whether this criterion asks for google-adk's exact behaviour."""
    return getattr(criterion, "compat", None) == "adk"
