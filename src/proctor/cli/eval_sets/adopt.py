"""`proctor adopt`: migrate a project from google-adk."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from proctor.cli.command_base import (
    SectionedCommand,
    argument,
    common,
    common_options,
    option,
    terminal_options,
)
from proctor.cli.file_changes import show_difference
from proctor.cli.messages import notify
from proctor.common.safe_text import clean, count_text
from proctor.errors import SetupError
from proctor.schema.results.exit_code import ExitCode

if TYPE_CHECKING:
    from proctor.authoring.adopt_adk import AdkComparison, AdkSurvey, Compared, RewrittenFile
    from proctor.files.eval_sets.file_problems import FileCheck
    from proctor.schema.results.run_result import RunResult

HOW = "How"
MOST_PROBLEMS = 5
MOST_SAME = 50
"""Up to this number of recorded cases, those with the same outcome are listed, too; -v lists all."""

EXAMPLES = """
proctor adopt .                    look around; ask before anything is done
proctor adopt agents --write       also rewrite the imports of the tests
proctor adopt agents --run-agents  also run the agents on their sets
"""


@click.command("adopt", cls=SectionedCommand, examples=EXAMPLES)
@argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@option(
    "--write",
    section=HOW,
    is_flag=True,
    help="Rewrite imports without asking; otherwise they are only shown.",
)
@option(
    "--run-agents",
    old=("--run",),
    section=HOW,
    is_flag=True,
    help="Run the agents without asking; that calls their models.",
)
@common_options
def adopt(folder: Path, *, write: bool, run_agents: bool) -> None:
    """Migrate a project from google-adk: check its files, and show which verdicts would differ.

    Finds agents, eval sets, configs and tests in DIR; checks the files; shows how the tests' imports
    would be rewritten; scores google-adk's stored results again, from their evidence and without an
    agent call, and compares the verdicts of each case; runs the agents on their sets. Imports are
    rewritten and agents are run only after confirmation.

    Exit codes: 1 a file cannot be used; else, if agents were run, as `proctor eval`.
    """
    from proctor.authoring.adopt_adk import survey

    survey_result = survey(folder)
    if survey_result.is_empty:
        raise SetupError(f"{folder}: no agents, eval sets, configs, tests or results of google-adk in here")
    for line in _survey_lines(survey_result):
        click.echo(clean(line))
    _rewrite([one for one in survey_result.tests if one.is_changed], folder, write=write)
    earlier_outcomes = _compare(survey_result) if survey_result.history else {}
    runs = _run(survey_result, run_agents=run_agents)
    for run in runs:
        _show_differences_from_adk(run, earlier_outcomes)
    broken = [one for one in survey_result.files if not one.usable]
    if broken:
        click.get_current_context().exit(ExitCode.FAILED)
    if runs:
        from proctor.reports.content.summary import exit_code_of_runs

        click.get_current_context().exit(exit_code_of_runs(runs))


# --- Files found -------------------------------------------------------------------------------------------------------


def _survey_lines(survey: AdkSurvey) -> Iterator[str]:
    for agent in survey.agents:
        count = len(survey.sets_of(agent))
        yield f"AGENT    {agent}  {count_text(count, 'eval set')}"
    for path, agents in survey.sets_without_agent().items():
        names = ", ".join(map(str, agents)) or "none"
        yield f"SET      {path}  of no single agent (near it: {names}); run it with `proctor eval AGENT {path}`"
    for one in survey.files:
        yield from _file_lines(one)
        yield from (f"         {problem}" for problem in survey.assertions.get(one.file, ()))
    for test in survey.tests:
        state = "imports google-adk's evaluation" if test.is_changed else "names google-adk's evaluation"
        yield f"TEST     {test.path}  {state}"
        yield from (f"         {test.path}:{left}" for left in test.left)
    if survey.history:
        count = len(survey.history)
        yield f"HISTORY  {count_text(count, 'result file')} of google-adk"


def _file_lines(report: FileCheck) -> Iterator[str]:
    errors = [problem for problem in report.problems if problem.severity == "error"]
    warnings = len(report.problems) - len(errors)
    cases = f"  {count_text(report.cases, 'case')}" if report.cases else ""
    state = "cannot be used" if errors else "fine" if not warnings else f"{warnings} warnings"
    yield f"FILE     {report.file}  {report.kind}{cases}  {state}"
    yield from (f"         {problem}" for problem in errors[:MOST_PROBLEMS])
    if len(errors) > MOST_PROBLEMS:
        yield f"         … and {len(errors) - MOST_PROBLEMS} more: proctor check {report.file}"


# --- Imports -----------------------------------------------------------------------------------------------------------


def _rewrite(tests: Sequence[RewrittenFile], folder: Path, *, write: bool) -> None:
    from proctor.authoring.adopt_adk import uncommitted_changes

    if not tests:
        return
    for one in tests:
        show_difference(one.path, one.before, one.after)
    count = count_text(len(tests), "file")
    if (write or sys.stdin.isatty()) and (changed := uncommitted_changes(folder)):
        notify(
            f"warning: the repository has uncommitted changes ({count_text(changed, 'file')}): commit or stash them "
            "first, so that `git diff` shows only what is rewritten and can undo it"
        )
    if not (write or _agrees(f"Rewrite the imports of {count}?")):
        notify(f"{count} with imports to rewrite: nothing was written (--write)")
        return
    for one in tests:
        one.write()
    click.echo(f"{count} rewritten")


def _agrees(question: str) -> bool:
    return sys.stdin.isatty() and click.confirm(question, default=False, err=True)


# --- Comparison with google-adk's recorded results ---------------------------------------------------------------------


Said = dict[tuple[str, str], "Compared"]
"""The latest outcome of each case in google-adk's history, by set and case."""


