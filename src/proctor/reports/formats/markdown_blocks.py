"""Text blocks as Markdown for a pull request or a job's summary: the verdict first, then facts, cases and tables.

Text from files, agents and models is code (`markdown_text`), so that no Markdown is read there. Evidence is a fence in the
language `diff`: expected with `-`, actual with `+`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import singledispatch
from itertools import groupby
from typing import TextIO

from proctor.common.safe_text import encodable, lines_of
from proctor.reports.base import DEFAULTS, ReportOptions
from proctor.reports.content import public_text
from proctor.reports.content.symbols import UNICODE, DiffKind
from proctor.reports.content.text_blocks import (
    HELD,
    NOT_SET,
    Block,
    BuildBlocks,
    CaseGroup,
    Code,
    Evidence,
    EvidenceBlock,
    Fact,
    Findings,
    Gap,
    GroupedCase,
    JudgeFinding,
    Line,
    Note,
    OmittedLines,
    Pieces,
    Reason,
    Record,
    Spans,
    StateDifference,
    StepLine,
    Steps,
    Table,
    TextDifference,
    TextStyle,
    Verdict,
)
from proctor.reports.formats.markdown_text import code, collapsible, escaped_sentence, fence, table, table_row
from proctor.reports.plain import block_lines

_ITEM_HEADINGS = ("case", "change", "details")


def write_markdown(build: BuildBlocks, out: TextIO, options: ReportOptions = DEFAULTS) -> None:
    """Write the blocks, the verdict first."""
    blocks = sorted(
        build(TextStyle(UNICODE, verbose=bool(options.verbose))),
        key=lambda block: not isinstance(block, Verdict),
    )
    out.write(encodable(markdown_of(blocks), getattr(out, "encoding", None)))


def markdown_of(blocks: Iterable[Block]) -> str:
    """Return blocks as Markdown; consecutive lines and facts are one paragraph, notes one list."""
    visible_blocks = (block for block in blocks if not isinstance(block, (Gap, Record)))
    return "".join(
        _join(kind, [_text(block) for block in same]) for kind, same in groupby(visible_blocks, key=type)
    )


def _join(kind: type[Block], texts: Sequence[str]) -> str:
    if kind in {Line, Fact}:
        return "  \n".join(texts) + "\n\n"
    if kind in {Note, Reason}:
        return "".join(f"- {text}\n" for text in texts) + "\n"
    return "".join(texts)


@singledispatch
def _text(block: Block) -> str:
    raise TypeError(f"no Markdown for {type(block).__name__}")


@_text.register
def _(block: Line) -> str:
    return _spans(block.spans)


@_text.register
def _(block: Fact) -> str:
    return f"{escaped_sentence(block.label)}: {' · '.join(map(_spans, block.parts))}"


@_text.register
def _(block: Note) -> str:
    sign = "⚠ " if block.role == "warning" else ""
    return f"{sign}{_hidden_code(block.text) if block.is_data else escaped_sentence(block.text)}"


@_text.register
def _(block: Reason) -> str:
    return f"{escaped_sentence(block.prefix)}{_hidden_code(block.text)}"


@_text.register
def _(block: Verdict) -> str:
    before, data, after = block.sentence.rpartition(block.data) if block.data else ("", "", block.sentence)
    texts = [escaped_sentence(before), _hidden_code(data) if data else "", escaped_sentence(after)]
    return f"### {block.sign} {''.join(texts)}\n\n"


@_text.register
def _(block: CaseGroup) -> str:
    rows = [row for item in block.items[: block.most] for row in _item_rows(item)]
    if len(block.items) > block.most:
        rows.append((f"… and {len(block.items) - block.most:,} more", "", ""))
    heading = f"{len(block.items):,} {block.heading}"
    return collapsible(heading, table(_ITEM_HEADINGS, map(table_row, rows)), is_open=block.is_open)


def _item_rows(item: GroupedCase) -> Iterator[tuple[str, str, str]]:
    for line in item.above:
        yield _text(line), "", ""
    first, *others = item.parts
    notes = [_text(note) for note in item.notes if not isinstance(note, Record)]
    yield _hidden_code(item.name), _spans(first), " · ".join([*map(_spans, others), *notes])


@_text.register
def _(block: Code) -> str:
    return fence(map(public_text.hidden, block.text.splitlines()), block.language)


@_text.register
def _(block: Evidence) -> str:
    return fence(diff_lines(block), "diff") if block.is_drawn else ""


@_text.register
def _(block: Table) -> str:
    return table_of(block, table_rows(block))


def table_rows(block: Table) -> list[str]:
    """Return the rows of a table as Markdown."""
    indexes = block.filled_columns()
    return [table_row([_spans(row.cells[index]) for index in indexes]) for row in block.rows]


def table_of(block: Table, rows: Iterable[str]) -> str:
    """Return a table with these rows."""
    columns = [block.columns[index] for index in block.filled_columns()]
    headings = [escaped_sentence(column.heading) for column in columns]
    return table(headings, rows, right=[column.right for column in columns])


def _spans(spans: Spans) -> str:
    return "".join(
        _hidden_code(span.text) if span.is_data else _proctor_text(span.text, is_strong=span.role == "strong")
        for span in spans
    )


def _proctor_text(text: str, *, is_strong: bool) -> str:
    """Return a text of Proctor; the blanks around it are kept outside of the emphasis."""
    result = escaped_sentence(text)
    return f"**{result}**" if is_strong and result.strip() == result and result else result


def _hidden_code(text: str) -> str:
    return code(public_text.hidden(text))


# --- evidence as a diff: expected with `-`, actual with `+`, a heading for each turn ----------------------------------


def diff_lines(evidence: Evidence) -> Iterator[str]:
    """Return evidence as the lines of a diff, without secrets."""
    for trial in evidence.trials:
        of_trial = f"trial {trial.trial + 1} of {evidence.of}" if evidence.of > 1 else ""
        for section in trial.sections:
            turn = f"turn {section.turn + 1}" if section.turn is not None else ""
            if heading := ", ".join(filter(None, [of_trial, turn])):
                yield public_text.hidden(f"@@ {heading} @@ {section.user_text}").rstrip()
            for block in section.blocks:
                yield from map(public_text.hidden, _diff(block))


def _diff(block: EvidenceBlock) -> Iterator[str]:
    match block:
        case Steps():
            for step in block.lines:
                yield from _step(step)
        case TextDifference():
            yield from (f"- {line}" for line in lines_of(_joined(block.expected)))
            yield from (f"+ {line}" for line in lines_of(_joined(block.actual)) or ["(no text)"])
        case StateDifference():
            for line in block.lines:
                yield f"- state {line.key}: {line.expected or NOT_SET}"
                yield f"+ state {line.key}: {line.actual or NOT_SET}"
        case Findings():
            for finding in block.lines:
                yield from (f"  {line}" for line in _finding(finding, block.label.removesuffix("s")))
        case _:
            yield from (f"  {line}" for line in block_lines(block))


def _step(line: StepLine | OmittedLines) -> Iterator[str]:
    if isinstance(line, OmittedLines):
        yield f"  … {line.count} more that match"
    elif line.kind is DiffKind.SAME:
        yield f"  {_joined(line.expected or line.actual)}"
    elif line.kind is DiffKind.ALLOWED:
        yield f"  {_joined(line.actual or line.expected)} (allowed)"
    elif line.kind is DiffKind.MOVED:
        places = f" expected as call {line.places[0]}, made as call {line.places[1]}" if line.places else ""
        yield f"! {_joined(line.expected or line.actual)}{places}"
    else:
        sides = (("-", line.expected), ("+", line.actual))
        yield from (f"{sign} {_joined(pieces)}" for sign, pieces in sides if pieces)


def _finding(line: JudgeFinding | OmittedLines, label: str) -> Iterator[str]:
    if isinstance(line, OmittedLines):
        yield f"… {line.count} more that hold"
        return
    yield f"{UNICODE.outcome(HELD[line.holds])} {label} {line.name}: {line.text}"
    if line.why:
        yield f"  {line.why}"


def _joined(pieces: Pieces) -> str:
    return "".join(piece.text for piece in pieces)
