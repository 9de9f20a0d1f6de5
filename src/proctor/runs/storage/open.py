"""Locate and open the store of a project, and name a run in it."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from proctor.common.error_text import safe_repr
from proctor.common.secrets import redact_text, url_without_password
from proctor.errors import SettingsError, SetupError, StoreError
from proctor.runs.setup.settings import Settings, load_settings, project_root, relative_to_working_folder
from proctor.stores.base import Store
from proctor.stores.open import store_file

if TYPE_CHECKING:
    from typing_extensions import TypeIs

    from proctor.schema.results.run_result import RunResult

FOLDER = ".proctor"
STORE_FILE = "store.sqlite3"

StoreLike = str | Path | Store | None
"""A URL (`sqlite:///path`, `memory:`), the path of a SQLite file, an open store, or `None`: the project's store."""


def store_url(url: str | Path | None = None) -> str:
    """Return the URL of the store that `url` names.

    `None` means the setting `store`; without it, the file `.proctor/store.sqlite3` in the project's root, or in the working
    folder outside of a project.

    Raises:
        StoreError: `url` is a place for results only, which holds no runs.
    """
    if url is None:
        url = project_store(load_settings(Path.cwd()))
    if is_open(url) or not str(url).strip():
        raise StoreError(
            f"store: expected a path, or a URL (postgresql://USER@HOST/DATABASE, memory:), got {safe_repr(url)}"
        )
    if is_for_results(str(url)):
        raise StoreError(
            f"{redact_text(str(url))} holds results in google-adk's form, and no runs: give the store that the runs are in. "
            "`proctor import FILE` takes such results into a store"
        )
    return str(url)


def project_store(settings: Settings) -> str | Path:
    """Return the store of a project with these settings: the setting `store`, or else the default file."""
    return next((one for one in settings.store if not is_for_results(one)), None) or _store_in(settings.root)


def default_store() -> Path:
    """Return the default store file of this project, whether or not it exists."""
    return _store_in(project_root(Path.cwd()))


def _store_in(root: Path | None) -> Path:
    return (root or Path.cwd()) / FOLDER / STORE_FILE


def store_option(store: StoreLike) -> str:
    """Return the option that names `store` at the end of a command, without a password.

    Empty for the project's store, which needs no option, and for stores in memory, which no other command can open.
    """
    location = store.url if is_open(store) else store
    if location is None or (url := str(location)).startswith("memory:") or _is_project_store(url):
        return ""
    return f" --store={shlex.quote(url_for_commands(url))}"


def url_for_commands(url: str) -> str:
    """Return the URL of a store without a password and other secrets: a command takes them from `PGPASSWORD` or `~/.pgpass`."""
    return url_without_password(relative_to_working_folder(url))


def _is_project_store(url: str) -> bool:
    try:
        own = store_url()
    except SetupError:  # the settings cannot be read
        return False
    file, own_file = store_file(url), store_file(own)
    return url == own if file is None or own_file is None else file.absolute() == own_file.absolute()


def kept_stores(urls: Sequence[str | Path | None] = (None,)) -> list[Path]:
    """Return the files of the stores with these URLs (`None`: the project's store), and the default store."""
    stores = [default_store()]
    for url in urls:
        try:
            if (file := store_file(store_url(url))) is not None:
                stores.append(file.absolute())
        except SetupError:  # reported by the command itself, or holds no runs
            continue
    return stores


def is_for_results(url: str) -> bool:
    """Return whether `url` names a place that results are also written to (`adk:DIR`), rather than a store."""
    return url.startswith("adk:")


def open_store(url: str | Path | None = None, settings: Settings | None = None) -> Store:
    """Open the store at `url` for writing; create a SQLite file that does not exist.

    `url` is a URL, the path of a SQLite file, or `None` for the project's store (see `store_url`). `settings` are those of
    the project, if they have been read.

    Raises:
        UnknownNameError: no kind of store has this scheme.
        StoreError: the store cannot be opened; the message names it and the remedy.
    """
    from proctor.stores.open import open_store_url

    url, artefacts = _location(url, settings)
    return open_store_url(url, artefacts=artefacts)


def open_runs(url: str | Path | None = None, *, read_only: bool = False) -> Store:
    """Open the store at `url` for its existing runs; never create a store.

    `read_only`: open the store without write access, so that it need not be writable.

    Raises:
        NoRunsError: the store does not exist yet.
        StoreError: the store cannot be opened.
    """
    from proctor.stores.open import open_store_url

    url, artefacts = _location(url)
    if (file := store_file(url)) is not None and not file.exists():
        raise NoRunsError(
            f"no runs yet: there is no store {display_path(file)}. `proctor eval AGENT SET` keeps its runs; "
            "--store names another place"
        )
    return open_store_url(url, read_only=read_only, artefacts=artefacts)


def _location(url: str | Path | None, settings: Settings | None = None) -> tuple[str, str]:
    """Return a store's URL and the project's folder or bucket for large artefacts.

    Only the project's own store needs settings that can be read; a command that needs them otherwise reports the problem.
    """
    try:
        settings = settings or load_settings(Path.cwd())
    except SettingsError:
        if url is None:
            raise
        settings = Settings()
    return store_url(project_store(settings) if url is None else url), settings.artefacts


class NoRunsError(StoreError):
    """The store does not exist yet, so there are no runs."""


def display_path(path: Path) -> str:
    """Return a path below the working folder relative to it; any other path unchanged."""
    return relative_to_working_folder(str(path))


def as_store(store: StoreLike, *, read_only: bool = True) -> Store:
    """Return `store` as an open store; open it if needed."""
    return open_runs(store, read_only=read_only) if not is_open(store) else store


def is_open(store: str | Path | Store | None) -> TypeIs[Store]:
    """Return whether `store` is an open store, rather than the location of one.

    Raises:
        StoreError: `store` is neither.
    """
    if store is None or isinstance(store, str | Path):
        return False
    if isinstance(store, type) or not all(hasattr(store, name) for name in ("url", "index", "find")):
        raise StoreError(
            f"store: expected a path, a URL (postgresql://USER@HOST/DATABASE, memory:), an open store (`open_store`) or None, got {safe_repr(store)}"
        )
    return True


def name_of_run(run: str | RunResult) -> str:
    """Return the name of a stored run: the given name, or the id of a result.

    Raises:
        SetupError: `run` is neither, or the result is in no store.
    """
    if isinstance(run, str):
        return run
    from proctor.schema.results.run_result import RunResult as Result

    if not isinstance(run, Result):
        raise SetupError(
            "run: expected an id, the beginning of one, `latest`, `latest~1` or a result that is in the store, "
            f"got {safe_repr(run)}"
        )
    if not run.run_id:
        raise SetupError(
            "this run was not kept: give evaluate(…, store=…) a store, and its evidence can be re-scored"
        )
    return run.run_id
