"""Invalid matchers are reported with the location and a suggestion."""

from typing import Any

import pytest

from proctor.errors import CriterionError
from proctor.metrics.final_session_state import FinalSessionState
from proctor.metrics.matchers.parse import KINDS, MatcherReader
from proctor.metrics.trajectory.agentevals_relations import Superset
from proctor.metrics.trajectory.tool_trajectory import ToolTrajectory
from proctor.schema.format.case import EvalCase
from proctor.schema.format.criterion import BaseCriterion


@pytest.mark.parametrize(
    ("spec", "problem"),
    [
        ({"$match": "regx"}, "Did you mean 'regex'"),
        ({"$match": 5}, "got 5"),
        ({"$match": ["text"]}, "got"),
        ({"$match": {}}, "got {}"),
        ({"$match": "regex", "pattern": "("}, "is not a regular expression"),
        ({"$match": "regex"}, "`pattern` must be a regular expression"),
        ({"$match": "regex", "pattern": "a*"}, "is found in every text"),
        ({"$match": "regex", "pattern": "a", "patern": "b"}, "Did you mean 'pattern'"),
        ({"$match": "regex", "pattern": "a", "full": "yes"}, "`full` must be true or false"),
        ({"$match": "number", "value": 5}, "needs `tolerance`, `relative`"),
        ({"$match": "number", "value": 5, "tolerance": -1}, "from 0, got -1"),
        ({"$match": "number", "value": 5, "tolerance": True}, "from 0, got true"),
        ({"$match": "number", "value": "five", "tolerance": 1}, "`value` must be a number"),
        ({"$match": "number", "tolerance": 1}, "needs a `value`"),
        ({"$match": "number", "value": 5, "relative": 5}, "a share below 1 (0.05 is 5 %), got 5"),
        ({"$match": "number", "value": 5, "tolerance": float("inf")}, "must be a number from 0"),
        ({"$match": "date", "value": "19:00", "timezone": "+99:99"}, "no time zone '+99:99'"),
        ({"$match": "text"}, "needs a `value`"),
        ({"$match": "text", "value": 5}, "`value` must be a text"),
        ({"$match": "text", "value": "a", "spaces": "drop"}, '"collapse" or "remove"'),
        ({"$match": "set", "value": 5}, "`value` must be a list"),
        ({"$match": "json", "value": "{1", "parse": True}, "`value` is not JSON"),
        *(
            ({"$match": "regex", "pattern": each}, "is found in every text")
            for each in ("^", "$", "", "()", "a*$")
        ),
        ({"$match": "regex", "pattern": ".*", "full": True}, "matches any text as a whole"),
        ({"$match": "regex", "pattern": "$5"}, "can match no text at all"),
        ({"$match": "date", "value": "soon"}, "`value` must be a date or time"),
        ({"$match": "date", "value": "19:00", "part": "day"}, '"date" or "time"'),
        ({"$match": "date", "value": "19:00", "part": "date"}, "`value` must be a date or time"),
        ({"$match": "date", "value": "19:00", "timezone": "Rome"}, "no time zone 'Rome'"),
        ({"$match": "date", "value": "2024-05-01", "formats": "day"}, "is not a format"),
        ({"$match": "one_of", "values": []}, "at least one value"),
        ({"$match": "one_of", "values": [{"$match": "regex", "pattern": "["}]}, "x.values[0]"),
        ({"$match": "ignore", "value": 5}, "'ignore' has no option 'value'"),
        ({"a": [1, {"$match": "txt", "value": "a"}]}, "x.a[1]"),
        ({"$match": "subset", "value": {"a": {"$match": "ignore"}}}, "cannot contain another matcher"),
        *(
            ({"$match": "regex", "pattern": each}, "matches any text that is not empty")
            for each in (
                r"[\w\W]",
                r"\w|\W",
                "(?s).",
                ".|\n",
                r"\d|\D",
                r"\s|\S",
                "(?s).+",
                r"[^\x00]",
                "[^~]",
                "[^a]",
            )
        ),
        ({"$match": "regex", "pattern": "as an ai\\\\b"}, "looks for a backslash or a control character"),
        ({"$match": "regex", "pattern": "as an ai\b"}, "looks for a backslash or a control character"),
        ({"$match": "subset", "value": {}}, "accepts every value, so that it cannot fail"),
        ({"$match": "subset", "value": []}, "accepts every value, so that it cannot fail"),
        ({"$match": "number", "value": 5, "tolerance": 1e308}, "accepts every value, so that it cannot fail"),
        (
            {"$match": "date", "value": "2024-05-01", "within": 1e12},
            "accepts every value, so that it cannot fail",
        ),
        ({"$match": "one_of", "values": [1, {"$match": "subset", "value": {}}]}, "x.values[1]"),
        ({"a": [{"$match": "subset", "value": {}}]}, "x.a[0]"),
    ],
    ids=repr,
)
def test_typo_is_reported(spec: Any, problem: str) -> None:
    reader = MatcherReader()
    reader.template(spec, "x")
    assert problem in "; ".join(reader.problems)
    assert all(each.startswith("x") for each in reader.problems)


