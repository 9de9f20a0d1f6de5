"""An edit of a YAML case reads only this case again: the excerpt has the same cases at the same offsets."""

from __future__ import annotations

from pathlib import Path

import pytest

from proctor.files.edit.case import excerpt
from proctor.files.edit.line_changes import TextLines
from proctor.files.edit.yaml_edit import YamlEdit
from proctor.files.eval_sets.source import open_eval_set

SET = """\
# The first line.
eval_set: s
cases:
  - case: one   # and this
    ask: How warm is it?
    expect: |+
      10 degrees

      - case: of text

  # between
  - case: two
    ask: "Q & A:
      - case: quoted"
    tools: [look(city=Oslo)]
    expect: ok
  - case: three
    ask: "ünïcode"
    expect: >-
      folded
      text
  - case: four
    ask: d
    expect: d
description: after the cases
"""


def opened(folder: Path, text: str) -> tuple[YamlEdit, list[tuple[list[int], YamlEdit]]]:
    """Return the whole text, and for each case the positions and the text of its excerpt."""
    path = folder / "s.evalset.yaml"
    path.write_bytes(text.encode())
    source = open_eval_set(path)
    parts = []
    for index in range(len(source)):
        shown, part = excerpt(source, TextLines(text), [index])
        parts.append((shown, YamlEdit("s", text, part)))
    return YamlEdit("s", text), parts


@pytest.mark.parametrize("text", [SET, SET.replace("\n", "\r\n")], ids=["LF", "CRLF"])
def test_an_excerpt_has_the_case_and_the_next_one_and_the_last_one_at_their_offsets(
    text: str, tmp_path: Path
) -> None:
    whole, parts = opened(tmp_path, text)
    assert [shown for shown, _ in parts] == [[0, 1, 3], [1, 2, 3], [2, 3], [3]]
    for shown, part in parts:
        assert [(node.start_mark.index, part.text()) for node in part.cases] == [
            (whole.cases[at].start_mark.index, text) for at in shown
        ]
        assert [[(key.value, item.value) for key, item in node.value[:2]] for node in part.cases] == [
            [(key.value, item.value) for key, item in whole.cases[at].value[:2]] for at in shown
        ]


@pytest.mark.parametrize(
    "text",
    [
        "cases:\n  - case: a\n    ask: &who hi\n    expect: x\n  - case: b\n    ask: *who\n    expect: x\n",
        "cases:\n  - ask: hi\n    expect: x\n  - case: b\n    ask: hi\n    expect: x\n",
        "cases: [{case: a, ask: hi, expect: x}, {case: b, ask: hi, expect: y}]\n",
        "case: a\nask: hi\nexpect: x\n",
    ],
    ids=["an anchor", "a case without an id", "a list on one line", "a single case"],
)
def test_cases_that_cannot_be_read_alone_are_read_with_all_others(text: str, tmp_path: Path) -> None:
    whole, parts = opened(tmp_path, text)
    for shown, part in parts:
        assert shown == [*range(max(1, len(whole.cases)))]
        assert part.at(part.root) is not None
        assert len(part.cases) == len(whole.cases)
