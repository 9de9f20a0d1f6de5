"""Check the package and the key of a model before a run, without network access."""

from __future__ import annotations

import os
import re
from importlib import metadata
from importlib.util import find_spec
from urllib.parse import urlsplit

from proctor.errors import MissingExtraError, SetupError
from proctor.models.names import ModelName

__all__ = [
    "KEY_OF_ADDRESSES",
    "first_set",
    "is_provider_address",
    "key_for",
    "missing_key",
    "require_package",
]

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
    distribution = package.replace(".", "-")
    try:
        installed, requirements = metadata.version(distribution), metadata.requires("pydantic-ai-slim") or ()
    except metadata.PackageNotFoundError:  # importable without installation, so its version is unknown
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
