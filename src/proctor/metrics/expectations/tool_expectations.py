"""The metric `tool_expectations`: whether the tool calls meet the expectations of a case."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain

from proctor.errors import MetricError
from proctor.metrics.base import AgentDeclaration, CaseView, MetricFacts, Survey
from proctor.metrics.criterion_check import check_criterion, misfit
from proctor.metrics.expectations.call_patterns import ActualCall, calls_of
from proctor.metrics.expectations.explain import Drawn, broken_limits, explain_calls, merge_steps
from proctor.metrics.expectations.forbidden_calls import (
    DECLARATIONS,
    Guards,
    impossible_guards,
    read_declared_tools,
)
from proctor.metrics.expectations.grammar import read_as
from proctor.metrics.expectations.misspelled_calls import (
    expected_names,
    lookalike_problems,
)
from proctor.metrics.expectations.parse import (
    Expectation,
    ExpectationSurvey,
    guarded_names,
    read_expectations,
    turns_lacking,
)
from proctor.metrics.matchers.parse import MatcherReader
from proctor.metrics.reason_text import and_more
from proctor.schema.format.case import EvalCase, Statement, find_extension, find_extensions
from proctor.schema.format.criterion import BaseCriterion
from proctor.schema.results.score import Explanation, MetricScore, Score

KEY = "expectations"
NOTHING_STATED = "neither the case nor the criterion states `expectations`"
NOTHING_HERE = "no expectation is about this turn"
MET = "the calls are as expected"


class ExpectationsCriterion(BaseCriterion):
    """Expectations for every case."""

    expectations: object = None
    declarations: object = None


class ToolExpectations:
    """The share of a case's `expectations` that its tool calls meet; for a turn, the share of those about it.

    Those about the whole conversation count for its last turn. An expectation is met if the calls of its turn
    (without `turn`: of all turns, in order) can be aligned with its `calls` at no cost (see `grammar`), and every limit
    holds.
    """

    kind = ExpectationsCriterion
    """The type of its criterion."""
    facts: MetricFacts = MetricFacts(
        name="tool_expectations",
        description="The share of the case's expectations of tool calls that are met: optional calls, alternatives, limits.",
        default_threshold=1.0,
        example={"tool_expectations": {"threshold": 1.0, "expectations": {"calls": ["get_weather"]}}},
        needs=frozenset({KEY}),
        options={
            KEY: "expectations of every case, in addition to those that a case, or its session input, states",
            **DECLARATIONS,
        },
        source="Proctor",
    )

    def __init__(self, criterion: BaseCriterion | None = None) -> None:
        typed = check_criterion(self.facts, criterion, self.kind)
        self._declarations = read_declared_tools(self.facts.name, typed.declarations)
        self._common: list[Expectation] = []
        if typed.expectations is not None:
            reader = MatcherReader()
            self._common = read_expectations(typed.expectations, None, reader)
            if reader.problems:
                raise misfit(self.facts.name, reader.problems)
        self.facts = replace(self.facts, statement=self._statement)

    def _statement(self, case: EvalCase) -> Statement:
        """Find an expectation that an agent without calls does not meet, or else any, which is negative."""
        turns = len(case.conversation or ())
        common = [each for each in self._common if each.turn is None or each.turn < turns]
        expected = [*common, *self._stated_by(case)]
        if any(each.requires_calls() for each in expected):
            return Statement.POSITIVE
        return Statement.NEGATIVE if expected else Statement.NONE

    def applies(self, case: EvalCase) -> bool:
        """Return whether there is an expectation for the case."""
        turns = len(case.conversation or ())
        return find_extension(case, KEY) is not None or any(
            each.turn is None or each.turn < turns for each in self._common
        )

    def reason_not_applicable(self, case: EvalCase) -> str:
        """Return what the case lacks."""
        return turns_lacking(self._common, len(case.conversation or ())) if self._common else NOTHING_STATED

    def survey(self) -> Survey:
        """Return the survey for turns that cases do not have, and for names that are probably misspelled."""
        return ExpectationSurvey(self._common, self._stated_by)

    def check(self, case: EvalCase) -> list[str]:
        """Return the problems of a case's expectations."""
        reader = MatcherReader()
        turns = None if case.conversation is None else len(case.conversation)
        expectations = [
            each
            for place in find_extensions(case, KEY)
            for each in read_expectations(place.value, turns, reader, place.where)
        ]
        names = {
            name for each in expectations for pattern in each.unguarded_patterns() for name in pattern.tools
        }
        return [
            *reader.problems,
            *lookalike_problems(guarded_names(expectations), expected_names(case) | names),
        ]

    def check_agent(self, case: EvalCase | None, described: AgentDeclaration) -> Iterable[str]:
        """Yield forbidden or limited calls that this agent can never make, according to its tool declarations."""
        expectations = self._common if case is None else self._stated_by(case)
        guards = [guard for each in expectations for guard in each.guards()]
        turns = (case and case.conversation) or ()
        return impossible_guards(guards, described, self._declarations, turns)

    def _stated_by(self, case: EvalCase) -> Iterator[Expectation]:
        for place in find_extensions(case, KEY):
            yield from read_expectations(place.value, None, MatcherReader(), place.where)

    def score(self, case: CaseView) -> MetricScore:
        """Check all expectations."""
        expected = self._expectations(case)
        if not expected:
            why = turns_lacking(self._common, len(case.actual)) if self._common else NOTHING_STATED
            return MetricScore(reason=why, not_applicable=True)
        turns = _calls(case, expected)
        met = [_is_met(each, _calls_of(each, turns)) for each in expected]
        scores = [
            _turn_score(
                [is_met for each, is_met in zip(expected, met, strict=True) if _place(each, turns) == number]
            )
            for number in range(len(turns))
        ]
        if scores and (warning := self._warning(expected, case, [*chain.from_iterable(turns)])):
            scores[-1].warning = warning
        return MetricScore(sum(met) / len(met), scores)

    def _warning(self, expected: Sequence[Expectation], case: CaseView, calls: Sequence[ActualCall]) -> str:
        """Return names in guards that are probably misspelled; if the agent declares its tools, any undeclared tool.

        Without declarations a slip in `calls` still shows: the call of the right name is missing, or not expected.
        """
        checks = Guards(case, calls, self._declarations)
        unguarded = [pattern for each in expected for pattern in each.unguarded_patterns()]
        warning = checks.warning([guard for each in expected for guard in each.guards()], unguarded)
        return warning or (checks.unknown_tools(unguarded) if unguarded and checks.declares() else "")

    def explain(self, case: CaseView, score: MetricScore, index: int) -> Explanation:
        """Return which calls of a turn are missing, too many, or not as expected."""
        turn_score = score.per_invocation[index]
        if turn_score.not_applicable:
            return Explanation(turn_score.reason, warning=turn_score.warning)
        expected = self._expectations(case)
        turns = _calls(case, expected)
        here = [each for each in expected if _place(each, turns) == index]
        unmet = [each for each in here if not _is_met(each, _calls_of(each, turns))]
        reason, details = _explain(unmet or here, turns, index)
        return Explanation(reason or MET, details, turn_score.warning)

    def _expectations(self, case: CaseView) -> list[Expectation]:
        common = [each for each in self._common if each.turn is None or each.turn < len(case.actual)]
        if KEY not in (case.extra or {}):
            return common
        reader = MatcherReader()
        own = read_expectations((case.extra or {})[KEY], len(case.actual), reader)
        if reader.problems:
            raise MetricError(f"the case's expectations cannot be read: {'; '.join(reader.problems)}")
        return [*own, *common]


