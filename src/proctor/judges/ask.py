"""Request one vote from a model. The answer is parsed strictly, and requested again if it is unusable."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence

from proctor.judges.answer_schema import parse_json
from proctor.judges.base import Question, UnusableAnswerError, V, Vote
from proctor.judges.request import BALLOT, JudgeRequest, new_request
from proctor.judges.votes import early_end_failure, no_reply_failure, unusable_answer_failure
from proctor.models.base import Message, ModelError, ModelOptions, Reply, Usage
from proctor.schema.evidence.trial import Failure, FailureKind

TRIES = 3
"""Requests for one vote until an answer is usable."""

_LONGEST = 2**18
"""Characters of an answer that a vote records."""

Call = Callable[[Sequence[Message], ModelOptions], Awaitable[Reply]]

_UNCLEAR = "it did not give a clear verdict"


async def ask_once(
    question: Question[V],
    call: Call,
    *,
    has_schemas: bool,
    settings: Mapping[str, object],
    seconds: float | None,
) -> tuple[Vote[V], dict[str, object] | None]:
    """Return one vote and the answer that it comes from, without the ballot number; `None` without a usable answer."""
    vote: Vote[V] = Vote()
    problem: str | None = ""
    for _ in range(TRIES):
        request = new_request(question, as_text=not has_schemas, problem=problem or "")
        options = request_options(question, request, settings, seconds)
        try:
            reply = await call(request.messages, options)
        except ModelError as error:
            vote.problem = no_reply_failure(error, question.turn)
            return vote, None
        answer = read_reply(question, request, reply, vote, has_schemas=has_schemas)
        if answer is not None:
            return vote, answer
        problem = problem_to_correct(vote.problem)
        if problem is None:
            break
    return vote, None


def read_reply(
    question: Question[V], request: JudgeRequest, reply: Reply, vote: Vote[V], *, has_schemas: bool
) -> dict[str, object] | None:
    """Add a reply to its vote, and return its answer; `None` if it cannot be used: then the vote has a problem."""
    _add_reply(vote, reply)
    vote.problem = early_end_failure(reply, question.turn)
    if vote.problem is not None:
        return None
    try:
        answer = _answer(request, reply, has_schemas=has_schemas)
        read_verdict(question, vote, answer)
    except UnusableAnswerError as error:
        vote.problem = unusable_answer_failure(str(error), question.turn)
        return None
    return answer


def problem_to_correct(failure: Failure | None) -> str | None:
    """Return the problem of an answer, for a request that asks for a better one; `None` if there is no use in another."""
    if failure is not None and failure.kind is FailureKind.EMPTY:
        return "it was empty"
    if failure is not None and failure.kind is FailureKind.UNUSABLE_ANSWER:
        return failure.message
    return None


def read_verdict(question: Question[V], vote: Vote[V], answer: Mapping[str, object]) -> None:
    """Set the verdict and the rationale of a vote from an answer.

    Raises:
        UnusableAnswerError: the answer has no clear verdict.
    """
    try:
        verdict = question.form.read(answer)
    except UnusableAnswerError as error:
        # the message goes back to the model, and the answer may quote the material
        quoted = any(len(text) > 2 and text in str(error) for text in _texts(answer))
        raise UnusableAnswerError(_UNCLEAR if quoted else str(error)) from None
    except (ArithmeticError, LookupError, TypeError, ValueError):
        raise UnusableAnswerError(_UNCLEAR) from None
    if verdict is None:
        raise UnusableAnswerError(_UNCLEAR)
    rationale = answer.get("rationale")
    vote.verdict, vote.rationale = verdict, rationale if isinstance(rationale, str) else ""


def request_options(
    question: Question[V], request: JudgeRequest, settings: Mapping[str, object], seconds: float | None
) -> ModelOptions:
    """Return the options of the call that sends a request."""
    return ModelOptions(
        schema=request.schema,
        schema_name=question.form.name,
        settings=settings,
        echo={BALLOT: request.number},
        timeout=seconds,
    )


def _answer(request: JudgeRequest, reply: Reply, *, has_schemas: bool) -> dict[str, object]:
    if not has_schemas and reply.structured is None:
        return request.parse_answer(parse_json(reply.text))
    if reply.structured is None:
        raise UnusableAnswerError("it does not have the requested form")
    return request.parse_answer(reply.structured)


def _add_reply(vote: Vote[V], reply: Reply) -> None:
    """Add the text, usage, cost and duration of a reply to its vote."""
    first = not vote.answers
    text = reply.text or (json.dumps(reply.structured, default=repr) if reply.structured is not None else "")
    vote.answers.append(text if len(text) <= _LONGEST else f"{text[:_LONGEST]}… ({len(text):,} characters)")
    vote.model = reply.model or vote.model
    vote.seconds += reply.seconds
    vote.usage = reply.usage if first else _total_usage(vote.usage, reply.usage)
    vote.cost = reply.cost if first else _add_cost(vote.cost, reply.cost)


def _add_cost(first: float | None, second: float | None) -> float | None:
    """Add the cost of another reply. If the first cost is unknown, only the second counts."""
    return second if first is None or second is None else first + second


def _total_usage(first: Usage | None, second: Usage | None) -> Usage | None:
    if first is None or second is None:
        return None
    return Usage(
        input_tokens=_add(first.input_tokens, second.input_tokens),
        output_tokens=_add(first.output_tokens, second.output_tokens),
        cached_tokens=_add(first.cached_tokens, second.cached_tokens),
    )


def _add(first: int | None, second: int | None) -> int | None:
    return None if first is None or second is None else first + second


def _texts(value: object) -> list[str]:
    if isinstance(value, str):
        return [value.strip()]
    if isinstance(value, dict):
        return [text for item in value.values() for text in _texts(item)]
    return [text for item in value for text in _texts(item)] if isinstance(value, list) else []
