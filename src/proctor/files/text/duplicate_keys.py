"""Keys that stand twice in one object: readers take the last one without a word."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic.alias_generators import to_snake

from proctor.files.eval_sets.documents import Document, JsonDocument
from proctor.files.text.problems import Path_, Problem, SourceText

if TYPE_CHECKING:
    from proctor.files.eval_sets.case_reader import Cases
    from proctor.files.text.json_stream import FileBytes

QUICK = 4 << 20
"""Bytes of a file up to which it is looked at as one text; of a larger one, case by case."""


class DoubledKeys(NamedTuple):
    """Warnings for keys that stand twice."""

    of_format: list[Problem]
    """In an object of the format: which of the two is meant? A verdict must not rest on a guess."""
    of_free_maps: list[Problem]
    """In a map whose keys are anything: state, arguments, responses, keys that nothing reads."""

    def __add__(self, other: tuple[Any, ...]) -> DoubledKeys:
        """Both together."""
        of_format, of_free_maps = other
        return DoubledKeys([*self.of_format, *of_format], [*self.of_free_maps, *of_free_maps])


_NONE = DoubledKeys([], [])


def doubled_in(source: SourceText, *, base: Path_ = (), is_config: bool = False) -> DoubledKeys:
    """Return what stands twice in a text, whose root is at `base` of its document."""
    if not _has_doubled_keys(source.text):
        return _NONE
    from proctor.files.text.json_scanner import scan

    found = DoubledKeys([], [])
    for path, problem in scan(source).doubled:
        is_of_format = is_config or _is_of_format((*base, *path))
        (found.of_format if is_of_format else found.of_free_maps).append(problem)
    return found


def doubled_keys(source: SourceText) -> list[Problem]:
    """Return warnings for all keys that stand twice in one object."""
    found = doubled_in(source)
    return [*found.of_format, *found.of_free_maps]


def doubled_in_document(document: Document, *, is_config: bool = False) -> DoubledKeys:
    """Return the same for a document that was read whole (YAML refuses such keys when it is read)."""
    return doubled_in(document.source, is_config=is_config) if isinstance(document, JsonDocument) else _NONE


def doubled_in_cases(source: FileBytes, cases: Cases) -> DoubledKeys:
    """Return the same for a set that stays in its file."""
    if source.size <= QUICK:
        return doubled_in(SourceText(source.name, source.read(0, source.size).decode("utf-8-sig", "replace")))
    found = _NONE
    for index in range(len(cases)):
        piece = cases.piece(index)
        if _has_doubled_keys(piece):
            found += doubled_in(SourceText(source.name, piece.decode(), cases.start(index)))
    return found


def _has_doubled_keys(text: str | bytes) -> bool:
    doubled = False

    def notice(pairs: list[tuple[str, Any]]) -> None:
        nonlocal doubled
        doubled = doubled or len(dict(pairs)) < len(pairs)

    try:
        json.loads(text, object_pairs_hook=notice)
    except ValueError:  # comments: only the scan can read it
        return True
    return doubled


# --- which objects are those of the format ---------------------------------------------------------------------------

_FREE = frozenset(
    "state args arguments tool_input tool_parameters parameters response extra metadata meta".split()
)
_OWN_FORMS = frozenset({"expectations", "trajectory_rules", "response_schema", "final_session_state"})
"""Below these the keys are those of metrics, or of the state to expect: each of them is an expectation."""
_FORMAT = frozenset(
    "eval_cases conversation conversation_scenario session_input rubrics opening user_content final_response "
    "intermediate_data app_details parts function_call function_response inline_data file_data tool_uses tool_responses "
    "intermediate_responses invocation_events content rubric_content user_persona behaviors scenarios data initial_session "
    "expected_tool_use expected_intermediate_agent_responses prompt reference reference_trajectory expected_tools function "
    "agent_details".split()
)


def _is_of_format(path: Iterable[str | int]) -> bool:
    """Whether the object at `path` of an eval set is one of the format."""
    before, own = "", False
    for step in path:
        if isinstance(step, int):
            continue
        name = to_snake(step)
        if (
            name in _FREE
            and not (name == "response" and before == "reference")
            and before != "final_session_state"
        ):
            return False
        own = own or name in _OWN_FORMS
        if not own and name not in _FORMAT and name != "response":
            return False
        before = name
    return True
