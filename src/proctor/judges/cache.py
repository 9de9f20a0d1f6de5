"""Answers that were paid for are not asked for again: by what was asked, and the number of the sample."""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import blake2b
from typing import Any

from proctor.judges.ask import read_verdict
from proctor.judges.base import Question, UnusableAnswerError, V, Vote
from proctor.judges.request import instructions
from proctor.models.base import Usage

__all__ = ["content_key", "kept_answer", "sample_key", "vote_from"]

_VERSION = 1
"""One more where answers of before are not to be used any more."""


def content_key(question: Question[Any], model: str, settings: Mapping[str, Any]) -> bytes:
    """Return a hash of all that makes an answer: model, settings, prompts, material, form. Fences and the numbers of
    ballots, which are others each time, are no part of it.
    """
    asked = [
        _VERSION,
        model,
        settings,
        question.prompt.text,
        instructions().text,
        [[passage.label, passage.text] for passage in question.passages],
        question.form.name,
        question.form.schema,
    ]
    text = json.dumps(asked, sort_keys=True, ensure_ascii=True, default=str)
    return blake2b(text.encode(), digest_size=16).digest()


def sample_key(content: bytes, number: int) -> str:
    """Return the key of sample `number` (from 0) of what `content_key` names."""
    return f"{content.hex()}-{number}"


def kept_answer(vote: Vote[Any], answer: Mapping[str, Any]) -> bytes:
    """Return an answer that gave a verdict as it is kept, with what the model said and what it took."""
    kept = {
        "answer": answer,
        "answers": vote.answers,
        "model": vote.model,
        "cost": vote.cost,
        "usage": None
        if vote.usage is None
        else [vote.usage.input_tokens, vote.usage.output_tokens, vote.usage.cached_tokens],
    }
    return json.dumps(kept, ensure_ascii=True, separators=(",", ":")).encode()


def vote_from(kept: bytes | None, question: Question[V]) -> Vote[V] | None:
    """Return the vote that rests on an answer that was kept; `None` where there is none, or none that can be used."""
    if kept is None:
        return None
    try:
        found = json.loads(kept)
        usage = found["usage"]
        vote: Vote[V] = Vote(answers=list(found["answers"]), model=found["model"], cached=True, cost=0.0)
        if usage is not None:
            vote.usage = Usage(input_tokens=usage[0], output_tokens=usage[1], cached_tokens=usage[2])
        read_verdict(question, vote, found["answer"])
    except (LookupError, TypeError, ValueError, UnusableAnswerError):
        return None
    return vote
