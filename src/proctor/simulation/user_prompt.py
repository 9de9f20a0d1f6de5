"""The prompt of a model that plays the user: instructions with placeholders, the persona and the transcript.

Each `{{ name }}` is replaced once, and inserted text is never parsed as a template.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING

from proctor.common.optional_packages import import_extra
from proctor.errors import SetupError
from proctor.schema.format.content import Content, text_of
from proctor.schema.format.invocation import Invocation, InvocationEvents
from proctor.schema.format.persona import UserPersona

if TYPE_CHECKING:
    from jinja2 import Template


HISTORY = "conversation_history"
PLACEHOLDERS = ("stop_signal", "conversation_plan", HISTORY, "persona")
_PLAIN = re.compile(r"\{\{-?\s*(\w+)\s*-?\}\}")
_IS_MORE = re.compile(r"\{%|\{#|\{\{")
_NEEDS_JINJA = "custom_instructions: the template has more than {{ placeholders }}, which"


def check_template(text: str, *, with_persona: bool) -> None:
    """Validate a template by filling it in.

    Raises:
        SetupError: it cannot be filled in, or it has no placeholder for the persona of the scenario.
    """
    persona = UserPersona(id="persona", description="…", behaviors=[]) if with_persona else None
    if with_persona and not re.search(r"\{[{%][^{}]*\bpersona\b", text):
        raise SetupError(
            "custom_instructions: the scenario has a persona, but the template has no {{ persona }}"
        )
    try:
        fill(text, dict.fromkeys(PLACEHOLDERS, "…"), persona)
    except SetupError:
        raise
    except Exception as error:
        raise SetupError(f"custom_instructions: {type(error).__name__}: {error}") from error


def fill(text: str, values: Mapping[str, str], persona: UserPersona | None = None) -> str:
    """Return a template with its placeholders replaced by `values`.

    A template with other syntax than plain placeholders is rendered in Jinja's sandbox; there `persona` is the object with
    its fields.

    Raises:
        SetupError: it has an unknown placeholder, or needs a package that is not installed.
    """
    if not _IS_MORE.search(_PLAIN.sub("", text)):
        return _PLAIN.sub(lambda match: _value(match[1], values), text)
    context: dict[str, object] = {**values, "persona": _Persona(persona, values["persona"])}
    rendered: str = _jinja(text).render(context)
    return rendered


def _value(name: str, values: Mapping[str, str]) -> str:
    if name not in values:
        raise SetupError(
            f"custom_instructions: unknown placeholder {{{{ {name} }}}}; expected one of {', '.join(PLACEHOLDERS)}"
        )
    return values[name]


class _Persona:
    """A persona in a Jinja template: it prints as its text, has the persona's fields, and is false if there is none."""

    def __init__(self, persona: UserPersona | None, text: str) -> None:
        self._persona, self._text = persona, text

    def __getattr__(self, name: str) -> object:
        return getattr(self._persona, name)

    def __bool__(self) -> bool:
        return self._persona is not None

    def __str__(self) -> str:
        return self._text


@cache
def _jinja(text: str) -> Template:
    jinja2 = import_extra("jinja2", extra="jinja2", feature=_NEEDS_JINJA)
    sandbox = import_extra("jinja2.sandbox", extra="jinja2", feature=_NEEDS_JINJA)
    # instructions are text for a model, not HTML; their last line break is kept
    environment = sandbox.ImmutableSandboxedEnvironment(
        undefined=jinja2.StrictUndefined, autoescape=False, keep_trailing_newline=True
    )
    template: Template = environment.from_string(text)
    return template


def persona_text(persona: UserPersona | None, stop_signal: str) -> str:
    """Return the description of a persona; its texts may contain the placeholder `{{ stop_signal }}`."""
    if persona is None:
        return ""
    lines = [persona.description]
    for behavior in persona.behaviors:
        lines += ["", f"### {behavior.name}", behavior.description]
        lines += [f"* {instruction}" for instruction in behavior.behavior_instructions]
    return re.sub(r"\{\{\s*stop_signal\s*\}\}", lambda _: stop_signal, "\n".join(lines))


# --- The transcript that a simulated user reads: one `author: text` line for each message -----------------------------


def paragraphs(invocation: Invocation, *, with_calls: bool) -> Iterator[str]:
    """Return the messages of a turn as `author: text`, without thoughts; tool calls and responses if `with_calls`.

    Further lines of a text are indented, so that none of them looks like a message of another author.
    """
    yield _line("user", text_of(invocation.user_content, thoughts=False))
    final, has_final = invocation.final_response, invocation.final_response is None
    data = invocation.intermediate_data
    author = "agent"
    for step in data.invocation_events if isinstance(data, InvocationEvents) else ():
        author = step.author
        content = step.content
        if content is None and not has_final:
            content, has_final = final, True
        if content is not None:
            yield from _content_lines(author, content, with_calls=with_calls)
    if final is not None and not has_final:
        yield from _content_lines(author, final, with_calls=with_calls)


def _content_lines(author: str, content: Content, *, with_calls: bool) -> Iterator[str]:
    if text := text_of(content, thoughts=False).strip():
        yield _line(author, text)
    for part in (content.parts or ()) if with_calls else ():
        if (call := part.function_call) is not None:
            yield _line(author, f"calls {call.name}({_json(call.args)})")
        if (response := part.function_response) is not None:
            yield _line("tool", f"{response.name} returns {_json(response.response)}")


def _line(author: str, text: str) -> str:
    return f"{author}: " + text.strip().replace("\n", "\n  ")


def _json(value: object) -> str:
    return json.dumps(value or {}, ensure_ascii=False, default=str)
