"""A few cases of a YAML set are read without the others: the excerpt has them at the same offsets."""

from __future__ import annotations

from pathlib import Path

import pytest

from proctor.files.edit.yaml_edit import YamlEdit
from proctor.files.eval_sets.source import open_eval_set, open_excerpt
from proctor.files.yaml.excerpt import excerpt

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


IDS = ["one", "two", "three", "four"]


@pytest.mark.parametrize("text", [SET, SET.replace("\n", "\r\n")], ids=["LF", "CRLF"])
def test_an_excerpt_has_the_case_and_the_next_one_and_the_last_one_at_their_offsets(
    text: str, tmp_path: Path
) -> None:
    path = tmp_path / "s.evalset.yaml"
    path.write_bytes(text.encode())
    whole, nodes = open_eval_set(path), dict(zip(IDS, YamlEdit("s", text).cases, strict=True))
    for index, name in enumerate(IDS):
        part, opened = excerpt(text, [name]), open_excerpt(path, [name])
        assert part is not None
        assert opened is not None
        assert part.ids == opened.ids() == [*dict.fromkeys([*IDS[index : index + 2], "four"])]
        assert [node.start_mark.index for node in YamlEdit("s", text, part.text).cases] == [
            nodes[each].start_mark.index for each in part.ids
        ]
        assert [(opened.case_of(each), opened.place(each)) for each in part.ids] == [
            (whole.case_of(each), whole.place(each)) for each in part.ids
        ]


CASES = "cases:\n- case: a\n  ask: hi\n  expect: x\n- case: b\n  ask: hi\n  expect: y\n- case: c\n  ask: hi\n"


@pytest.mark.parametrize(
    "text",
    [
        CASES.replace("ask: hi", "ask: &who hi", 1).replace("ask: hi", "ask: *who", 1),
        "extra: {who: &who hi}\n" + CASES.replace("ask: hi", "ask: *who", 1).replace("expect: y", "expect: &who y"),
        CASES.replace("- case: b\n ", "-"),
        CASES.replace("- case: a\n", "- ask: hi\n- case: a\n"),
        CASES.replace("expect: x", 'expect: "x\n- case: d"'),
        "\ufeff" + CASES.removeprefix("cases:\n"),
        CASES.replace("- case: b", "- case: a"),
        CASES.replace("- case: b", '- case: "\\x62"'),
        CASES.replace("- case: b", "- case: b: c"),
        CASES.replace("- case: b", "-\n  case: b"),
        CASES.replace("- case: c", "more:\n- case: c"),
        CASES.replace("expect: x", 'expect: "x\nand\n- case: b"'),
        CASES.replace("ask: hi\n  expect: y", "ask: hi\r  expect: y"),
        CASES.replace("expect: y", "expect: y\x85"),
        CASES.replace("- case: a\n", "- case: a\n  and: more\n"),
        CASES + "- case: d\n  ask: [\n- case: e\n  ask: hi\n",
        CASES.replace("- case: a\n", "- case: a\n  eval_id: a\n"),
        "cases: [{case: a, ask: hi, expect: x}, {case: b, ask: hi, expect: y}]\n",
        "case: a\nask: hi\nexpect: x\n",
        "",
    ],
    ids=[
        "an anchor", "an anchor that another case replaces", "a case without an id", "a first case without an id",
        "a case inside of a text", "a byte-order mark", "a duplicate id", "an id with an escape", "an id with a colon",
        "a dash alone on its line", "two lists", "a text at the column of the cases", "a line end that is a CR",
        "a character that is refused", "an invalid case", "another case that is not YAML", "two ids", "a list on one line", "a single case", "nothing",
    ],
)  # fmt: skip
def test_cases_that_cannot_be_read_alone_are_not_read_in_part(text: str, tmp_path: Path) -> None:
    path = tmp_path / "s.evalset.yaml"
    path.write_bytes(text.encode())
    assert open_excerpt(path, ["a"]) is None


def test_an_unknown_id_is_not_searched_in_a_part(tmp_path: Path) -> None:
    assert excerpt(CASES, ["a", "z"]) is None
    assert excerpt(CASES, []) is None
    assert open_excerpt(tmp_path / "missing.yaml", ["a"]) is None


def test_other_cases_are_not_read(tmp_path: Path) -> None:
    path = tmp_path / "s.evalset.yaml"
    path.write_text(CASES.replace("- case: a\n  ask", "- case: a\n  asks"))
    opened = open_excerpt(path, ["b"])
    assert opened is not None
    assert (opened.ids(), opened.where(0)) == (["b", "c"], f"{path}:5")


KEYS_BEFORE_ID = "cases:\n# first\n\n- ask: hi\n  expect: x\n  case: a\n- ask: hi\n  case: b\n  expect: y\n- ask: hi\n  case: c\n"
SHARED = CASES.replace("ask: hi", "ask: *who")


@pytest.mark.parametrize(
    "text",
    [
        KEYS_BEFORE_ID,
        KEYS_BEFORE_ID.removeprefix("cases:\n"),
        f"---\n{KEYS_BEFORE_ID}eval_set_id: s\n",
        f"extra: {{who: &who hi}}\n{SHARED}",
        CASES.replace("expect: y", "expect: &answer y"),
    ],
    ids=["the id after other keys", "a list of cases", "after a document start", "an anchor before the cases", "an anchor in another case"],
)  # fmt: skip
def test_cases_that_no_other_case_concerns_are_read_alone(text: str, tmp_path: Path) -> None:
    path = tmp_path / "s.evalset.yaml"
    path.write_text(text)
    last = "c" if "&answer" in text else "b"
    opened = open_excerpt(path, [last])
    assert opened is not None
    whole = open_eval_set(path)
    assert opened.ids() == [*dict.fromkeys([last, "c"])]
    assert [opened.case_of(name) for name in opened.ids()] == [whole.case_of(name) for name in opened.ids()]


QUOTED = """\
cases:
- case: a
  ask: "hi
- case: d
  ask: hi
  expect: x
  # "
- case: b
  ask: hi
  expect: y
"""


def test_a_line_of_a_quoted_text_is_never_taken_for_a_case(tmp_path: Path) -> None:
    path = tmp_path / "s.evalset.yaml"
    path.write_text(QUOTED)
    assert open_eval_set(path).ids() == ["a", "b"]
    assert open_excerpt(path, ["d"]) is None
    opened = open_excerpt(path, ["b"])
    assert opened is not None
    assert opened.ids() == ["b"]
