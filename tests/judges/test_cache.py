"""Cached answers: found again by the question, for any fence and ballot of the first request."""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import replace
from datetime import date
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from proctor.common.prompts import Prompt
from proctor.judges.base import AnswerForm, Passage, Question
from proctor.judges.pool import identity_of
from proctor.models.base import ModelError, ModelFault, Reply, Usage
from proctor.models.function import FunctionModel
from proctor.models.scripted import ScriptedModel
from proctor.schema.format.criterion import JudgeModelOptions
from tests.judges.judge_requests import NO, SCHEMA, YES, ask, judges, question


class Kept(dict[str, bytes]):
    """Answers in memory."""

    def put(self, key: str, answer: bytes) -> None:
        self[key] = answer


def test_the_same_question_costs_nothing_the_second_time() -> None:
    cache, model = Kept(), ScriptedModel(Reply(structured=None))
    paid = Usage(input_tokens=100, output_tokens=10)
    model = ScriptedModel(
        lambda _, options: Reply(structured={**options.echo, **YES}, text="{}", usage=paid, cost=0.5)
    )
    first = ask(model, samples=5, cache=cache)
    again = ask(model, samples=5, cache=cache)
    assert len(model.asked) == 3
    assert len(cache) == 3
    assert again.verdicts == first.verdicts == [True] * 3
    assert [(vote.cached, vote.cost, vote.usage) for vote in again.votes] == [(True, 0.0, paid)] * 3
    assert [vote.answers for vote in again.votes] == [vote.answers for vote in first.votes]
    assert again.votes[0].rationale == "it does"


def test_what_is_missing_is_asked_for() -> None:
    cache = Kept()
    ask(ScriptedModel(YES), samples=5, cache=cache)
    cache.pop(sorted(cache)[1])
    model = ScriptedModel(YES)
    ballot = ask(model, samples=5, cache=cache)
    assert len(model.asked) == 1
    assert [vote.cached for vote in ballot.votes] == [True, False, True]


def test_more_samples_use_those_that_are_there() -> None:
    cache = Kept()
    model = ScriptedModel(YES)
    ask(model, samples=1, cache=cache)
    ask(model, samples=3, cache=cache)
    assert len(model.asked) == 2


OTHER: dict[str, Question[bool]] = {
    "prompt": replace(question(), prompt=Prompt("helps", "Does it help much?")),
    "material": question("another answer"),
    "label": replace(question(), passages=[Passage("other", "an answer")]),
    "two passages in place of one": question("an answer", ""),
    "form": replace(
        question(), form=AnswerForm("verdict", {**SCHEMA, "description": "x"}, question().form.read)
    ),
    "form's name": replace(question(), form=replace(question().form, name="other")),
}


@pytest.mark.parametrize("other", OTHER.values(), ids=OTHER)
def test_another_question_is_asked(other: Question[bool]) -> None:
    cache, model = Kept(), ScriptedModel(YES)
    ask(model, question(), cache=cache)
    ask(model, other, cache=cache)
    assert len(model.asked) == 2


def test_the_metric_and_the_prompts_name_are_no_part_of_it() -> None:
    cache, model = Kept(), ScriptedModel(YES)
    ask(model, question(), cache=cache)
    ask(
        model,
        replace(question(), metric="other", prompt=Prompt("other", question().prompt.text), turn=7),
        cache=cache,
    )
    assert len(model.asked) == 1


def options(**given: Any) -> JudgeModelOptions:
    return JudgeModelOptions.model_validate({"num_samples": 1, **given})


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ({}, {"judge_model_config": {"temperature": 0.5}}, False),
        ({"judge_model_config": {"temperature": 0.5}}, {"judge_model_config": {"temperature": 0.5}}, True),
        ({}, {"parallelism_limit": 3}, True),
        ({"num_samples": 1}, {"num_samples": 2}, True),
    ],
)
def test_settings_are_part_of_it_and_how_it_is_asked_is_not(one: Any, other: Any, same: bool) -> None:
    cache, model = Kept(), ScriptedModel(YES)
    for given in (one, other):
        judge = judges(model, cache=cache).judge("helps", options(**given), stated=False)
        asyncio.run(judge.ask(question(), samples=1))
    assert len(model.asked) == (1 if same else 2)


def test_another_model_is_asked_by_itself() -> None:
    cache = Kept()
    ask(ScriptedModel(YES, name="one"), cache=cache)
    other = ScriptedModel(NO, name="other")
    assert ask(other, cache=cache).verdicts == [False]


def test_a_function_whose_code_was_changed_is_asked_again() -> None:
    def judge(_messages: Any, options: Any) -> Any:
        return {**options.echo, **YES}

    first = judge

    def judge(_messages: Any, options: Any) -> Any:  # type: ignore[no-redef] # what an editor would do
        return {**options.echo, **NO}

    cache = Kept()
    assert ask(FunctionModel(first), cache=cache).verdicts == [True]
    assert ask(FunctionModel(judge), cache=cache).verdicts == [False]
    assert ask(FunctionModel(first), cache=cache).votes[0].cached


def answering(answer: dict[str, str], calls: list[int], *, least: float = 0.5) -> Any:
    def judge(_messages: Any, options: Any) -> Any:
        calls.append(len(calls))
        return {**options.echo, **answer, "rationale": f"at least {least}"}

    return FunctionModel(judge)


