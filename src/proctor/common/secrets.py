"""Redact secrets in everything that is stored or printed: command lines, URLs, error messages."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any
from urllib.parse import quote

HIDDEN = "***"

_WORD = r"(?:api[-_]?key|key|token|secret|password|passwd|pwd|credentials?|auth|authorization|cookie)"
_NAME = rf"(?<![\w.-])-{{0,2}}(?:[A-Z0-9]+[-_.])*{_WORD}"  # its last word names a secret
_OPTION = re.compile(rf"--?(?:[A-Z0-9]+[-_.])*{_WORD}", re.IGNORECASE)
_IN_COMMAND = re.compile(
    rf"((?<!\S)--?(?:[A-Z0-9]+[-_.])*{_WORD}\s+(?!-)|{_NAME}=)(?:'[^']*'?|\"[^\"]*\"?|[^\s&;,'\"]+)",
    re.IGNORECASE,
)
"""The value after `--api-key` in a command in one text, and the quoted value after `API_KEY=`; the closing quote may be missing."""
_ASSIGNED = re.compile(rf"({_NAME}\s*[=:]\s*)(?:(?:bearer|basic|token)\s+)?[^\s&;,'\"]+", re.IGNORECASE)
_USER_INFO = re.compile(r"((?<![\w.-])\w[\w+.-]{0,30}://)[^/?#\s]{1,1000}@")  # bounds: texts may be very long
_KNOWN = re.compile(
    r"\b(?:(?:sk|pk|rk|gh[opsu]|xox[abp])[-_](?=[\w-]*\d)[\w-]{12,}|AIza[\w-]{20,}|AKIA[A-Z0-9]{12,}|eyJ[\w-]{10,}\.[\w.-]+)"
)

_VARIABLE = re.compile(rf"(?:[A-Z0-9]+_)*{_WORD}", re.IGNORECASE)
_BETWEEN_WORDS = re.compile(r"[^A-Za-z0-9]+|(?<=[a-z0-9])(?=[A-Z])")
_SHORTEST_STATED = 4
"""Characters of a secret in a command line; shorter ones appear anywhere by chance."""
_PLAIN_WORDS = frozenset(
    "true false none null auto basic bearer default done error event function model text tool user".split()
)
"""Values that are not secret: settings, and words of the protocol of agents."""
_STATED = re.compile(rf"{_NAME}=(.*)", re.IGNORECASE | re.DOTALL)
"""An argument that is an option or a variable with its value: everything after the sign is the value."""
_STATED_INSIDE = re.compile(rf"{_NAME}\s*[=:]\s*(?:(?:bearer|basic|token)\s+)?([^\s&;,'\"]+)", re.IGNORECASE)
_COMMAND = re.compile(r"\s*(?:--?[\w-]+=)?cmd:")
_QUOTED = re.compile(r"""['\"\\]""")
_SHORTEST = 8  # characters: "true" and "1" are not secret, even in a variable with such a name
_IN_ERRORS = re.compile(
    r"((?:api[-_]?key|(?:access|auth|refresh|id|session)[-_]?token|authorization|passwo?r?d|(?:client|api)[-_]?secret"
    r"|secret[-_]?key|(?<![\w-])x-[\w-]{0,40}(?:key|token))\\*['\"]?\s*[=:]\s*\\*['\"]?|[?&](?:key|token|sig|signature|code)=)"
    r"(?:(?:bearer|basic|token)\s+)?(?:[^\s&;,'\"<>()\\]|\\+(?!['\"\\]))+",
    re.IGNORECASE,
)
"""As in error messages of providers, also in JSON inside JSON (`\\"api_key\\": \\"…`).

It matches less than `_ASSIGNED`, so that "unknown key: covers" stays readable.
"""


def redact_arguments(arguments: Sequence[str]) -> list[str]:
    """Return a command line without its secrets: values of options that are named like one, keys, passwords in URLs."""
    words: list[str] = []
    hide_next = False
    for argument in arguments:
        if hide_next and not argument.startswith("-"):
            hide_next = False
            words.append(HIDDEN)
            continue
        hide_next = _OPTION.fullmatch(argument) is not None
        words.append(redact_text(argument))
    return words


def secrets_in(arguments: Sequence[str]) -> list[str]:
    """Return the secrets that `redact_arguments` hides in a command line, the longest first, without words and paths."""
    values = [value for value in _values_in(arguments) if is_secret_value(value)]
    return sorted({*values, *map(quote, values)}, key=len, reverse=True)


def is_secret_value(value: str) -> bool:
    """Return whether a value is hidden everywhere: it is not short, not a plain word of options, and not a path."""
    if len(value) < _SHORTEST_STATED or value.lower() in _PLAIN_WORDS or HIDDEN in value:
        return False
    return not os.path.exists(value)  # noqa: PTH110 - a secret may not be a valid path


def _values_in(arguments: Sequence[str]) -> Iterator[str]:
    is_next = False
    for argument in arguments:
        if is_next and not argument.startswith("-"):
            yield argument
        elif whole := _STATED.fullmatch(argument):
            yield whole[1]
        else:
            yield from (match[1] for match in _STATED_INSIDE.finditer(argument))
            yield from (match[0] for match in _KNOWN.finditer(argument))
            yield from (
                match[0].removeprefix(match[1])[:-1].rpartition(":")[2]
                for match in _USER_INFO.finditer(argument)
            )
        is_next = _OPTION.fullmatch(argument) is not None


def redact_values(text: str, secrets: Sequence[str]) -> str:
    """Return `text` without these secrets."""
    for secret in secrets:
        text = text.replace(secret, HIDDEN)
    return text


def hide_in_value(value: Any, secrets: Sequence[str]) -> Any:
    """Return a JSON value without these secrets, in keys and texts."""
    if isinstance(value, str):
        return redact_values(value, secrets)
    if isinstance(value, list):
        return [hide_in_value(item, secrets) for item in value]
    if isinstance(value, dict):
        # a shorter one may be a key of a protocol
        long = [secret for secret in secrets if len(secret) >= _SHORTEST]
        return {redact_values(key, long): hide_in_value(item, secrets) for key, item in value.items()}
    return value


def redact_text(text: str) -> str:
    """Return `text`, an address or a command, with everything that looks like a secret hidden."""
    if command := _COMMAND.match(text):
        text = command[0] + _without_quoted_secrets(text[command.end() :])
    text = _IN_COMMAND.sub(rf"\1{HIDDEN}", text)
    text = _USER_INFO.sub(rf"\1{HIDDEN}@", text)
    text = _ASSIGNED.sub(rf"\1{HIDDEN}", text)
    return _KNOWN.sub(HIDDEN, text)


_WITH_USER = re.compile(r"(postgres(?:ql)?://[^/?#:@]*)(?::[^/?#]*)?(?=@)")
_PASSWORD = re.compile(r"(?<=[?&])(?:ssl)?password=[^&#]*&?|[?&](?:ssl)?password=[^&#]*$")


def url_without_password(url: str) -> str:
    """Return the URL of a database, or a path, without a password and other secrets; the name of the user remains."""
    head = match[1] if (match := _WITH_USER.match(url)) else ""
    return head + redact_text(_PASSWORD.sub("", url[match.end() :] if match else url))


def _without_quoted_secrets(command: str) -> str:
    """Return a command without quoted secrets, of which the patterns match only a part."""
    try:
        words = shlex.split(command)
    except ValueError:  # a quote is missing
        return command
    secrets = [secret for secret in secrets_in(words) if _QUOTED.search(secret)]
    has_secret = any(secret in word for word in words for secret in secrets)
    return (
        shlex.join(redact_values(word, secrets) for word in words).replace(f"'{HIDDEN}'", HIDDEN)
        if has_secret
        else command
    )


def hide_secrets(text: str) -> str:
    """Return the text of an error or a report with secrets hidden.

    Secrets are: the values of environment variables that are named like secrets (`OPENAI_API_KEY`), keys of known shapes,
    user and password in URLs, and values after `api_key=`, `Authorization:` and similar names.
    """
    return secret_hider()(text)


def secret_hider() -> Callable[[str], str]:
    """Return a function that hides secrets in many texts, and reads the environment only once."""
    values = _values(tuple(_secrets()))

    def hidden(text: str) -> str:
        for value in values:
            text = text.replace(value, HIDDEN)
        text = _USER_INFO.sub(rf"\1{HIDDEN}@", text)
        text = _IN_ERRORS.sub(rf"\1{HIDDEN}", text)
        return _KNOWN.sub(HIDDEN, text)

    return hidden


def names_secret(name: str) -> bool:
    """Return whether an attribute or a header is named like a secret: `http.request.header.authorization`, `x-api-key`."""
    return _VARIABLE.fullmatch(_BETWEEN_WORDS.sub("_", name)) is not None


def _secrets() -> Iterator[str]:
    return (
        value for name, value in os.environ.items() if len(value) >= _SHORTEST and _is_secret(name, value)
    )


@lru_cache(maxsize=4096)
def _is_secret(name: str, value: str) -> bool:
    """Return whether a variable holds a secret. A path (PWD, the file with credentials) is not one."""
    if name == "PWD" or _VARIABLE.fullmatch(name) is None:
        return False
    return not os.path.exists(value)  # noqa: PTH110 - a secret may not be a valid path


@lru_cache(maxsize=16)
def _values(values: Iterable[str]) -> list[str]:
    """Sort the longest first, because one may be part of another."""
    return sorted(set(values), key=len, reverse=True)
