"""The `.env` file of an agent: keys and settings that the agent's own code reads from the environment."""

from __future__ import annotations

from pathlib import Path

from proctor.errors import AgentLoadError


def read_env_file(folder: Path) -> Path | None:
    """Read `.env` in `folder` or the nearest folder above it; what the environment has already stays as it is.

    Returns:
        The file that was read.

    Raises:
        AgentLoadError: it cannot be read.
    """
    for place in (folder, *folder.parents):
        if (file := place / ".env").is_file():
            _load(file)
            return file
    return None


def _load(file: Path) -> None:
    from dotenv import load_dotenv

    try:
        load_dotenv(file, override=False)
    except (OSError, ValueError) as error:
        raise AgentLoadError(f"{file} cannot be read: {error}") from error
