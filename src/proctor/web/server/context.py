"""The context of a server: the project, its store, its agents, and its access options."""

from __future__ import annotations

import os
import re
from collections.abc import Collection
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from fastapi import Depends, Request

from proctor.errors import SetupError
from proctor.files.eval_sets.eval_set_file import EvalSetFile
from proctor.files.eval_sets.source import open_eval_set, open_excerpt
from proctor.runs.storage.open import open_runs, open_store
from proctor.stores.base import Store
from proctor.web.pages.analysis.labelling import LabellingCache
from proctor.web.pages.bounded_cache import BoundedCache
from proctor.web.pages.eval_sets.load_eval_sets import file_state
from proctor.web.pages.runs.load_run import RunPageCache

TOKEN = "PROCTOR_WEB_TOKEN"  # noqa: S105 - the name of a variable
_SHORTEST = 16
_MOST_OPEN = 4
_TOKEN = re.compile(r"[\x21-\x7e]+")
_NAME = re.compile(r"(?P<name>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9_.-]+)(?::(?P<port>\d{1,5}))?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """Which clients are served, and under which host names."""

    token: str | None = None
    """The token that a client must send; `None`: every client that reaches the server is served."""
    hosts: frozenset[tuple[str, int | None]] = frozenset()
    """Additional host names of the server, in lower case, each with a port (`None`: any)."""
    targets: frozenset[tuple[str, int | None]] = frozenset()
    """Private hosts and ports that are allowed in the URLs of agents."""
    any_agent: bool = False
    """Whether the page may start agents that the server was not started with."""


def read_token(token: str | None, file: Path | None) -> str | None:
    """Return the token of the option, of the file or of the environment; `None` if there is none.

    Raises:
        SetupError: there are two, the file cannot be read, or the token is invalid.
    """
    from_environment = os.environ.pop(TOKEN, None)  # agents and other child processes must not see it
    if token is not None and file is not None:
        raise SetupError("--token and --token-file: give one of them")
    source = "--token"
    if file is not None:
        source, token = f"--token-file {file}", _read_token_file(file)
    elif token is None:
        source, token = TOKEN, from_environment
    return None if token is None else _check_token(token, source)


def _read_token_file(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise SetupError(f"--token-file {file}: cannot be read: {why}") from None


def _check_token(token: str, source: str) -> str:
    how = "`python -c 'import secrets; print(secrets.token_urlsafe())'` generates a good one"
    if len(token) < _SHORTEST:
        raise SetupError(
            f"{source}: a token of {len(token)} characters can be guessed: {_SHORTEST} at least; {how}"
        )
    if not _TOKEN.fullmatch(token):
        raise SetupError(f"{source}: a token has letters, digits and signs of ASCII, and no spaces; {how}")
    return token


def read_names(values: tuple[str, ...], option: str) -> frozenset[tuple[str, int | None]]:
    """Return hosts with their ports, if they have any.

    Raises:
        SetupError: a value is not a host name.
    """
    names = set()
    for text in values:
        name = _NAME.fullmatch(text)
        if name is None or int(name["port"] or 0) > 65_535:
            raise SetupError(
                f"{option} {text}: expected the name or address of a host, optionally with :PORT"
            )
        names.add((name["name"].lower(), int(name["port"]) if name["port"] else None))
    return frozenset(names)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerContext:
    """The context of one server; a route receives it through `ContextDep`."""

    root: Path
    """The project's folder, which contains the eval sets."""
    store_url: str | Path | None = None
    """The store of runs; `None`: the project's own store."""
    agents: Path | None = None
    """A folder with one folder per agent, or the folder of one agent; `None`: the project's settings name the agent."""
    access: Access = field(default_factory=Access)
    """Which clients are served, and what the page may start."""
    adk_page: Path | None = None
    """The folder of google-adk's own page, if it is served, too."""
    run_pages: RunPageCache = field(default_factory=RunPageCache, compare=False, repr=False)
    labellings: LabellingCache = field(default_factory=LabellingCache, compare=False, repr=False)
    _sets: BoundedCache[EvalSetFile] = field(
        default_factory=lambda: BoundedCache(_MOST_OPEN), compare=False, repr=False
    )

    def open_cases(self, path: Path, ids: Collection[str]) -> EvalSetFile:
        """As `open_cases` of `files.eval_sets.source`; a file that must be read whole is read once until it changes."""
        return open_excerpt(path, ids) or self._sets.get(
            path, lambda: open_eval_set(path, validate=False), stamp=file_state(path)
        )

    def runs(self) -> closing[Store]:
        """Open the store for reading.

        Raises:
            NoRunsError: there is no store yet.
            StoreError: it cannot be opened.
        """
        return closing(open_runs(self.store_url, read_only=True))

    def changing(self) -> closing[Store]:
        """Open the store to change what is in it.

        Raises:
            NoRunsError: there is no store yet.
            StoreError: it cannot be opened.
        """
        return closing(open_runs(self.store_url))

    def writing(self) -> closing[Store]:
        """Open the store for writing; create it if there is none.

        Raises:
            StoreError: it cannot be opened.
        """
        return closing(open_store(self.store_url))


def _context(request: Request) -> ServerContext:
    context: ServerContext = request.app.state.context
    return context


ContextDep = Annotated[ServerContext, Depends(_context)]
"""The type of the parameter through which a route receives its `ServerContext`."""