def test_a_function_is_also_what_it_holds() -> None:
    cache: Kept = Kept()
    assert ask(answering(YES, []), cache=cache).verdicts == [True]
    assert ask(answering(YES, []), cache=cache).votes[0].cached
    assert not ask(answering(YES, [], least=0.9), cache=cache).votes[0].cached
    assert ask(answering(NO, []), cache=cache).verdicts == [False]


def _lenient(_: object, options: Any, *, verdict: str, held: object = None) -> dict[str, Any]:
    return {**options.echo, "rationale": str(held), "verdict": verdict}


class _Base:
    __slots__ = ("held",)


class _Slotted(_Base):
    __slots__ = ("more",)

    def __init__(self, held: object) -> None:
        self.held, self.more = held, 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Decimal("0.5"), Decimal("0.9")),
        (date(2026, 1, 1), date(2026, 1, 2)),
        (re.compile("a"), re.compile("b")),
        (Path("a"), Path("b")),
        (range(3), range(4)),
        (bytearray(b"a"), bytearray(b"b")),
        (str, bytes),
        (partial(len, "a"), partial(len, "b")),
        (_Slotted(1), _Slotted(2)),
    ],
    ids=lambda value: type(value).__name__,
)
def test_values_held_by_a_function_distinguish_it(one: object, other: object) -> None:
    cache: Kept = Kept()

    def cached(held: object) -> bool:
        judge = FunctionModel(partial(_lenient, verdict="yes", held=held))
        return ask(judge, cache=cache).votes[0].cached

    assert [cached(one), cached(one), cached(other), cached(other)] == [False, True, False, True]


def test_address_in_memory_does_not_distinguish_judges() -> None:
    def judge() -> FunctionModel:
        return FunctionModel(partial(_lenient, verdict="yes", held=object()))

    assert identity_of(judge()) == identity_of(judge())


def test_model_may_define_its_identity() -> None:
    class Counting(ScriptedModel):
        def __init__(self) -> None:
            super().__init__(YES)
            self.identity = ("counting", YES)
            self.calls = 0

        async def complete(self, messages: Any, *, options: Any) -> Any:
            self.calls += 1
            return await super().complete(messages, options=options)

    cache, model = Kept(), Counting()
    for _ in range(2):
        ask(model, cache=cache)
    assert model.calls == 1


def test_identity_of_a_script_is_its_content() -> None:
    cache = Kept()
    assert ask([YES], cache=cache).verdicts == [True]
    assert ask([YES], cache=cache).votes[0].cached
    assert ask([NO], cache=cache).verdicts == [False]


@pytest.mark.parametrize(
    "answer", [{"verdict": "?"}, ModelError("no", fault=ModelFault.UNAVAILABLE)], ids=["none", "no reply"]
)
def test_failed_answer_is_not_cached(answer: Any) -> None:
    cache = Kept()
    ask(answer, cache=cache)
    assert not cache


BROKEN = {
    "no JSON": b"{",
    "no object": b"[]",
    "another shape": b'{"answer": 1}',
    "no verdict": json.dumps(
        {"answer": {}, "answers": [], "model": "", "cost": None, "usage": None}
    ).encode(),
    "a verdict that cannot be read": json.dumps(
        {"answer": {"rationale": 1, "verdict": []}, "answers": [], "model": "", "cost": None, "usage": [1]}
    ).encode(),
}


@pytest.mark.parametrize("kept", BROKEN.values(), ids=BROKEN)
def test_what_was_kept_and_cannot_be_used_is_asked_for_again(kept: bytes) -> None:
    cache, model = Kept(), ScriptedModel(YES)
    ask(model, cache=cache)
    cache[next(iter(cache))] = kept
    assert ask(model, cache=cache).verdicts == [True]
    assert len(model.asked) == 2
    assert ask(model, cache=cache).votes[0].cached


def test_the_same_question_at_the_same_time_is_paid_once() -> None:
    model = ScriptedModel(YES, delay=0.01)

    async def five_times() -> list[Any]:
        run = judges(model, cache=Kept())
        each = [run.judge("helps", options(), stated=False) for _ in range(5)]
        return await asyncio.gather(*(one.ask(question(), samples=5) for one in each))

    ballots = asyncio.run(five_times())
    assert len(model.asked) == 3
    assert [ballot.verdicts for ballot in ballots] == [[True] * 3] * 5


@pytest.mark.parametrize("first", ["nothing", "cancelled"])
def test_who_waited_for_an_answer_that_did_not_come_asks(first: str) -> None:
    calls = 0

    async def slow_first_answer(_messages: Any, given: Any) -> Any:
        nonlocal calls
        calls += 1
        mine = calls
        await asyncio.sleep(0.2)
        if mine == 1 and first == "nothing":
            raise ModelError("no", fault=ModelFault.UNAVAILABLE)
        return {**given.echo, **YES}

    async def twice() -> list[Any]:
        judge = judges(FunctionModel(slow_first_answer), cache=Kept()).judge("helps", options(), stated=False)
        asking = [asyncio.create_task(judge.ask(question())) for _ in range(2)]
        await asyncio.sleep(0.01)
        if first == "cancelled":
            asking[0].cancel()
        return await asyncio.gather(*asking, return_exceptions=True)

    _, second = asyncio.run(twice())
    assert second.verdicts == [True]
    assert calls == 2


def test_a_ballot_is_never_kept() -> None:
    cache, model = Kept(), ScriptedModel(YES)
    ask(model, cache=cache)
    answer = json.loads(next(iter(cache.values())))
    assert answer["answer"] == YES
