"""What the server remembers for those who edit eval sets: the sets as they were last read, and what can be undone."""

from __future__ import annotations

import secrets
from collections import OrderedDict
from functools import lru_cache
from pathlib import Path
from threading import Lock

from proctor.authoring.edit_case import restore
from proctor.authoring.eval_set_files import ProjectSets, SetFile
from proctor.errors import UnknownNameError
from proctor.web.pages.eval_sets.load import SetLooks
from proctor.web.server.context import ServerContext

_MOST_UNDOS = 20


class Editing:
    """The eval sets of one project."""

    def __init__(self, sets: ProjectSets) -> None:
        """Take the project's sets."""
        self.sets = sets
        self.looks = SetLooks(sets)
        self._undos: OrderedDict[str, tuple[SetFile, str, str]] = OrderedDict()
        self._lock = Lock()

    def remember(self, file: SetFile, before: str, now: str) -> str:
        """Keep what a file said; returns the name to undo by."""
        name = secrets.token_urlsafe(12)
        with self._lock:
            self._undos[name] = (file, before, now)
            while len(self._undos) > _MOST_UNDOS:
                self._undos.popitem(last=False)
        return name

    def undo(self, file: SetFile, name: str) -> None:
        """Give a file the text back that was remembered.

        Raises:
            UnknownNameError: nothing is remembered under this name.
            ChangedMeanwhileError: the file was changed since.
        """
        with self._lock:
            kept = self._undos.get(name)
        if kept is None or kept[0].id != file.id:
            raise UnknownNameError(
                "this can no longer be undone: too much has been removed since, or the server began anew"
            )
        restore(file, kept[2], kept[1])
        with self._lock:
            self._undos.pop(name, None)
        self.looks.forget(file)


def editing(here: ServerContext) -> Editing:
    """Return what is remembered for a project."""
    return _editing(here.root, here.agents)


@lru_cache(maxsize=16)
def _editing(root: Path, agents: Path | None) -> Editing:
    return Editing(ProjectSets(root, agents))
