"""The names of models, and the package and the key that a name requires.

Names are e.g. `gemini-2.5-flash`, `openai:gpt-5`, `ollama/llama3.2`, `openai:model@http://127.0.0.1:8080/v1`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection
from dataclasses import dataclass
from difflib import get_close_matches
from importlib.util import find_spec
from urllib.parse import urlsplit

from proctor.errors import MissingExtraError, SetupError, UnknownNameError, did_you_mean


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


# --- The package and the key of a model, checked before a run, without network access ---------------------------------


KEY_OF_ADDRESSES = "PROCTOR_MODEL_API_KEY"
"""The variable with the key for addresses in a model's name. The name may come from a file, so a provider's own key is
never sent there."""

NO_KEY = "no-key-is-set"
"""Sent to servers that need no key, because the clients require one."""


_EXTRAS = {
    "anthropic": "judges-anthropic",
    "boto3": "judges-bedrock",
    "google.genai": "judges-google",
    "openai": "judges-openai",
}
"""The extra that installs the package of a provider."""


def require_package(name: ModelName, package: str) -> None:
    """Require the package of a model's provider in a supported version, without importing it.

    Raises:
        MissingExtraError: the package is missing or too old, or a package that all providers need is missing.
    """
    install = f"Run: pip install 'proctor[{_EXTRAS[package]}]'"
    for required in ("pydantic_ai", "genai_prices", package):
        if not _is_installed(required):
            raise MissingExtraError(f"The model {name.text} needs the package {required!r}. {install}")
    if too_old := _too_old(package):
        raise MissingExtraError(f"The model {name.text} needs {too_old}. {install}")


def _is_installed(package: str) -> bool:
    try:
        return find_spec(package) is not None
    except (ImportError, ValueError):  # the parent package is missing
        return False


def _too_old(package: str) -> str | None:
    """Return the required and the installed version of a package if the installed one is too old."""
    from importlib import metadata

    distribution = package.replace(".", "-")
    try:
        installed, requirements = metadata.version(distribution), metadata.requires("pydantic-ai-slim") or ()
    except metadata.PackageNotFoundError:  # importable without installation, so its version is unknown
        return None
    pattern = re.compile(rf"{distribution}\b[^;]*>=\s*([\d.]+)[^;]*;.*extra == ['\"](\w+)['\"]")
    matches = map(pattern.match, requirements)
    minimum = next(
        (match[1] for match in matches if match and f"judges-{match[2]}" == _EXTRAS[package]), None
    )
    if minimum is None or _release(installed) >= _release(minimum):
        return None
    return f"{distribution}>={minimum}, and {distribution} {installed} is installed"


def _release(version: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", version)[:3]))


def first_set(*variables: str) -> str:
    """Return the first non-empty value of the environment variables; `""` if all are empty."""
    return next((value for name in variables if (value := os.environ.get(name, "").strip())), "")


def key_for(name: ModelName, *variables: str, optional: bool = False) -> str:
    """Return the API key of a model.

    Raises:
        SetupError: the provider needs a key, and none is set.
    """
    if name.url:
        return first_set(KEY_OF_ADDRESSES) or NO_KEY
    key = first_set(*variables)
    if key or optional:
        return key or NO_KEY
    raise missing_key(name, variables[0])


def is_provider_address(name: ModelName, *domains: str) -> bool:
    """Return whether a model's address is its provider's: the name has no address, or one of the provider's `domains`."""
    if not name.url:
        return True
    address = urlsplit(name.url)
    host = address.hostname or ""
    return address.scheme == "https" and any(
        host == domain or host.endswith(f".{domain}") for domain in domains
    )


def missing_key(name: ModelName, variable: str, more: str = "") -> SetupError:
    """Return the error for a key that is not set."""
    return SetupError(
        f"The model {name.text} cannot be asked: the environment variable {variable} is not set{more}."
    )
