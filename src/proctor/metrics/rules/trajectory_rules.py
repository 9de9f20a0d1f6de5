"""The metric `trajectory_rules`: whether the tool calls of the whole trial keep the rules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain

from proctor.common.inline_code import code_mark
from proctor.errors import MetricError
from proctor.metrics.base import AgentDeclaration, CaseView, MetricFacts, Survey, prohibition
from proctor.metrics.criterion_check import check_criterion, misfit
from proctor.metrics.expectations.call_patterns import ActualCall, CallPattern, calls_of
from proctor.metrics.expectations.explain import Drawn, merge_steps
from proctor.metrics.expectations.forbidden_calls import (
    DECLARATIONS,
    Guards,
    impossible_guards,
    read_declared_tools,
)
from proctor.metrics.expectations.misspelled_calls import NameSurvey, expected_names, lookalike_problems
from proctor.metrics.matchers.base import ABSENT
from proctor.metrics.matchers.parse import MatcherReader
from proctor.metrics.matchers.paths import show_path, values_at
from proctor.metrics.reason_text import and_more, show_call, show_value
from proctor.metrics.rules.rule import Breach, Rule, RuleKind, breaches, read_rules
from proctor.schema.format.case import EvalCase, Statement, find_extension, find_extensions
from proctor.schema.format.criterion import BaseCriterion
from proctor.schema.results.score import Explanation, MetricScore, Score

KEY = "trajectory_rules"
NO_RULES = "neither the criterion nor the case states rules"
KEPT = "every rule is kept"


class RulesCriterion(BaseCriterion):
    """Rules for every case."""

    rules: object = None
    declarations: object = None


def _stated_rules(case: EvalCase) -> Statement:
    """Find rules that the case states; an agent without calls keeps each kind of rule, so they are negative."""
    return Statement.NONE if find_extension(case, KEY) is None else Statement.NEGATIVE


class TrajectoryRules:
    """The share of the rules that the calls of all turns keep; for a turn, the share that no call in it breaks."""

    kind = RulesCriterion
    """The type of its criterion."""
    facts: MetricFacts = MetricFacts(
        name="trajectory_rules",
        description="The share of rules over the whole trajectory that are kept: only after, at most, never, implies, before.",
        default_threshold=1.0,
        example={"trajectory_rules": {"threshold": 1.0, "rules": [{"call": "get_weather", "at_most": 2}]}},
        needs=frozenset({KEY}),
        statement=_stated_rules,
        options={
            "rules": "rules for every case, in addition to the `trajectory_rules` of a case or its session input",
            **DECLARATIONS,
        },
        source="M. B. Dwyer, G. S. Avrunin, J. C. Corbett, Patterns in property specifications (1999)",
    )

    def __init__(self, criterion: BaseCriterion | None = None) -> None:
        typed = check_criterion(self.facts, criterion, self.kind)
        self._declarations = read_declared_tools(self.facts.name, typed.declarations)
        self._common: list[Rule] = []
        if typed.rules is not None:
            reader = MatcherReader()
            self._common = read_rules(typed.rules, reader, "rules")
            if reader.problems:
                raise misfit(self.facts.name, reader.problems)
            self.facts = replace(self.facts, statement=prohibition)

    def applies(self, case: EvalCase) -> bool:
        """Return whether there is a rule for the case."""
        return bool(self._common) or find_extension(case, KEY) is not None

    def reason_not_applicable(self, case: EvalCase) -> str:
        """Return what the case lacks."""
        return NO_RULES

    def check(self, case: EvalCase) -> list[str]:
        """Return the problems of a case's rules."""
        reader = MatcherReader()
        rules = self._stated_by(case, reader)
        return [*reader.problems, *lookalike_problems(_names(rules), expected_names(case))]

    def survey(self) -> Survey:
        """Return the survey for names that are probably misspelled."""
        return NameSurvey(_names(self._common), lambda case: _names(self._stated_by(case)))

    def _stated_by(self, case: EvalCase, reader: MatcherReader | None = None) -> list[Rule]:
        """Return the rules of a case; the reader collects the problems."""
        reader = reader or MatcherReader()
        places = find_extensions(case, KEY)
        return [rule for place in places for rule in read_rules(place.value, reader, place.where)]

    def check_agent(self, case: EvalCase | None, described: AgentDeclaration) -> Iterable[str]:
        """Yield rules about calls that this agent can never make, according to its tool declarations."""
        rules = self._common if case is None else self._stated_by(case)
        guards = [guard for rule in rules for guard in rule.guards()]
        turns = (case and case.conversation) or ()
        return impossible_guards(guards, described, self._declarations, turns)

    def score(self, case: CaseView) -> MetricScore:
        """Check all rules."""
        rules = self._rules(case)
        if not rules:
            return MetricScore(reason=NO_RULES, not_applicable=True)
        calls = _calls(case, rules)
        breaches_by_rule = [breaches(rule, calls) for rule in rules]
        scores = [Score(_share_kept(breaches_by_rule, calls, turn)) for turn in range(len(case.turns))]
        if scores and (warning := self._warning(rules, case, calls)):
            scores[-1].warning = warning
        rules_kept = sum(not of_rule for of_rule in breaches_by_rule)
        reason = "; ".join(and_more(_sentences(rules, breaches_by_rule, calls)))
        return MetricScore(rules_kept / len(rules), scores, reason=reason or KEPT)

    def explain(self, case: CaseView, score: MetricScore, index: int) -> Explanation:
        """Return which calls of a turn break which rules."""
        rules = self._rules(case)
        calls = _calls(case, rules)
        breaches_by_rule = [
            [each for each in breaches(rule, calls) if calls[each.at].turn == index] for rule in rules
        ]
        steps: list[Drawn] = []
        broken = []
        for rule, of_rule in zip(rules, breaches_by_rule, strict=True):
            for breach in of_rule:
                steps += _drawn_steps(rule, calls[breach.at])
                broken.append(
                    {"rule": rule.describe(), "turn": index + 1, "call": calls[breach.at].index + 1}
                )
        reason = "; ".join(and_more(_sentences(rules, breaches_by_rule, calls)))
        details = {"alignment": merge_steps(steps), "broken": broken} if steps else None
        return Explanation(reason or KEPT, details, score.per_invocation[index].warning)

    def _warning(self, rules: Sequence[Rule], case: CaseView, calls: Sequence[ActualCall]) -> str:
        checks = Guards(case, calls, self._declarations)
        warning = checks.warning([guard for rule in rules for guard in rule.guards()])
        return warning or checks.unknown_tools(_patterns(rules))

    def _rules(self, case: CaseView) -> list[Rule]:
        if KEY not in (case.extra or {}):
            return self._common
        reader = MatcherReader()
        own = read_rules((case.extra or {})[KEY], reader, KEY)
        if reader.problems:
            raise MetricError(f"the case's rules cannot be read: {'; '.join(reader.problems)}")
        return [*own, *self._common]


