"""One vote: a model is asked, asked again where its answer is none, and what it says is read strictly."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from proctor.judges.answer_schema import read_text
from proctor.judges.base import Question, UnusableAnswerError, V, Vote
from proctor.judges.request import BALLOT, Paper, new_paper
from proctor.judges.vote_failures import ended_early, no_reply, unusable
from proctor.models.base import Message, ModelError, ModelOptions, Reply, Usage
from proctor.schema.evidence.trial import FailureKind

__all__ = ["ask_once", "read_verdict"]

_TRIES = 3
"""How often a model is asked for one vote, where its answers cannot be used."""

_LONGEST = 2**18
"""Characters of an answer that are kept as it came."""

Call = Callable[[Sequence[Message], ModelOptions], Awaitable[Reply]]

_NOT_PLAIN = "it did not say plainly what was asked"


async def ask_once(
    question: Question[V],
    call: Call,
    *,
    has_schemas: bool,
    settings: Mapping[str, Any],
    seconds: float | None,
) -> tuple[Vote[V], dict[str, Any] | None]:
    """Return one vote, and the answer that it rests on (without the ballot's number), where there is one."""
    vote: Vote[V] = Vote()
    wrong = ""
    for _ in range(_TRIES):
        paper = new_paper(question, as_text=not has_schemas, wrong=wrong)
        options = _options(question, paper, settings, seconds)
        try:
            reply = await call(paper.messages, options)
        except ModelError as error:
            vote.problem = no_reply(error, question.turn)
            return vote, None
        _note(vote, reply)
        vote.problem = ended_early(reply, question.turn)
        if vote.problem is not None:
            if vote.problem.kind is not FailureKind.EMPTY:
                return vote, None
            wrong = "it was empty"
            continue
        try:
            answer = _answer(paper, reply, has_schemas=has_schemas)
            read_verdict(question, vote, answer)
        except UnusableAnswerError as error:
            vote.problem = unusable(str(error), question.turn)
            wrong = str(error)
        else:
            return vote, answer
    return vote, None


def read_verdict(question: Question[V], vote: Vote[V], answer: Mapping[str, Any]) -> None:
    """Put what an answer says into its vote.

    Raises:
        UnusableAnswerError: it does not say it plainly.
    """
    try:
        verdict = question.form.read(answer)
    except UnusableAnswerError as error:
        # it is told to the model: what the answer says may be a quotation of the material
        quoted = any(len(text) > 2 and text in str(error) for text in _texts(answer))
        raise UnusableAnswerError(_NOT_PLAIN if quoted else str(error)) from None
    except (ArithmeticError, LookupError, TypeError, ValueError):
        raise UnusableAnswerError(_NOT_PLAIN) from None
    if verdict is None:
        raise UnusableAnswerError(_NOT_PLAIN)
    rationale = answer.get("rationale")
    vote.verdict, vote.rationale = verdict, rationale if isinstance(rationale, str) else ""


def _options(
    question: Question[Any], paper: Paper, settings: Mapping[str, Any], seconds: float | None
) -> ModelOptions:
    return ModelOptions(
        schema=paper.schema,
        schema_name=question.form.name,
        settings=settings,
        echo={BALLOT: paper.number},
        timeout=seconds,
    )


def _answer(paper: Paper, reply: Reply, *, has_schemas: bool) -> dict[str, Any]:
    if not has_schemas and reply.structured is None:
        return paper.read(read_text(reply.text))
    if reply.structured is None:
        raise UnusableAnswerError("it was not given in the form that was asked for")
    return paper.read(reply.structured)


def _note(vote: Vote[Any], reply: Reply) -> None:
    """Add what one reply said and took to its vote."""
    first = not vote.answers
    text = reply.text or (json.dumps(reply.structured, default=repr) if reply.structured is not None else "")
    vote.answers.append(text if len(text) <= _LONGEST else f"{text[:_LONGEST]}… ({len(text):,} characters)")
    vote.model = reply.model or vote.model
    vote.seconds += reply.seconds
    vote.usage = reply.usage if first else _sum(vote.usage, reply.usage)
    vote.cost = reply.cost if first or vote.cost is None or reply.cost is None else vote.cost + reply.cost
    if not first and reply.cost is None:
        vote.cost = None


def _sum(one: Usage | None, other: Usage | None) -> Usage | None:
    if one is None or other is None:
        return None
    return Usage(
        input_tokens=_add(one.input_tokens, other.input_tokens),
        output_tokens=_add(one.output_tokens, other.output_tokens),
        cached_tokens=_add(one.cached_tokens, other.cached_tokens),
    )


def _add(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else one + other


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value.strip()]
    if isinstance(value, dict):
        return [text for item in value.values() for text in _texts(item)]
    return [text for item in value for text in _texts(item)] if isinstance(value, list) else []
