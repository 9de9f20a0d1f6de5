"""Modules of google-adk that do not concern evaluation: importable below `proctor.compat.adk` if google-adk is installed."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

from proctor.common.renamed_modules import ModuleAliases

OURS = "proctor.compat.adk."
THEIRS = "google.adk."


def is_here(name: str) -> bool:
    """Return whether a module below `proctor.compat.adk` is Proctor's.

    All of `evaluation` is: a name that is not mirrored there is an error, so that no other engine runs unnoticed.
    """
    first, *others = name.split(".")
    place = Path(__file__).parent.joinpath(first, *others)
    return first == "evaluation" or place.is_dir() or place.with_name(f"{place.name}.py").is_file()


def forward() -> None:
    """Make google-adk's modules importable below `proctor.compat.adk`."""
    if _FINDER not in sys.meta_path:
        sys.meta_path.insert(0, _FINDER)  # before the finders that would load the same file a second time


def _google_name(name: str) -> str | None:
    """Return the name of a module in google-adk; `None` if the module is Proctor's.

    Raises:
        ModuleNotFoundError: google-adk has no such module.
    """
    if not name.startswith(OURS) or is_here(rest := name.removeprefix(OURS)):
        return None
    try:
        import_module(THEIRS + rest)
    except ModuleNotFoundError as error:
        if error.name is None or not (THEIRS + rest).startswith(error.name):
            raise  # the module exists, and a module that it imports does not
        raise ModuleNotFoundError(
            f"no module {THEIRS + rest!r}, which {name!r} would be "
            "(is google-adk installed? pip install 'proctor[adk]')",
            name=name,
        ) from None
    return THEIRS + rest


_FINDER = ModuleAliases(_google_name)