@pytest.mark.parametrize("pattern", [".", ".+", r"\S", r"^[^~]*$"])
def test_a_pattern_for_an_argument_may_ask_for_a_text_that_is_not_blank(pattern: str) -> None:
    reader = MatcherReader()
    reader.template({"$match": "regex", "pattern": pattern}, "x")
    assert reader.problems == []


def test_all_slips_come_at_once() -> None:
    reader = MatcherReader()
    reader.template({"a": {"$match": "regx"}, "b": {"$match": "number", "value": 1, "tol": 2}}, "x")
    assert len(reader.problems) == 3


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_read_from_a_criterion_by_its_name(kind: str) -> None:
    some: dict[str, Any] = {"regex": {"pattern": "a"}, "number": {"tolerance": 1}, "one_of": {"values": [1]}}
    options = some.get(kind, {})
    spec: Any = {"match": kind, **options} if options else kind
    ToolTrajectory(BaseCriterion(threshold=1, arguments={"*": {"a": spec}}))
    FinalSessionState(BaseCriterion(threshold=1, state={"a": spec}))


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"arguments": {}}, "expected {tool: {argument: matcher}}, got {}"),
        ({"arguments": {"f": "ignore"}}, 'arguments.f: expected {name: matcher}, got "ignore"'),
        ({"arguments": {"f": {"a": "ignroe"}}}, "Did you mean 'ignore'"),
        ({"arguments": {"f": {"a[x]": "ignore"}}}, "is not a path"),
        ({"arguments": {"f": {"a..b": "ignore"}}}, "is not a path"),
        (
            {"arguments": {"f": {"a": "ignore", "a.b[0]": "present"}}},
            "`a.b[0]` would not be used, because `a` has",
        ),
        ({"arguments": {"f": {"a": "ignore"}}, "ignore_args": True}, "use only one of the two"),
        ({"argument": {"f": {"a": "ignore"}}}, "Did you mean 'arguments'"),
    ],
    ids=repr,
)
def test_a_criterion_that_cannot_be_meant_is_refused(options: dict[str, Any], problem: str) -> None:
    for metric in (ToolTrajectory, Superset):
        with pytest.raises(CriterionError) as caught:
            metric(BaseCriterion(threshold=1, **options))
        assert problem in str(caught.value)


def test_two_forms_of_argument_comparison_at_once_are_refused() -> None:
    with pytest.raises(CriterionError, match="leave `args` and `tool_args` out"):
        Superset(BaseCriterion(threshold=1, args="ignore", arguments={"f": {"a": "text"}}))


def test_case_is_checked_before_it_runs() -> None:
    case = EvalCase(eval_id="c", conversation=[], final_session_state={"n": {"$match": "numbr", "value": 1}})
    assert "Did you mean 'number'" in FinalSessionState().check(case)[0]
    assert (
        FinalSessionState().check(EvalCase(eval_id="c", conversation=[], final_session_state={"n": 1})) == []
    )


@pytest.mark.parametrize("key", ["$mach", "$Match", "$MATCH", "$macth"])
def test_typo_of_match_is_not_a_plain_value(key: str) -> None:
    reader = MatcherReader()
    reader.template({"deep": [{key: "ignore"}]}, "args")
    (problem,) = reader.problems
    assert key in problem
    assert "Did you mean '$match'?" in problem


@pytest.mark.parametrize("key", ["$ref", "$schema", "match", "$", "$price"])
def test_other_keys_are_values_as_they_are(key: str) -> None:
    reader = MatcherReader()
    reader.template({key: "ignore"}, "args")
    assert not reader.problems
