"""Modules of google-adk that have nothing to do with evaluations: its own, under this prefix, where it is installed."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

OURS = "proctor.compat.adk."
THEIRS = "google.adk."


def is_here(name: str) -> bool:
    """Tell whether a module below `proctor.compat.adk` is Proctor's.

    All of `evaluation` is: what nobody mirrored there is missed, and not run by another engine.
    """
    first, *others = name.split(".")
    place = Path(__file__).parent.joinpath(first, *others)
    return first == "evaluation" or place.is_dir() or place.with_name(f"{place.name}.py").is_file()


class Forwarding(MetaPathFinder, Loader):
    """Finds `proctor.compat.adk.X` as the very module `google.adk.X`, where X is not Proctor's."""

    def __init__(self) -> None:
        self._specs: dict[str, ModuleSpec | None] = {}

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Say that there is such a module in google-adk, if there is."""
        if not fullname.startswith(OURS) or is_here(rest := fullname.removeprefix(OURS)):
            return None
        try:
            theirs = import_module(THEIRS + rest)
        except ModuleNotFoundError as error:
            if error.name is None or not (THEIRS + rest).startswith(error.name):
                raise  # it is there, and something that it needs is not
            raise ModuleNotFoundError(
                f"there is no module {THEIRS + rest!r}, which {fullname!r} would be "
                "(is google-adk installed? pip install 'proctor[adk]')",
                name=fullname,
            ) from None
        self._specs[fullname] = theirs.__spec__
        return ModuleSpec(fullname, self, is_package=hasattr(theirs, "__path__"))

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Return google-adk's module."""
        return sys.modules[THEIRS + spec.name.removeprefix(OURS)]

    def exec_module(self, module: ModuleType) -> None:
        """Do nothing: it was run when it was found. What it says about itself stays as it was."""
        for name, spec in list(self._specs.items()):
            if sys.modules.get(name) is module:
                module.__spec__ = self._specs.pop(name) or spec


def forward() -> None:
    """Let google-adk's own modules be found under this prefix."""
    if not any(isinstance(finder, Forwarding) for finder in sys.meta_path):
        sys.meta_path.insert(0, Forwarding())  # before those that would load the same file twice
