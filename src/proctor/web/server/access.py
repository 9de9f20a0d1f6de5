"""What the server was started with that its routes and guards go by."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from proctor.errors import SetupError

TOKEN = "PROCTOR_WEB_TOKEN"  # noqa: S105 - the name of a variable
_SHORTEST = 16
_TOKEN = re.compile(r"[\x21-\x7e]+")
_NAME = re.compile(r"(?P<name>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9_.-]+)(?::(?P<port>\d{1,5}))?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """Who may ask, and by which names."""

    token: str | None = None
    """What a client must know; `None`: whoever reaches the server may ask."""
    hosts: frozenset[tuple[str, int | None]] = frozenset()
    """Names beside those of this machine by which the server may be called, in lower case; `None`: at any port."""
    targets: frozenset[tuple[str, int | None]] = frozenset()
    """Private hosts and ports that agents named by their URL may be at."""
    any_agent: bool = False
    """Whether the page may start agents that the server was not started with."""


def read_token(token: str | None, file: Path | None) -> str | None:
    """Return the token that was given: by itself, in a file, or in the environment; `None` where none was.

    Raises:
        SetupError: two were given, the file cannot be read, or it is no token.
    """
    of_environment = os.environ.pop(TOKEN, None)  # what the server starts, agents among it, has no use for it
    if token is not None and file is not None:
        raise SetupError("--token and --token-file: give one of them")
    said, found = "--token", token
    if file is not None:
        said, found = f"--token-file {file}", _read_token_file(file)
    elif token is None:
        said, found = TOKEN, of_environment
    return None if found is None else _check_token(found, said)


def _read_token_file(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is no text"
        raise SetupError(f"--token-file {file}: cannot be read: {why}") from None


def _check_token(token: str, said: str) -> str:
    how = "`python -c 'import secrets; print(secrets.token_urlsafe())'` makes a good one"
    if len(token) < _SHORTEST:
        raise SetupError(
            f"{said}: a token of {len(token)} characters can be guessed: {_SHORTEST} at least; {how}"
        )
    if not _TOKEN.fullmatch(token):
        raise SetupError(f"{said}: a token has letters, digits and signs of ASCII, and no spaces; {how}")
    return token


def read_names(given: tuple[str, ...], option: str) -> frozenset[tuple[str, int | None]]:
    """Return hosts, with ports where they have some.

    Raises:
        SetupError: one is no name of a host.
    """
    found = set()
    for text in given:
        name = _NAME.fullmatch(text)
        if name is None or int(name["port"] or 0) > 65_535:
            raise SetupError(
                f"{option} {text}: expected the name or address of a host, with :PORT where it matters"
            )
        found.add((name["name"].lower(), int(name["port"]) if name["port"] else None))
    return frozenset(found)
