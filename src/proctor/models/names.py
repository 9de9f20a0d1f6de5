"""How users name a model: `gemini-2.5-flash`, `openai:gpt-5`, `ollama/llama3.2`, `openai:model@http://127.0.0.1:8080/v1`."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from difflib import get_close_matches
from urllib.parse import urlsplit

from proctor.errors import SetupError, UnknownNameError, did_you_mean

__all__ = ["ALIASES", "ModelName", "read_name"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelName:
    """A name, taken apart."""

    text: str
    """As it was written."""
    provider: str
    """One of the names in `MODELS`."""
    model: str
    """As the provider calls it."""
    url: str = ""
    """The address, where the name says one."""


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
"""What other tools call a provider."""

_FAMILIES = (
    (re.compile(r"(models/)?(gemini|gemma)-[\w.-]+"), "google"),
    (re.compile(r"(projects/[^/]+/locations/[^/]+/.+|publishers/google/models/.+)"), "vertex"),
    (re.compile(r"(gpt-(?!oss)[\w.-]+|chatgpt-[\w.-]+|o[1-9](-[\w.-]+)?|ft:gpt-.+)"), "openai"),
    (re.compile(r"claude-[\w.@-]+"), "anthropic"),
    (re.compile(r"((us|eu|apac|jp|au|global)\.)?(anthropic|amazon|meta)\.[\w.:-]+"), "bedrock"),
)
"""Names that say by themselves whose they are."""

_EXAMPLES = (
    "gemini-2.5-flash", "gemini-2.5-pro", "gemini-2.5-flash-lite", "gemini-2.0-flash", "gemini-3-pro-preview",
    "gpt-5", "gpt-5-mini", "gpt-5-nano", "gpt-4.1", "gpt-4.1-mini", "gpt-4o", "gpt-4o-mini", "o3", "o4-mini",
    "claude-sonnet-4-5", "claude-opus-4-5", "claude-haiku-4-5", "ollama/gpt-oss:20b", "ollama/llama3.2",
)  # fmt: skip
"""What a misspelled name may have been meant to be."""

_FORMS = (
    "a model's own name (gemini-…, gpt-…, claude-…), PROVIDER:MODEL or PROVIDER/MODEL, "
    "each with @http://HOST/PATH behind it where it is served at another address"
)


def read_name(text: str, providers: Collection[str]) -> ModelName:
    """Take a model's name apart; `providers` are those that there are.

    Raises:
        UnknownNameError: it says no provider, or one that there is not; the message has the closest name.
        SetupError: its address holds a secret.
    """
    name, url = _address(text.strip())
    prefix, separator, rest = _prefixed(name)
    provider = ALIASES.get(prefix, prefix)
    if separator and provider in providers and rest:
        return ModelName(text=text, provider=provider, model=rest, url=url)
    for family, owner in _FAMILIES:
        if family.fullmatch(name):
            return ModelName(text=text, provider=owner, model=name.removeprefix("models/"), url=url)
    if url and name and not separator:  # at an address of one's own, names are one's own: OpenAI's protocol
        return ModelName(text=text, provider="openai-chat", model=name, url=url)
    raise _unknown(text, name, prefix if separator else "", rest, providers)


def _address(text: str) -> tuple[str, str]:
    """Split `model@http://…`; an `@` before anything else belongs to the name."""
    found = re.search(r"@(https?://.*)$", text)
    if found is None:
        return text, ""
    try:
        address = urlsplit(found[1])
    except ValueError:  # of IPv6, half a bracket
        raise UnknownNameError(f"The model {text[: found.start()]!r} has an address that is none.") from None
    if "@" in address.netloc or address.query or address.fragment:
        # it stands in every report: what is secret in it would, too
        raise SetupError(
            f"The model {text[: found.start()]!r} at {address.scheme}://{address.netloc.rpartition('@')[2]}: the address "
            "may have no user, password or query, because names of models are written down with each run. What the "
            "server wants to know stands in the environment variable PROCTOR_MODEL_API_KEY."
        )
    if not address.hostname:
        raise UnknownNameError(f"The model {text!r} has no host in its address {found[1]!r}.")
    return text[: found.start()], found[1].rstrip("/")


def _prefixed(name: str) -> tuple[str, str, str]:
    found = re.match(r"([A-Za-z][\w.-]*?)([:/])", name)
    return (found[1].lower(), found[2], name[found.end() :]) if found else (name.lower(), "", "")


def _unknown(text: str, name: str, prefix: str, rest: str, providers: Collection[str]) -> UnknownNameError:
    known = sorted({*providers, *ALIASES})
    if prefix and not rest and ALIASES.get(prefix, prefix) in providers:
        return UnknownNameError(f"The model {text!r} names a provider and no model. Expected {_FORMS}.")
    hint = ""
    if prefix:
        close = get_close_matches(prefix, known, n=1)
        hint = f" Did you mean {name.replace(name[: len(prefix)], close[0], 1)!r}?" if close else ""
    elif name.lower() in known:
        hint = f" That is a provider: name one of its models, as in '{name.lower()}:MODEL'."
    elif name.startswith("gpt-oss"):
        hint = f" OpenAI does not serve it: name who does, as in 'ollama/{name}'."
    return UnknownNameError(
        f"No model is called {text!r}.{hint or did_you_mean(name.lower(), _EXAMPLES)} Expected {_FORMS}. "
        f"Providers: {', '.join(sorted(providers))}."
    )
