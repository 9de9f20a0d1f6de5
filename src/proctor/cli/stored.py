"""Options that the commands about kept runs share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from proctor.cli.common import OTHER, option

_Command = TypeVar("_Command", bound=Callable[..., Any])

SHOW = "What to show"
STORE_HELP = "Where runs are kept: a URL (sqlite:///PATH) or a path.  [the project's .proctor/store.sqlite3]"


def store_option(command: _Command) -> _Command:
    """Add `--store`."""
    return option("--store", section=OTHER, metavar="URL", help=STORE_HELP)(command)


def report_options(command: _Command) -> _Command:
    """Add `--details`, `--report` and `--format`, as `proctor eval` has them."""
    details = option(
        "--details", section=SHOW, is_flag=True,
        help="Show every case in full, not only those that did not pass (also: -v).",
    )  # fmt: skip
    report = option(
        "--report", "reports", section=SHOW, multiple=True, metavar="NAME=PATH",
        help="Also write this report, for example json=out.json; - is stdout; may be repeated.",
    )  # fmt: skip
    form = option(
        "--format", "format_", section=SHOW, metavar="NAME",
        help="Write this report to stdout, and nothing else: the same as --report NAME=-",
    )  # fmt: skip
    return details(report(form(json_option(SHOW)(command))))


def json_option(section: str) -> Callable[[_Command], _Command]:
    """Add `--json` to a command that has `--format`."""
    return option(
        "--json", "format_", section=section, flag_value="json",
        help="The JSON report, and nothing else: the same as --format json",
    )  # fmt: skip
