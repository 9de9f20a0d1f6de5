"""What the commands that write files share."""

from __future__ import annotations

from pathlib import Path

from proctor.errors import SetupError


def refuse_to_overwrite(path: Path) -> None:
    """Raise `SetupError` when there is something at `path` already."""
    if path.exists():
        raise SetupError(f"{path} is there already: name another file, or add --force to replace it")
