"""`proctor judge`: label recorded trials, and calibrate an LLM judge against the labels."""

from __future__ import annotations

import sys
from typing import Any

import click

from proctor.cli.command_base import (
    NumberType,
    SectionedCommand,
    SectionedGroup,
    argument,
    common_options,
    option,
    store_option,
    terminal_options,
)
from proctor.cli.run_flags import run_option, run_options

WHAT, HOW, SHOW = "What", "How", "What to show"

EXAMPLES = """
proctor judge calibrate latest --labels labels.csv
proctor judge label latest rome --fail --note 'the wrong day'
"""


@click.group("judge", cls=SectionedGroup, examples=EXAMPLES)
@common_options
def judge() -> None:
    """Measure the agreement of an LLM judge with labels of people."""


@judge.command(
    "calibrate",
    cls=SectionedCommand,
    examples="""
proctor judge calibrate latest --labels labels.csv
proctor judge calibrate 7f3k2c --metric safety_v1 --held-out 1
proctor judge calibrate latest --labels labels.csv --json
""",
)
@argument("run", default="latest", metavar="[RUN]")
@option(
    "--labels",
    section=WHAT,
    metavar="FILE",
    help="Labels of people: CSV, JSON, JSON lines or YAML.  [those of `proctor judge label`]",
)
@option(
    "--metric",
    section=WHAT,
    metavar="NAME",
    completes="METRIC",
    help="The metric, if LLM judges scored several.",
)
@option(
    "--unit",
    section=WHAT,
    type=click.Choice(["trial", "turn", "rubric"]),
    help="What the labels to count are of, if there are several kinds.",
)
@option(
    "--held-out",
    section=HOW,
    type=NumberType(float, above=0, most=1),
    default=0.5,
    metavar="SHARE",
    help="The share of the labelled cases that the figures are computed from; the others are for developing the judge.  [0.5]",
)
@option(
    "--confidence",
    section=HOW,
    type=NumberType(float, above=0, below=1),
    default=0.95,
    metavar="C",
    help="The confidence level of the intervals.  [0.95]",
)
@run_option("config", section=HOW, text="Score the run again first, with this config.", unset="")
@option("--judge", "model", section=HOW, metavar="MODEL", help="Score the run again first, with this model.")
@run_options(["max_cost", "max_judge_calls"], section=HOW)
@option(
    "--no-keep",
    section=HOW,
    is_flag=True,
    help="Only show the calibration; do not store it for later scores.",
)
@option("--json", "as_json", section=SHOW, is_flag=True, help="As JSON, all disagreements included.")
@store_option
@common_options
def calibrate(*, run: str, labels: str | None, model: str | None, no_keep: bool, as_json: bool, **options: Any) -> None:  # fmt: skip
    """Compare the verdicts of a run's judge with labels of people.

    Shows accuracy, TPR, TNR and Cohen's kappa with confidence intervals, the confusion matrix,
    the pass rate of the run corrected for the judge's errors, and every disagreement. The stored
    verdicts are used; no model is called. The result is stored: later scores by the same metric,
    prompt, model and threshold show it.

    RUN is an id, the beginning of one, `latest` (the default) or `latest~1`, the one before it. A
    label has at least eval_id and label (pass or fail); trial and turn (from 1), rubric_id,
    eval_set_id, metric, note and labeller where they are needed. If several people labelled the
    same, Cohen's kappa of each two is shown, and the label of the majority counts.
    """
    from pathlib import Path

    from proctor.analysis.calibration.calibrate import calibrate_sync
    from proctor.analysis.calibration.calibration_report import calibration_data, write_calibration
    from proctor.reports.formats.json_text import write_json
    from proctor.runs.setup.settings import load_settings, prepare_process, usage_limits

    settings = load_settings(Path.cwd())
    prepare_process(settings)
    options |= usage_limits(options, settings)
    report = calibrate_sync(run, labels, judge=model, keep=not no_keep, **options)
    if as_json:
        write_json(calibration_data(report), sys.stdout)
    else:
        write_calibration(report, sys.stdout, options=terminal_options())


@judge.command(
    "label",
    cls=SectionedCommand,
    examples="""
proctor judge label latest rome --pass
proctor judge label 7f3k2c rome --fail --turn 2 --note 'says Monday, it is Tuesday'
proctor judge label latest rome --fail --rubric polite --metric rubric_based_final_response_quality_v1
""",
)
@argument("run", metavar="RUN")
@argument("case", metavar="CASE")
@option("--pass/--fail", "passes", section=WHAT, default=None, help="Your verdict.")
@option(
    "--set",
    "eval_set_id",
    section=WHAT,
    metavar="ID",
    help="The id of the eval set, if several have a case of this id.",
)
@option(
    "--trial",
    section=WHAT,
    type=NumberType(least=1),
    metavar="N",
    help="The trial, if there are several.",
)
@option("--turn", section=WHAT, type=NumberType(least=1), metavar="N", help="The turn.  [the whole trial]")
@option("--rubric", "rubric_id", section=WHAT, metavar="ID", help="The rubric.")
@option(
    "--metric",
    section=WHAT,
    metavar="NAME",
    completes="METRIC",
    help="The metric to compare the label with.  [any]",
)
@option("--note", section=WHAT, allow_empty=True, metavar="TEXT", help="The reason.")
@option("--by", "labeller", section=WHAT, metavar="NAME", help="Your name, if several people label.")
@store_option
@common_options
def label(*, run: str, case: str, passes: bool | None, store: str | None, **options: Any) -> None:  # fmt: skip
    """Label what the agent did in a case as right or wrong, and store the label with the run.

    RUN is an id, the beginning of one, `latest` or `latest~1`; CASE the id of a case. A later label of the same
    person for the same thing replaces this one. On the page, Judges leads to the verdicts to label next.
    """
    from proctor.analysis.calibration.labels import label_run
    from proctor.common.safe_text import clean
    from proctor.errors import SetupError
    from proctor.schema.analysis.calibration import HumanLabel

    if passes is None:
        raise SetupError("a label takes --pass or --fail")
    human_label = HumanLabel(
        eval_id=case,
        passes=passes,
        eval_set_id=options["eval_set_id"] or "",
        trial=_from_0(options["trial"]),
        turn=_from_0(options["turn"]),
        rubric_id=options["rubric_id"] or "",
        metric=options["metric"] or "",
        note=options["note"] or "",
        labeller=(options["labeller"] or "").strip(),
    )
    (stored,) = label_run(run, [human_label], store=store)
    click.echo(clean(f"{stored.title}: {'pass' if stored.passes else 'fail'}"))


def _from_0(number: int | None) -> int | None:
    return None if number is None else number - 1
