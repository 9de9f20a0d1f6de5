"""The ballot paper: what a model is sent for one vote, and how its answer is recognised as its own."""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from proctor.common.prompts import Prompt, read_prompt
from proctor.judges.answer_schema import check_shape
from proctor.judges.base import Passage, Question, UnusableAnswerError
from proctor.models.base import Message

__all__ = [
    "BALLOT",
    "Paper",
    "fenced",
    "instructions",
    "new_paper",
    "new_token",
    "read_fenced",
    "with_ballot",
]

BALLOT = "ballot"
"""The field of every answer that repeats the number of its ballot."""


def instructions() -> Prompt:
    """What every judge is told, whatever it judges."""
    return read_prompt("proctor.judges", "instructions.md")


@dataclass(frozen=True, slots=True)
class Paper:
    """One ballot paper."""

    messages: tuple[Message, ...]
    number: str
    """64 random bits that only the instructions of this one call say. An answer that was written before the call, as
    any verdict in the material was, does not have it."""
    schema: Mapping[str, Any]

    def read(self, answer: Any) -> dict[str, Any]:
        """Return an answer to this paper, without the number of its ballot.

        Raises:
            UnusableAnswerError: it is not of the form asked for, or not an answer to this paper.
        """
        check_shape(self.schema, answer)
        if answer[BALLOT].strip() != self.number:
            raise UnusableAnswerError(f"`{BALLOT}` was not the number of this ballot")
        return {name: value for name, value in answer.items() if name != BALLOT}


def new_paper(question: Question[Any], *, as_text: bool, wrong: str = "") -> Paper:
    """Return a paper for one call, with a fence and a number that no other has.

    `as_text`: the model cannot be held to a schema, so it is told the form in words. `wrong`: what was wrong with its
    last answer, which stands after the material, not in the instructions.
    """
    token, number = new_token(question.passages), secrets.token_hex(8)
    schema = with_ballot(question.form.schema)
    told = [question.prompt.text, instructions().text]
    if as_text:
        told.append("The answer is one JSON object of this JSON Schema, and nothing beside it:")
        told.append(json.dumps(schema, ensure_ascii=False))
    told.append(f"The token of this request's passages: {token}\nThe number of this ballot: {number}")
    material = [fenced(question.passages, token), "This is the end of the material. Give your answer now."]
    if wrong:
        material.append(f"Your last answer could not be used: {wrong}.")
    messages = Message("system", "\n\n".join(told)), Message("user", "\n\n".join(material))
    return Paper(messages, number, schema)


def with_ballot(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of an answer that also repeats the number of its ballot.

    It is the same for every call, so that providers need not prepare another one each time.
    """
    fields = schema["properties"]
    if BALLOT in fields:
        raise ValueError(f"the form has a field {BALLOT!r} of its own")
    return {
        "type": "object",
        "properties": {BALLOT: {"type": "string"}, **fields},
        "required": [BALLOT, *schema.get("required", fields)],
        "additionalProperties": False,
    }


# --- Fences: what others wrote stands between lines that it cannot contain, and nowhere else --------------------------


_HALF = re.compile("[\ud800-\udfff]")
_LABEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ,.'()/_-]{0,79}")


def new_token(passages: Sequence[Passage], draw: Callable[[], str] = lambda: secrets.token_hex(16)) -> str:
    """Return a random token that no passage contains, in whatever case of its letters."""
    while True:
        token = draw()
        if not any(token in passage.text.casefold() for passage in passages):
            return token


def fenced(passages: Sequence[Passage], token: str) -> str:
    """Return the passages, each within its fence, one after the other.

    Half a character, which no request can carry, becomes U+FFFD; else every text is as it came.

    Raises:
        ValueError: a label that may not stand outside a fence, or a token that a passage contains.
    """
    pieces = []
    for passage in passages:
        if not _LABEL.fullmatch(passage.label):
            raise ValueError(f"no label for a passage: {passage.label!r}")
        if token in passage.text.casefold():
            raise ValueError("the material contains the token of its fence")
        text = _HALF.sub("\ufffd", passage.text)
        pieces.append(f"{_opening(passage.label, token)}\n{text}\n{_closing(passage.label, token)}")
    return "\n\n".join(pieces)


def read_fenced(text: str, token: str) -> list[Passage]:
    """Return the passages of a text that `fenced` made: what stands inside, and that nothing stands outside.

    Raises:
        ValueError: the text is not of that form.
    """
    found = []
    rest = text
    while rest:
        opening = re.match(rf"<<<BEGIN {token} ({_LABEL.pattern})>>>\n", rest)
        if opening is None:
            raise ValueError("something stands outside the fences")
        label = opening[1]
        inside, closing, rest = rest[opening.end() :].partition(f"\n{_closing(label, token)}")
        if not closing or (rest and not rest.startswith("\n\n")):
            raise ValueError("a passage does not end where it should")
        found.append(Passage(label, inside))
        rest = rest.removeprefix("\n\n")
    return found


def _opening(label: str, token: str) -> str:
    return f"<<<BEGIN {token} {label}>>>"


def _closing(label: str, token: str) -> str:
    return f"<<<END {token} {label}>>>"
