"""`trajectory_rules`: equal to the rules written out quantifier by quantifier, and the step that broke one is named."""

from typing import Any

import pytest
from hypothesis import assume, given, settings, strategies as st

from proctor.common.json_values import equal_json
from proctor.errors import CriterionError, MetricError
from proctor.metrics.expectations.call_patterns import ActualCall
from proctor.metrics.matchers.parse import MatcherReader
from proctor.metrics.rules.rule import breaches, read_rules
from proctor.metrics.rules.trajectory_rules import TrajectoryRules
from proctor.schema.format.case import EvalCase
from proctor.schema.format.criterion import BaseCriterion
from tests.metrics.invocations import Calls, turn, view

# --- the oracle ----------------------------------------------------------------------------------------------------------

VALUES: list[Any] = [1, 1.0, True, "a", None, [1], {"x": 1}]
ARGS = st.dictionaries(st.sampled_from(["k", "m"]), st.sampled_from(VALUES), max_size=2)
CALLS = st.lists(st.builds(ActualCall, st.sampled_from("abc"), ARGS), max_size=7)
MEANT: st.SearchStrategy[Any] = st.sampled_from(
    ["a", "b", "*", {"tool": ["a", "b"]}, {"tool": "a", "args": {"k": 1}}, {"tool": "b", "args": {"k": {"$match": "present"}}}]
)  # fmt: skip
SAME = st.sampled_from([None, "k", ["k", "m"], {"k": "m"}])
RULES = st.one_of(
    st.builds(lambda a: {"never": a}, MEANT),
    st.builds(lambda a, n, s: {"call": a, "at_most": n, **s}, MEANT, st.integers(0, 3),
              st.sampled_from([{}, {"same": "k"}, {"same": ["k", "m"]}])),
    st.builds(lambda a, b, s: {"call": a, "only_after": b, **s}, MEANT, MEANT, SAME.map(lambda s: {"same": s} if s else {})),
    st.builds(lambda a, b, s: {"call": a, "implies_later": b, **s}, MEANT, MEANT, SAME.map(lambda s: {"same": s} if s else {})),
    st.builds(lambda a, b, s: {"no": a, "before": b, **s}, MEANT, MEANT, SAME.map(lambda s: {"same": s} if s else {})),
)  # fmt: skip
NOTHING = object()


def means(pattern: Any, call: ActualCall) -> bool:
    """Read a call of a rule by hand: other arguments may be there."""
    if isinstance(pattern, str):
        return pattern in ("*", call.name)
    for name, value in pattern.get("args", {}).items():
        if name not in (call.args or {}):
            return False
        if value != {"$match": "present"} and not equal_json(value, (call.args or {})[name]):
            return False
    return call.name in pattern["tool"]


def goes_with(rule: dict[str, Any], one: ActualCall, other: ActualCall, *, lacking: bool) -> bool:
    """`lacking`: whether what both lack counts as the same."""
    same = rule.get("same", {})
    pairs = (
        {same: same} if isinstance(same, str) else same if isinstance(same, dict) else {s: s for s in same}
    )
    for mine, theirs in pairs.items():
        left, right = (one.args or {}).get(mine, NOTHING), (other.args or {}).get(theirs, NOTHING)
        if left is NOTHING or right is NOTHING:
            if not (lacking and left is right):
                return False
        elif not equal_json(left, right):
            return False
    return True


def broken_at(rule: dict[str, Any], calls: list[ActualCall]) -> list[int]:
    """The calls that break the rule, by the definition."""
    n = range(len(calls))
    first = [means(rule.get("never", rule.get("no", rule.get("call"))), call) for call in calls]
    if "never" in rule:
        return [i for i in n if first[i]]
    if "at_most" in rule:
        return [
            i for i in n
            if first[i]
            and sum(first[j] and goes_with(rule, calls[i], calls[j], lacking=True) for j in n if j <= i) > rule["at_most"]
        ]  # fmt: skip
    second = [
        means(rule.get("only_after", rule.get("implies_later", rule.get("before"))), call) for call in calls
    ]
    if "only_after" in rule:
        return [
            i for i in n
            if first[i] and not any(second[j] and goes_with(rule, calls[i], calls[j], lacking=False) for j in n if j < i)
        ]  # fmt: skip
    if "implies_later" in rule:
        return [
            i for i in n
            if first[i] and not any(second[j] and goes_with(rule, calls[i], calls[j], lacking=False) for j in n if j > i)
        ]  # fmt: skip
    return [
        i for i in n
        if first[i]
        and any(second[j] and goes_with(rule, calls[i], calls[j], lacking=True) for j in n if j > i)
        and not any(second[k] and goes_with(rule, calls[i], calls[k], lacking=True) for k in n if k <= i)
    ]  # fmt: skip


@pytest.mark.nightly
@settings(max_examples=600)
@given(RULES, CALLS)
def test_the_calls_that_break_a_rule_are_those_of_its_definition(
    rule: dict[str, Any], calls: list[ActualCall]
) -> None:
    reader = MatcherReader()
    [read] = read_rules([rule], reader, "rules")
    if reader.problems:  # what nothing could break is refused
        assert broken_at(rule, calls) == []
        return
    assert [each.at for each in breaches(read, calls)] == broken_at(rule, calls)


