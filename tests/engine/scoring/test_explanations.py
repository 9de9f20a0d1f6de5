"""Explanations of a turn's score are computed only for a reader or a failure."""

from typing import Any

import pytest

import proctor
from proctor.metrics.trajectory.tool_trajectory import ToolTrajectory
from proctor.schema.results.score import Explanation

ASKED: list[int] = []


@pytest.fixture(autouse=True)
def asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """The turns that were asked about, of the metric that everybody uses."""
    ASKED.clear()
    explain = ToolTrajectory.explain

    def noted(self: Any, case: Any, score: Any, index: int) -> Explanation:
        ASKED.append(index)
        return explain(self, case, score, index)

    monkeypatch.setattr(ToolTrajectory, "explain", noted)


def agent(text: str) -> Any:
    return "ok"


def case(*tools: list[str]) -> dict[str, Any]:
    turns = [
        {
            "user_content": {"parts": [{"text": "q"}]},
            "intermediate_data": {"tool_uses": [{"name": name, "args": {}} for name in names]},
        }
        for names in tools
    ]
    return {"eval_set_id": "s", "eval_cases": [{"eval_id": "a", "conversation": turns}]}


CONFIG = {"criteria": {"tool_trajectory_avg_score": 1.0}}


@pytest.mark.parametrize(
    ("tools", "options", "turns"),
    [
        ([[], []], {}, []),
        ([[], ["search"]], {}, [1]),
        ([["search"], [], ["book"]], {}, [0, 2]),
        ([[], []], {"explain": "all"}, [0, 1]),
    ],
    ids=["all passed", "one failed", "two of three failed", "asked for"],
)
def test_in_a_run(tools: list[list[str]], options: dict[str, Any], turns: list[int]) -> None:
    result = proctor.evaluate_sync(agent, case(*tools), config=CONFIG, **options)
    assert (result.passed, ASKED) == (not any(tools), turns)


def test_by_hand_everything_is_shown() -> None:
    proctor.score_sync(["search"], ["search"], criteria={"tool_trajectory_avg_score": 1.0})
    assert ASKED == [0]


def test_of_a_combination_its_parts_are_asked_where_it_fails() -> None:
    part = {"tool_trajectory_avg_score": {"threshold": 0.1, "gate": False}}
    weights = {"tool_trajectory_avg_score": 1}
    for threshold, turns in ((0.4, []), (0.9, [1])):
        ASKED.clear()
        config = {"criteria": {"weighted": {"threshold": threshold, "weights": weights}, **part}}
        result = proctor.evaluate_sync(agent, case([], ["search"]), config=config)
        assert (result.passed, sorted({*ASKED})) == (not turns, turns)
