"""As `google.adk.agents`: google-adk's own names where it is installed. Proctor runs its agents, and has none of its own."""

from typing import Any

from proctor.extras import import_extra


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    agents = import_extra("google.adk.agents", extra="adk", feature=f"{name} of google-adk")
    return getattr(agents, name)
