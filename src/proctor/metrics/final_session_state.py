"""The metric `final_session_state`: whether the session ends in the state that the case states."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from proctor.common.inline_code import code_mark
from proctor.common.json_values import equal_json
from proctor.errors import MetricError
from proctor.metrics.base import CaseView, MetricFacts, Survey
from proctor.metrics.criterion_check import check_criterion, misfit
from proctor.metrics.matchers.base import ABSENT, INLINE, holds_matcher, misspelled_matcher
from proctor.metrics.matchers.contrary_values import contrary_values
from proctor.metrics.reason_text import and_more, show_name, show_pair, show_value
from proctor.schema.evidence.trial import Failure, FailureKind
from proctor.schema.format.case import EvalCase, Statement
from proctor.schema.format.criterion import BaseCriterion
from proctor.schema.results.score import MetricScore, expectation_entry

if TYPE_CHECKING:
    from proctor.metrics.final_state_rules import StateRules
    from proctor.metrics.matchers.kinds import Template


ALL_EQUAL = "every stated key is present and equal"
NOTHING_STATED = "the case states no final session state"
NO_STATE = (
    "a final session state is expected, and the agent reports none: implement `final_state(session)`, change "
    "`session.state`, or emit events with a `state_delta`"
)


class StateCriterion(BaseCriterion):
    """How parts of the state are compared."""

    state: object = None


class FinalSessionState:
    """1.0 if every expected key is in the final session state with a fitting value, else 0.0.

    The case states expected keys, and the criterion may state more with `state` (see `final_state_rules`). A plain value must
    be equal; a matcher may replace it. Other keys do not matter. The metric has one score per trial, and every trial must
    pass. ADK reads `final_session_state` but does not check it.
    """

    kind = StateCriterion
    """The type of its criterion."""
    facts = MetricFacts(
        name="final_session_state",
        description="Every key of the case's final session state is there and equal when the conversation ends.",
        default_threshold=1.0,
        needs=frozenset({"expected_state"}),
        options={
            "state": 'matchers by key or path of the state, as in {"total": {"match": "number", "tolerance": 0.01}}'
        },
        source="Proctor; the field is google-adk's, which does not check it",
        every_trial=True,
    )

    def __init__(self, criterion: BaseCriterion | None = None) -> None:
        typed = check_criterion(self.facts, criterion, self.kind)
        self._rules: StateRules | None = None
        if typed.state is not None:
            self._rules = _rules_of(self.facts.name, typed.state)
            if self._has_own:
                self.facts = replace(self.facts, needs=self.facts.needs - {"expected_state"})
        self.facts = replace(self.facts, statement=self._statement)

    @property
    def _has_own(self) -> bool:
        """Whether the criterion expects something in every case."""
        return self._rules is not None and bool(self._rules.own)

    def _statement(self, case: EvalCase) -> Statement:
        """Find a key that is not ignored, or an expectation of the criterion; negative if the initial state meets all of them."""
        expected = case.final_session_state or {}
        if not self._has_own and (not expected or self._accepts_everything(expected)):
            return Statement.NONE
        initial = (case.session_input.state if case.session_input else None) or {}
        try:
            meets_all = all(each["kind"] == "matched" for each in self._compare_all(expected, initial))
        except MetricError:  # `check` reports what cannot be read
            return Statement.POSITIVE
        return Statement.NEGATIVE if meets_all else Statement.POSITIVE

    def applies(self, case: EvalCase) -> bool:
        """Return whether the case or the criterion expects a state."""
        return bool(case.final_session_state) or self._has_own

    def survey(self) -> Survey | None:
        """Return the survey for keys of the criterion that no case states."""
        return self._rules.survey() if self._rules else None

    def check(self, case: EvalCase) -> list[str]:
        """Return the problems of the matchers in the state of a case."""
        expected = case.final_session_state or {}
        problems = [] if self._rules is None else [*self._rules.unreadable(expected)]
        has_matchers = holds_matcher(expected) or misspelled_matcher(expected)
        matcher_problems = _templates(expected)[1] if has_matchers else []
        is_compared = bool(expected) and not matcher_problems and not self._has_own
        if is_compared and self._accepts_everything(expected):
            problems.append("final_session_state: every key is ignored, so nothing is expected")
        return [*problems, *matcher_problems]

    def _accepts_everything(self, expected: Mapping[str, object]) -> bool:
        """Return whether every stated key may have any value or be absent."""
        if self._rules is None and not all(map(holds_matcher, expected.values())):
            return False  # a plain value is compared by equality
        try:
            return all(
                self._compare(name, value, each)["kind"] == "matched"
                for name, value in expected.items()
                for each in (ABSENT, None, *contrary_values(_plain(value)))
            )
        except MetricError:  # `check` reports what cannot be compared
            return False

    def score(self, case: CaseView) -> MetricScore:
        """Compare each stated key; an agent that does not report its state is an error, not a 0."""
        expected = case.expected_state or {}
        if not expected and not self._has_own:
            return MetricScore(reason=NOTHING_STATED, not_applicable=True)
        if case.actual_state is None:
            return MetricScore(
                failure=Failure(where="agent", kind=FailureKind.BROKE_CONTRACT, message=NO_STATE)
            )
        keys = self._compare_all(expected, case.actual_state)
        wrong = [each for each in keys if each["kind"] != "matched"]
        if not wrong:
            return MetricScore(1.0, reason=ALL_EQUAL, details={"state": keys})
        reason = "; ".join(and_more([_describe(each) for each in wrong]))
        return MetricScore(0.0, reason=reason, details={"state": keys})

    def _compare_all(
        self, expected: Mapping[str, object], actual: Mapping[str, object]
    ) -> list[dict[str, object]]:
        """Compare the keys of the case, then those of the criterion."""
        keys = [self._compare(name, value, actual.get(name, ABSENT)) for name, value in expected.items()]
        return [*keys, *self._rules.entries(actual, expected)] if self._rules else keys

    def _compare(self, name: str, expected: object, actual: object) -> dict[str, object]:
        expectation = ""
        if holds_matcher(expected):
            templates, problems = _templates({name: expected})
            if problems:
                raise MetricError(f"the final session state cannot be read: {'; '.join(problems)}")
            is_fine, expectation = templates[name].fits(actual), templates[name].describe()
        elif self._rules:
            is_fine, expectation = self._rules.compare(name, expected, actual)
        else:
            is_fine = equal_json(expected, actual)
        entry = {"key": name, "kind": "matched", "expected": expected}
        if actual is not ABSENT:
            entry["actual"] = actual
        if not is_fine:
            entry["kind"] = "missing" if actual is ABSENT else "differs"
            if expectation:
                entry |= expectation_entry(expectation)
            elif self._rules and (accepted := self._rules.accepted(name, expected, actual)):
                entry["accepted"] = accepted
        return entry


def _plain(value: object) -> object:
    """Return the value that a matcher compares with; any other value unchanged."""
    return value.get("value") if isinstance(value, Mapping) and INLINE in value else value


def _rules_of(metric: str, option: object) -> StateRules:
    from proctor.metrics.final_state_rules import StateRules
    from proctor.metrics.matchers.parse import MatcherReader

    reader = MatcherReader()
    rules = StateRules(option, reader)
    if reader.problems:
        raise misfit(metric, reader.problems)
    return rules


def _templates(state: Mapping[str, object]) -> tuple[dict[str, Template], list[str]]:
    """Return the stated values as templates, and the problems of their matchers."""
    from proctor.metrics.matchers.parse import MatcherReader

    reader = MatcherReader()
    templates = {name: reader.template(value, f"final_session_state.{name}") for name, value in state.items()}
    return templates, reader.problems


def _describe(key: Mapping[str, object]) -> str:
    name = f"state {code_mark(show_name(str(key['key'])))}"
    if key["kind"] == "missing":
        return f"{name} is missing, expected {key.get('expectation') or show_value(key['expected'])}"
    if expectation := key.get("expectation"):
        return f"{name} is {show_value(key['actual'])}, expected {expectation}"
    expected, actual = show_pair(key["expected"], key["actual"])
    return f"{name} is {actual}, expected {expected}"
