"""Selection of the cases whose content differs from that at a git commit.

Contents are compared, not lines: moving or reformatting a case does not change it. The config is part of every case of its set:
if it has changed, all cases of the set count as changed. So they do if the earlier set is unknown: the file is new, or its earlier
version cannot be read.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from proctor.common.safe_text import count_text
from proctor.engine.planning.set_plan import SetRequest
from proctor.errors import NothingToRunError, SetupError
from proctor.runs.setup.settings import project_root
from proctor.schema.format.config import EvalConfig
from proctor.schema.serialize import case_hash

_SECONDS = 120.0
_ELSEWHERE = (
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_PREFIX",
)  # a git hook sets them for its own repository


class CommitFiles:
    """The files of one commit. `ref` is any name of it (a branch, a tag, `HEAD~1`), resolved in each repository."""

    def __init__(self, ref: str) -> None:
        """Take the name of the commit."""
        self._ref = ref
        self._commits: dict[Path, str] = {}
        self._blobs: dict[Path, bytes | None] = {}

    @property
    def commits(self) -> list[str]:
        """The hashes of the commit that were resolved so far, one for each repository."""
        return list(dict.fromkeys(self._commits.values()))

    def is_in_commit(self, path: Path) -> bool:
        """Return whether the commit contains the file.

        Raises:
            SetupError: the file is in no git repository, or the repository has no such commit.
        """
        return self._blob(path) is not None

    def is_as_it_was(self, path: Path) -> bool:
        """Return whether the file is, byte for byte, the version in the commit. Raises as `is_in_commit`.

        Git's index is not used, because it may mark a changed file as unchanged.
        """
        path = Path(os.path.realpath(path))
        before = self._blob(path)
        if before is None:
            return False
        now = _git(path.parent, "hash-object", f"--path={path.name}", "--", path.name)
        return now.returncode == 0 and now.stdout.strip() == before

    def content(self, path: Path) -> bytes | None:
        """Return the content of the file at the commit; `None` if it did not exist or git cannot provide it. Raises as `is_in_commit`."""
        path = Path(os.path.realpath(path))
        if self._blob(path) is None:
            return None
        content = _git(path.parent, "cat-file", "--filters", f"{self._commit(path.parent)}:./{path.name}")
        return content.stdout if content.returncode == 0 else None

    def _blob(self, path: Path) -> bytes | None:
        """Return git's hash of the file at the commit; `None` if it did not exist."""
        path = Path(os.path.realpath(path))
        if path not in self._blobs:
            self._blobs[path] = self._find_blob(path)
        return self._blobs[path]

    def _find_blob(self, path: Path) -> bytes | None:
        place = f"{self._commit(path.parent)}:./{path.name}"
        blob = _git(path.parent, "rev-parse", "--verify", "--quiet", place)
        return blob.stdout.strip() if blob.returncode == 0 else None

    def _commit(self, folder: Path) -> str:
        """Return the hash of the commit in the repository of a folder."""
        if folder not in self._commits:
            self._commits[folder] = self._resolve(folder)
        return self._commits[folder]

    def _resolve(self, folder: Path) -> str:
        root = _git(folder, "rev-parse", "--show-toplevel")
        if root.returncode:
            message = root.stderr.decode(errors="replace").strip().partition("\n")[0].removeprefix("fatal: ")
            raise SetupError(
                f"changed since {self._ref!r}: {folder} is in no git repository, so nothing is known of how its files "
                f"were ({message})"
            )
        revision = f"{self._ref}^{{commit}}"
        sound = bool(self._ref) and not self._ref.startswith("-") and "\0" not in self._ref
        commit = _git(folder, "rev-parse", "--verify", "--quiet", revision) if sound else None
        if commit is None or commit.returncode:
            place = root.stdout.decode(errors="replace").strip()
            raise SetupError(
                f"changed since {self._ref!r}: no such commit in the git repository {place}; give a branch, a tag or a "
                "hash (a shallow clone has only the newest commit: `git fetch` the other, in GitHub Actions with "
                "`fetch-depth: 0`)"
            )
        return commit.stdout.decode().strip()


def _git(folder: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    environment = {name: value for name, value in os.environ.items() if name not in _ELSEWHERE}
    environment |= {"LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0"}
    command = ["git", "-c", "core.fsmonitor=false", *arguments]
    try:
        return subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, check=False, timeout=_SECONDS
        )
    except FileNotFoundError:
        raise SetupError("changed since: `git` is not installed, and only git knows how files were") from None
    except (OSError, subprocess.SubprocessError) as error:
        raise SetupError(f"changed since: git cannot be asked in {folder}: {error}") from None


@dataclass(slots=True)
class Changed:
    """The sets that contain changes, and notes about the selection."""

    sets: list[SetRequest]
    notes: list[str]
    commit: str
    """The hash of the commit; its name if the sets are in several repositories."""


def select_changed(
    requests: Sequence[SetRequest], ref: str, config: object, *, renames: bool = False
) -> Changed:
    """Narrow `requests` to the cases that have changed since the commit `ref`.

    `config` is the config for all sets (`None`: each has its own); `renames` means that duplicate ids are made
    distinct.

    Raises:
        SetupError: a set is not a file, it is in no git repository, or the repository has no such commit.
        NothingToRunError: nothing has changed.
    """
    if not isinstance(ref, str):
        raise SetupError(f"changed_since must be the name of a commit, such as main or HEAD~1; got {ref!r}")
    choice = _Choice(ref, config, renames=renames)
    sets = [planned for planned in requests if choice.narrowed(planned)]
    commit_name = f"{ref!r} ({choice.commit[:12]})" if choice.commit != ref else ref[:12]
    if requests and not sets:
        raise NothingToRunError(f"no case has changed since {commit_name}: {_as_it_was(choice.cases)}")
    share = f"changed since {commit_name}: {choice.changed:,} of {count_text(choice.cases, 'case')}"
    share += _others(choice.cases - choice.changed)
    return Changed(sets, [share, *choice.notes], choice.commit)


