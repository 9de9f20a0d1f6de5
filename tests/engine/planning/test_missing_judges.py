"""A judge that cannot be asked: one message names all metrics that ask it, and what to do."""

import pytest

from proctor.engine.planning.criteria import bind
from proctor.engine.run_options import RunOptions
from proctor.errors import SetupError
from proctor.judges.pool import RunJudges
from proctor.models.base import ChatModel
from proctor.models.retries import Limiter
from proctor.schema.format.config import EvalConfig

OWN = {"threshold": 0.5, "judge_model_options": {"judge_model": "own"}}
OWN_IN_CAMEL_CASE = {"threshold": 0.5, "judgeModelOptions": {"judgeModel": "own"}}


def find(name: str, limiter: Limiter) -> ChatModel:
    """Refuse every model, as without a key."""
    del limiter
    raise SetupError(f"The model {name} cannot be asked: no key.")


@pytest.mark.parametrize(
    ("criteria", "messages"),
    [
        pytest.param(
            {"safety_v1": 0.8, "response_match_score": 0.8, "hallucinations_v1": {"threshold": 0.5}},
            ["The model default cannot be asked: no key. `--judge` names another model, `--no-judge` (of an audit: no `--judge`) leaves out safety_v1, hallucinations_v1"],
            id="the model of the run",
        ),
        pytest.param(
            {"hallucinations_v1": OWN},
            ["The model own cannot be asked: no key. `judge_model` in the config names another model, `--no-judge` (of an audit: no `--judge`) leaves out hallucinations_v1"],
            id="the model of the criterion",
        ),
        pytest.param(
            {"safety_v1": 0.8, "hallucinations_v1": OWN_IN_CAMEL_CASE},
            [
                "The model default cannot be asked: no key. `--judge` names another model, `--no-judge` (of an audit: no `--judge`) leaves out safety_v1",
                "The model own cannot be asked: no key. `judge_model` in the config names another model, `--no-judge` (of an audit: no `--judge`) leaves out hallucinations_v1",
            ],
            id="two models",
        ),
    ],
)  # fmt: skip
def test_one_message_for_each_judge(criteria: dict[str, object], messages: list[str]) -> None:
    config = EvalConfig.model_validate({"criteria": criteria})

    problems = bind(config, RunOptions(judges=RunJudges(find=find, default="default"))).problems

    assert [str(problem) for problem in problems] == messages
    assert problems[0].path == ("criteria", next(iter(criteria)))
    assert not any(problem.is_mistake for problem in problems)
