"""Trajectories side by side, and state differences."""

import json
from typing import Any

import pytest
from hypothesis import given, strategies as st

from proctor.reports.content.symbols import DiffKind
from proctor.reports.content.text_blocks import OmittedLines, Pieces, StateLine, StepLine
from proctor.reports.evidence.trajectory_diff import alignment_lines, state_difference
from proctor.reports.evidence.value_diff import value_difference, value_pair
from tests.reports.sample_runs import call, differs, extra, matched, missing, moved


def shown(pieces: Pieces) -> str:
    return "".join(f"[{piece.text}]" if piece.changed else piece.text for piece in pieces)


def one(step: dict[str, Any], longest: int | None = 64) -> tuple[DiffKind, str, str]:
    line = alignment_lines([step], longest=longest).lines[0]
    assert isinstance(line, StepLine)
    return line.kind, shown(line.expected), shown(line.actual)


ADDRESS = "Via Giuseppe Garibaldi 12, 10122 Torino, Italy"
STEPS = {
    "matched": (matched("f", x=1), (DiffKind.SAME, "f(x=1)", "f(x=1)")),
    "missing": (missing("f", x="a"), (DiffKind.MISSING, 'f(x="a")', "")),
    "extra": (extra("f"), (DiffKind.EXTRA, "", "f()")),
    "extra, and allowed": ({**extra("f"), "allowed": True}, (DiffKind.ALLOWED, "", "f()")),
    "moved, and allowed": ({**moved("f"), "allowed": True}, (DiffKind.ALLOWED, "f()", "f()")),
    "moved": (moved("f", x=None), (DiffKind.MOVED, "f(x=null)", "f(x=null)")),
    "an argument differs": (differs(call("f", x=1, y=True), call("f", x=2, y=True)), (DiffKind.DIFFERS, "f(x=[1], y=true)", "f(x=[2], y=true)")),
    "an argument is missing": (differs(call("f", x=1, y=2), call("f", x=1)), (DiffKind.DIFFERS, "f(x=1, y=[2])", "f(x=1)")),
    "an argument too many": (differs(call("f", x=1), call("f", x=1, z="?")), (DiffKind.DIFFERS, "f(x=1)", 'f(x=1, z=["?"])')),
    "types are seen": (differs(call("f", x="1"), call("f", x=1)), (DiffKind.DIFFERS, 'f(x=["1"])', "f(x=[1])")),
    "long unchanged arguments give way": (
        differs(call("book", place=ADDRESS, covers=2, time="19:00"), call("book", place=ADDRESS, covers=4, time="19:00")),
        (DiffKind.DIFFERS, 'book(…, covers=[2], time="19:00")', 'book(…, covers=[4], time="19:00")'),
    ),
    "null arguments": (
        {"kind": "differs", "expected": {"name": "f", "args": None}, "actual": call("f")},
        (DiffKind.DIFFERS, "f([null])", "f()"),
    ),
    "another tool": ({"kind": "differs", "expected": call("f", x=1), "actual": call("g", x=1)}, (DiffKind.DIFFERS, "[f](x=1)", "[g](x=1)")),
    "true is not 1": (
        {"kind": "differs", "expected": call("f", x=1), "actual": call("f", x=True), "arguments": [{"name": "x", "kind": "differs"}]},
        (DiffKind.DIFFERS, "f(x=[1])", "f(x=[true])"),
    ),
    "what a matcher takes for equal": (
        {"kind": "differs", "expected": call("f", x="Oslo", y=1), "actual": call("f", x="OSLO", y=2), "arguments": [{"name": "y", "kind": "differs"}]},
        (DiffKind.DIFFERS, 'f(x="Oslo", y=[1])', 'f(x="OSLO", y=[2])'),
    ),
    "of a metric without differences": (
        {"kind": "differs", "expected": call("f", x=1, y=1), "actual": call("f", x=True, y=1.0), "arguments": None},
        (DiffKind.DIFFERS, "f(x=[1], y=1)", "f(x=[true], y=1.0)"),
    ),
    "no name": (extra(""), (DiffKind.EXTRA, "", "(no name)()")),
    "a kind from the future": ({"kind": "swapped", "expected": call("f"), "actual": call("f")}, (DiffKind.DIFFERS, "f()", "f()")),
}  # fmt: skip


