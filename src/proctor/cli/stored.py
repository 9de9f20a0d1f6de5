"""What the commands about kept runs share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from proctor.cli.common import OTHER, option

_Command = TypeVar("_Command", bound=Callable[..., Any])

STORE_HELP = "Where runs are kept: a URL (sqlite:///PATH) or a path.  [the project's .proctor/store.sqlite3]"


def store_option(command: _Command) -> _Command:
    """Add `--store`."""
    return option("--store", section=OTHER, metavar="URL", help=STORE_HELP)(command)
