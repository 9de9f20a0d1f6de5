"""One vote: what is sent, what is taken for an answer, when the model is asked again, and what no answer is called."""

from __future__ import annotations

import json

import pytest

from proctor.judges.request import BALLOT
from proctor.judges.votes import undecided_failure
from proctor.models.base import Finish, ModelError, ModelFault, Reply
from proctor.models.function import FunctionModel
from proctor.models.scripted import ScriptedModel
from proctor.schema.evidence.trial import FailureKind
from tests.judges.judge_requests import NO, YES, ask, question, verdicts


def test_verdict_and_rationale_are_read_from_the_structured_answer() -> None:
    vote = ask([YES]).votes[0]
    assert (vote.verdict, vote.rationale, vote.problem) == (True, "it does", None)
    assert vote.model == "scripted"
    assert len(vote.answers) == 1


def test_instructions_and_material_are_separate() -> None:
    model = ScriptedModel(YES)
    ask(model, question("a secret word: xylophone", "and another: zither"))
    system, user = model.asked[0].messages
    assert (system.role, user.role) == ("system", "user")
    assert "xylophone" not in system.text
    assert "zither" not in system.text
    assert "Does the answer help?" in system.text
    assert "Does the answer help?" not in user.text
    number = model.asked[0].options.echo[BALLOT]
    assert number in system.text
    assert number not in user.text


def test_every_call_has_its_own_fence_and_number_and_all_have_one_schema() -> None:
    model = ScriptedModel([YES, NO, YES, NO, YES])
    ask(model, samples=5)
    assert len(model.asked) == 5
    assert len({asked.options.echo[BALLOT] for asked in model.asked}) == 5
    assert len({asked.messages[1].text for asked in model.asked}) == 5
    assert len({json.dumps(asked.options.schema) for asked in model.asked}) == 1


def test_second_request_names_the_error_and_every_answer_is_kept() -> None:
    model = ScriptedModel([{"rationale": "no idea"}, {"rationale": "x", "verdict": "xylophone"}, NO])
    vote = ask(model).votes[0]
    assert vote.verdict is False
    assert vote.problem is None
    assert len(vote.answers) == 3
    again = [
        asked.messages[1].text.rpartition("This is the end of the material.")[2] for asked in model.asked
    ]
    assert "lacks verdict" in again[1]
    assert 'must be one of "yes", "no"' in again[2]
    assert not any("xylophone" in message.text for asked in model.asked for message in asked.messages)


def test_error_message_of_a_metric_does_not_repeat_the_answer() -> None:
    model = ScriptedModel([{"rationale": "not plain", "verdict": "yes"}, YES])
    assert ask(model).votes[0].verdict is True
    assert "not plain" not in model.asked[1].messages[1].text


def test_three_malformed_answers_give_no_verdict_and_are_all_kept() -> None:
    ballot = ask([{"verdict": "perhaps"}] * 3 + [YES])
    vote = ballot.votes[0]
    assert vote.verdict is None
    assert not ballot.is_decided
    assert len(vote.answers) == 3
    assert vote.problem is not None
    assert vote.problem.kind is FailureKind.UNUSABLE_ANSWER
    assert vote.problem.where == "judge"


def test_of_an_endless_answer_the_beginning_is_kept() -> None:
    vote = ask(["x" * 10**6, YES]).votes[0]
    assert vote.verdict is True
    assert len(vote.answers[0]) < 300_000
    assert vote.answers[0].endswith("(1,000,000 characters)")


ENDS = {
    "refusal": (Reply(text="I cannot", finish=Finish.REFUSAL), FailureKind.REFUSED, 1),
    "content filter": (Reply(finish=Finish.CONTENT_FILTER), FailureKind.FILTERED, 1),
    "length": (Reply(text='{"verdict": "ye', finish=Finish.LENGTH), FailureKind.CUT_OFF, 1),
    "a whole answer cut off": (Reply(structured=YES, finish=Finish.LENGTH), FailureKind.CUT_OFF, 1),
    "empty": (Reply(text=" \n"), FailureKind.EMPTY, 3),
    "text in place of data": (Reply(text=json.dumps(YES)), FailureKind.UNUSABLE_ANSWER, 3),
    "timed out": (ModelError("too late", fault=ModelFault.TIMED_OUT), FailureKind.TIMED_OUT, 1),
    "wrong key": (ModelError("401", fault=ModelFault.UNAUTHORIZED), FailureKind.NO_REPLY, 1),
    "too many calls": (ModelError("429", fault=ModelFault.RATE_LIMITED), FailureKind.NO_REPLY, 1),
    "a cap": (ModelError("no more", fault=ModelFault.BUDGET), FailureKind.NOT_ASKED, 1),
    "an exception": (ValueError("oh"), FailureKind.NO_REPLY, 1),
}


@pytest.mark.parametrize(("answer", "kind", "calls"), ENDS.values(), ids=ENDS)
def test_each_way_to_give_no_answer_has_its_own_name(answer: object, kind: FailureKind, calls: int) -> None:
    model = ScriptedModel(answer)
    ballot = ask(model)
    problem = ballot.votes[0].problem
    assert verdicts(ballot) == [None]
    assert not ballot.is_decided
    assert problem is not None
    assert (problem.where, problem.kind) == ("judge", kind)
    assert len(model.asked) == calls


TEXTS = {
    "the object alone": ("{answer}", True),
    "white space around it": ("\n  {answer}\n", True),
    "a code fence around all": ("```json\n{answer}\n```", True),
    "a code fence without a word": ("```\n{answer}\n```", True),
    "words before it": ("Here it is: {answer}", False),
    "words after it": ("{answer}\nHope this helps!", False),
    "two of them": ("{answer}\n{answer}", False),
    "in a list": ("[{answer}]", False),
    "in a fence among words": ("Well:\n```json\n{answer}\n```", False),
    "half of it": ('{{"ballot": ', False),
}


@pytest.mark.parametrize(("form", "counts"), TEXTS.values(), ids=TEXTS)
def test_without_schemas_the_whole_text_must_be_the_answer(form: str, counts: bool) -> None:
    def text_answer(_messages: object, options: object) -> str:
        answer = json.dumps({**options.echo, **YES})  # type: ignore[attr-defined] # it is ModelOptions
        return form.replace("{answer}", answer).replace("{{", "{")

    model = ScriptedModel(text_answer, has_schemas=False)
    vote = ask(model).votes[0]
    assert (vote.verdict is True) is counts
    assert "JSON Schema" in model.asked[0].messages[0].text


@pytest.mark.parametrize("as_object", [False, True], ids=["a function", "an object"])
def test_exception_of_a_custom_judge_is_reported_without_secrets(
    as_object: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_API_KEY", "hunter2hunter2")

    def breaks(_: object) -> str:
        raise RuntimeError("401 for hunter2hunter2, Authorization: Bearer hunter2")

    class Model:
        name, has_schemas = "mine", True

        async def complete(self, messages: object, *, options: object) -> str:
            return breaks(messages)

    failure = undecided_failure(ask(Model() if as_object else FunctionModel(breaks)))
    assert "raised RuntimeError: 401 for ***, Authorization: ***" in failure.message
