"""The agent, the options and the store of a session, read on first use."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from proctor.common.secrets import redact_text
from proctor.errors import SettingsError, SetupError
from proctor.pytest_plugin.options import audited_share, command_line_values, ini_values
from proctor.runs.setup.judge_and_user import load_function
from proctor.runs.setup.settings import (
    Settings,
    audited_judge,
    engine_options,
    load_settings,
    prepare_process,
    relative_to_working_folder,
    setting_kinds,
)
from proctor.runs.storage.open import is_for_results, open_store

if TYPE_CHECKING:
    from proctor.runs.setup.prepare import Prepared
    from proctor.stores.adk_history import AdkFiles
    from proctor.stores.base import Store

MEMORY = "memory:"


class NoAgentError(SetupError):
    """No agent is named anywhere."""


class Project:
    """Agent and options of one session: the command line overrides pytest's ini file, which overrides the settings."""

    def __init__(self, config: pytest.Config) -> None:
        """Store pytest's configuration, without reading settings yet."""
        self.config = config
        self._command_line = command_line_values(config)
        del self._command_line["agent"], self._command_line["store"]  # neither is an option of each run
        self._open = ExitStack()
        self.unfinished: list[str] = []
        """Stored runs that are not finished."""

    @cached_property
    def settings(self) -> Settings:
        """The project's settings, overridden by pytest's ini file.

        Raises:
            SettingsError: a value in one of the two is not valid.
        """
        settings = load_settings(self.config.invocation_params.dir)
        prepare_process(settings)
        ini = self.config.inipath
        try:
            values = ini_values(self.config)
        except ValueError as error:
            raise SettingsError(f"{ini}: {error}") from None
        folder = ini.parent if ini is not None else self.config.rootpath
        kinds = setting_kinds()
        others = {name: value for name, value in values.items() if name not in kinds}
        self._command_line = {
            **others,
            **{name: value for name, value in self._command_line.items() if value is not None},
        }
        return settings.override({name: value for name, value in values.items() if name in kinds}, folder)

    @cached_property
    def agent_ref(self) -> str:
        """The AGENT string.

        Raises:
            SetupError: no agent is named anywhere, or the settings name several.
        """
        settings, agent = self.settings, self.config.getoption("proctor_agent")
        if agent:
            return str(agent)
        if len(settings.agent) > 1:
            raise SetupError(
                f"{settings.file} names {len(settings.agent)} agents, and a test session runs one: choose it with "
                "--proctor-agent"
            )
        if not settings.agent:
            raise NoAgentError(
                "no agent is named: give one with --proctor-agent AGENT, as `proctor_agent` in pytest's ini file, or as "
                "`agent` in [tool.proctor]"
            )
        return settings.agent[0]

    @cached_property
    def options(self) -> dict[str, Any]:
        """The keyword arguments of `proctor.evaluate`, except the store.

        Raises:
            SetupError: a function of the settings (`setup`, `teardown`) cannot be found.
        """
        settings = self.settings
        options = engine_options(self._command_line, settings)
        for name in ("setup", "teardown"):
            if name in options:
                options[name] = load_function(options[name], f"`{name}` in {settings.file}")
        return options

    @cached_property
    def _loaded(self) -> object:
        from proctor.runs.load import load_agent

        how: dict[str, Any] = {
            name: self.options.get(name) for name in ("agent_name", "isolate", "isolate_memory")
        }
        return load_agent(self.agent_ref, **how)

    @cached_property
    def audited_share(self) -> float | None:
        """The share of mutants that each eval set must catch; `None` if sets are not audited.

        Raises:
            SettingsError: the value in pytest's ini file is not valid.
        """
        try:
            return audited_share(self.config)
        except ValueError as error:
            raise SettingsError(f"{self.config.inipath}: {error}") from None

    def audit_options(self) -> dict[str, Any]:
        """Return the keyword arguments of `proctor.audit`, which are those of the command; the audit is kept in the session's store."""
        names = ("config", "allow_unknown_keys")
        options = {name: self.options[name] for name in names if name in self.options}
        return {**options, **audited_judge(self._command_line, self.settings), "store": self.store}

    def agent(self) -> object:
        """Return the agent, which is loaded once.

        Raises:
            SetupError: no agent is named, or it cannot be loaded.
        """
        self.agent_ref  # noqa: B018 - a missing agent is not a failed attempt: a test may name one itself
        with self.recorded_attempt():
            return self._loaded

    def reference(self, agent: object) -> object:
        """Return the AGENT string if `agent` was loaded from it, otherwise `agent` itself."""
        return self.agent_ref if agent is self.__dict__.get("_loaded") else agent

    @property
    def allows_duplicates(self) -> bool:
        """Whether cases that share an id run under distinct ids."""
        return bool(self.options.get("allow_duplicate_ids"))

    # --- Storage --------------------------------------------------------------------------------------------------------

    @cached_property
    def _store_urls(self) -> tuple[str, ...]:
        store = self.config.getoption("proctor_store")
        return (store,) if store else self.settings.store

    @cached_property
    def store_url(self) -> str:
        """The URL of the store; empty if none is named, so that runs are not stored.

        Raises:
            SetupError: two stores are named.
        """
        stores = [url for url in self._store_urls if not is_for_results(url)]
        if len(stores) > 1:
            raise SetupError(
                f"a run lives in one store, and there are two: {redact_text(' and '.join(stores))}"
            )
        return stores[0] if stores and stores[0] != MEMORY else ""

    @cached_property
    def store(self) -> Store | None:
        """The store, which is opened once.

        Raises:
            StoreError: the store cannot be used.
        """
        if not self.store_url:
            return None
        store = open_store(self.store_url)
        self._open.callback(store.close)
        return store

    @cached_property
    def results(self) -> list[AdkFiles]:
        """The agent folders to which results are also written (`adk:DIR`).

        Raises:
            StoreError: a folder does not exist, or may not be written.
        """
        from proctor.stores.adk_history import AdkFiles

        folders = [AdkFiles.from_url(url) for url in self._store_urls if is_for_results(url)]
        for folder in folders:
            folder.check()
        return folders

    @contextmanager
    def recorded_attempt(self) -> Iterator[None]:
        """Record a configuration error raised inside the block as a failed attempt in the stores of this session."""
        from proctor.common.secrets import redact_arguments
        from proctor.runs.attempts import recorded_attempt

        command = " ".join(["pytest", *redact_arguments(self.config.invocation_params.args)])
        with ExitStack() as stack:
            if not self.config.option.collectonly:
                for url, is_known in self._attempt_stores():
                    stack.enter_context(recorded_attempt(url, command, in_project=not is_known))
            yield

    def _attempt_stores(self) -> list[tuple[str | None, bool]]:
        """Return each named store URL with `True`; if the settings cannot be read, the project's store with `False`."""
        try:
            return [(url, True) for url in self._store_urls if url != MEMORY and not is_for_results(url)]
        except SetupError:
            return [(None, False)]

    # --- Runs -----------------------------------------------------------------------------------------------------------

    def plan(self, path: Path) -> Prepared:
        """Validate everything about the eval set at `path`, and return what a run would execute.

        Raises:
            SetupError: all problems of the set, the agent, the config or an option.
        """
        from proctor.runs.setup.prepare import prepare

        self.store, self.results  # noqa: B018 - raises their configuration errors before anything runs
        return prepare(self.agent_ref, [relative_to_working_folder(str(path))], self.options)  # type: ignore[arg-type]  # checked by name

    def close(self) -> None:
        """Close what the session has opened, the last first."""
        self._open.close()

    def close_later(self, close: Callable[[], None]) -> None:
        """Call `close` when the session ends, before the store is closed."""
        self._open.callback(close)


STORED_RUNS = pytest.StashKey[list[str]]()
"""Stash key of a test: the ids of the runs that it has stored."""
_KEY = pytest.StashKey[Project]()


def project_of(config: pytest.Config) -> Project:
    """Return the project of this session, created on first use."""
    if (known := config.stash.get(_KEY, None)) is None:
        known = config.stash[_KEY] = Project(config)
    return known


def close(config: pytest.Config) -> None:
    """Close the project of this session, if it was created."""
    if (known := config.stash.get(_KEY, None)) is not None:
        known.close()
