"""What a judge is worth: figures with their intervals, and what it says otherwise than people, for these to read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any, TextIO

from proctor.common.safe_text import clean, clean_json, encodable, shorten
from proctor.reports.base import DEFAULTS, ReportOptions
from proctor.reports.content.cost_text import money_by_purpose
from proctor.reports.content.summary import percent
from proctor.reports.terminal.symbols import WORDS
from proctor.schema.analysis.calibration import Agreement, CalibrationReport, Disagreement
from proctor.schema.analysis.label import Labelled

_LONGEST = 300
_UNITS = {"trial": "trials", "turn": "turns", "rubric": "rubrics"}


def write_calibration(report: CalibrationReport, out: TextIO, *, options: ReportOptions = DEFAULTS) -> None:
    """Write a calibration for people; `verbose` shows what was held out, too, and shortens nothing."""
    encoding = getattr(out, "encoding", None)
    out.writelines(
        encodable(clean(line.rstrip()), encoding) + "\n" for line in _lines(report, verbose=options.verbose)
    )


def write_json(report: CalibrationReport, out: TextIO) -> None:
    """Write a calibration as JSON."""
    out.write(clean_json(json.dumps(as_data(report), indent=2, ensure_ascii=False, allow_nan=False)) + "\n")


def as_data(report: CalibrationReport) -> dict[str, Any]:
    """Return a calibration as plain data."""
    rate = report.pass_rate
    return {
        **report.calibration.model_dump(mode="json"),
        "badge": report.calibration.badge,
        "labels": report.calibration.agreement.labels,
        "not_held_out": report.rest.model_dump(mode="json") if report.rest is not None else None,
        "pass_rate": {
            "verdicts": report.verdicts,
            "without_verdict": report.without_verdict,
            "judged": asdict(rate.apparent),
            "corrected": asdict(rate.corrected),
            "unclipped": rate.unclipped,
        },
        "unjudged": [_about(label) for label in report.unjudged],
        "not_applicable": [_about(label) for label in report.unsaid],
        "disagreements": [
            {
                **_about(one.label),
                "judge_passes": one.judge_passes,
                "held_out": one.held_out,
                "rationale": one.reason,
                "asked": one.asked,
                "answered": one.answered,
            }
            for one in report.disagreements
        ],
        "void": report.void,
    }


def _about(label: Labelled) -> dict[str, Any]:
    eval_set_id, eval_id, trial, turn, rubric_id = label.key
    return {
        "eval_set_id": eval_set_id,
        "eval_id": eval_id,
        "trial": trial + 1,
        "turn": turn + 1 if turn >= 0 else None,
        "rubric_id": rubric_id or None,
        "people_pass": label.passes,
        "note": label.note,
        "place": label.where,
    }


# --- for people --------------------------------------------------------------------------------------------------------


def _lines(report: CalibrationReport, *, verbose: bool) -> Iterator[str]:
    found, agreement = report.calibration, report.calibration.agreement
    rest = report.rest.labels if report.rest else 0
    at = f", threshold {found.threshold:g}" if found.threshold is not None and found.unit != "rubric" else ""
    if report.judged is not None:
        counts = [f"{count} {WORDS[outcome]}" for outcome, count in report.judged.counts.items() if count]
        took = [
            f"judges {told}" for purpose, told in money_by_purpose(report.judged.spent) if purpose == "judge"
        ]
        yield f"run {found.run_id} was judged again: {'; '.join([', '.join(counts), *took])}"
        yield ""
    yield f"{found.metric} by {found.model} (prompt {found.prompt}{at}), run {found.run_id}"
    held = f"; {agreement.labels} of them held out: the figures rest on these" if rest else ""
    yield f"{agreement.labels + rest} labels of {_UNITS[found.unit]}{held}"
    yield ""
    yield from _table(agreement)
    yield ""
    yield f"intervals at {percent(found.confidence)} %"
    yield from _figures(agreement)
    if report.rest is not None:
        yield f"  kappa of the {rest} others   {report.rest.kappa}"
    yield ""
    yield from _pass_rate(report)
    yield from _left_out(report, verbose=verbose)
    yield from _disagreements(report, verbose=verbose)
    yield ""
    for said in report.void:
        yield f"before this: {said}"
    yield found.badge


def _table(found: Agreement) -> Iterator[str]:
    yield f"  {'':14}{'judge passes':>14}{'judge fails':>14}"
    yield f"  {'people pass':14}{found.both_pass:>14}{found.judge_fails:>14}"
    yield f"  {'people fail':14}{found.judge_passes:>14}{found.both_fail:>14}"


def _figures(found: Agreement) -> Iterator[str]:
    yield f"  accuracy  {found.accuracy}"
    yield f"  TPR       {found.tpr}   of what people pass, the judge passes"
    yield f"  TNR       {found.tnr}   of what people fail, the judge fails"
    yield f"  kappa     {found.kappa}   agreement beyond chance: 1 complete, 0 none"


def _pass_rate(report: CalibrationReport) -> Iterator[str]:
    rate = report.pass_rate
    yield f"pass rate of the run ({report.verdicts} verdicts)"
    yield f"  by the judge   {rate.apparent}"
    yield f"  corrected      {rate.corrected}   for what the judge gets wrong (Rogan-Gladen)"
    if rate.corrected.value is None:
        yield f"  {_why_unknown(report.calibration.agreement)}"
    elif rate.unclipped != rate.corrected.value:
        yield f"  the formula gives {rate.unclipped:.2f}: labels and verdicts hardly fit together"


def _why_unknown(found: Agreement) -> str:
    if not found.confusion.human_passes or not found.confusion.human_fails:
        kind = "fail" if found.confusion.human_passes else "pass"
        return f"no held-out label of a {kind}: how often the judge is wrong there is unknown; label some"
    return "the judge is no better than a coin: its verdicts say nothing of the rate"


def _left_out(report: CalibrationReport, *, verbose: bool) -> Iterator[str]:
    if report.without_verdict:
        yield f"left out: {report.without_verdict} without a verdict of the judge"
    for labels, why in (
        (report.unjudged, "of what the judge gave no verdict on"),
        (report.unsaid, "of what the metric says nothing of"),
    ):
        if labels:
            yield f"labels left out: {len(labels)}, {why}"
        shown = labels if verbose else labels[:5]
        yield from (f"  {label.told}" for label in shown)
        if len(shown) < len(labels):
            yield f"  … {len(labels) - len(shown)} more (-v shows them)"


def _disagreements(report: CalibrationReport, *, verbose: bool) -> Iterator[str]:
    yield ""
    hidden = [one for one in report.disagreements if one.held_out and report.rest is not None and not verbose]
    shown = [one for one in report.disagreements if one not in hidden]
    yield f"{len(report.disagreements)} disagreement{'' if len(report.disagreements) == 1 else 's'}"
    for one in shown:
        yield from _disagreement(one, verbose=verbose)
    if hidden:
        yield (
            f"  {len(hidden)} of them held out and not shown: whoever sets the judge up by them needs new labels to "
            "measure it (-v shows them)"
        )


def _disagreement(one: Disagreement, *, verbose: bool) -> Iterator[str]:
    people, judge = ("pass", "fails") if one.label.passes else ("fail", "passes")
    held = " (held out)" if one.held_out else ""
    yield f"  {one.label.told}: people {people} it, the judge {judge} it{held}"
    told = {"user": one.asked, "agent": one.answered, "judge": one.reason, "note": one.label.note}
    for name, text in told.items():
        if text:
            line = " ".join(text.split())
            yield f"    {name:6} {line if verbose else shorten(line, _LONGEST)}"