@given(st.lists(RULES, min_size=1, max_size=3), st.lists(CALLS, min_size=1, max_size=3))
def test_the_score_is_the_share_of_rules_that_are_kept(
    rules: list[Any], turns: list[list[ActualCall]]
) -> None:
    case = view([turn("x", [(call.name, call.args) for call in calls]) for calls in turns])
    reader = MatcherReader()
    read_rules(rules, reader, "rules")
    assume(not reader.problems)
    metric = TrajectoryRules(BaseCriterion(threshold=1, rules=rules))
    found = metric.score(case)
    every = [call for calls in turns for call in calls]
    kept = [not broken_at(rule, every) for rule in rules]
    assert found.value == sum(kept) / len(rules)
    turn_values = [each.value for each in found.per_invocation]
    assert (found.value == 1) == all(value == 1 for value in turn_values)
    for index, value in enumerate(turn_values):
        explanation = metric.explain(case, found, index)
        assert bool(explanation.details) == (value != 1)
        assert (explanation.reason == "every rule is kept") == (value == 1)


# --- by hand -------------------------------------------------------------------------------------------------------------


def check(rules: Any, *turns: Calls) -> Any:
    return TrajectoryRules(BaseCriterion(threshold=1, rules=rules)).score(
        view([turn("x", calls) for calls in turns])
    )


S, B, P = ("search", {"q": "a"}), ("book", {"id": 1}), ("pay", {"order": 1})


@pytest.mark.parametrize(
    ("rule", "turns", "reason"),
    [
        ({"never": "pay"}, [[S, B]], "every rule is kept"),
        ({"never": "pay"}, [[S], [B, P]], "never pay: `pay(order=1)` (turn 2, call 2) is forbidden"),
        (
            {"call": "pay", "at_most": 1},
            [[P], [P, P]],
            "pay at most once: `pay(order=1)` (turn 2, call 1) is the 2nd call (and 1 more)",
        ),
        ({"call": "pay", "at_most": 1, "same": "order"}, [[P, ("pay", {"order": 2})]], "every rule is kept"),
        (
            {"call": "pay", "only_after": "book", "same": {"order": "id"}},
            [[B], [P]],
            "every rule is kept",
        ),
        (
            {"call": "pay", "only_after": "book", "same": {"order": "id"}},
            [[B, ("pay", {"order": 2})]],
            ("pay only after book with the same order (as id): `pay(order=2)` (turn 1, call 2) "
            "was not preceded by `book` with id=2"),
        ),
        (
            {"call": "book", "implies_later": "pay", "name": "money"},
            [[B, P, B]],
            "money (book implies pay later): `book(id=1)` (turn 1, call 3) was not followed by `pay`",
        ),
        (
            {"no": "pay", "before": "book"},
            [[P], [B]],
            ("no pay before book: `pay(order=1)` (turn 1, call 1) came before the first `book(id=1)` "
            "(turn 2, call 1)"),
        ),
        ({"no": "pay", "before": "book"}, [[P]], "every rule is kept"),  # a call of book is missing
        ({"no": "pay", "before": "book"}, [[B, P, B]], "every rule is kept"),  # only the first book counts
        ({"call": "pay", "only_after": "book"}, [[P]], ("pay only after book: `pay(order=1)` (turn 1, call 1) "
         "was not preceded by `book`")),
        (
            {"never": {"tool": "pay", "args": {"order": {"$match": "number", "value": 0, "tolerance": 1}}}},
            [[P]],
            "never pay(order=0 ± 1, …): `pay(order=1)` (turn 1, call 1) is forbidden",
        ),
    ],
    ids=repr,
)  # fmt: skip
def test_table(rule: Any, turns: list[Calls], reason: str) -> None:
    found = check([rule], *turns)
    assert (found.reason, found.value) == (reason, 1.0 if reason == "every rule is kept" else 0.0)


def test_the_turn_of_the_step_that_broke_a_rule_shows_it() -> None:
    metric = TrajectoryRules(BaseCriterion(threshold=1, rules=[{"call": "book", "implies_later": "pay"}]))
    case = view([turn("x", [S]), turn("x", [B])])
    found = metric.score(case)
    assert [each.value for each in found.per_invocation] == [1.0, 0.0]
    explanation = metric.explain(case, found, 1)
    assert explanation.details == {
        "alignment": [
            {
                "kind": "matched",
                "expected": {"name": "book", "args": {"id": 1}},
                "actual": {"index": 0, "name": "book", "args": {"id": 1}},
            },
            {"kind": "missing", "expected": {"name": "pay", "args": {}}, "actual": None},
        ],
        "broken": [{"rule": "book implies pay later", "turn": 2, "call": 1}],
    }


def test_a_name_that_nothing_knows_is_warned_about() -> None:
    found = check([{"never": "serach"}], [S])
    assert found.value == 1
    assert "'serach' (Did you mean 'search'?)" in found.per_invocation[-1].warning
    assert check([{"never": "search"}], [S]).per_invocation[-1].warning == ""


