"""`proctor audit`: test eval sets by mutation: which faults would their cases notice?"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from proctor.cli.command_base import SectionedCommand
from proctor.cli.shared_options import (
    SHOW,
    argument,
    common,
    common_options,
    json_option,
    option,
    run_options,
)

if TYPE_CHECKING:
    from proctor.authoring.audit.audit_baseline import AuditChange
    from proctor.schema.analysis.audit_result import AuditResult

HOW = "How to audit"
FAILED, NOTHING = 1, 3
"""Exit codes: the share that is caught is below --fail-under, or the audit is worse than --baseline; no mutant could be scored."""

EXAMPLES = """
proctor audit booking.evalset.json
proctor audit evals/ --config strict.json -v
proctor audit booking.evalset.json --mutants answers,argument-changed
proctor audit booking.evalset.json --case two_turn_booking
proctor audit booking.evalset.json --fail-under 0.9 --format markdown
proctor audit booking.evalset.json --baseline main.json
proctor audit booking.evalset.json --agent agent.py
proctor audit scenarios.evalset.json --from latest
proctor audit booking.evalset.json --judge openai:gpt-5 --max-judge-calls 100
"""


@click.command("audit", cls=SectionedCommand, examples=EXAMPLES)
@argument("sets", nargs=-1, required=True, metavar="SET...")
@run_options(["config"], section=HOW)
@option("--agent", section=HOW, metavar="AGENT",
        help="Check whether this agent could see the expected values: in its environment, its code and the files that it opens. "
             "An agent in Python answers up to three cases for that.")  # fmt: skip
@option("--from", "from_run", section=HOW, metavar="RUN",
        help="Mutate the conversations of the trials of this run that passed, also of scenarios, which record none.")  # fmt: skip
@run_options(["judge", "max_judge_calls", "max_cost"], section=HOW, unset={
    "judge": "none is asked", "max_judge_calls": "200 if a judge is asked"})  # fmt: skip
@option(
    "--mutants",
    section=HOW,
    metavar="LIST",
    help="Make only these mutants: families (calls, answers, state, conversation) or operators such as wrong-number, "
    "separated by commas.  [all]",
)
@option("--seed", section=HOW, type=click.IntRange(min=0), default=0, metavar="N",
        help="Choose other mutants where there are many.  [0]")  # fmt: skip
@option("--fail-under", section=HOW, type=click.FloatRange(min=0, max=1), metavar="SHARE",
        help="Exit with 1 if a smaller share of the mutants is caught, an agent that does nothing passes a case, or --agent could see "
             "expected values.")  # fmt: skip
@option("--baseline", section=HOW, type=click.Path(path_type=Path), metavar="FILE",
        help="An earlier audit (--json). Exit with 1 if a mutant that it caught is not caught now.")  # fmt: skip
@run_options(["allow_unknown_keys"])
@option("--store", section=HOW, metavar="URL",
        help="Where the audit is kept, apart from the runs of agents: a path, a URL, or memory: for nowhere. With --case it is "
             "not kept.  [the project's .proctor/store.sqlite3]")  # fmt: skip
@option("--case", section=SHOW, metavar="ID",
        help="Show the mutants that survive in this case: what was recorded, what was planted, and why the case passes.")  # fmt: skip
@json_option(SHOW)
@option("--format", "format_", section=SHOW, type=click.Choice(["text", "markdown", "json"]),
        help="Write the audit in this form: markdown for a pull request.  [text]")  # fmt: skip
@common_options
@click.pass_context
def audit(
    ctx: click.Context,
    /,
    sets: tuple[str, ...],
    *,
    config: str | None,
    mutants: str | None,
    seed: int,
    allow_unknown_keys: bool,
    case: str | None,
    format_: str | None,
    **given: Any,
) -> None:
    """Test eval sets by mutation: which faults would their cases notice?

    The recorded conversation of a case is an agent that must pass. Each mutant of it has one fault:
    a call is missing, a number in the answer is wrong, a sentence is negated. A case catches a mutant
    if it does not pass. Agents that do nothing must fail, too. The metrics and criteria are those of
    `proctor eval`. No model is called but that of --judge, and no agent but that of --agent; without
    --judge, metrics that ask a judge are left out.
    The audit is kept with its mutants: `proctor show AUDIT CASE` shows those that a case does not
    notice. No list of runs has it; `proctor runs --kind audit` does.

    \b
    Exit codes: 0 audited, 1 below --fail-under or worse than --baseline, 2 configuration error,
    3 no mutant could be scored.
    """
    from proctor.authoring.audit.audit_baseline import compare_with, load_baseline
    from proctor.authoring.audit.audit_sets import audit_sync
    from proctor.cli.command_base import read_settings
    from proctor.cli.messages import say
    from proctor.runs.setup.settings import prepare_process

    settings = read_settings()
    earlier = None if given["baseline"] is None else load_baseline(given["baseline"], seed)
    prepare_process(settings)
    found = audit_sync(
        list(sets),
        config=config or settings.config,
        agent=given["agent"],
        from_run=given["from_run"],
        judge=given["judge"],
        max_judge_calls=given["max_judge_calls"],
        max_cost=given["max_cost"],
        tell=say,
        mutants=None if mutants is None else [name.strip() for name in mutants.split(",") if name.strip()],
        seed=seed,
        proposals=case is None,
        case=case,
        store=_store(given["store"], case),
        allow_unknown_keys=allow_unknown_keys or settings.options.get("allow_unknown_keys", False),
    )
    change = None if earlier is None else compare_with(earlier, found)
    _write(found, format_, case, change)
    if common().verbose:
        for warning in found.warnings:
            say(f"warning: {warning}")
    ctx.exit(_exit_code(found, given["fail_under"], change))


def _store(url: str | None, case: str | None) -> str | None:
    """Return the URL of the store; `None` if the audit is not kept: in memory, or because only one case is shown."""
    from proctor.runs.storage.open import store_url
    from proctor.stores.open import split_url

    found = store_url(url)
    return None if case is not None or split_url(found)[0] == "memory" else found


def _write(found: AuditResult, form: str | None, case: str | None, change: AuditChange | None) -> None:
    from proctor.authoring.audit.audit_report import audit_data, write_audit, write_survivors
    from proctor.reports.base import ReportOptions
    from proctor.reports.formats.json_data import write_json

    if form == "json":
        write_json(audit_data(found, change), sys.stdout)
        return
    options = ReportOptions(verbose=bool(common().verbose), color=False if common().no_color else None)
    if case is not None:
        write_survivors(found, case, sys.stdout, options, markdown=form == "markdown")
        return
    write_audit(found, sys.stdout, options, markdown=form == "markdown", change=change)


def _exit_code(found: AuditResult, fail_under: float | None, change: AuditChange | None) -> int:
    from proctor.authoring.audit.audit_report import shortfall
    from proctor.cli.messages import say

    if change is not None and change.is_worse:
        return FAILED
    if found.score.share is None:
        return NOTHING
    if fail_under is not None and (problem := shortfall(found, fail_under)):
        say(f"--fail-under: {problem}")
        return FAILED
    return 0
