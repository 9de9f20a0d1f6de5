"""The `.env` file of an agent: keys and settings that the agent's own code reads from the environment."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from proctor.errors import AgentLoadError

_TOLD: set[str] = set()
"""Warnings that were given: an agent may be loaded many times."""


def read_env_file(folder: Path) -> Path | None:
    """Read `.env` in `folder` or the nearest folder above it; existing variables keep their values.

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
        with _naming(file):
            load_dotenv(file, override=False)
    except (OSError, ValueError) as error:
        raise AgentLoadError(f"{file} cannot be read: {error}") from error


@contextmanager
def _naming(file: Path) -> Iterator[None]:
    """Add the name of the file to python-dotenv's warnings about invalid lines."""

    def name(record: logging.LogRecord) -> bool:
        place = str(file).replace("%", "%%")
        record.msg = f"{place}:%s: expected NAME=value; the line is left out"
        said = record.getMessage()
        is_new = said not in _TOLD
        _TOLD.add(said)
        return is_new

    logger = logging.getLogger("dotenv.main")
    logger.addFilter(name)
    try:
        yield
    finally:
        logger.removeFilter(name)