def _turn_score(results: Sequence[bool]) -> Score:
    if not results:
        return Score(reason=NOTHING_HERE, not_applicable=True)
    return Score(sum(results) / len(results))


def _place(expectation: Expectation, turns: Sequence[list[ActualCall]]) -> int:
    """Return the turn whose score an expectation counts for: the last one for the whole conversation."""
    return len(turns) - 1 if expectation.turn is None else expectation.turn


def _calls(case: CaseView, expected: Sequence[Expectation]) -> list[list[ActualCall]]:
    uses_responses = any(pattern.response is not None for each in expected for pattern in each.patterns)
    return calls_of(case, with_responses=uses_responses)


def _calls_of(expectation: Expectation, turns: Sequence[list[ActualCall]]) -> list[ActualCall]:
    return [*chain.from_iterable(turns)] if expectation.turn is None else turns[expectation.turn]


def _is_met(expectation: Expectation, calls: Sequence[ActualCall]) -> bool:
    if broken_limits(expectation, calls):
        return False
    allowed = expectation.others_allowed
    return (
        expectation.calls is None
        or read_as(expectation.calls, calls, others_allowed=allowed, only_fitting=True) is not None
    )


def _explain(
    expected: Sequence[Expectation], turns: Sequence[list[ActualCall]], index: int
) -> tuple[str, dict[str, object] | None]:
    """Return the sentences, and the alignment of the calls of turn `index`; the sentences also name calls of other turns."""
    sentences: list[str] = []
    steps: list[Drawn] = []
    for each in expected:
        problems, more = explain_calls(each, _calls_of(each, turns))
        sentences += [f"{each.where}: {problem}" if len(expected) > 1 else problem for problem in problems]
        steps += [one for one in more if one.place is None or one.place[0] == index]
    return "; ".join(and_more(sentences)), {"alignment": merge_steps(steps)} if steps else None
