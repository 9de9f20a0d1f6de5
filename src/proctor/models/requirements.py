"""What a model needs before it can be asked: an extra, a key. Found out without network, before a run."""

from __future__ import annotations

import os
import re
from importlib import metadata
from importlib.util import find_spec
from urllib.parse import urlsplit

from proctor.errors import MissingExtraError, SetupError
from proctor.models.names import ModelName

__all__ = ["KEY_OF_ADDRESSES", "first_set", "is_their_own", "key_for", "missing_key", "needs"]

KEY_OF_ADDRESSES = "PROCTOR_MODEL_API_KEY"
"""The variable whose key goes to addresses that stand in a model's name. A provider's own key never does: the name may
come out of a file, and the key is for that provider alone."""

NO_KEY = "no-key-is-set"
"""Sent where clients insist on a key and servers do not."""


_EXTRAS = {
    "anthropic": "judges-anthropic",
    "boto3": "judges-bedrock",
    "google.genai": "judges-google",
    "openai": "judges-openai",
}
"""A provider's package, and the extra that installs it."""


def needs(name: ModelName, package: str) -> None:
    """Check that the package of a model's provider is installed, and new enough, without importing it.

    Raises:
        MissingExtraError: it is missing or too old, or what every judge needs is missing.
    """
    install = f"Run: pip install 'proctor[{_EXTRAS[package]}]'"
    for required in ("pydantic_ai", "genai_prices", package):
        if not _installed(required):
            raise MissingExtraError(f"The model {name.text} needs the package {required!r}. {install}")
    if too_old := _too_old(package):
        raise MissingExtraError(f"The model {name.text} needs {too_old}. {install}")


def _installed(package: str) -> bool:
    try:
        return find_spec(package) is not None
    except (ImportError, ValueError):  # not even the package above it
        return False


def _too_old(package: str) -> str | None:
    """Return which version pydantic-ai requires of a package and which is installed, if that one is older."""
    distribution = package.replace(".", "-")
    try:
        installed, requirements = metadata.version(distribution), metadata.requires("pydantic-ai-slim") or ()
    except metadata.PackageNotFoundError:  # importable without being installed: nothing states its version
        return None
    wanted = re.compile(rf"{distribution}\b[^;]*>=\s*([\d.]+)[^;]*;.*extra == ['\"](\w+)['\"]")
    matches = map(wanted.match, requirements)
    minimum = next(
        (match[1] for match in matches if match and f"judges-{match[2]}" == _EXTRAS[package]), None
    )
    if minimum is None or _release(installed) >= _release(minimum):
        return None
    return f"{distribution}>={minimum}, and {distribution} {installed} is installed"


def _release(version: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", version)[:3]))


def first_set(*variables: str) -> str:
    """Return the value of the first of the environment variables that has one; `""`: none has."""
    return next((value for name in variables if (value := os.environ.get(name, "").strip())), "")


def key_for(name: ModelName, *variables: str, optional: bool = False) -> str:
    """Return the key to ask a model with.

    Raises:
        SetupError: there is none, and the provider wants one.
    """
    if name.url:
        return first_set(KEY_OF_ADDRESSES) or NO_KEY
    key = first_set(*variables)
    if key or optional:
        return key or NO_KEY
    raise missing_key(name, variables[0])


def is_their_own(name: ModelName, *domains: str) -> bool:
    """Tell whether a model is asked where its provider is: no address in its name, or one of the provider's `domains`."""
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
