"""Options that the commands about kept runs share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from proctor.cli.options import OTHER, option

_Command = TypeVar("_Command", bound=Callable[..., Any])

JUDGE = "How to judge"
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
    return details(report(form(json_option(SHOW)(output_options(SHOW)(command)))))


def output_options(section: str, *also: str) -> Callable[[_Command], _Command]:
    """Add `--overwrite` (and its older names) and `--make-parents`, which every command has that writes files."""
    replaced = (
        "an existing file, whose comments are lost"
        if also
        else "a file that is not an earlier output of the same kind"
    )
    overwrite = option(
        "--overwrite", *also, "overwrite", section=section, is_flag=True,
        help=f"Replace {replaced}; never one that Proctor reads or keeps.",
    )  # fmt: skip
    parents = parents_option(section)
    return lambda command: overwrite(parents(command))


def parents_option(section: str) -> Callable[[_Command], _Command]:
    """Add `--make-parents`."""
    return option(
        "--make-parents", section=section, is_flag=True, help="Create missing parent folders of output files.",
    )  # fmt: skip


def json_option(section: str) -> Callable[[_Command], _Command]:
    """Add `--json` to a command that has `--format`."""
    return option(
        "--json", "format_", section=section, flag_value="json",
        help="The JSON report, and nothing else: the same as --format json",
    )  # fmt: skip


def keys_option(section: str) -> Callable[[_Command], _Command]:
    """Add `--allow-unknown-keys`."""
    return option(
        "--allow-unknown-keys", section=section, is_flag=True,
        help="Only warn of keys that seem to state an expectation and that nothing reads, instead of refusing the set.",
    )  # fmt: skip


def strict_option(section: str) -> Callable[[_Command], _Command]:
    """Add `--warnings-as-errors`."""
    return option(
        "--warnings-as-errors", section=section, is_flag=True,
        help="Refuse what has a warning: every one is a configuration error, and nothing is run.",
    )  # fmt: skip


def judge_options(config: str, *, judge: str, trials: str) -> Callable[[_Command], _Command]:
    """Add what evidence that is there already is judged with; the words are defaults, and what is judged at once."""
    from proctor.cli.eval.command import names

    declared = [
        option("--config", section=JUDGE, metavar="FILE", help=f"The criteria.  [{config}]"),
        option("--metrics", section=JUDGE, callback=names, metavar="A,B",
               help="Only these metrics of the config; the others are reported as skipped."),
        option("--no-judge", section=JUDGE, is_flag=True, help="Leave out the metrics that ask a language model."),
        option("--allow-unasserted", section=JUDGE, is_flag=True,
               help="Score a case that asserts nothing, and record it as skipped, instead of refusing it."),
        option("--judge", section=JUDGE, metavar="MODEL",
               help=f"The model that metrics ask whose criterion names none.  [{judge}PROCTOR_JUDGE_MODEL, the setting "
                    "`judge`]"),
        option("--compat", section=JUDGE, type=click.Choice(["adk"]),
               help="Score exactly as google-adk does, known weaknesses included."),
        keys_option(JUDGE),
        strict_option(JUDGE),
        option("--max-cost", section=JUDGE, type=click.FloatRange(min=0, min_open=True), metavar="USD",
               help="Spend at most USD on judges; passed by less than one call."),
        option("--max-judge-calls", section=JUDGE, type=click.IntRange(min=1), metavar="N",
               help="Ask judges at most N times."),
        option("--concurrency", section=JUDGE, type=click.IntRange(min=1), metavar="N",
               help=f"{trials} judged at once.  [8]"),
    ]  # fmt: skip

    def declare(command: _Command) -> _Command:
        for one in reversed(declared):
            command = one(command)
        return command

    return declare
