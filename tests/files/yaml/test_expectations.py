"""Expectations and rules in YAML: the JSON of the metrics, with calls as text."""

from pathlib import Path
from typing import Any

import pytest
import yaml

import proctor
from proctor.errors import SetupError
from proctor.files.eval_sets.source import load_eval_set
from proctor.files.yaml.writer import write_yaml
from proctor.metrics.expectations.tool_expectations import ToolExpectations
from proctor.metrics.rules.trajectory_rules import TrajectoryRules

CASE = """
- ask: Book a table.
  expectations:
    calls:
      - search
      - {tool: log, optional: true}
      - any_of:
          - book(covers=2, time=19:00)
          - [hold(id=7), book()]
      - any_order: [ping(a=1, b=2), pong()]
      - tool: pay(amount=5)
        at_most: 2
      - tool: mail
        args: {to: {$match: regex, pattern: '@'}}
    forbidden: [cancel, refund(order=1)]
    limits:
      - {tool: search, at_most: 3}
  rules:
    - never: drop(table=users)
    - call: pay
      only_after: book()
      same: {order: id}
"""
READ = {
    "expectations": {
        "calls": [
            "search",
            {"tool": "log", "optional": True},
            {
                "any_of": [
                    {"tool": "book", "args": {"covers": 2, "time": "19:00"}},
                    [{"tool": "hold", "args": {"id": 7}}, {"tool": "book", "args": {}}],
                ]
            },
            {"any_order": [{"tool": "ping", "args": {"a": 1, "b": 2}}, {"tool": "pong", "args": {}}]},
            {"tool": "pay", "args": {"amount": 5}, "at_most": 2},
            {"tool": "mail", "args": {"to": {"$match": "regex", "pattern": "@"}}},
        ],
        "forbidden": ["cancel", {"tool": "refund", "args": {"order": 1}}],
        "limits": [{"tool": "search", "at_most": 3}],
    },
    "trajectory_rules": [
        {"never": {"tool": "drop", "args": {"table": "users"}}},
        {"call": "pay", "only_after": {"tool": "book", "args": {}}, "same": {"order": "id"}},
    ],
}


def read(text: str, tmp_path: Path) -> Any:
    path = tmp_path / "a.evalset.yaml"
    path.write_text(text, encoding="utf-8")
    return load_eval_set(path)


def test_calls_are_read_as_text(tmp_path: Path) -> None:
    case = read(CASE, tmp_path).eval_cases[0]
    assert case.model_extra == READ
    assert [*ToolExpectations().check(case), *TrajectoryRules().check(case)] == []


def test_what_is_written_reads_as_the_same(tmp_path: Path) -> None:
    eval_set = read(CASE, tmp_path)
    text = write_yaml(eval_set)
    assert "extra" not in yaml.safe_load(text)["cases"][0]
    assert read(text, tmp_path) == eval_set


@pytest.mark.parametrize(
    ("key", "slip", "problem"),
    [
        ("expectations", "{calls: ['a(b']}", "a.evalset.yaml:2"),
        ("expectations", "", "`expectations:` has no value"),
        ("rules", "", "`rules:` has no value"),
        ("rules", "{never: a}", "expected a list of rules"),
        ("expectation", "{calls: []}", "did you mean `expectations`?"),
        ("rules", "[{never: 'a(1)'}]", "a.evalset.yaml:2"),
    ],
)
def test_typo_is_reported_with_its_location(key: str, slip: str, problem: str, tmp_path: Path) -> None:
    with pytest.raises(SetupError) as caught:
        read(f"- ask: q\n  {key}: {slip}\n", tmp_path)
    assert problem in str(caught.value)


def test_a_yaml_case_is_judged_by_them(tmp_path: Path) -> None:
    def agent(text: str, session: proctor.Session) -> Any:
        session.state["done"] = True
        call = {"function_call": {"name": "ping", "args": {"n": 1}}}
        yield proctor.Event.model_validate({"author": "x", "content": {"role": "model", "parts": [call]}})
        yield "done"

    text = "- ask: q\n  tools: [ping(n=1)]\n  expectations: {calls: [ping(n=%s)]}\n  rules: [{never: ping(n=2)}]\n"
    config = {"criteria": {"tool_expectations": 1, "trajectory_rules": 1}}
    for number, passed in [(1, True), (2, False)]:
        path = tmp_path / "a.evalset.yaml"
        path.write_text(text % number, encoding="utf-8")
        result = proctor.evaluate_sync(agent, path, config=config)
        assert result.passed == passed
