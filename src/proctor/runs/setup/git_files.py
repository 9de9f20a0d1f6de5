"""The contents of files at an earlier git commit."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from proctor.errors import SetupError

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

    def was_there(self, path: Path) -> bool:
        """Return whether the commit contains the file.

        Raises:
            SetupError: the file is in no git repository, or the repository has no such commit.
        """
        return self._blob(path) is not None

    def is_as_it_was(self, path: Path) -> bool:
        """Return whether the file is, byte for byte, the version in the commit. Raises as `was_there`.

        Git's index is not used, because it may mark a changed file as unchanged.
        """
        path = Path(os.path.realpath(path))
        before = self._blob(path)
        if before is None:
            return False
        now = _git(path.parent, "hash-object", f"--path={path.name}", "--", path.name)
        return now.returncode == 0 and now.stdout.strip() == before

    def content(self, path: Path) -> bytes | None:
        """Return the content of the file at the commit; `None` if it did not exist or git cannot provide it. Raises as `was_there`."""
        path = Path(os.path.realpath(path))
        if self._blob(path) is None:
            return None
        found = _git(path.parent, "cat-file", "--filters", f"{self._commit(path.parent)}:./{path.name}")
        return found.stdout if found.returncode == 0 else None

    def _blob(self, path: Path) -> bytes | None:
        """Return git's hash of the file at the commit; `None` if it did not exist."""
        path = Path(os.path.realpath(path))
        if path not in self._blobs:
            self._blobs[path] = self._looked_up(path)
        return self._blobs[path]

    def _looked_up(self, path: Path) -> bytes | None:
        place = f"{self._commit(path.parent)}:./{path.name}"
        found = _git(path.parent, "rev-parse", "--verify", "--quiet", place)
        return found.stdout.strip() if found.returncode == 0 else None

    def _commit(self, folder: Path) -> str:
        """Return the hash of the commit in the repository of a folder."""
        if folder not in self._commits:
            self._commits[folder] = self._resolved(folder)
        return self._commits[folder]

    def _resolved(self, folder: Path) -> str:
        root = _git(folder, "rev-parse", "--show-toplevel")
        if root.returncode:
            said = root.stderr.decode(errors="replace").strip().partition("\n")[0].removeprefix("fatal: ")
            raise SetupError(
                f"changed since {self._ref!r}: {folder} is in no git repository, so nothing is known of how its files "
                f"were ({said})"
            )
        named = f"{self._ref}^{{commit}}"
        sound = bool(self._ref) and not self._ref.startswith("-") and "\0" not in self._ref
        found = _git(folder, "rev-parse", "--verify", "--quiet", named) if sound else None
        if found is None or found.returncode:
            place = root.stdout.decode(errors="replace").strip()
            raise SetupError(
                f"changed since {self._ref!r}: no such commit in the git repository {place}; give a branch, a tag or a "
                "hash (a shallow clone has only the newest commit: `git fetch` the other, in GitHub Actions with "
                "`fetch-depth: 0`)"
            )
        return found.stdout.decode().strip()


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
