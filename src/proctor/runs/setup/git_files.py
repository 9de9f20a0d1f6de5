"""What files were at an earlier commit, as git has them."""

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
)  # a hook of git sets them, for its own folder


class CommitFiles:
    """The files of one commit; `ref` is any name of it (a branch, a tag, `HEAD~1`), the same in every repository."""

    def __init__(self, ref: str) -> None:
        """Take the name of the commit."""
        self._ref = ref
        self._commits: dict[Path, str] = {}
        self._blobs: dict[Path, bytes | None] = {}

    @property
    def commits(self) -> list[str]:
        """The hashes of the commit that were looked up so far, one for each repository."""
        return list(dict.fromkeys(self._commits.values()))

    def was_there(self, path: Path) -> bool:
        """Tell whether the commit has the file.

        Raises:
            SetupError: the file is in no git repository, or that has no such commit.
        """
        return self._blob(path) is not None

    def is_as_it_was(self, path: Path) -> bool:
        """Tell whether the file is, byte for byte, what the commit has. Raises as `was_there`.

        What git keeps in its index is not asked: it may have been told to take a file for unchanged.
        """
        path = Path(os.path.realpath(path))
        before = self._blob(path)
        if before is None:
            return False
        now = _git(path.parent, "hash-object", f"--path={path.name}", "--", path.name)
        return now.returncode == 0 and now.stdout.strip() == before

    def content(self, path: Path) -> bytes | None:
        """Return what the file was; `None` where it was not there, or git cannot give it. Raises as `was_there`."""
        path = Path(os.path.realpath(path))
        if self._blob(path) is None:
            return None
        found = _git(path.parent, "cat-file", "--filters", f"{self._commit(path.parent)}:./{path.name}")
        return found.stdout if found.returncode == 0 else None

    def _blob(self, path: Path) -> bytes | None:
        """Return by which hash git knows what the file was; `None` where it was not there."""
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
