"""A comparison as Markdown for a pull request: the outcome first, what changed, the figures.

As in the report of a run, whatever strangers said stands in HTML blocks as `<code>`: no Markdown is read there.
"""

from __future__ import annotations

import html
from collections.abc import Iterator
from typing import TextIO

from proctor.analysis.compare.reports.text import (
    HEADINGS,
    cost_texts,
    left_out_texts,
    numbers,
    run_text,
    score_pair,
    trials_text,
)
from proctor.common.safe_text import clean, encodable
from proctor.reports.content import public_text
from proctor.schema.analysis.comparison import (
    CaseChange,
    Change,
    ChangedCase,
    ComparedRun,
    Comparison,
    Measured,
)

MOST = 50
"""Cases of a kind that are told."""
_LONGEST = 300
_SIGNS = {
    Change.REGRESSION: "✕", Change.ERROR: "!", Change.INCONCLUSIVE: "?", Change.IMPROVEMENT: "✓",
    Change.NO_REGRESSION: "✓",
}  # fmt: skip


def write_markdown(found: Comparison, out: TextIO) -> None:
    """Write `found` to `out`."""
    encoding = getattr(out, "encoding", None)
    out.writelines(encodable(part, encoding) for part in _parts(found))


def _parts(found: Comparison) -> Iterator[str]:
    yield f"<h3>{_SIGNS[found.outcome]} {_text(found.sentence)}</h3>\n\n"
    yield f"<p>base {_run(found.base)}<br>candidate {_run(found.candidate)}</p>\n\n"
    told = [f"<li>⚠ {_code(text)}</li>" for text in found.warnings]
    told += [f"<li>{_code(one.text)}</li>" for one in found.unlike if one.expected]
    told += [f"<li>{_text(text)}</li>" for text in left_out_texts(found)]
    if told:
        yield "\n".join(["<ul>", *told, "</ul>", "", ""])
    for change in CaseChange:
        yield from _cases(found.changed(change), change)
    yield from _measures(found)


def _run(run: ComparedRun) -> str:
    name = f" · run {_code(run.run_id)}" if run.run_id else ""
    return f"{_code(run.agent)} · {_text(run_text(run).replace(' x ', ' × '))}{name}"


def _cases(cases: list[ChangedCase], change: CaseChange) -> Iterator[str]:
    if not cases:
        return
    rows = [_case(case) for case in cases[:MOST]]
    if len(cases) > MOST:
        rows.append(f"<tr><td>… and {len(cases) - MOST:,} more</td><td></td><td></td></tr>")
    table = "\n".join(["<table>", *rows, "</table>"])
    head = f"{len(cases):,} {_text(HEADINGS[change])}"
    is_open = " open" if change in {CaseChange.REGRESSION, CaseChange.IN_ERROR} else ""
    yield f"<details{is_open}><summary>{head}</summary>\n{table}\n</details>\n\n"


def _case(case: ChangedCase) -> str:
    scores = score_pair(case)
    moved = f"{_code(case.metric)} {scores[0]} → {scores[1]}<br>" if scores and case.metric else ""
    before = "before: " if case.change is CaseChange.FIX else ""
    why = f"{before}{_code(case.reason)}" if case.reason else ""
    trials = f"{_text(trials_text(case.base))} → {_text(trials_text(case.candidate))}"
    return f"<tr><td>{_code(case.name)}</td><td>{trials}</td><td>{moved}{why}</td></tr>"


def _measures(found: Comparison) -> Iterator[str]:
    sure = f"{100 * found.confidence:g} %"
    heads = ("", "base", "candidate", "difference", sure, "p", "")
    rows = ["<tr>" + "".join(f"<th>{head}</th>" for head in heads) + "</tr>", *map(_measure, found.measures)]
    if costs := cost_texts(found):
        rows.append(
            f"<tr><td>cost of the run</td><td>{costs[0]}</td><td>{costs[1]}</td>{'<td></td>' * 4}</tr>"
        )
    yield "\n".join(["<table>", *rows, "</table>", ""])


def _measure(one: Measured) -> str:
    before, now, difference, low, high = numbers(one)
    p_value = one.p_value if one.adjusted is None else one.adjusted
    told = "&lt; 0.001" if p_value < 0.001 else f"{p_value:.2g}"
    verdict = f"<b>{one.verdict}</b>" if one.decides and one.verdict else one.verdict
    verdict = "not judged alike" if one.apart else verdict
    cells = (_code(one.name), before, now, difference, f"{low} to {high}", told, verdict)
    return "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"


def _text(text: str) -> str:
    return html.escape(clean(text), quote=False)


def _code(text: str) -> str:
    shown = public_text.hidden(clean(text))
    return f"<code>{html.escape(shown if len(shown) <= _LONGEST else shown[: _LONGEST - 1] + '…', quote=False)}</code>"
