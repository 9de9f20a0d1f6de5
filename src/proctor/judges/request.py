"""The request for one vote: messages with fenced material, and a random number that the answer must repeat."""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from proctor.common.prompts import Prompt, read_prompt
from proctor.judges.answer_schema import check_schema
from proctor.judges.base import Passage, Question, UnusableAnswerError, V
from proctor.models.base import JsonSchema, Message

BALLOT = "ballot"
"""The field of every answer that repeats the ballot number."""


def instructions() -> Prompt:
    """Return the instructions that every judge gets."""
    return read_prompt("proctor.judges", "instructions.md")


@dataclass(frozen=True, slots=True)
class JudgeRequest:
    """The request for one vote."""

    messages: tuple[Message, ...]
    number: str
    """64 random bits that only the instructions of this call contain. A verdict in the material cannot repeat them."""
    schema: JsonSchema

    def parse_answer(self, answer: object) -> dict[str, object]:
        """Return an answer to this request, without the ballot number.

        Raises:
            UnusableAnswerError: it does not have the requested form, or it answers another request.
        """
        check_schema(self.schema, answer)
        if not isinstance(answer, dict) or str(answer[BALLOT]).strip() != self.number:
            raise UnusableAnswerError(f"`{BALLOT}` was not the number of this ballot")
        return {name: value for name, value in answer.items() if name != BALLOT}


def new_request(
    question: Question[V],
    *,
    as_text: bool,
    problem: str = "",
    draw: Callable[[int], str] = secrets.token_hex,
) -> JudgeRequest:
    """Return the request for one call, with a new fence token and ballot number.

    `as_text`: the model does not support schemas, so the instructions contain the schema. `problem`: the problem of its
    last answer, which follows the material. `draw` returns so many random bytes in hex.
    """
    token, number = new_token(question.passages, lambda: draw(16)), draw(8)
    schema = with_ballot(question.form.schema)
    instruction_texts = [question.prompt.text, instructions().text]
    if as_text:
        instruction_texts.append("The answer is one JSON object of this JSON Schema, and nothing else:")
        instruction_texts.append(json.dumps(schema, ensure_ascii=False))
    instruction_texts.append(
        f"The token of this request's passages: {token}\nThe number of this ballot: {number}"
    )
    material = [
        fence_passages(question.passages, token),
        "This is the end of the material. Give your answer now.",
    ]
    if problem:
        material.append(f"Your last answer could not be used: {problem}.")
    messages = Message("system", "\n\n".join(instruction_texts)), Message("user", "\n\n".join(material))
    return JudgeRequest(messages, number, schema)


def with_ballot(schema: JsonSchema) -> dict[str, Any]:
    """Return the schema of an answer with the ballot number.

    The schema is the same for every call, so providers can cache it.
    """
    fields = schema["properties"]
    if BALLOT in fields:
        raise ValueError(f"the form must not have a field {BALLOT!r}")
    return {
        "type": "object",
        "properties": {BALLOT: {"type": "string"}, **fields},
        "required": [BALLOT, *schema.get("required", fields)],
        "additionalProperties": False,
    }


# --- Fences: foreign text appears only between lines with a random token that it does not contain ---------------------


_HALF = re.compile("[\ud800-\udfff]")
_LABEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ,.'()/_-]{0,79}")


def new_token(passages: Sequence[Passage], draw: Callable[[], str] = lambda: secrets.token_hex(16)) -> str:
    """Return a random token that no passage contains in any case."""
    while True:
        token = draw()
        if not any(token in passage.text.casefold() for passage in passages):
            return token


def fence_passages(passages: Sequence[Passage], token: str) -> str:
    """Return the text of all passages, each within its fence.

    A surrogate, which no request can carry, becomes U+FFFD; otherwise the texts are unchanged.

    Raises:
        ValueError: a label is not allowed outside a fence, or a passage contains the token.
    """
    pieces = []
    for passage in passages:
        if not _LABEL.fullmatch(passage.label):
            raise ValueError(f"not a valid label of a passage: {passage.label!r}")
        if token in passage.text.casefold():
            raise ValueError("the material contains the token of its fence")
        text = _HALF.sub("\ufffd", passage.text)
        pieces.append(f"{_opening_line(passage.label, token)}\n{text}\n{_closing_line(passage.label, token)}")
    return "\n\n".join(pieces)


def _opening_line(label: str, token: str) -> str:
    return f"<<<BEGIN {token} {label}>>>"


def _closing_line(label: str, token: str) -> str:
    return f"<<<END {token} {label}>>>"
