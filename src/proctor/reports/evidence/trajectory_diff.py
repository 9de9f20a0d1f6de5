"""Two trajectories side by side, one line a step, as the metric aligned them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import groupby

from proctor.common.json_values import equal_json, json_line
from proctor.reports.content.symbols import DiffKind
from proctor.reports.content.text_blocks import (
    LONGEST_CALL,
    DiffPiece,
    OmittedLines,
    Pieces,
    StateDifference,
    StateLine,
    StepLine,
    Steps,
)
from proctor.reports.evidence.value_diff import (
    DEEPEST,
    LONGEST_VALUE,
    cut_value,
    merge_pieces,
    value_difference,
    value_pair,
)

_KINDS = {
    "matched": DiffKind.SAME,
    "differs": DiffKind.DIFFERS,
    "missing": DiffKind.MISSING,
    "extra": DiffKind.EXTRA,
    "moved": DiffKind.MOVED,
}
_SHOWN_OF_A_RUN = 3
LEAST_OF_VALUE = 16
"""Characters of a value that are always kept where nothing is marked."""
_LINES = 2.75
"""Times the length of a call that it may have where nothing is marked: it wraps to three lines before it is cut."""


def alignment_lines(
    alignment: Sequence[Mapping[str, object]], *, longest: int | None = LONGEST_CALL
) -> Steps:
    """Return an alignment (see `proctor.schema.results.score`) as lines, calls cut to about `longest` characters.

    `None` leaves nothing out.
    """
    lines = [_line(step, longest) for step in alignment]
    return Steps([*lines] if longest is None else _without_long_runs(lines))


def state_difference(state: Sequence[Mapping[str, object]], *, full: bool = False) -> StateDifference:
    """Return the keys in which the state differs from the stated one; inside objects, only what differs there."""
    lines: list[StateLine] = []
    for entry in state:
        kind, key = _KINDS.get(str(entry.get("kind")), DiffKind.DIFFERS), str(entry.get("key", ""))
        if matcher := entry.get("expectation", entry.get("told")):  # its former name
            line = _state_line(key, None, entry.get("actual"), kind, full=full)
            lines.append(replace(line, expected=str(matcher)))
        elif kind is DiffKind.MISSING:
            lines.append(_state_line(key, entry.get("expected"), None, kind, full=full))
        elif kind is not DiffKind.SAME:
            accepted = _paths(entry.get("accepted"))
            inside = _inside(key, entry.get("expected"), entry.get("actual"), full=full)
            lines += [line for line in inside if line.key not in accepted] or inside
    return StateDifference(lines)


def _paths(accepted: object) -> frozenset[str]:
    """Return the paths of an entry whose values differ and fit their matcher."""
    return frozenset(map(str, accepted)) if isinstance(accepted, list | tuple) else frozenset()


def _inside(key: str, expected: object, actual: object, *, full: bool, depth: int = 0) -> list[StateLine]:
    if depth >= DEEPEST or not (
        isinstance(expected, Mapping) and isinstance(actual, Mapping) and expected and actual
    ):
        return [_state_line(key, expected, actual, DiffKind.DIFFERS, full=full)]
    lines: list[StateLine] = []
    for name in {**expected, **actual}:
        lines += _member_lines(key, name, expected, actual, full=full, depth=depth)
    return lines or [_state_line(key, expected, actual, DiffKind.DIFFERS, full=full)]


def _member_lines(
    key: str,
    name: str,
    expected: Mapping[str, object],
    actual: Mapping[str, object],
    *,
    full: bool,
    depth: int,
) -> list[StateLine]:
    """Return the lines of one member of two objects; none if it is equal in both."""
    path = f"{key}.{name}"
    if name not in actual:
        return [_state_line(path, expected[name], None, DiffKind.MISSING, full=full)]
    if name not in expected:
        return [_state_line(path, None, actual[name], DiffKind.EXTRA, full=full)]
    if equal_json(expected[name], actual[name]):
        return []
    return _inside(path, expected[name], actual[name], full=full, depth=depth + 1)


def _without_long_runs(lines: list[StepLine]) -> list[StepLine | OmittedLines]:
    """Of a long run of equal steps only the ends are of interest: what came before a difference, and after."""
    result: list[StepLine | OmittedLines] = []
    for same, run in groupby(lines, key=lambda line: line.kind is DiffKind.SAME):
        steps = list(run)
        if same and len(steps) > _SHOWN_OF_A_RUN:
            result += [steps[0], OmittedLines(len(steps) - 2), steps[-1]]
        else:
            result += steps
    return result


def _line(step: Mapping[str, object], longest: int | None) -> StepLine:
    kind = (
        DiffKind.ALLOWED
        if step.get("allowed") is True
        else _KINDS.get(str(step.get("kind")), DiffKind.DIFFERS)
    )
    expected, actual = (_object(step.get(side)) for side in ("expected", "actual"))
    if kind is not DiffKind.DIFFERS or not expected or not actual:
        same = kind is DiffKind.SAME
        left, right = (_call(call, longest, may_leave_out=same) for call in (expected, actual))
        return StepLine(kind, left, right, _places(expected, actual) if kind is DiffKind.MOVED else None)
    expected_args, actual_args = _differing(
        expected.get("args"), actual.get("args"), step.get("arguments"), full=longest is None
    )
    renamed = expected.get("name") != actual.get("name")
    return StepLine(
        kind,
        _call(expected, longest, changed=expected_args, renamed=renamed),
        _call(actual, longest, changed=actual_args, renamed=renamed),
    )


def _places(
    expected: Mapping[str, object] | None, actual: Mapping[str, object] | None
) -> tuple[int, int] | None:
    """Which call it was to be, and which it was, counted from 1."""
    expected_index, actual_index = ((side or {}).get("index") for side in (expected, actual))
    return (
        (expected_index + 1, actual_index + 1)
        if isinstance(expected_index, int) and isinstance(actual_index, int)
        else None
    )


def _object(value: object) -> Mapping[str, object] | None:
    """A call: a metric that is not ours may have put anything there."""
    return value if isinstance(value, Mapping) else None


def call_text(name: str, args: Mapping[str, object] | None) -> str:
    """Return a call in full, as `name(argument=value, …)`."""
    return "".join(piece.text for piece in _call({"name": name, "args": args}, None))


def _differing(
    expected: object, actual: object, differing: object, *, full: bool
) -> tuple[dict[str, Pieces], dict[str, Pieces]]:
    """The arguments that differ, with their values as they are to be shown on either side.

    `differing`: the differing arguments by the metric; a matcher may accept values that are not equal.
    """
    expected_args, actual_args = (
        {**args} if isinstance(args, Mapping) else {} for args in (expected, actual)
    )
    names = _argument_names(differing)
    pairs = {
        name: value_difference(expected_args.get(name), actual_args.get(name), full=full)
        for name in {**expected_args, **actual_args}
        if (name in names if names else _differ(name, expected_args, actual_args))
    }
    return {name: pair[0] for name, pair in pairs.items()}, {name: pair[1] for name, pair in pairs.items()}


def _argument_names(differing: object) -> set[str]:
    if not isinstance(differing, list):
        return set()
    return {str(each.get("name")) for each in differing if isinstance(each, Mapping)}


def _differ(name: str, expected: Mapping[str, object], actual: Mapping[str, object]) -> bool:
    return name not in expected or name not in actual or not equal_json(expected[name], actual[name])


def _call(
    call: Mapping[str, object] | None,
    longest: int | None,
    *,
    changed: Mapping[str, Pieces] | None = None,
    renamed: bool = False,
    may_leave_out: bool = False,
) -> Pieces:
    """A call with its `changed` arguments marked, as `name(argument=value, …)`.

    If it is longer than `longest`: next to changed arguments (and with `may_leave_out`) others are left out, the
    longest first; where nothing is marked, values are cut, but only where they would fill more than three lines.
    """
    if not call:
        return []
    name, args = str(call.get("name") or "(no name)"), call.get("args")
    head = DiffPiece(name, changed=renamed)
    if not isinstance(args, Mapping):  # null, or any value from a custom metric
        return merge_pieces(
            [head, DiffPiece("("), DiffPiece(json_line(args), changed=changed is not None), DiffPiece(")")]
        )
    differing = {key: pieces for key, pieces in (changed or {}).items() if key in args}
    texts = _argument_texts(args, differing)
    if longest is not None:
        texts = _fit_arguments(texts, name, longest, set(differing), may_leave_out=may_leave_out)
    arguments = [_argument(key, differing.get(key, [DiffPiece(text)])) for key, text in texts.items()]
    return merge_pieces([head, DiffPiece("("), *_join_arguments(arguments), DiffPiece(")")])


def _fit_arguments(
    texts: dict[str, str], name: str, longest: int, marked: set[str], *, may_leave_out: bool
) -> dict[str, str]:
    room = longest - len(name) - 2
    if not marked:
        wrapped = room if may_leave_out else int(longest * _LINES) - len(name) - 2
        texts = _cut_values(texts, wrapped)
    if marked or may_leave_out:
        texts = _left_out(texts, marked, room)
    return texts


def _argument_texts(args: Mapping[str, object], differing: Mapping[str, Pieces]) -> dict[str, str]:
    return {
        key: "".join(piece.text for piece in differing[key]) if key in differing else json_line(value)
        for key, value in args.items()
    }


def _argument(name: str, value: Pieces) -> Pieces:
    return [DiffPiece("…")] if name.startswith(_GAP) else [DiffPiece(f"{name}="), *value]


_GAP = "\0…"  # marks omitted arguments; no argument has this name


def _left_out(values: Mapping[str, str], marked: set[str], room: int) -> dict[str, str]:
    """Leave out unmarked arguments, the longest first, until the call fits; each gap becomes one `…`."""
    lengths = {name: len(name) + len(value) + 3 for name, value in values.items()}
    total, hidden_names = sum(lengths.values()), set()
    for name in sorted(set(values) - marked, key=lambda name: -lengths[name]):
        if total <= room:
            break
        total -= lengths[name]
        hidden_names.add(name)
    result: dict[str, str] = {}
    for is_hidden, group in groupby(values, key=lambda name: name in hidden_names):
        names = list(group)
        result.update({_GAP + names[0]: ""} if is_hidden else {name: values[name] for name in names})
    return result


def _cut_values(values: Mapping[str, str], room: int) -> dict[str, str]:
    """Cut long values, the longest first, so that the call fits, but keep their beginnings."""
    result = dict(values)
    over = sum(len(name) + len(value) + 3 for name, value in values.items()) - room
    for name in sorted(values, key=lambda name: -len(values[name])):
        if over <= 0:
            break
        result[name] = cut_value(values[name], max(LEAST_OF_VALUE, len(values[name]) - over))
        over -= len(values[name]) - len(result[name])
    return result


def _join_arguments(arguments: list[Pieces]) -> Pieces:
    pieces: Pieces = []
    for index, argument in enumerate(arguments):
        pieces += [DiffPiece(", "), *argument] if index else argument
    return pieces


def _state_line(key: str, expected: object, actual: object, kind: DiffKind, *, full: bool) -> StateLine:
    expected_text, actual_text = value_pair(expected, actual, longest=10**9 if full else 2 * LONGEST_VALUE)
    return StateLine(
        key,
        kind,
        "" if kind is DiffKind.EXTRA else expected_text,
        "" if kind is DiffKind.MISSING else actual_text,
    )
