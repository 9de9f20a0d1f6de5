"""The names of models: `gemini-2.5-flash`, `openai:gpt-5`, `ollama/llama3.2`, `openai:model@http://127.0.0.1:8080/v1`."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from difflib import get_close_matches
from urllib.parse import urlsplit

from proctor.errors import SetupError, UnknownNameError, did_you_mean

__all__ = ["ALIASES", "ModelName", "parse_name"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelName:
    """The parts of a model's name."""

    text: str
    """The whole name, as written."""
    provider: str
    """One of the names in `MODELS`."""
    model: str
    """The provider's name of the model."""
    url: str = ""
    """The address, if the name has one."""


ALIASES = {
    "azure": "azure",
    "azure_ai": "azure",
    "bedrock_converse": "bedrock",
    "claude": "anthropic",
    "gemini": "google",
    "google-cloud": "vertex",
    "google-genai": "google",
    "google-gla": "google",
    "google-vertex": "vertex",
    "mistralai": "mistral",
    "ollama_chat": "ollama",
    "together": "together",
    "together_ai": "together",
    "fireworks_ai": "fireworks",
    "vertex_ai": "vertex",
    "vertexai": "vertex",
}
"""Names of providers in other tools."""

_FAMILIES = (
    (re.compile(r"(models/)?(gemini|gemma)-[\w.-]+"), "google"),
    (re.compile(r"(projects/[^/]+/locations/[^/]+/.+|publishers/google/models/.+)"), "vertex"),
    (re.compile(r"(gpt-(?!oss)[\w.-]+|chatgpt-[\w.-]+|o[1-9](-[\w.-]+)?|ft:gpt-.+)"), "openai"),
    (re.compile(r"claude-[\w.@-]+"), "anthropic"),
    (re.compile(r"((us|eu|apac|jp|au|global)\.)?(anthropic|amazon|meta)\.[\w.:-]+"), "bedrock"),
)
"""Patterns of model names that identify their provider."""

_EXAMPLES = (
    "gemini-2.5-flash", "gemini-2.5-pro", "gemini-2.5-flash-lite", "gemini-2.0-flash", "gemini-3-pro-preview",
    "gpt-5", "gpt-5-mini", "gpt-5-nano", "gpt-4.1", "gpt-4.1-mini", "gpt-4o", "gpt-4o-mini", "o3", "o4-mini",
    "claude-sonnet-4-5", "claude-opus-4-5", "claude-haiku-4-5", "ollama/gpt-oss:20b", "ollama/llama3.2",
)  # fmt: skip
"""Candidates for the correction of a misspelled name."""

_FORMS = (
    "a model's own name (gemini-…, gpt-…, claude-…), PROVIDER:MODEL or PROVIDER/MODEL, "
    "each followed by @http://HOST/PATH if it is served at another address"
)


def parse_name(text: str, providers: Collection[str]) -> ModelName:
    """Parse a model's name; `providers` are the known ones.

    Raises:
        UnknownNameError: the name has no known provider; the message has the closest name.
        SetupError: the address contains a secret.
    """
    name, url = _split_address(text.strip())
    prefix, separator, rest = _split_prefix(name)
    provider = ALIASES.get(prefix, prefix)
    if separator and provider in providers and rest:
        return ModelName(text=text, provider=provider, model=rest, url=url)
    for family, owner in _FAMILIES:
        if family.fullmatch(name):
            return ModelName(text=text, provider=owner, model=name.removeprefix("models/"), url=url)
    if (
        url and name and not separator
    ):  # servers of users choose their own names; they speak OpenAI's protocol
        return ModelName(text=text, provider="openai-chat", model=name, url=url)
    raise _unknown_name_error(text, name, prefix if separator else "", rest, providers)


def _split_address(text: str) -> tuple[str, str]:
    """Split `model@http://…`; an `@` before anything else belongs to the name."""
    match = re.search(r"@(https?://.*)$", text)
    if match is None:
        return text, ""
    try:
        address = urlsplit(match[1])
    except ValueError:  # for example an unclosed bracket of IPv6
        raise UnknownNameError(f"The model {text[: match.start()]!r} has an invalid address.") from None
    if "@" in address.netloc or address.query or address.fragment:
        # reports contain the name, so they would contain the secret
        raise SetupError(
            f"The model {text[: match.start()]!r} at {address.scheme}://{address.netloc.rpartition('@')[2]}: the address "
            "must have no user, password or query, because each run records the names of its models. Put the key of the "
            "server into the environment variable PROCTOR_MODEL_API_KEY."
        )
    if not address.hostname:
        raise UnknownNameError(f"The model {text!r} has no host in its address {match[1]!r}.")
    return text[: match.start()], match[1].rstrip("/")


def _split_prefix(name: str) -> tuple[str, str, str]:
    match = re.match(r"([A-Za-z][\w.-]*?)([:/])", name)
    return (match[1].lower(), match[2], name[match.end() :]) if match else (name.lower(), "", "")


def _unknown_name_error(
    text: str, name: str, prefix: str, rest: str, providers: Collection[str]
) -> UnknownNameError:
    known = sorted({*providers, *ALIASES})
    if prefix and not rest and ALIASES.get(prefix, prefix) in providers:
        return UnknownNameError(f"The model {text!r} names a provider but no model. Expected {_FORMS}.")
    hint = ""
    if prefix:
        close = get_close_matches(prefix, known, n=1)
        hint = f" Did you mean {name.replace(name[: len(prefix)], close[0], 1)!r}?" if close else ""
    elif name.lower() in known:
        hint = f" That is a provider: name one of its models, as in '{name.lower()}:MODEL'."
    elif name.startswith("gpt-oss"):
        hint = f" OpenAI does not serve it: name its provider, as in 'ollama/{name}'."
    return UnknownNameError(
        f"No model is called {text!r}.{hint or did_you_mean(name.lower(), _EXAMPLES)} Expected {_FORMS}. "
        f"Providers: {', '.join(sorted(providers))}."
    )
