"""The calibration of a judge as text blocks and as JSON: agreement with people, and each disagreement."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TextIO

from proctor.common.json_values import JsonObject
from proctor.common.safe_text import count_text, shorten
from proctor.reports.base import DEFAULTS, ReportOptions
from proctor.reports.content.case_words import WORDS
from proctor.reports.content.summary import interval, money_by_purpose, percent, share_text
from proctor.reports.content.symbols import Marks
from proctor.reports.content.text_blocks import Block, Column, Gap, Table, TextStyle, text_line, text_table
from proctor.reports.plain import write_blocks
from proctor.schema.analysis.calibration import (
    Agreement,
    CalibrationReport,
    Disagreement,
    Figure,
    Labelled,
    LabellerPair,
)
from proctor.stats.agreement import Estimate

_LONGEST = 300
_UNITS = {"trial": "trials", "turn": "turns", "rubric": "rubrics"}


def write_calibration(report: CalibrationReport, out: TextIO, *, options: ReportOptions = DEFAULTS) -> None:
    """Write a calibration for people; `verbose` also shows held-out disagreements, and shortens nothing."""
    write_blocks(partial(calibration_blocks, report), out, options)


def calibration_data(report: CalibrationReport) -> JsonObject:
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
            "judged": Figure.of(rate.apparent).model_dump(),
            "corrected": Figure.of(rate.corrected).model_dump(),
            "unclipped": rate.unclipped,
        },
        "unjudged": [_label_text(label) for label in report.unjudged],
        "not_applicable": [_label_text(label) for label in report.unsaid],
        "disagreements": [
            {
                **_label_text(one.label),
                "judge_passes": one.judge_passes,
                "held_out": one.held_out,
                "rationale": one.reason,
                "asked": one.asked,
                "answered": one.answered,
            }
            for one in report.disagreements
        ],
        **_people_data(report),
        "void": report.void,
    }


def _people_data(report: CalibrationReport) -> JsonObject:
    return {
        "labellers": [
            {
                "first": pair.first,
                "second": pair.second,
                "both_pass": pair.confusion.both_pass,
                "both_fail": pair.confusion.both_fail,
                "differ": _differing(pair),
                "kappa": pair.kappa.model_dump(),
            }
            for pair in report.labellers
        ],
        "disputes": [
            {
                "labels": [{**_label_text(label), "labeller": label.labeller} for label in one.labels],
                "counted": one.counted.passes if one.counted is not None else None,
                "asked": one.asked,
                "answered": one.answered,
            }
            for one in report.disputes
        ],
    }


def _label_text(label: Labelled) -> JsonObject:
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


# --- blocks ----------------------------------------------------------------------------------------------------------


def calibration_blocks(report: CalibrationReport, style: TextStyle) -> Iterator[Block]:
    """Return a calibration as blocks, the same in every form."""
    calibration, agreement = report.calibration, report.calibration.agreement
    yield from _rescoring(report)
    rest = report.rest.labels if report.rest else 0
    has_threshold = calibration.threshold is not None and calibration.unit != "rubric"
    at = f", threshold {calibration.threshold:g}" if has_threshold else ""
    prompt = f"prompt {calibration.prompt}{at}"
    yield text_line(f"{calibration.metric} by {calibration.model} ({prompt}), run {calibration.run_id}")
    held_out = f"; {agreement.labels} of them held out: the figures rest on these" if rest else ""
    yield text_line(f"{count_text(agreement.labels + rest, 'label')} of {_UNITS[calibration.unit]}{held_out}")
    yield _BLANK
    yield _confusion_table(agreement)
    yield _BLANK
    yield _agreement_table(report, style.marks)
    yield _BLANK
    yield from _pass_rate(report, style.marks)
    yield from _left_out(report, style)
    yield _BLANK
    yield from _labellers(report, style)
    yield from _disagreements(report, style)
    yield _BLANK
    for reason in report.void:
        yield text_line(f"before this: {reason}")
    yield text_line(calibration.badge)


_BLANK = Gap(is_everywhere=True)


def _rescoring(report: CalibrationReport) -> Iterator[Block]:
    if report.judged is None:
        return
    counts = ", ".join(
        f"{count} {WORDS[outcome]}" for outcome, count in report.judged.counts.items() if count
    )
    costs = [
        f"judges {cost}" for purpose, cost in money_by_purpose(report.judged.spent) if purpose == "judge"
    ]
    yield text_line(f"run {report.calibration.run_id} was scored again: {'; '.join([counts, *costs])}")
    yield _BLANK


def _confusion_table(agreement: Agreement) -> Table:
    return text_table(
        [Column(), Column("judge passes", right=True), Column("judge fails", right=True)],
        [
            ["people pass", f"{agreement.both_pass}", f"{agreement.judge_fails}"],
            ["people fail", f"{agreement.judge_passes}", f"{agreement.both_fail}"],
        ],
    )


def _agreement_table(report: CalibrationReport, marks: Marks) -> Table:
    agreement, confidence = report.calibration.agreement, report.calibration.confidence
    confusion = agreement.confusion

    def share(figure: Figure, of: int) -> str:
        return _share(figure, of, marks, confidence)

    rows = [
        ["accuracy", share(agreement.accuracy, confusion.total), ""],
        [
            "TPR",
            share(agreement.tpr, confusion.human_passes),
            "true positive rate: of what people pass, the judge passes",
        ],
        [
            "TNR",
            share(agreement.tnr, confusion.human_fails),
            "true negative rate: of what people fail, the judge fails",
        ],
        ["kappa", _kappa(agreement.kappa, confidence), "agreement beyond chance: 1 complete, 0 none"],
    ]
    if report.rest is not None:
        rows.append([f"kappa of the {report.rest.labels} others", _kappa(report.rest.kappa, confidence), ""])
    return text_table([Column(), Column(), Column(wraps=True)], rows)


def _share(figure: Figure | Estimate, of: int, marks: Marks, confidence: float) -> str:
    """Return a rate over `of` items: `75 % (6 of 8, 95 % CI: 41–93)`."""
    if figure.value is None or figure.low is None or figure.high is None:
        return "unknown"
    return share_text(round(figure.value * of), of, (figure.low, figure.high), marks, confidence)


def _kappa(figure: Figure, confidence: float) -> str:
    if figure.value is None:
        return "unknown"
    return f"{figure.value:.2f} ({percent(confidence)} % CI: {figure.low:.2f} to {figure.high:.2f})"


def _pass_rate(report: CalibrationReport, marks: Marks) -> Iterator[Block]:
    rate, confidence = report.pass_rate, report.calibration.confidence
    yield text_line(f"pass rate of the run ({report.verdicts} verdicts)")
    corrected = "unknown"
    if rate.corrected.value is not None:
        ends = interval(rate.corrected.low, rate.corrected.high, marks, confidence)
        corrected = f"{percent(rate.corrected.value)} % ({ends})"
    rows = [
        ["by the judge", _share(rate.apparent, report.verdicts, marks, confidence), ""],
        ["corrected", corrected, "for the errors of the judge (Rogan-Gladen)"],
    ]
    yield text_table([Column(), Column(), Column(wraps=True)], rows)
    if rate.corrected.value is None:
        yield text_line(_unknown_reason(report.calibration.agreement), 2)
    elif rate.unclipped != rate.corrected.value:
        yield text_line(
            f"the formula gives {rate.unclipped:.2f}: labels and verdicts are hardly consistent", 2
        )


def _unknown_reason(agreement: Agreement) -> str:
    if not agreement.confusion.human_passes or not agreement.confusion.human_fails:
        kind = "fail" if agreement.confusion.human_passes else "pass"
        return f"no held-out label of a {kind}: the error rate of the judge there is unknown; label some"
    return "the judge is not better than chance: its verdicts give no information about the rate"


def _left_out(report: CalibrationReport, style: TextStyle) -> Iterator[Block]:
    if report.without_verdict:
        yield text_line(f"left out: {report.without_verdict} without a verdict of the judge")
    for labels, why in (
        (report.unjudged, "the judge gave no verdict"),
        (report.unsaid, "the metric does not apply"),
    ):
        if labels:
            yield text_line(f"labels left out: {len(labels)}, {why}")
        visible = labels if style.verbose else labels[:5]
        yield from (text_line(label.title, 2) for label in visible)
        if len(visible) < len(labels):
            yield text_line(f"… {len(labels) - len(visible)} more (-v shows them)", 2)


def _labellers(report: CalibrationReport, style: TextStyle) -> Iterator[Block]:
    """Return the agreement of people on what several of them labelled."""
    if not report.labellers:
        return
    yield text_line("agreement of people on what both labelled")
    rows = [
        [
            f"{_name(pair.first)} and {_name(pair.second)}",
            f"{pair.confusion.total}",
            f"{_differing(pair)}",
            _kappa(pair.kappa, report.calibration.confidence),
        ]
        for pair in report.labellers
    ]
    heads = [Column(), Column("labels", right=True), Column("differ", right=True), Column("kappa")]
    yield text_table(heads, rows)
    visible = report.disputes if style.verbose else report.disputes[:_MOST_DISPUTES]
    for dispute in visible:
        verdicts = ", ".join(
            f"{_name(label.labeller)} {'passes' if label.passes else 'fails'} it" for label in dispute.labels
        )
        end = "no majority: left out" if dispute.counted is None else "the majority counts"
        yield text_line(f"{dispute.labels[0].title}: {verdicts} ({end})", 2)
    if len(visible) < len(report.disputes):
        yield text_line(f"… {len(report.disputes) - len(visible)} more (-v shows them)", 2)
    yield _BLANK


_MOST_DISPUTES = 5


def _differing(pair: LabellerPair) -> int:
    return pair.confusion.judge_fails + pair.confusion.judge_passes


def _name(labeller: str) -> str:
    return labeller or "a person without a name"


def _disagreements(report: CalibrationReport, style: TextStyle) -> Iterator[Block]:
    hidden = [
        one for one in report.disagreements if one.held_out and report.rest is not None and not style.verbose
    ]
    visible = [one for one in report.disagreements if one not in hidden]
    yield text_line(count_text(len(report.disagreements), "disagreement"))
    for one in visible:
        yield from _disagreement(one, style)
    if hidden:
        yield text_line(
            f"{len(hidden)} of them held out and not shown: to tune the judge by them, you need new labels to "
            "measure it (-v shows them)",
            2,
        )


def _disagreement(one: Disagreement, style: TextStyle) -> Iterator[Block]:
    people, judge = ("pass", "fails") if one.label.passes else ("fail", "passes")
    held_out = " (held out)" if one.held_out else ""
    yield text_line(f"{one.label.title}: people {people} it, the judge {judge} it{held_out}", 2)
    texts = {"user": one.asked, "agent": one.answered, "judge": one.reason, "note": one.label.note}
    for name, text in texts.items():
        if text:
            line = " ".join(text.split())
            yield text_line(f"{name:6} {line if style.verbose else shorten(line, _LONGEST)}", 4)