@pytest.mark.parametrize(("step", "line"), STEPS.values(), ids=STEPS)
def test_a_step_reads(step: dict[str, Any], line: tuple[DiffKind, str, str]) -> None:
    assert one(step) == line


def test_a_long_value_is_cut_and_keeps_its_quotes() -> None:
    _, _, actual = one(extra("send_sms", text="x" * 200))
    assert actual.endswith('xx…")')
    assert len(actual) <= 3 * 64


def test_a_value_that_fits_on_three_lines_is_not_cut() -> None:
    _, _, actual = one(extra("send_sms", text="x" * 140), longest=64)
    assert "x" * 140 in actual


def test_nothing_is_cut_where_everything_is_asked_for() -> None:
    _, _, actual = one(extra("send_sms", text="x" * 2000), longest=None)
    assert len(actual) > 2000


def test_of_many_equal_steps_only_the_ends_are_shown() -> None:
    alignment = [*(matched("f", x=n) for n in range(10)), missing("g")]
    lines = alignment_lines(alignment).lines
    assert [line.count if isinstance(line, OmittedLines) else line.kind for line in lines] == [
        DiffKind.SAME,
        8,
        DiffKind.SAME,
        DiffKind.MISSING,
    ]
    assert len(alignment_lines(alignment, longest=None).lines) == 11


@pytest.mark.parametrize(
    ("expected", "actual"),
    [
        ("a" * 500 + "X", "a" * 500 + "Y"),
        ("a" * 500 + "X" + "b" * 500, "a" * 500 + "Y" + "b" * 500),
        ("x", "x" * 1000),
    ],
)
def test_long_values_are_cut_around_their_difference(expected: str, actual: str) -> None:
    left, right = value_pair(expected, actual)
    assert left != right
    assert max(len(left), len(right)) <= 52


DIFFERENCES = {
    "numbers": (1, 2, "[1]", "[2]"),
    "short texts": ("red", "green", '["red"]', '["green"]'),
    "words of a text": ("a table for 2 at seven", "a table for 4 at seven", '"a table for [2] at seven"', '"a table for [4] at seven"'),
    "a member of an object": ({"a": 1, "b": 2}, {"a": 1, "b": 3}, '{"a": 1, "b": [2]}', '{"a": 1, "b": [3]}'),
    "a member that is missing": ({"a": 1, "b": 2}, {"a": 1}, '{"a": 1, "b": [2]}', '{"a": 1}'),
    "an item of a list": ([1, 2, 3], [1, 9, 3], "[1, [2], 3]", "[1, [9], 3]"),
    "lists of different lengths": ([1], [1, 2], "[[1]]", "[[1, 2]]"),
    "deep inside": ({"a": [{"b": 1}]}, {"a": [{"b": 2}]}, '{"a": [{"b": [1]}]}', '{"a": [{"b": [2]}]}'),
    "equal for Python only": ({"a": 1, "b": 2}, {"a": True, "b": 2}, '{"a": [1], "b": 2}', '{"a": [true], "b": 2}'),
    "equal as JSON": ({"a": 1}, {"a": 1.0}, '[{"a": 1}]', '[{"a": 1.0}]'),
    "another type": ({"a": 1}, [1], '[{"a": 1}]', "[[1]]"),
    "what is alike gives way in a long one": (
        {"replicas": 2, "region": "eu-west-1", "image": "registry.example/app:1.2.3"},
        {"replicas": 3, "region": "eu-west-1", "image": "registry.example/app:1.2.3"},
        '{"replicas": [2], …}',
        '{"replicas": [3], …}',
    ),
}  # fmt: skip


