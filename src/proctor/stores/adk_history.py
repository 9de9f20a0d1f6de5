"""Results where google-adk keeps them, so that `adk web` and its other tools see what Proctor ran.

`--store adk:AGENTS_DIR` writes `AGENTS_DIR/<app>/.adk/eval_history/<name>.evalset_result.json` when a run ends, one
file for each eval set, in addition to the store of the run: ADK's format cannot hold a run that is to be resumed.
"""

from __future__ import annotations

import os
import re
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from proctor.common.atomic_write import new_file
from proctor.errors import StoreError, did_you_mean
from proctor.schema.format.adk_results import (
    HISTORY,
    SUFFIX,
    CaseContext,
    ResultHeader,
    app_name_of,
    result_text,
    with_context,
)
from proctor.schema.results.run_result import CaseResult, RunResult

SCHEME = "adk:"
_QUERY = re.compile(r"\?([^?]*)$")


@dataclass(frozen=True, slots=True)
class AdkFiles:
    """The folder of agents that results are written below."""

    agents_dir: Path
    app_name: str | None = None
    """The agent's folder; `None`: as the agent is called."""

    def __post_init__(self) -> None:
        """Refuse a name that would lead elsewhere.

        Raises:
            StoreError: the app's name is not a valid folder name.
        """
        if self.app_name is not None and not is_folder_name(self.app_name):
            raise StoreError(
                f"{self.app_name!r} is not a valid name of an agent's folder: expected one step of a path"
            )

    @classmethod
    def from_url(cls, url: str) -> AdkFiles:
        """Read `adk:AGENTS_DIR` or `adk:AGENTS_DIR?app=NAME`.

        Raises:
            StoreError: the URL names no folder, asks for something other than an app, or the app's name is not a valid
                folder name.
        """
        place = url.removeprefix(SCHEME).removeprefix("//")
        match = _QUERY.search(place)
        folder = place[: match.start()] if match else place
        if not folder:
            raise StoreError(
                f"{url}: adk: takes the folder that holds the agents' folders, such as adk:agents"
            )
        if match and (not match[1].startswith("app=") or "&" in match[1]):
            raise StoreError(
                f"{url}: behind the folder adk: takes ?app=NAME (how google-adk calls the agent) and nothing else, "
                f"got ?{match[1]}.{did_you_mean(match[1].partition('=')[0], ['app'])}"
            )
        # absolute: the agent may change the working folder before the run ends
        app_name = match[1].removeprefix("app=") if match else None
        return cls(Path(folder).expanduser().absolute(), app_name)

    @property
    def url(self) -> str:
        """The URL that names it, absolute, so that it is valid in every working folder."""
        return f"{SCHEME}{self.agents_dir}{'' if self.app_name is None else f'?app={self.app_name}'}"

    def check(self) -> None:
        """Check before the run what would fail at its end.

        Raises:
            StoreError: the folder is not there, or may not be written.
        """
        if not self.agents_dir.is_dir():
            raise StoreError(
                f"{SCHEME}{self.agents_dir}: no such folder; expected the one that holds the agents' folders"
            )
        if not os.access(self.agents_dir, os.W_OK | os.X_OK):
            raise StoreError(f"{SCHEME}{self.agents_dir}: no permission to write there")

    def write(self, run: RunResult, *, timestamp: float | None = None) -> list[Path]:
        """Write the results of a run, a file for each eval set; returns the files.

        `timestamp` (Unix seconds; default: when the run began) is part of the files' names, so that a run that is
        written again takes the place of what was written of it before. Nothing is held in memory but one trial.

        Raises:
            StoreError: a file cannot be written; those before it are there.
        """
        app_name = self.app_name or self._app(run)
        return _write_sets(run, self.agents_dir.joinpath(app_name, *HISTORY), app_name, timestamp)

    def _app(self, run: RunResult) -> str:
        """The agent's folder: of the names that lead to the agent (`agents.travel.flawed`) the one that is there."""
        name = app_name_of(run)
        there = (
            part for part in (name, *reversed(name.split("."))) if part and (self.agents_dir / part).is_dir()
        )
        return next(there, name)

    def write_flat(self, run: RunResult, *, timestamp: float | None = None) -> list[Path]:
        """Write the same files right into the folder, to be taken elsewhere.

        Raises:
            StoreError: a file cannot be written; those before it are there.
        """
        return _write_sets(run, self.agents_dir, self.app_name or app_name_of(run), timestamp)


def _write_sets(run: RunResult, folder: Path, app_name: str, timestamp: float | None) -> list[Path]:
    when = timestamp or run.started_at or time.time()
    written: list[Path] = []
    for (ordinal, eval_set_id), cases in _cases_by_set(run):
        # two sets may have one id: their files differ by a microsecond
        header = ResultHeader(app_name, eval_set_id, round(when + 1e-6 * ordinal, 6) if ordinal else when)
        written.append(_write_set(folder, header, cases))
    return written


_Set = tuple[int, str]
"""Which of the sets with one id it is, from 0, and the id."""


def _cases_by_set(run: RunResult) -> Iterable[tuple[_Set, Iterable[tuple[CaseResult, CaseContext]]]]:
    """Return the cases set by set. They are in this order, except for cases that were added to a resumed run: these are at its end."""
    names = getattr(run.cases, "names", None)
    places: dict[_Set, list[range]] = {}
    ordinal, at = _Ordinal(run), 0
    for which, group in groupby(names() if names is not None else (), key=lambda name: ordinal(*name)):
        count = sum(1 for _ in group)
        places.setdefault(which, []).append(range(at, at + count))
        at += count
    if any(len(indexes) > 1 for indexes in places.values()):
        return [(which, with_context(run, indexes)) for which, indexes in places.items()]
    ordinal = _Ordinal(run)
    return groupby(with_context(run), key=lambda pair: ordinal(pair[0].eval_set_id, pair[0].eval_id))


class _Ordinal:
    """Identifies a set, also among sets with one id."""

    def __init__(self, run: RunResult) -> None:
        self._seen: Counter[str] = Counter()
        self._set_id: str | None = None
        self._firsts: dict[str, str] = {}
        self._sets = Counter(one.eval_set_id for one in run.sets)

    def __call__(self, eval_set_id: str, eval_id: str) -> _Set:
        """Return which set the next case is in."""
        again = self._firsts.get(eval_set_id) == eval_id  # ids are unique within a set
        if eval_set_id not in self._firsts or again or self._begins_another_set(eval_set_id):
            self._firsts[eval_set_id] = eval_id
            self._seen[eval_set_id] += 1
        self._set_id = eval_set_id
        return self._seen[eval_set_id] - 1, eval_set_id

    def _begins_another_set(self, eval_set_id: str) -> bool:
        return eval_set_id != self._set_id and self._sets[eval_set_id] > 1


def _write_set(folder: Path, header: ResultHeader, cases: Iterable[tuple[CaseResult, CaseContext]]) -> Path:
    path = folder / f"{header.name}{SUFFIX}"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with new_file(path) as file:
            file.writelines(result_text(header, cases))
    except OSError as error:
        raise StoreError(f"{path}: the results cannot be written: {error.strerror or error}") from error
    return path


def is_folder_name(name: str) -> bool:
    """Return whether ADK accepts `name` as an app: one step of a path, and nothing else."""
    return bool(name) and name not in {".", ".."} and not re.search(r"[/\\\x00]|^[A-Za-z]:", name)
