"""Judges of audits that decide by a rule over the reference and the answer: a function, and a script of the local server."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from proctor.models.base import Message
from tests.models.loopback import Completion, ModelRequest

Json = dict[str, Any]
Judge = Callable[[Sequence[Message]], Json]
Rule = Callable[[str, str], bool]


def judge_by(is_valid: Rule) -> tuple[Judge, list[tuple[str, str]]]:
    """Return a judge, and the list of the references and answers that it was asked about."""
    asked: list[tuple[str, str]] = []

    def judge(messages: Sequence[Message]) -> Json:
        text = "\n".join(message.text for message in messages)
        asked.append(texts_of(text))
        return _ballot(text, is_valid)

    return judge, asked


def script_of(is_valid: Rule, *, tokens: tuple[int, int] = (100, 20)) -> Callable[..., Completion]:
    """Return what the local server answers; `delay` is in seconds."""

    def answer(asked: ModelRequest, delay: float = 0.0) -> Completion:
        return Completion(data=_ballot(asked.text, is_valid), tokens=tokens, delay=delay)

    return answer


def texts_of(text: str) -> tuple[str, str]:
    """Return the reference and the answer in a request to a judge."""
    reference, answer = (
        re.findall(rf"<<<BEGIN \w+ {name}>>>\n(.*?)\n<<<END", text, re.DOTALL)[0]
        for name in ("reference answer", "final answer")
    )
    return reference, answer


def _ballot(text: str, is_valid: Rule) -> Json:
    number = re.findall(r"number of this ballot: (\w+)", text)[0]
    verdict = "valid" if is_valid(*texts_of(text)) else "invalid"
    return {"ballot": number, "rationale": "by rule", "verdict": verdict}


def without_digits(text: str) -> str:
    """Return a text without its digits: by it a judge does not notice wrong numbers."""
    return re.sub(r"\d", "", text)


def ignores_digits(reference: str, answer: str) -> bool:
    """Return whether two texts are the same but for their digits."""
    return without_digits(reference) == without_digits(answer)
