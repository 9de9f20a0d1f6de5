"""The eval sets of a project, each with an id that is not a path and cannot become one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from proctor.errors import SetupError, UnknownNameError
from proctor.files.eval_sets.documents import LINES_SUFFIX, YAML_SUFFIXES, set_id_of
from proctor.files.eval_sets.selectors import find_sets, path_segment_fault, require_new_set_id, sets_in
from proctor.runs.setup.settings import load_settings

SUFFIXES = {"json": ".evalset.json", "yaml": ".evalset.yaml", "lines": ".evalset.jsonl"}
"""What a new set is called, by its form."""


@dataclass(frozen=True, slots=True)
class ListedFile:
    """One file of eval cases."""

    id: str
    """The name of the file and a hash of where it is: stays while the file stays."""
    path: Path
    label: str
    """The path as people see it: from the project's folder."""
    fault: str = ""
    """Why it is not opened."""

    @property
    def form(self) -> str:
        """Return one of `SUFFIXES`."""
        suffix = self.path.suffix.lower()
        return "yaml" if suffix in YAML_SUFFIXES else "lines" if suffix == LINES_SUFFIX else "json"


class ProjectSets:
    """The eval sets below a project's folder, below its agents' folder, and those that its settings name."""

    def __init__(self, root: Path, agents: Path | None = None) -> None:
        """Take the project's folder, and another one where agents are."""
        self.root = root.absolute()
        self._folders = [self.root, *([agents.absolute()] if agents is not None else [])]
        self._known: dict[str, ListedFile] = {}

    def all(self) -> list[ListedFile]:
        """Return every set, in the order of their paths; each file once."""
        files = {file.path: file for file in map(self._file, self._paths())}
        self._known = {file.id: file for file in files.values()}
        return sorted(files.values(), key=lambda file: file.label)

    def find(self, set_id: str) -> ListedFile:
        """Return the set of this id.

        Raises:
            UnknownNameError: the project has none, or no longer.
        """
        known = self._known.get(set_id)
        if known is None or not known.path.is_file() or not (known.fault or self._is_inside(known.path)):
            known = next((file for file in self.all() if file.id == set_id), None)
        if known is None:
            raise UnknownNameError(
                f"there is no eval set {set_id!r} in this project; it may have been moved or deleted"
            )
        return known

    def new(self, name: str, folder: str = "", form: str = "json") -> ListedFile:
        """Return the file of a set that is to be made: `name` in a folder below the project's own.

        Raises:
            SetupError: it cannot be called so, or the folder is not one of the project.
        """
        if form not in SUFFIXES:
            raise SetupError(f"an eval set is written as {', '.join(SUFFIXES)}, not as {form!r}")
        return self._file(self._folder(folder) / f"{require_new_set_id(name)}{SUFFIXES[form]}")

    def beside(self, file: ListedFile) -> ListedFile:
        """Return a free file name for the migration of an old file to the present format."""
        name = re.sub(r"[^a-zA-Z0-9_]", "_", set_id_of(file.path.name)) or "migrated"
        ways = (name, *(f"{name}_{number}" for number in range(2, 1_000)))
        return next(
            self._file(path)
            for way in ways
            if not (path := file.path.with_name(f"{way}{SUFFIXES['json']}")).exists()
        )

    def _folder(self, folder: str) -> Path:
        parts = [part for part in folder.split("/") if part]
        for part in parts:
            if fault := path_segment_fault(part) or ("it is hidden" if part.startswith(".") else ""):
                raise SetupError(f"the folder {folder!r} cannot be taken: {part!r}: {fault}")
        path = self.root.joinpath(*parts)
        if not path.is_dir() or not self._is_inside(path):
            raise SetupError(
                f"there is no folder {folder!r} in this project; make it first, or leave it empty"
            )
        return path

    def _paths(self) -> Iterator[Path]:
        for folder in self._folders:
            yield from sets_in(folder)
        for selector in load_settings(self.root).sets:
            try:
                yield from (
                    selection.path.absolute() for selection in find_sets([selector.partition(":")[0]])
                )
            except SetupError:  # a run reports it; here the list is empty
                continue

    def _file(self, path: Path) -> ListedFile:
        label = path.relative_to(self.root).as_posix() if path.is_relative_to(self.root) else str(path)
        stem = re.sub(r"[^a-zA-Z0-9_]+", "-", set_id_of(path.name)).strip("-")[:40]
        digest = blake2b(label.encode("utf-8", "surrogateescape"), digest_size=4).hexdigest()
        fault = (
            "" if self._is_inside(path) else "it is a link that leads out of the project, and is not opened"
        )
        return ListedFile(f"{stem or 'set'}-{digest}", path, printable(label), fault)

    def _is_inside(self, path: Path) -> bool:
        real = path.resolve()
        return any(real.is_relative_to(folder.resolve()) for folder in self._folders)


def printable(name: str) -> str:
    """Return the name of a file as text: bytes that are not UTF-8 become U+FFFD."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