def _compare(survey: AdkSurvey) -> Said:
    from proctor.authoring.adopt_adk import compare_history
    from proctor.engine.execution.run_control import run_sync

    compared: AdkComparison = run_sync(lambda: compare_history(survey.history))
    tells_all = len(compared.cases) <= MOST_SAME or common().verbose
    for one in compared.cases:
        if one.causes or tells_all:
            click.echo(clean(_comparison_line(one)))
            for cause in one.causes:
                click.echo(clean(f"         {cause}"))
    for file, why in compared.unread.items():
        click.echo(clean(f"HISTORY  {file}: cannot be re-scored: {why}"))
    differing = sum(bool(one.causes) for one in compared.cases)
    total = len(compared.cases)
    if total:
        same = (
            "all with google-adk's outcome"
            if not differing
            else f"{differing} differ from google-adk's outcome"
        )
        click.echo(f"HISTORY  {count_text(total, 'recorded case')} re-scored: {same}")
    return {(one.case.eval_set_id, one.case.eval_id): one for one in compared.cases}


def _comparison_line(one: Compared) -> str:
    return (
        f"{'DIFFERS' if one.causes else 'SAME   '}  {one.case.eval_set_id}/{one.case.eval_id}  google-adk: {one.adk_outcome.value}  "
        f"proctor: {one.case.outcome.value}  ({one.file.name})"
    )


# --- New runs ----------------------------------------------------------------------------------------------------------


def _run(survey: AdkSurvey, *, run_agents: bool) -> list[RunResult]:
    """Run each agent on its sets, if both are usable."""
    todo = [(agent, sets) for agent in survey.agents if (sets := survey.sets_of(agent))]
    if not todo:
        return []
    names = ", ".join(str(agent) for agent, _ in todo)
    if not (run_agents or _agrees(f"Run {names} on their eval sets? This calls their models.")):
        notify("the agents were not run (--run-agents)")
        return []
    return [run for agent, sets in todo if (run := _run_one(agent, sets)) is not None]


def _run_one(agent: Path, sets: Sequence[Path]) -> RunResult | None:
    from proctor.cli.outputs import report_for
    from proctor.runs.evaluate import evaluate_sync

    try:
        run = evaluate_sync(agent, list(sets), allow_duplicate_ids=True)
    except SetupError as problem:
        for line in str(problem).splitlines():
            click.echo(clean(f"RUN      {agent}: {line}"))
        return None
    report_for(sys.stdout).write([run], sys.stdout, options=terminal_options())
    return run


def _show_differences_from_adk(run: RunResult, earlier_outcomes: Said) -> None:
    """Print the cases whose outcome differs from google-adk's latest outcome."""
    known = [
        (case, earlier_outcomes[case.eval_set_id, case.eval_id])
        for case in run.cases
        if (case.eval_set_id, case.eval_id) in earlier_outcomes
    ]
    others = [(case, earlier) for case, earlier in known if earlier.adk_outcome is not case.outcome]
    for case, earlier in others:
        why = f"  {case.reason}" if case.reason else ""
        message = f"google-adk: {earlier.adk_outcome.value}  now: {case.outcome.value}{why}"
        click.echo(clean(f"NOW      {case.eval_set_id}/{case.eval_id}  {message}"))
    if known:
        click.echo(
            f"NOW      {len(known) - len(others)} of {len(known)} recorded cases have google-adk's outcome"
        )
