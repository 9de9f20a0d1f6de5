"""`proctor check`: report all errors and warnings of eval files, including those that a run would raise, without a run."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from proctor.cli.command_base import SectionedCommand, argument, common, common_options, option
from proctor.cli.run_flags import run_option, run_options
from proctor.common.safe_text import clean, clean_json, count_text
from proctor.engine.run_options import OptionGroup
from proctor.errors import SetupError
from proctor.schema.results.exit_code import ExitCode

if TYPE_CHECKING:
    from proctor.files.eval_sets.file_problems import FileCheck
    from proctor.runs.arguments import EvaluateOptions

EXAMPLES = """
proctor check booking.evalset.json test_config.json
proctor check evals/ --config strict.json
proctor check evals/ --json
"""

_SUFFIXES = (".json", ".jsonc", ".json5", ".jsonl", ".yaml", ".yml")
_PASSED_OVER = {"node_modules", "__pycache__", "venv", "build", "dist"}


@click.command("check", cls=SectionedCommand, examples=EXAMPLES)
@argument("files", nargs=-1, required=True, metavar="FILE...")
@option("--json", "as_json", section="What to show", is_flag=True, help="The result as JSON.")
@run_options(["allow_duplicate_ids", "allow_unknown_keys", "warnings_as_errors", "allow_unasserted"])
@run_option("config", section=OptionGroup.PROBLEMS.value, unset="the one that a run would find")
@common_options
@click.pass_context
def check(
    ctx: click.Context,
    /,
    files: tuple[str, ...],
    *,
    as_json: bool,
    allow_duplicate_ids: bool,
    allow_unknown_keys: bool,
    warnings_as_errors: bool,
    allow_unasserted: bool,
    config: str | None,
) -> None:
    """Validate eval sets, configs and scenarios; nothing is run.

    Every problem has its file, line and column, the expected value, and often the remedy. An error
    is what a run would refuse: a file that cannot be read, a misspelled option or matcher, a case
    that no metric decides. A warning is about something doubtful: a probable mistake, what ADK would
    refuse, what this version cannot run. Nothing is run,
    and no code that a file names is loaded. The settings of the project hold as in a run. FILE may
    be a folder: then its eval sets, configs and other eval files are checked.

    Exit codes: 0 no errors (with or without warnings), 2 errors.
    """
    from proctor.authoring.check_files import check_meaning
    from proctor.cli.run_flags import read_settings
    from proctor.files.eval_sets.file_problems import check_file
    from proctor.runs.setup.settings import engine_options, prepare_process

    flags = {
        "allow_duplicate_ids": allow_duplicate_ids,
        "allow_unknown_keys": allow_unknown_keys,
        "warnings_as_errors": warnings_as_errors,
        "allow_unasserted": allow_unasserted,
        "config": config,
    }
    settings = read_settings(flags)
    prepare_process(settings)
    options = engine_options(flags, settings)
    accepted = {name: options.get(name, False) for name in ("allow_duplicate_ids", "allow_unknown_keys")}
    reports = [check_file(path, **accepted) for path in map(Path, files) if not path.is_dir()]
    reports += _check_folders(files, accepted)
    reports += check_meaning(reports, cast("EvaluateOptions", options))
    if options.get("warnings_as_errors"):
        for report in reports:
            report.refuse_warnings()
    if not reports:
        raise SetupError(
            f"no eval files in {', '.join(files)}: {', '.join(f'*{s}' for s in _SUFFIXES)} were looked at"
        )
    lines = [_as_json(reports)] if as_json else map(clean, _as_text(reports))
    for line in lines:
        click.echo(line)
    is_usable = all(report.usable for report in reports)
    ctx.exit(ExitCode.PASSED if is_usable else ExitCode.CONFIGURATION_ERROR)


def _check_folders(files: Sequence[str], accepted: Mapping[str, bool]) -> Iterator[FileCheck]:
    """Check the eval files in the folders among `files`, recognized by their names or their content."""
    from proctor.files.eval_sets.file_problems import check_file
    from proctor.files.eval_sets.selectors import CONFIG_NAMES, SET_SUFFIXES

    for folder in (Path(file) for file in files if Path(file).is_dir()):
        for path in _candidates(folder):
            report = check_file(path, **accepted)
            is_named_so = path.name in CONFIG_NAMES or path.name.lower().endswith(SET_SUFFIXES)
            if is_named_so or report.kind != "unknown document":
                yield report
            elif common().verbose:
                click.echo(clean(f"{path}: passed over: no eval file"), err=True)


def _candidates(folder: Path) -> Iterator[Path]:
    from proctor.files.eval_sets.selectors import may_be_read

    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in _PASSED_OVER)
        paths = (Path(place, name) for name in sorted(names) if name.lower().endswith(_SUFFIXES))
        yield from filter(may_be_read, paths)


def _as_text(reports: Sequence[FileCheck]) -> Iterator[str]:
    for report in reports:
        yield from map(str, report.problems)
        if report.usable:
            yield f"{report.file}: {'fine' if not report.problems else 'readable'}: {_checked_text(report)}"
    if len(reports) > 1 or any(report.problems for report in reports):
        yield _total(reports)


def _total(reports: Sequence[FileCheck]) -> str:
    severities = [problem.severity for report in reports for problem in report.problems]
    errors = severities.count("error")
    unreadable = sum(not report.readable for report in reports)
    refused = sum(report.readable and not report.usable for report in reports)
    numbers = ((unreadable, "cannot be read"), (refused, "would be refused by a run"))
    bad = ", ".join(f"{number} {what}" for number, what in numbers if number) or "all can be read"
    counts = f"{count_text(errors, 'error')}, {count_text(len(severities) - errors, 'warning')}"
    return f"{count_text(len(reports), 'file')}: {bad}; {counts}"


def _checked_text(report: FileCheck) -> str:
    counted = {"eval set result": "case", "conversation scenarios": "scenario"}.get(report.kind, "case")
    return f"{report.kind}, {count_text(report.cases, counted)}" if report.cases else report.kind


def _as_json(reports: Sequence[FileCheck]) -> str:
    data = {
        "readable": all(report.readable for report in reports),
        "usable": all(report.usable for report in reports),
        "files": [report.to_json() for report in reports],
    }
    return clean_json(json.dumps(data, indent=2, ensure_ascii=False))
