"""The lines that edits change: as a diff of the whole texts would show them, but without comparing the rest."""

from __future__ import annotations

import difflib

from hypothesis import given, strategies as st

from proctor.common.safe_text import lines_of
from proctor.files.edit.line_changes import LineChange, Splice, TextLines, group_changes, line_changes

TEXTS = st.text(st.sampled_from("ab\n\r\u2028\x85\x0c"), max_size=60)
"""Only a line feed, also after a carriage return, ends a line."""


@st.composite
def edits(draw: st.DrawFn) -> tuple[str, list[Splice]]:
    """A text and sorted splices of it that do not overlap."""
    text = draw(TEXTS)
    offsets = sorted(draw(st.lists(st.integers(0, len(text)), max_size=8, unique=True)))
    pairs = zip(offsets[::2], offsets[1::2], strict=False)
    return text, [(start, end, draw(TEXTS)) for start, end in pairs]


def spliced(text: str, splices: list[Splice]) -> str:
    for start, end, new in reversed(splices):
        text = text[:start] + new + text[end:]
    return text


def changes_of(text: str, splices: list[Splice]) -> list[LineChange]:
    return line_changes(TextLines(text, block=7), splices)


@given(TEXTS, st.integers(1, 20))
def test_the_lines_of_a_text_and_their_offsets(text: str, block: int) -> None:
    lines, starts = TextLines(text, block), [0, *(at + 1 for at, sign in enumerate(text) if sign == "\n")]
    assert [lines.start(number) for number in range(len(lines))] == starts
    assert lines.start(len(lines)) == len(text)
    assert [lines.line_at(at) for at in range(len(text) + 1)] == [
        text.count("\n", 0, at) for at in range(len(text) + 1)
    ]
    for first in range(len(lines) + 2):
        for end in range(first, len(lines) + 2):
            assert lines.between(first, end) == lines_of(text)[first:end]


@given(edits())
def test_the_changes_make_the_new_lines_of_the_old(edited: tuple[str, list[Splice]]) -> None:
    text, splices = edited
    old, new = lines_of(text), lines_of(spliced(text, splices))
    made, at = list[str](), 0
    for change in changes_of(text, splices):
        made += old[at : change.before]
        assert old[change.before : change.end] == change.removed
        assert len(made) == change.after
        made += change.added
        at = change.end
    assert [*made, *old[at:]] == new


@given(edits(), st.integers(0, 3))
def test_groups_have_the_lines_of_both_texts(edited: tuple[str, list[Splice]], context: int) -> None:
    text, splices = edited
    old, new = lines_of(text), lines_of(spliced(text, splices))
    for group in group_changes(TextLines(text, block=7), changes_of(text, splices), context):
        for start, whole, other in ((group.before, old, "+"), (group.after, new, "-")):
            lines = [line for sign, line in group.lines if sign != other]
            assert whole[start : start + len(lines)] == lines


@given(
    st.lists(st.sampled_from(["a", "b\r", "\u2028", ""]), min_size=1, max_size=20), st.booleans(), st.data()
)
def test_a_change_at_the_border_of_a_block_has_the_lines_around_it(
    signs: list[str], is_open: bool, data: st.DataObject
) -> None:
    text = "\n".join(signs) + ("x" if is_open else "\n")
    old, number = lines_of(text), data.draw(st.integers(0, len(signs) - 1))
    start = sum(len(sign) + 1 for sign in signs[:number])
    for block in {start - 1, start, start + 1, len(text) - 1, len(text), len(text) + 1} - {-1, 0}:
        lines = TextLines(text, block)
        [change] = line_changes(lines, [(start, start, "new ")])
        assert change == (number, [old[number]], number, [f"new {old[number]}"])
        [group] = group_changes(lines, [change], context=1)
        assert group.before == group.after == max(0, number - 1)
        assert group.lines == [
            *((" ", line) for line in old[max(0, number - 1) : number]),
            ("-", old[number]),
            ("+", f"new {old[number]}"),
            *((" ", line) for line in old[number + 1 : number + 2]),
        ]


def test_groups_are_those_of_a_unified_diff() -> None:
    old = [f"line {number}" for number in range(60)]
    text = "\n".join(old) + "\n"
    splices = [
        (text.index(f"{found}\n"), text.index(f"{found}\n") + len(found), new)
        for found, new in {"line 4": "four", "line 7": "7\n7.5", "line 30": "", "line 59": "end"}.items()
    ]
    new = lines_of(spliced(text, splices))
    written = [
        line
        for group in group_changes(TextLines(text), changes_of(text, splices), 2)
        for line in (group.header(), *(sign + line for sign, line in group.lines))
    ]
    assert written == list(difflib.unified_diff(old, new, n=2, lineterm=""))[2:]


def test_the_unchanged_rest_is_not_compared() -> None:
    text = "same\n" * 200_000
    [change] = changes_of(text, [(500_000, 500_004, "other")])
    assert change == (100_000, ["same"], 100_000, ["other"])
