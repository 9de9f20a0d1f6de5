"""Failed attempts: what ended with a configuration error before it made a run or a score, recorded next to the store.

`latest` names the newest run, and after a failed attempt that is an older one than its user means. A record is one small
JSON file; it is written only where a store exists, and counts until the store has a newer run (or, of a failed `score`,
another score of that run). A failed `resume` also counts no more once one succeeds: that makes no newer run.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from proctor.errors import NothingToRunError, RunInUseError, SettingsError, SetupError

if TYPE_CHECKING:
    from proctor.stores.base import Store

ENDING = ".attempt.json"
"""What the file of the record is called, behind the name of the store's file."""
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
    """The newest run of the store at that time; empty: there was none."""
    is_of_failed: bool = False
    """Whether it was to run again what did not pass in an earlier run: then the same words still mean that run."""
    scores: int = 0
    """How many scores that run had, where the attempt was to add one; 0: it was to make a run."""
    is_resume: bool = False
    """Whether it was to finish a run: one that succeeds lifts it."""


class NoAttemptError(SetupError):
    """There is nothing to do, and nothing was attempted: not a failed attempt."""


_caller_records: ContextVar[bool] = ContextVar("caller_records_attempts", default=False)


@contextmanager
def attempts_recorded_by_caller() -> Iterator[None]:
    """Leave it to the caller to record attempts that are made inside: it knows more about them."""
    token = _caller_records.set(True)
    try:
        yield
    finally:
        _caller_records.reset(token)


@contextmanager
def recorded_attempt(
    store: Any, what: str, *, in_project: bool = False, is_resume: bool = False
) -> Iterator[None]:
    """Record a configuration error that is raised inside, and lift the record of a failed `resume` where one succeeds.

    `store` is a URL, a path, an open store or `None`: the project's store if `in_project`, otherwise results are kept nowhere.
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
    """Write down a failed attempt next to the store (`None`: the project's), where there is one. A store is not made for it.

    What `--failed` was to run again (`is_of_failed`), a score and a `resume` never replace another record: that one still
    counts. Where that one is about a score or a `resume`, which the next of its kind lifts, `--failed` replaces it by one that
    only a run lifts, and so does a `resume` where it is about a score. Never raises: the problem itself is reported, and must
    not be hidden by another one.
    """
    from proctor.common.atomic_write import new_file
    from proctor.common.secrets import redact_text
    from proctor.runs.storage.queries import open_runs
    from proctor.stores.urls import store_file

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
    """Delete the record of a failed `resume`; any other stays."""
    from proctor.stores.urls import store_file

    with suppress(SetupError, OSError, ValueError):
        file = store_file(_url_of(url))
        if (
            file is not None
            and json.loads(_record(file).read_text(encoding="utf-8")).get("is_resume") is True
        ):
            _record(file).unlink()


def failed_attempt(store: Store) -> FailedAttempt | None:
    """Return the failed attempt since the newest run of a store; `None` without one.

    A record that cannot be read counts: that there was no failed attempt is not known then.
    """
    from proctor.runs.storage.queries import store_url
    from proctor.stores.urls import store_file

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
    if attempt.scores and len(store.judgings(attempt.latest)) != attempt.scores:
        return None
    return attempt


def find_current_run(
    store: Store, name: str, *, purpose: Literal["", "failed", "score", "resume"] = ""
) -> str:
    """Return the id of the run that `name` names; refuse `latest` and the like after a failed attempt.

    `purpose`: `failed` is what `--failed` names, which an attempt with `--failed` leaves as it was; `score` is a run to be
    scored, which a failed score leaves as it was; `resume` is a run to be finished, which a failed resume leaves as it was.

    Raises:
        UnknownNameError: there is no such run.
        SetupError: the name depends on which run is the newest, and the last attempt made none.
    """
    from proctor.runs.setup.argument_checks import name_of_run
    from proctor.stores.base import runs_back

    name = name_of_run(name)
    attempt = failed_attempt(store) if runs_back(name) is not None else None
    if attempt is None or (purpose == "failed" and attempt.is_of_failed):
        return store.find(name)
    if (purpose == "score" and attempt.scores) or (purpose == "resume" and attempt.is_resume):
        return store.find(name)
    raise SetupError(
        f"{name}: {describe_attempt(attempt)}. Fix the error and run again, or name a run by its id"
    )


def describe_attempt(attempt: FailedAttempt) -> str:
    """Return the sentences about a failed attempt, for a message; without a full stop."""
    when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(attempt.at))
    return (
        f"the last attempt, `{attempt.what}` ({when}), ended with a configuration error: "
        f"{attempt.problem.splitlines()[0] if attempt.problem else 'unknown'}. The newest run, "
        f"{attempt.latest or 'none'}, is older than that attempt"
    )


def warning_of_attempt(store: Store, name: str = "") -> str:
    """Return the warning for a command that uses the run `name` all the same; empty where none is due.

    A run that was not named depends on which one is the newest, as `latest` does.
    """
    from proctor.stores.base import runs_back

    attempt = failed_attempt(store) if not name or runs_back(name) is not None else None
    return f"warning: {name and f'{name}: '}{describe_attempt(attempt)}" if attempt is not None else ""


def _has_newer_run(store: Store, attempt: FailedAttempt) -> bool:
    """Tell whether a run was made since; that the newest run of that time was deleted makes no other run newer."""
    entries = store.index()
    newest = next(iter(entries), None)
    if newest is None or newest.run_id == attempt.latest:
        return False
    if not attempt.latest or any(entry.run_id == attempt.latest for entry in entries):
        return True
    return newest.created_at > attempt.at


def _url_of(url: str | Path | None) -> str:
    """Return the store that is meant; the default one where the settings cannot be read."""
    from proctor.runs.storage.queries import default_store, store_url

    try:
        return store_url(url)
    except SettingsError:
        return str(default_store())


def _record(file: Path) -> Path:
    return file.with_name(f"{file.name}{ENDING}")


def _newest(store: Store) -> tuple[str, int]:
    newest = next((entry.run_id for entry in store.index()), "")
    return newest, len(store.judgings(newest)) if newest else 0
