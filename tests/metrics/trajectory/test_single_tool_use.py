"""`trajectory_single_tool_use`: was the tool called?"""

import json
from typing import Any

import pytest
from click.testing import CliRunner

from proctor.cli.tools.metrics import metrics
from proctor.errors import CriterionError
from proctor.metrics.trajectory.single_tool_use import ELSEWHERE, SingleToolUse
from proctor.schema.format.criterion import BaseCriterion
from tests.metrics.invocations import turn, view


def metric(**options: Any) -> SingleToolUse:
    return SingleToolUse(BaseCriterion.model_validate({"threshold": 1.0, "tool_name": "f", **options}))


def made(*turns: str) -> Any:
    return view([turn(calls=[(name, {}) for name in each]) for each in turns])


@pytest.mark.parametrize(
    ("turns", "called", "value", "per_turn"),
    [
        ("all", ["f"], 1.0, [1]),
        ("all", ["gfg", "ff"], 1.0, [1, 1]),
        ("all", ["f", "g"], 0.5, [1, 0]),
        ("all", [""], 0.0, [0]),
        ("any", ["g", "f", ""], 1.0, [None, 1, None]),
        ("any", ["g", ""], 0.0, [0, 0]),
        ("last", ["f", "g"], 0.0, [None, 0]),
        ("last", ["g", "f"], 1.0, [None, 1]),
    ],
)
def test_values(turns: str, called: list[str], value: float, per_turn: list[float | None]) -> None:
    score = metric(turns=turns).score(made(*called))
    assert score.value == value
    assert [each.value for each in score.per_invocation] == per_turn


@pytest.mark.parametrize(
    ("turns", "called", "index", "reason"),
    [
        ("all", ["f"], 0, "`f` was called"),
        ("all", [""], 0, "`f` was not called; no tool was"),
        ("all", ["ggh"], 0, "`f` was not called; what was called: `g`, `h`"),
        ("any", ["g", "f"], 0, ELSEWHERE),
        ("last", ["g", "f"], 0, "only the last turn is scored"),
    ],
)
def test_reasons(turns: str, called: list[str], index: int, reason: str) -> None:
    measure, case = metric(turns=turns), made(*called)
    assert measure.explain(case, measure.score(case), index).reason == reason


def test_it_needs_nothing_recorded() -> None:
    assert "expected" not in SingleToolUse.facts.needs


@pytest.mark.parametrize("name", [None, ""])
def test_the_tool_must_be_named(name: str | None) -> None:
    with pytest.raises(CriterionError, match=r'tool_name: expected a value, as in \{"trajectory_single'):
        metric(tool_name=name)


def test_missing_criterion_gives_no_tool() -> None:
    with pytest.raises(CriterionError, match="tool_name"):
        SingleToolUse()


@pytest.mark.parametrize(
    ("options", "message"), [({"toolname": "f"}, "Did you mean 'tool_name'"), ({"turns": "some"}, "turns: ")]
)
def test_misspelled(options: dict[str, Any], message: str) -> None:
    with pytest.raises(CriterionError, match=message):
        metric(**options)


def test_the_sample_of_the_command_line_is_a_criterion_that_works() -> None:
    output = CliRunner().invoke(metrics, ["trajectory_single_tool_use"]).output
    sample, _ = json.JSONDecoder().raw_decode(output.partition("in a config")[2].strip())
    criterion = sample["criteria"]["trajectory_single_tool_use"]
    assert SingleToolUse(BaseCriterion.model_validate(criterion)).score(made("f")).value == 0.0
