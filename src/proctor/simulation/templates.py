"""Instructions with placeholders: `{{ name }}` is filled in once, and what is filled in is never read as a template."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from proctor.common.optional_packages import import_extra
from proctor.errors import SetupError
from proctor.schema.format.persona import UserPersona

__all__ = ["HISTORY", "PLACEHOLDERS", "check_template", "fill", "persona_text"]

HISTORY = "conversation_history"
PLACEHOLDERS = ("stop_signal", "conversation_plan", HISTORY, "persona")
_PLAIN = re.compile(r"\{\{-?\s*(\w+)\s*-?\}\}")
_IS_MORE = re.compile(r"\{%|\{#|\{\{")
_NEEDS_JINJA = "custom_instructions: the template has more than {{ placeholders }}, which"


def check_template(text: str, *, with_persona: bool) -> None:
    """Make sure that a template can be filled in, by doing it.

    Raises:
        SetupError: it cannot, or has no place for the persona that it is to be used with.
    """
    persona = UserPersona(id="someone", description="somebody", behaviors=[]) if with_persona else None
    if with_persona and not re.search(r"\{[{%][^{}]*\bpersona\b", text):
        raise SetupError(
            "custom_instructions: the scenario has a persona, and the template has no {{ persona }} for it"
        )
    try:
        fill(text, dict.fromkeys(PLACEHOLDERS, "…"), persona)
    except SetupError:
        raise
    except Exception as error:
        raise SetupError(f"custom_instructions: {type(error).__name__}: {error}") from error


def fill(text: str, values: Mapping[str, str], persona: UserPersona | None = None) -> str:
    """Return a template with `values` in their places.

    A template that has more than plain placeholders is Jinja's, and is rendered in its sandbox; there `persona` is the
    object, whose fields can be asked for.

    Raises:
        SetupError: it has a placeholder that there is not, or needs a package that is not installed.
    """
    if not _IS_MORE.search(_PLAIN.sub("", text)):
        return _PLAIN.sub(lambda found: _value(found[1], values), text)
    given: dict[str, Any] = {**values, "persona": _Persona(persona, values["persona"])}
    rendered: str = _jinja(text).render(given)
    return rendered


def _value(name: str, values: Mapping[str, str]) -> str:
    if name not in values:
        raise SetupError(
            f"custom_instructions: there is no placeholder {{{{ {name} }}}}; there are {', '.join(PLACEHOLDERS)}"
        )
    return values[name]


class _Persona:
    """A persona in a Jinja template: its text where it is printed, its fields where they are asked for, else false."""

    def __init__(self, persona: UserPersona | None, text: str) -> None:
        self._persona, self._text = persona, text

    def __getattr__(self, name: str) -> Any:
        return getattr(self._persona, name)

    def __bool__(self) -> bool:
        return self._persona is not None

    def __str__(self) -> str:
        return self._text


@cache
def _jinja(text: str) -> Any:
    jinja2 = import_extra("jinja2", extra="jinja2", feature=_NEEDS_JINJA)
    sandbox = import_extra("jinja2.sandbox", extra="jinja2", feature=_NEEDS_JINJA)
    # instructions are text for a model, not HTML; what stands at their end stays
    environment = sandbox.ImmutableSandboxedEnvironment(
        undefined=jinja2.StrictUndefined, autoescape=False, keep_trailing_newline=True
    )
    return environment.from_string(text)


def persona_text(persona: UserPersona | None, stop_signal: str) -> str:
    """Return who the user is meant to be, in words; its texts may have one placeholder, `{{ stop_signal }}`."""
    if persona is None:
        return ""
    lines = [persona.description]
    for each in persona.behaviors:
        lines += [
            "",
            f"### {each.name}",
            each.description,
            *(f"* {said}" for said in each.behavior_instructions),
        ]
    return re.sub(r"\{\{\s*stop_signal\s*\}\}", lambda _: stop_signal, "\n".join(lines))