def _as_it_was(cases: int) -> str:
    return "the one there is, is as it was" if cases == 1 else f"all {cases:,} are as they were"


def _others(count: int) -> str:
    if not count:
        return ""
    return "; the other is as it was" if count == 1 else "; the others are as they were"


@dataclass(slots=True)
class _Choice:
    ref: str
    config: object
    renames: bool = field(kw_only=True)
    notes: list[str] = field(default_factory=list)
    cases: int = 0
    changed: int = 0
    _then: CommitFiles = field(init=False)
    _configs: dict[Path, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._then = CommitFiles(self.ref)
        if isinstance(self.config, Mapping | EvalConfig):
            self.notes.append(
                "the config was given in Python, where nothing is known of how it was: cases are not run for its sake"
            )

    @property
    def commit(self) -> str:
        commits = self._then.commits
        return commits[0] if len(commits) == 1 else self.ref

    def narrowed(self, planned: SetRequest) -> bool:
        """Keep only the changed cases of a set; return whether there are any."""
        if planned.source.label is None:
            raise SetupError(
                f"changed since {self.ref!r}: the eval set {planned.source.eval_set_id!r} was made in Python, and only "
                "files have a history"
            )
        path = Path(planned.source.label)
        picked = set(planned.only)
        ids = [eval_id for eval_id in planned.source.ids() if not picked or eval_id in picked]
        self.cases += len(ids)
        unknown = picked.difference(ids)  # unknown ids are kept, so that they are refused later
        if why := self._reason_for_all(planned, path):
            self.notes.append(f"{path}: every case is run: {why}")
        else:
            ids = [] if self._then.is_as_it_was(path) else self._another_content(planned, path, ids)
            planned.only = [*ids, *unknown]
        self.changed += len(ids)
        return bool(ids or unknown)

    def _reason_for_all(self, planned: SetRequest, path: Path) -> str:
        """Return why every case of a set counts as changed; empty if they do not."""
        if not self._then.is_in_commit(path):
            return "the file is new"
        return self._changed_criteria_reason(planned, path)

    def _another_content(self, planned: SetRequest, path: Path, ids: list[str]) -> list[str]:
        before = self._contents(path)
        if before is None:
            self.notes.append(f"{path}: every case is run: what the file was cannot be read")
            return ids
        selected_ids = set(ids)
        indexes = (index for index, eval_id in enumerate(planned.source.ids()) if eval_id in selected_ids)
        cases = map(planned.source.case, indexes)
        return [case.eval_id for case in cases if case_hash(case) not in before]

    def _contents(self, path: Path) -> set[bytes] | None:
        """Return the hashes of the contents of the cases in the earlier file; `None` if it cannot be read."""
        from proctor.files.eval_sets.source import open_eval_set

        with self._as_it_was(path) as file:
            if file is None:
                return None
            try:
                opened = open_eval_set(file, allow_duplicate_ids=self.renames, allow_empty=True)
                return {case_hash(case) for case in opened}
            except SetupError:
                return None

    # --- configs -----------------------------------------------------------------------------------------------------

    def _changed_criteria_reason(self, planned: SetRequest, path: Path) -> str:
        if isinstance(self.config, Mapping | EvalConfig):
            return ""
        used = Path(planned.config_source) if Path(planned.config_source).is_file() else None
        if used is not None and (why := self._config_changed(used)):
            return why
        if self.config is None:
            for config_path in _nearer(path, used):
                if self._then.is_in_commit(config_path):
                    return f"{config_path} scored it, and does not exist any more"
        return ""

    def _config_changed(self, path: Path) -> str:
        if path not in self._configs:
            self._configs[path] = self._difference(path)
        return self._configs[path]

    def _difference(self, path: Path) -> str:
        from proctor.files.eval_sets.load import load_config

        if not self._then.is_in_commit(path):
            return f"its config {path} is new"
        if self._then.is_as_it_was(path):
            return ""
        with self._as_it_was(path) as file:
            try:
                before = load_config(file)[0] if file is not None else None
            except SetupError:
                before = None
        if before is None:
            return f"what its config {path} was cannot be read"
        same = before.model_dump(mode="json") == load_config(path)[0].model_dump(mode="json")
        return "" if same else f"its config {path} has changed"

    @contextmanager
    def _as_it_was(self, path: Path) -> Iterator[Path | None]:
        """Write the earlier version of a file, under its own name, to a temporary folder; yield `None` if git cannot provide it."""
        content = self._then.content(path)
        if content is None:
            yield None
            return
        with TemporaryDirectory() as folder:
            file = Path(folder) / path.name
            file.write_bytes(content)
            yield file


def _nearer(path: Path, used: Path | None) -> Iterator[Path]:
    """Yield the paths at which a config would take precedence over the `used` one of a set; without one, all possible paths."""
    from proctor.files.eval_sets.selectors import CONFIG_NAMES

    folder = path.absolute().parent
    last = used.absolute().parent if used is not None else project_root(folder) or folder
    for place in (folder, *folder.parents):
        if used is not None and place == last:
            return
        yield from (place / name for name in CONFIG_NAMES)
        if place == last:
            return
