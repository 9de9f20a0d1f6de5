"""Attempts to run, to score or to compare: an observer is notified of each, and a failed one is recorded next to the store.

After a failed attempt, `latest` names an older run than the user expects. A record is one small JSON file, written only if the
store exists. It expires when the store has a newer run. The record of a failed `score` also expires when that run is scored, and
the record of a failed `resume` when a `resume` succeeds.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

from proctor.errors import NothingToRunError, RunInUseError, SettingsError, SetupError

if TYPE_CHECKING:
    from proctor.stores.base import Store

ENDING = ".attempt.json"
"""Suffix of the record file, appended to the name of the store file."""
_FIELDS = ("what", "problem", "at", "latest", "is_of_failed", "scores", "is_resume")
_LONGEST = 500


@dataclass(frozen=True, slots=True)
class FailedAttempt:
    """An attempt to run or to score that ended with a configuration error."""

    what: str
    """The command, or the function of the Python API."""
    problem: str
    at: float
    """Unix seconds."""
    latest: str
    """The newest run of the store at that time; empty if there was none."""
    is_of_failed: bool = False
    """Whether the attempt was to re-run cases that did not pass in an earlier run: the same command still refers to that run."""
    scores: int = 0
    """The number of scoring passes of that run if the attempt was to add one; 0 if the attempt was to make a run."""
    is_resume: bool = False
    """Whether the attempt was to finish a run. A successful `resume` deletes its record."""


class NoAttemptError(SetupError):
    """There is nothing to do and nothing was attempted, so this is not a failed attempt."""


_caller_records: ContextVar[bool] = ContextVar("caller_records_attempts", default=False)


@contextmanager
def attempts_recorded_by_caller() -> Iterator[None]:
    """Leave the recording of attempts inside the block to the caller, which knows more about them."""
    token = _caller_records.set(True)
    try:
        yield
    finally:
        _caller_records.reset(token)


@contextmanager
def recorded_attempt(
    store: Any, what: str, *, in_project: bool = False, is_resume: bool = False
) -> Iterator[None]:
    """Record a configuration error that the block raises. If `is_resume` and the block succeeds, delete the record of a failed `resume`.

    `store` is a URL, a path, an open store or `None`: the project's store if `in_project`, otherwise no store.
    """
    url = getattr(store, "url", store)
    try:
        yield
    except (NothingToRunError, NoAttemptError, RunInUseError):
        raise
    except SetupError as error:
        if (store is not None or in_project) and not _caller_records.get():
            record_failed_attempt(url, what, str(error), is_resume=is_resume)
        raise
    if is_resume:
        _lift_failed_resume(url)


def record_failed_attempt(
    url: str | Path | None,
    what: str,
    problem: str,
    *,
    is_score: bool = False,
    is_of_failed: bool = False,
    is_resume: bool = False,
) -> None:
    """Record a failed attempt next to the store (`None`: the project's) if the store exists. Never create a store for it.

    A failed score never replaces a record. A failed `--failed` (`is_of_failed`) or `resume` replaces only the record of a score or a
    `resume`. A record that replaces one of another kind expires only with a newer run. The function never raises: its own errors
    must not hide the reported one.
    """
    from proctor.common.atomic_write import new_file
    from proctor.common.secrets import redact_text
    from proctor.runs.storage.open import open_runs
    from proctor.stores.open import store_file

    with suppress(SetupError, OSError, ValueError):
        url = _url_of(url)
        file = store_file(url)
        if file is None or not file.is_file():
            return
        with closing(open_runs(url, read_only=True)) as store:
            before = failed_attempt(store)
            is_weak = is_score or is_of_failed or is_resume
            if is_weak and before is not None and (is_score or not (before.scores or before.is_resume)):
                return
            is_resume = is_resume and (before is None or before.is_resume)
            is_of_failed = is_of_failed and before is None
            latest, scores = _newest(store)
        attempt = FailedAttempt(
            redact_text(what)[:_LONGEST],
            redact_text(problem)[:_LONGEST],
            time.time(),
            latest,
            is_of_failed,
            scores if is_score else 0,
            is_resume,
        )
        with new_file(_record(file)) as out:
            out.write(json.dumps({name: getattr(attempt, name) for name in _FIELDS}, indent=1) + "\n")


def _lift_failed_resume(url: str | Path | None) -> None:
    """Delete the record of a failed `resume`; keep any other record."""
    from proctor.stores.open import store_file

    with suppress(SetupError, OSError, ValueError):
        file = store_file(_url_of(url))
        if (
            file is not None
            and json.loads(_record(file).read_text(encoding="utf-8")).get("is_resume") is True
        ):
            _record(file).unlink()


def failed_attempt(store: Store) -> FailedAttempt | None:
    """Return the failed attempt since the newest run of a store, or `None`.

    An unreadable record counts as a failed attempt, because it may be one.
    """
    from proctor.runs.storage.open import store_url
    from proctor.stores.open import store_file

    try:
        file = store_file(store_url(store.url))
    except SetupError:
        return None
    if file is None or not (record := _record(file)).is_file():
        return None
    try:
        attempt = FailedAttempt(**json.loads(record.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError) as error:
        return FailedAttempt(str(record), f"the record cannot be read ({error}); delete it", 0.0, "")
    if _has_newer_run(store, attempt):
        return None
    if attempt.scores and len(store.scorings(attempt.latest)) != attempt.scores:
        return None
    return attempt


def find_current_run(
    store: Store,
    name: str,
    *,
    purpose: Literal["", "failed", "score", "resume"] = "",
    with_audits: bool = False,
) -> str:
    """Return the id of the run that `name` names. Refuse `latest` and similar names after a failed attempt.

    `purpose` is what the run is for: `failed` for `--failed`, `score` to score it, `resume` to finish it. A failed attempt with the same
    purpose does not change which run the name refers to. An audit is refused, unless `with_audits`.

    Raises:
        UnknownNameError: no run has this name.
        SetupError: the name depends on which run is the newest, and the last attempt made no run.
    """
    from proctor.runs.storage.open import name_of_run
    from proctor.schema.results.manifest import runs_back

    name = name_of_run(name)
    attempt = failed_attempt(store) if runs_back(name) is not None else None
    if attempt is None or (purpose == "failed" and attempt.is_of_failed):
        return store.find(name, None) if with_audits else store.find(name)
    if (purpose == "score" and attempt.scores) or (purpose == "resume" and attempt.is_resume):
        return store.find(name)
    raise SetupError(
        f"{name}: {describe_attempt(attempt)}. Fix the error and run again, or name a run by its id"
    )


def describe_attempt(attempt: FailedAttempt) -> str:
    """Return a description of a failed attempt for a message, without a final full stop."""
    when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(attempt.at))
    newest = (
        f"The newest run, {attempt.latest}, is older than that attempt"
        if attempt.latest
        else "The store has no run"
    )
    problem = attempt.problem.splitlines()[0] if attempt.problem else "unknown"
    end = "" if problem.endswith((".", "?")) else "."
    return f"the last attempt, `{attempt.what}` ({when}), ended with a configuration error: {problem}{end} {newest}"


def warning_of_attempt(store: Store, name: str = "") -> str:
    """Return the warning for a command that uses the run `name` after a failed attempt; empty if there was none.

    Without a name the command uses the newest run, as `latest` does.
    """
    from proctor.schema.results.manifest import runs_back

    attempt = failed_attempt(store) if not name or runs_back(name) is not None else None
    return f"warning: {name and f'{name}: '}{describe_attempt(attempt)}" if attempt is not None else ""


def _has_newer_run(store: Store, attempt: FailedAttempt) -> bool:
    """Return whether a run was made since the attempt. Deleting the newest run of that time does not make another run newer."""
    entries = store.index()
    newest = next(iter(entries), None)
    if newest is None or newest.run_id == attempt.latest:
        return False
    if not attempt.latest or any(entry.run_id == attempt.latest for entry in entries):
        return True
    return newest.created_at > attempt.at


def _url_of(url: str | Path | None) -> str:
    """Return the URL of the store; that of the default store if the settings cannot be read."""
    from proctor.runs.storage.open import default_store, store_url

    try:
        return store_url(url)
    except SettingsError:
        return str(default_store())


def _record(file: Path) -> Path:
    return file.with_name(f"{file.name}{ENDING}")


def _newest(store: Store) -> tuple[str, int]:
    newest = next((entry.run_id for entry in store.index()), "")
    return newest, len(store.scorings(newest)) if newest else 0


# --- Observers of evaluations -----------------------------------------------------------------------------------------

Result = TypeVar("Result")


class Watcher(Protocol):
    """Observer of evaluations. It receives each result before the caller does."""

    def begun(self) -> None:
        """Receive the start of a run or of scoring."""
        ...

    def ended(self, result: Any) -> Any:
        """Receive a result, and return the result for the caller."""
        ...


WATCHERS: list[Watcher | None] = []
"""Only the last observer is called; `None` disables observation. A pytest session inside a test of another one is independent."""


def begun() -> None:
    """Notify the observer that an evaluation starts."""
    if WATCHERS and (last := WATCHERS[-1]) is not None:
        last.begun()


def ended(result: Result) -> Result:
    """Pass a result to the observer, and return the result for the caller."""
    if not WATCHERS or (last := WATCHERS[-1]) is None:
        return result
    final_result: Result = last.ended(result)
    return final_result
