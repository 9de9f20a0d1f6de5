"""The options that put a Python agent into worker processes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from proctor.cli.options import option


def _size(_ctx: click.Context, _parameter: click.Parameter, value: str | None) -> str | None:
    from proctor.common.byte_sizes import EXPECTED, read_size

    if value is not None and read_size(value) is None:
        raise click.BadParameter(f"expected {EXPECTED}, not {value!r}")
    return value


def isolation(section: str) -> Callable[[Any], Any]:
    """Declare `--isolate` and `--isolate-memory`, in that section of the help."""
    isolate, memory = (
        option("--isolate", section=section, is_flag=True,
               help="Run a Python agent in worker processes: blocking code, crashes and memory are contained, and "
                    "deadlines hold."),
        option("--isolate-memory", section=section, callback=_size, metavar="SIZE",
               help="What each worker may take (512MB, 2GB); a trial that wants more is an error. Isolates, too."),
    )  # fmt: skip
    return lambda command: isolate(memory(command))
