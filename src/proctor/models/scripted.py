"""A model for tests and demos, which says what its script says."""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from proctor.common.async_tools import settle
from proctor.errors import SetupError
from proctor.models.base import Message, ModelError, ModelOptions, Reply
from proctor.models.function import Answering, Said, raised, reply_of, takes_options
from proctor.models.names import ModelName

__all__ = ["Asked", "ScriptedModel", "scripted_model"]


class Asked(NamedTuple):
    """One call of a model, as it was made."""

    messages: tuple[Message, ...]
    options: ModelOptions

    @property
    def text(self) -> str:
        """All that was said to the model."""
        return "\n".join(message.text for message in self.messages)


class ScriptedModel:
    """A model for tests and demos that says what it was told to, and keeps what it was asked in `asked`.

    The script is one of:

    - a text, a mapping (the answer as data), a `Reply` or an exception: the same each time;
    - a list of these: one for each call, in turn; a call more than there are replies is an error;
    - a function, as `FunctionModel` takes it.

    `matching` instead maps a text to one of these: what stands under the first text that the messages contain is said
    (a compiled pattern is searched for).

    A mapping is given with what the call wants repeated (`ModelOptions.echo`), as a model does that follows its
    instructions; a function repeats it itself.
    """

    def __init__(
        self,
        script: Said | Sequence[Said] | Answering | None = None,
        *,
        matching: Mapping[str | re.Pattern[str], Said] | None = None,
        name: str = "scripted",
        has_schemas: bool = True,
        delay: float = 0.0,
        cost: float | None = None,
    ) -> None:
        """Take the script.

        `has_schemas` false: a model that can only write text, so data is written as JSON. `delay`: seconds that each
        reply takes. `cost`: US dollars of each that does not say it itself; `None`: not known.
        """
        if (script is None) is (matching is None):
            raise SetupError("A scripted model has either a script or `matching`.")
        self.script = tuple(script) if isinstance(script, list) else script
        """What it was told to say, as it was then."""
        self.name = name
        self.has_schemas = has_schemas
        self.delay, self.cost = delay, cost
        self.asked: list[Asked] = []
        self.identity: object = (name, self.script, dict(matching or {}))
        """What makes it another model, for answers that are kept; not what it was asked."""
        self._say = _matching(matching) if matching is not None else _script(script)

    async def complete(self, messages: Sequence[Message], *, options: ModelOptions) -> Reply:
        """Give the reply of the script.

        Raises:
            ModelError: the script says so, or has nothing to say.
        """
        asked = Asked(tuple(messages), options)
        self.asked.append(asked)
        began = time.monotonic()
        try:
            said = await settle(self._say(asked))
        except ModelError:
            raise
        except Exception as error:
            raise raised(self.name, error) from error
        if self.delay:
            await asyncio.sleep(self.delay)
        seconds = time.monotonic() - began
        reply = reply_of(said, self.name, options, as_data=self.has_schemas, seconds=seconds)
        return replace(reply, cost=self.cost) if reply.cost is None else reply


def _script(script: Any) -> Callable[[Asked], Said]:
    if isinstance(script, str | Mapping | Reply | BaseException):
        return _always(script)
    if callable(script):
        return _function(script)
    if isinstance(script, Sequence):
        return _in_turn(script)
    raise SetupError(
        f"A script is a text, a mapping, a Reply, a list of these or a function; not {type(script).__name__}."
    )


def _always(said: Said) -> Callable[[Asked], Said]:
    if isinstance(said, Mapping):
        return lambda asked: {**asked.options.echo, **said}
    return lambda _: said


def _function(function: Answering) -> Callable[[Asked], Said]:
    return (lambda asked: function(*asked)) if takes_options(function) else lambda asked: function(asked[0])


def _in_turn(script: Sequence[Said]) -> Callable[[Asked], Said]:
    replies = iter(script)

    def say(asked: Asked) -> Said:
        try:
            said = next(replies)
        except StopIteration:
            raise LookupError(f"its script has {len(script)} replies, and it was asked once more") from None
        return _script(said)(asked)

    return say


def _matching(matching: Mapping[str | re.Pattern[str], Said]) -> Callable[[Asked], Said]:
    says = [(key, _script(said)) for key, said in matching.items()]

    def say(asked: Asked) -> Said:
        text = asked.text
        for key, answer in says:
            if key.search(text) if isinstance(key, re.Pattern) else key in text:
                return answer(asked)
        raise LookupError(f"none of the {len(says)} texts of its script is in the messages")

    return say


# --- `scripted:FILE`: a model for demos and tests that says what stands in a JSON file, without a key or a network ----


def scripted_model(name: ModelName) -> ScriptedModel:
    """Return the model of a script; its name tells which content it has, so that another script is another model.

    Raises:
        SetupError: there is no such file, or it is no script.
    """
    path = Path(name.model)
    try:
        text = path.read_text(encoding="utf-8")
        entries = json.loads(text)
    except OSError as error:
        raise SetupError(f"The script of the model {name.text!r} cannot be read: {error}.") from error
    except ValueError as error:
        raise SetupError(
            f"{path}: the script of a model is a JSON list, and this is no JSON: {error}."
        ) from error
    if not isinstance(entries, list) or not entries:
        raise SetupError(f'{path}: expected a list of {{"when": [TEXT, …], "say": ANSWER}}.')
    matching: dict[str | re.Pattern[str], Any] = {}
    for number, each in enumerate(entries):
        matching.setdefault(_pattern(path, number, each), each["say"])
    content = sha256(text.encode()).hexdigest()[:8]
    return ScriptedModel(
        matching=matching, name=f"scripted:{path.name}#{content}", cost=0.0
    )  # a file costs nothing


def _pattern(path: Path, number: int, entry: Any) -> re.Pattern[str]:
    """What stands for an entry: all of its texts, in any order."""
    when = entry.get("when") if isinstance(entry, dict) else None
    texts = [when] if isinstance(when, str) else when
    if not isinstance(texts, list) or not texts or not all(isinstance(each, str) and each for each in texts):
        raise SetupError(
            f"{path}: [{number}].when: expected a text, or a list of texts that must all be there."
        )
    if not isinstance(entry.get("say"), dict | str):
        raise SetupError(f"{path}: [{number}].say: expected the answer: an object, or a text.")
    return re.compile(r"\A" + "".join(f"(?=.*?{re.escape(each)})" for each in texts), re.DOTALL)