def test_case_may_have_separate_rules() -> None:
    case = EvalCase.model_validate({"eval_id": "c", "conversation": [], "trajectory_rules": [{"never": "a"}]})
    metric = TrajectoryRules()
    assert metric.applies(case)
    assert metric.check(case) == []
    assert metric.score(view([turn("x", [("a", {})])], extra=case.model_extra)).value == 0
    assert not metric.applies(EvalCase(eval_id="c", conversation=[]))
    assert metric.score(view([turn("x", [])])).not_applicable


def test_rules_of_a_case_that_cannot_be_read_are_an_error() -> None:
    case = EvalCase.model_validate({"eval_id": "c", "conversation": [], "trajectory_rules": [{"nevr": "a"}]})
    assert "Did you mean 'never'" in TrajectoryRules().check(case)[0]
    with pytest.raises(MetricError, match="cannot be read"):
        TrajectoryRules().score(view([turn("x", [])], extra=case.model_extra))


@pytest.mark.parametrize(
    ("rules", "problem"),
    [
        ([], "expected a list of rules"),
        ({"never": "a"}, "expected a list of rules"),
        (["never a"], "expected a rule"),
        ([{"nevr": "a"}], "Did you mean 'never'"),
        ([{"call": "a"}], "the rule has no kind"),
        ([{"call": "a", "at_most": 1, "only_after": "b"}], "has `at_most` and `only_after`"),
        ([{"at_most": 1}], "also needs `call`"),
        ([{"never": "a", "same": "x"}], "`never` has no key 'same'"),
        ([{"call": "a", "at_most": "1"}], "expected a whole number"),
        ([{"call": "a", "at_most": True}], "expected a whole number"),
        ([{"call": "a", "at_most": 1, "same": {"x": "y"}}], "expected the name of an argument"),
        ([{"call": "a", "only_after": "b", "same": []}], "expected the name of an argument"),
        ([{"call": "a", "only_after": "b", "same": "l[*].id"}], "does not name a single value"),
        ([{"never": {"tool": "a", "arg": {}}}], "Did you mean 'args'"),
        ([{"never": {"args": {}}}], "`tool` must be"),
        ([{"never": "a(b=1)"}], "is not a tool's name"),
        ([{"never": {"tool": "a", "args": None}}], "`args` is null"),
        ([{"never": {"tool": "a", "other_args": "allowed"}}], "has no effect without `args`"),
        (
            [{"never": {"tool": "a", "args": {"b": {"$match": "regex", "pattern": "["}}}}],
            "rules[0].never.args.b",
        ),
    ],
    ids=repr,
)
def test_a_slip_is_a_set_up_error(rules: Any, problem: str) -> None:
    with pytest.raises(CriterionError) as caught:
        TrajectoryRules(BaseCriterion(threshold=1, rules=rules))
    assert problem in str(caught.value)


def test_a_call_that_breaks_several_rules_is_drawn_once() -> None:
    metric = TrajectoryRules(BaseCriterion(threshold=1.0, rules=[{"never": "a"}, {"call": "a", "at_most": 0}, {"call": "a", "implies_later": "b"}]))  # fmt: skip
    case = view([turn("x", [("a", {})])])
    steps = (metric.explain(case, metric.score(case), 0).details or {})["alignment"]
    assert [(step["kind"], (step["actual"] or step["expected"])["name"]) for step in steps] == [("extra", "a"), ("missing", "b")]  # fmt: skip


@pytest.mark.parametrize(
    "rules", [[{}], [{"call": "a"}], [{"nevr": "a"}], [7], [{"never": "a", "at_most": 1}]], ids=repr
)
def test_a_message_about_a_rule_has_one_full_stop_at_its_end(rules: Any) -> None:
    with pytest.raises(CriterionError) as caught:
        TrajectoryRules(BaseCriterion(threshold=1.0, rules=rules))
    assert ".." not in str(caught.value)
    assert str(caught.value)[-1] in ".?"
    assert "?." not in str(caught.value)


@pytest.mark.parametrize(
    ("args", "message", "awaited"),
    [
        ({"path": "x"}, 'was not followed by `close(how=1, …)` with file="x"', {"how": 1, "file": "x"}),
        ({}, "was not followed by `close(how=1, …)` (it has no `path`)", {"how": 1}),
    ],
)
def test_expected_call_is_shown_at_the_step(args: Any, message: str, awaited: dict[str, Any]) -> None:
    rule = {"call": "open", "implies_later": {"tool": "close", "args": {"how": 1}}, "same": {"path": "file"}}
    metric = TrajectoryRules(BaseCriterion.model_validate({"threshold": 1, "rules": [rule]}))
    case = view([turn("x", [("open", args)])])
    explanation = metric.explain(case, metric.score(case), 0)
    assert message in explanation.reason
    step, missing = (explanation.details or {})["alignment"]
    assert (step["kind"], step["actual"]["name"]) == ("matched", "open")
    assert (missing["kind"], missing["expected"]) == ("missing", {"name": "close", "args": awaited})
