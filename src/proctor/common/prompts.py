"""Prompts: text files beside the code that asks them, named by the hash of what they say."""

from __future__ import annotations

from functools import cache
from hashlib import sha256
from importlib.resources import files

from proctor.common.quick_dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a model is told, in our words; nothing that an agent, a user or a tool said is ever part of it."""

    name: str
    text: str

    @property
    def hash(self) -> str:
        """Twelve hex digits of the SHA-256 of the text: another text is another prompt."""
        return sha256(self.text.encode()).hexdigest()[:12]


@cache
def read_prompt(package: str, name: str) -> Prompt:
    """Return the prompt in the file `name` of `package`, without the line break at its end."""
    return Prompt(name.removesuffix(".md"), files(package).joinpath(name).read_text(encoding="utf-8").strip())
