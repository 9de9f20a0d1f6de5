"""The server's memory for people who edit eval sets: the loaded sets, and the changes that can be undone."""

from __future__ import annotations

import secrets
from collections import OrderedDict
from functools import lru_cache
from pathlib import Path
from threading import Lock

from proctor.authoring.edit_case import restore
from proctor.authoring.eval_set_files import ProjectSets, SetFile
from proctor.errors import UnknownNameError
from proctor.web.pages.eval_sets.load_eval_sets import EvalSetLoader
from proctor.web.server.context import ServerContext

_MOST_UNDOS = 20


class EditSession:
    """The eval sets of one project."""

    def __init__(self, sets: ProjectSets) -> None:
        self.sets = sets
        self.loader = EvalSetLoader(sets)
        self._undos: OrderedDict[str, tuple[SetFile, str, str]] = OrderedDict()
        self._lock = Lock()

    def remember(self, file: SetFile, before: str, now: str) -> str:
        """Store a file's texts before and after a change; return the name for `undo`."""
        name = secrets.token_urlsafe(12)
        with self._lock:
            self._undos[name] = (file, before, now)
            while len(self._undos) > _MOST_UNDOS:
                self._undos.popitem(last=False)
        return name

    def undo(self, file: SetFile, name: str) -> None:
        """Restore a file's text from before a change.

        Raises:
            UnknownNameError: there is no change of this name.
            ChangedMeanwhileError: the file was changed since.
        """
        with self._lock:
            undo = self._undos.get(name)
        if undo is None or undo[0].id != file.id:
            raise UnknownNameError(
                "this can no longer be undone: the server was restarted, or too many cases were removed since"
            )
        restore(file, undo[2], undo[1])
        with self._lock:
            self._undos.pop(name, None)
        self.loader.forget(file)


def edit_session(context: ServerContext) -> EditSession:
    """Return the session of a project."""
    return _edit_session(context.root, context.agents)


@lru_cache(maxsize=16)
def _edit_session(root: Path, agents: Path | None) -> EditSession:
    return EditSession(ProjectSets(root, agents))
