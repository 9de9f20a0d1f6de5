"""Keys and entries of the cache of judges' answers: an answer that was paid for is not requested again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import blake2b

from proctor.judges.ask import read_verdict
from proctor.judges.base import Question, UnusableAnswerError, V, Vote
from proctor.judges.request import instructions
from proctor.models.base import Usage

_VERSION = 1
"""Increase it to invalidate the answers of earlier versions."""


def content_key(question: Question[V], model: str, settings: Mapping[str, object]) -> bytes:
    """Return a hash of everything that determines an answer: model, settings, prompts, material and form.

    It excludes the random tokens of fences and ballot numbers.
    """
    request = [
        _VERSION,
        model,
        settings,
        question.prompt.text,
        instructions().text,
        [[passage.label, passage.text] for passage in question.passages],
        question.form.name,
        question.form.schema,
    ]
    text = json.dumps(request, sort_keys=True, ensure_ascii=True, default=str)
    return blake2b(text.encode(), digest_size=16).digest()


def sample_key(content: bytes, number: int) -> str:
    """Return the key of sample `number` (from 0) of a request."""
    return f"{content.hex()}-{number}"


def cache_entry(vote: Vote[V], answer: Mapping[str, object]) -> bytes:
    """Return the cache entry of an answer with a verdict: the answer, the raw texts and the usage."""
    entry = {
        "answer": answer,
        "answers": vote.answers,
        "model": vote.model,
        "cost": vote.cost,
        "usage": None
        if vote.usage is None
        else [vote.usage.input_tokens, vote.usage.output_tokens, vote.usage.cached_tokens],
    }
    return json.dumps(entry, ensure_ascii=True, separators=(",", ":")).encode()


def vote_from_cache(entry: bytes | None, question: Question[V]) -> Vote[V] | None:
    """Return the vote of a cache entry; `None` if it is missing or invalid."""
    if entry is None:
        return None
    try:
        content = json.loads(entry)
        usage = content["usage"]
        vote: Vote[V] = Vote(answers=list(content["answers"]), model=content["model"], cached=True, cost=0.0)
        if usage is not None:
            vote.usage = Usage(input_tokens=usage[0], output_tokens=usage[1], cached_tokens=usage[2])
        read_verdict(question, vote, content["answer"])
    except (LookupError, TypeError, ValueError, UnusableAnswerError):
        return None
    return vote
