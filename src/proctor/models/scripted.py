"""A model for tests and demos that answers from a script."""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from proctor.common.async_tools import settle
from proctor.errors import SetupError
from proctor.models.base import Message, ModelError, ModelOptions, Reply
from proctor.models.function import Answer, AnswerFunction, error_of_exception, reply_of, takes_options
from proctor.models.names import ModelName


class ScriptedRequest(NamedTuple):
    """The messages and options of one call."""

    messages: tuple[Message, ...]
    options: ModelOptions

    @property
    def text(self) -> str:
        """The text of all messages."""
        return "\n".join(message.text for message in self.messages)


class ScriptedModel:
    """A model for tests and demos that answers from a script and records its calls in `asked`.

    The script is one of:

    - a text, a mapping (the answer as data), a `Reply` or an exception: the same answer for each call;
    - a list of these: one for each call, in order; a further call is an error;
    - a function, as for `FunctionModel`.

    `matching` instead maps texts or compiled patterns to these: the first one that the messages contain selects the answer.

    The model adds the fields of `ModelOptions.echo` to a mapping, as a model that follows its instructions does; a function
    must add them itself.
    """

    def __init__(
        self,
        script: Answer | Sequence[Answer] | AnswerFunction | None = None,
        *,
        matching: Mapping[str | re.Pattern[str], Answer] | None = None,
        name: str = "scripted",
        has_schemas: bool = True,
        delay: float = 0.0,
        cost: float | None = None,
    ) -> None:
        """Take the script.

        `has_schemas` false: a model that returns only text, so data becomes JSON text. `delay`: seconds for each reply.
        `cost`: US dollars of each reply without its own cost; `None` if unknown.
        """
        if (script is None) is (matching is None):
            raise SetupError("A scripted model has either a script or `matching`.")
        self.script = tuple(script) if isinstance(script, list) else script
        """A copy of the script."""
        self.name = name
        self.has_schemas = has_schemas
        self.delay, self.cost = delay, cost
        self.asked: list[ScriptedRequest] = []
        self.identity: object = (name, self.script, dict(matching or {}))
        """The identity of the model for the answer cache, without the recorded calls."""
        self._say = _matching(matching) if matching is not None else _script(script)

    async def complete(self, messages: Sequence[Message], *, options: ModelOptions) -> Reply:
        """Return the next reply of the script.

        Raises:
            ModelError: the script has an exception, or no reply for this call.
        """
        call = ScriptedRequest(tuple(messages), options)
        self.asked.append(call)
        began = time.monotonic()
        try:
            answer = await settle(self._say(call))
        except ModelError:
            raise
        except Exception as error:
            raise error_of_exception(self.name, error) from error
        if self.delay:
            await asyncio.sleep(self.delay)
        seconds = time.monotonic() - began
        reply = reply_of(answer, self.name, options, as_data=self.has_schemas, seconds=seconds)
        return replace(reply, cost=self.cost) if reply.cost is None else reply


def _script(script: object) -> Callable[[ScriptedRequest], Answer]:
    if isinstance(script, str | Mapping | Reply | BaseException):
        return _always(script)
    if callable(script):
        return _function(script)
    if isinstance(script, Sequence):
        return _in_turn(script)
    raise SetupError(
        f"A script is a text, a mapping, a Reply, a list of these or a function; not {type(script).__name__}."
    )


def _always(answer: Answer) -> Callable[[ScriptedRequest], Answer]:
    if isinstance(answer, Mapping):
        return lambda call: {**call.options.echo, **answer}
    return lambda _: answer


def _function(function: AnswerFunction) -> Callable[[ScriptedRequest], Answer]:
    return (lambda call: function(*call)) if takes_options(function) else lambda call: function(call[0])


def _in_turn(script: Sequence[Answer]) -> Callable[[ScriptedRequest], Answer]:
    replies = iter(script)

    def answer_in_turn(call: ScriptedRequest) -> Answer:
        try:
            reply = next(replies)
        except StopIteration:
            raise LookupError(f"its script has {len(script)} replies, and it was asked once more") from None
        return _script(reply)(call)

    return answer_in_turn


def _matching(matching: Mapping[str | re.Pattern[str], Answer]) -> Callable[[ScriptedRequest], Answer]:
    answers = [(key, _script(reply)) for key, reply in matching.items()]

    def answer_match(call: ScriptedRequest) -> Answer:
        text = call.text
        for key, answer in answers:
            if key.search(text) if isinstance(key, re.Pattern) else key in text:
                return answer(call)
        raise LookupError(f"none of the {len(answers)} texts of its script is in the messages")

    return answer_match


# --- `scripted:FILE`: a model for demos and tests that answers from a JSON file, without a key or network access ------


def scripted_model(name: ModelName) -> ScriptedModel:
    """Return the model of a script file. Its name contains a hash of the content, so another script is another model.

    Raises:
        SetupError: the file is missing or is not a script.
    """
    path = Path(name.model)
    try:
        text = path.read_text(encoding="utf-8")
        entries = json.loads(text)
    except OSError as error:
        raise SetupError(f"The script of the model {name.text!r} cannot be read: {error}.") from error
    except ValueError as error:
        raise SetupError(
            f"{path}: the script of a model is a JSON list, but the file is not JSON: {error}."
        ) from error
    if not isinstance(entries, list) or not entries:
        raise SetupError(f'{path}: expected a list of {{"when": [TEXT, …], "say": ANSWER}}.')
    matching: dict[str | re.Pattern[str], Answer] = {}
    for number, each in enumerate(entries):
        matching.setdefault(_pattern(path, number, each), each["say"])
    content = sha256(text.encode()).hexdigest()[:8]
    return ScriptedModel(matching=matching, name=f"scripted:{path.name}#{content}", cost=0.0)


def _pattern(path: Path, number: int, entry: object) -> re.Pattern[str]:
    """Return a pattern that matches all texts of an entry in any order."""
    when = entry.get("when") if isinstance(entry, dict) else None
    texts = [when] if isinstance(when, str) else when
    if not isinstance(texts, list) or not texts or not all(isinstance(each, str) and each for each in texts):
        raise SetupError(
            f"{path}: [{number}].when: expected a text, or a list of texts that the messages must contain."
        )
    if not isinstance(entry, dict) or not isinstance(entry.get("say"), dict | str):
        raise SetupError(f"{path}: [{number}].say: expected the answer: an object, or a text.")
    return re.compile(r"\A" + "".join(f"(?=.*?{re.escape(each)})" for each in texts), re.DOTALL)