@pytest.mark.parametrize(("expected", "actual", "left", "right"), DIFFERENCES.values(), ids=DIFFERENCES)
def test_inside_a_value_only_what_differs_is_marked(
    expected: Any, actual: Any, left: str, right: str
) -> None:
    wanted, made = value_difference(expected, actual)
    assert (shown(wanted), shown(made)) == (left, right)


def nested(depth: int, inside: Any) -> Any:
    for _ in range(depth):
        inside = {"a": inside}
    return inside


@pytest.mark.parametrize("depth", [29, 40, 400])
def test_very_deep_values_are_still_shown(depth: int) -> None:
    wanted, made = value_difference(nested(depth, 1), nested(depth, 2))
    assert wanted != made
    assert state(("k", "differs", nested(depth, 1), nested(depth, 2)))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(0, 3) | st.text("ab \n", max_size=40),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text("abc", max_size=2), inner, max_size=4)
    ),
    max_leaves=10,
)


def test_moved_call_names_its_expected_and_actual_position() -> None:
    step = {"kind": "moved", "expected": {**call("f"), "index": 3}, "actual": {**call("f"), "index": 0}}
    elsewhere, unknown = alignment_lines([step, moved("g")]).lines
    assert isinstance(elsewhere, StepLine)
    assert isinstance(unknown, StepLine)
    assert (elsewhere.places, unknown.places) == ((4, 1), None)


@pytest.mark.slow
@given(JSON, JSON)
def test_different_values_never_look_equal_and_full_mode_is_complete(expected: Any, actual: Any) -> None:
    wanted, made = value_difference(expected, actual, full=True)
    for pieces, value in ((wanted, expected), (made, actual)):
        read = json.loads(
            "".join(piece.text for piece in pieces)
        )  # keys are in the order of the expected ones
        assert json.dumps(read, sort_keys=True) == json.dumps(value, sort_keys=True)
    if expected != actual:
        short = value_difference(expected, actual)
        assert short[0] != short[1]
        assert any(piece.changed for side in short for piece in side)


def state(*entries: tuple[str, str, Any, Any]) -> list[str]:
    found = state_difference(
        [{"key": key, "kind": kind, "expected": e, "actual": a} for key, kind, e, a in entries]
    )
    return [f"{line.key}: {line.expected or '∅'} → {line.actual or '∅'}" for line in found.lines]


def test_a_state_shows_only_what_differs() -> None:
    assert state(("a", "matched", 1, 1), ("covers", "differs", 2, 4), ("ok", "missing", True, None)) == [
        "covers: 2 → 4",
        "ok: true → ∅",
    ]


def test_inside_objects_only_what_differs_there() -> None:
    expected = {"place": "La Trattoria", "covers": 2, "by": {"name": "Ada", "tel": 1}}
    actual = {"by": {"tel": 1, "name": "Bob"}, "covers": 4, "place": "La Trattoria", "note": "window"}
    assert state(("table", "differs", expected, actual)) == [
        "table.covers: 2 → 4",
        'table.by.name: "Ada" → "Bob"',
        'table.note: ∅ → "window"',
    ]


def test_a_difference_that_python_does_not_see_is_still_shown() -> None:
    assert state(("a", "differs", {"x": 1, "y": 1}, {"x": True, "y": 2})) == ["a.x: 1 → true", "a.y: 1 → 2"]


@pytest.mark.parametrize(
    ("kind", "actual", "line"),
    [
        ("differs", {"match": 1}, StateLine("n", DiffKind.DIFFERS, "5 ± 1", '{"match": 1}')),
        ("missing", None, StateLine("n", DiffKind.MISSING, "5 ± 1", "")),
    ],
)
@pytest.mark.parametrize("name", ["expectation", "told"])  # the second is the former name, in older stores
def test_expectation_of_a_matcher_is_written_out(name: str, kind: str, actual: Any, line: StateLine) -> None:
    entry = {"key": "n", "kind": kind, "expected": {"match": "number"}, name: "5 ± 1"}
    if actual:
        entry["actual"] = actual
    assert state_difference([entry]).lines == [line]
