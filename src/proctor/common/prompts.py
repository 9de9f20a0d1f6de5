"""Prompts: text files next to the code that uses them, identified by the hash of their text."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files


@dataclass(frozen=True, slots=True)
class Prompt:
    """The fixed text of a prompt. It never contains text of an agent, a user or a tool."""

    name: str
    text: str

    @property
    def hash(self) -> str:
        """Twelve hex digits of the SHA-256 of the text."""
        return sha256(self.text.encode()).hexdigest()[:12]


@cache
def read_prompt(package: str, name: str) -> Prompt:
    """Return the prompt in the file `name` of `package`, without the line break at its end."""
    return Prompt(name.removesuffix(".md"), files(package).joinpath(name).read_text(encoding="utf-8").strip())