def _share_kept(
    breaches_by_rule: Sequence[Sequence[Breach]], calls: Sequence[ActualCall], turn: int
) -> float:
    """Return the share of the rules that no call of a turn breaks."""
    rules_kept = sum(all(calls[each.at].turn != turn for each in of_rule) for of_rule in breaches_by_rule)
    return rules_kept / len(breaches_by_rule)


def _patterns(rules: Sequence[Rule]) -> list[CallPattern]:
    return [each for rule in rules for each in (rule.first, rule.second) if each is not None]


def _calls(case: CaseView, rules: Sequence[Rule]) -> list[ActualCall]:
    uses_responses = any(each.response is not None for each in _patterns(rules))
    return [*chain.from_iterable(calls_of(case, with_responses=uses_responses))]


def _sentences(
    rules: Sequence[Rule], breaches_by_rule: Sequence[Sequence[Breach]], calls: Sequence[ActualCall]
) -> list[str]:
    """Return one sentence for each broken rule, with the first call that breaks it."""
    sentences = []
    for rule, of_rule in zip(rules, breaches_by_rule, strict=True):
        if of_rule:
            more = f" (and {len(of_rule) - 1} more)" if len(of_rule) > 1 else ""
            sentences.append(f"{rule.describe()}: {_sentence(rule, of_rule[0], calls)}{more}")
    return sentences


def _sentence(rule: Rule, breach: Breach, calls: Sequence[ActualCall]) -> str:
    call = calls[breach.at]
    subject = _call_text(call)
    other = code_mark(rule.second.describe()) if rule.second else ""
    if rule.kind is RuleKind.AT_MOST:
        return f"{subject} is the {_ordinal(breach.count)} call"
    if rule.kind is RuleKind.ONLY_AFTER:
        return f"{subject} was not preceded by {other}{_same_arguments(rule, call)}"
    if rule.kind is RuleKind.IMPLIES_LATER:
        return f"{subject} was not followed by {other}{_same_arguments(rule, call)}"
    if breach.before is not None:
        return f"{subject} came before the first {_call_text(calls[breach.before])}"
    return f"{subject} is forbidden"


def _call_text(call: ActualCall) -> str:
    return f"{code_mark(show_call(call))} (turn {call.turn + 1}, call {call.index + 1})"


def _same_arguments(rule: Rule, call: ActualCall) -> str:
    """Return the arguments that the other call must have; or that the call lacks one, so that it has no partner."""
    arguments = []
    for one, other in rule.same:
        value = next(values_at(call.args or {}, one))
        if value is ABSENT:
            return f" (it has no {code_mark(show_path(one))})"
        arguments.append(f"{show_path(other)}={show_value(value)}")
    return f" with {', '.join(arguments)}" if arguments else ""


def _ordinal(number: int) -> str:
    endings = {1: "st", 2: "nd", 3: "rd"}
    return f"{number}{'th' if 10 < number % 100 < 14 else endings.get(number % 10, 'th')}"


def _drawn_steps(rule: Rule, call: ActualCall) -> list[Drawn]:
    """Return the call that breaks a rule, and the missing call that should follow it."""
    actual: dict[str, object] = {"index": call.index, "name": call.name, "args": call.args}
    place = (call.turn, call.index)
    if rule.kind is RuleKind.IMPLIES_LATER and rule.second is not None:
        matched: dict[str, object] = {
            "kind": "matched",
            "expected": {"name": call.name, "args": call.args},
            "actual": actual,
        }
        missing: dict[str, object] = {
            "kind": "missing",
            "expected": _required_follower(rule, rule.second, call),
            "actual": None,
        }
        return [Drawn(matched, place), Drawn(missing, None)]
    return [Drawn({"kind": "extra", "expected": None, "actual": actual}, place)]


def _names(rules: Iterable[Rule]) -> Iterator[tuple[str, str]]:
    """Yield the tools without which nothing can break a rule, each with its place."""
    return (name for rule in rules for guard in rule.guards() for name in guard.tool_names())


def _required_follower(rule: Rule, second: CallPattern, call: ActualCall) -> dict[str, object]:
    """Return the call that should have followed, with the arguments that must be the same."""
    same = {show_path(other): next(values_at(call.args or {}, one)) for one, other in rule.same}
    known = {name: value for name, value in same.items() if value is not ABSENT}
    return {"name": second.name, "args": {**second.argument_sources, **known}}
