"""As `google.adk.agents`: google-adk's own names if it is installed. Proctor runs its agents and defines none itself."""

from importlib import import_module
from typing import Any


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    try:
        return getattr(import_module("google.adk.agents"), name)
    except ModuleNotFoundError:
        raise AttributeError(
            f"{name!r} is google-adk's, which is not installed: pip install 'proctor[adk]'"
        ) from None
