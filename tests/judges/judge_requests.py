"""Questions and judges for tests."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from proctor.common.prompts import Prompt
from proctor.judges.base import AnswerForm, Ballot, Passage, Question, UnusableAnswerError
from proctor.judges.pool import RunJudges
from proctor.models.base import ChatModel
from proctor.models.retries import Limiter
from proctor.models.scripted import ScriptedModel
from proctor.schema.format.criterion import JudgeModelOptions

SCHEMA = {
    "type": "object",
    "properties": {"rationale": {"type": "string"}, "verdict": {"type": "string", "enum": ["yes", "no"]}},
    "required": ["rationale", "verdict"],
    "additionalProperties": False,
}
YES = {"rationale": "it does", "verdict": "yes"}
NO = {"rationale": "it does not", "verdict": "no"}


def _read(answer: Any) -> bool:
    if answer["rationale"] == "not plain":
        raise UnusableAnswerError("the rationale is not plain")
    return bool(answer["verdict"] == "yes")


FORM: AnswerForm[bool] = AnswerForm("verdict", SCHEMA, _read)


def question(*texts: str, prompt: str = "Does the answer help?") -> Question[bool]:
    passages = [Passage(f"passage {number}", text) for number, text in enumerate(texts or ("an answer",), 1)]
    return Question(metric="helps", prompt=Prompt("helps", prompt), passages=passages, form=FORM)


def judges(model: ChatModel | Any, **given: Any) -> RunJudges:
    """The judges of a run in which everybody is scored by `model`, or by a scripted one with that script."""
    only = model if hasattr(model, "complete") else ScriptedModel(model)
    return RunJudges(find=_unknown_model, default="", only=only, **given)


def ask(
    model: ChatModel | Any, asked: Question[bool] | None = None, *, samples: int = 1, **given: Any
) -> Ballot[bool]:
    options = JudgeModelOptions(num_samples=samples)
    judge = judges(model, **given).judge("helps", options, stated=False)
    return asyncio.run(judge.ask(asked or question()))


def verdicts(ballot: Ballot[bool]) -> Sequence[bool | None]:
    return [vote.verdict for vote in ballot.votes]


def _unknown_model(name: str, _: Limiter) -> ChatModel:
    raise AssertionError(f"unknown model {name}")
