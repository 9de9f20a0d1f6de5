"""Optional packages: imported where they are used, with a message on how to install a missing one."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from proctor.errors import MissingExtraError


def import_extra(module: str, *, extra: str, feature: str) -> ModuleType:
    """Import the optional package `module`, or report how to install it.

    A package that is installed but broken inside raises its own error.

    Raises:
        MissingExtraError: the package is not installed.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        parts = module.split(".")
        if error.name not in {".".join(parts[: n + 1]) for n in range(len(parts))}:
            raise
        raise MissingExtraError(
            f"{feature} needs the package {parts[0]!r}. Run: pip install 'proctor[{extra}]'"
        ) from error
