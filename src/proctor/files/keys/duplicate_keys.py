"""Duplicate keys: keys that one object has twice. JSON readers silently use the last one."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic.alias_generators import to_snake

from proctor.files.eval_sets.documents import Document, JsonDocument
from proctor.files.text.problems import Problem, SourceText

if TYPE_CHECKING:
    from proctor.files.eval_sets.case_reader import Cases
    from proctor.files.text.json_stream import FileBytes

QUICK = 4 << 20
"""The largest file, in bytes, that is searched as one text; a larger one is searched case by case."""


class DuplicateKeys(NamedTuple):
    """Warnings about duplicate keys."""

    of_format: list[Problem]
    """In an object of the format. The intended value is unknown, so no verdict may rest on it."""
    of_free_maps: list[Problem]
    """In a map with arbitrary keys: state, arguments, responses, keys that nothing reads."""

    def __add__(self, other: tuple[Any, ...]) -> DuplicateKeys:
        """Concatenate both lists."""
        of_format, of_free_maps = other
        return DuplicateKeys([*self.of_format, *of_format], [*self.of_free_maps, *of_free_maps])


_NONE = DuplicateKeys([], [])


def duplicate_keys_in(source: SourceText, *, is_config: bool = False) -> DuplicateKeys:
    """Return the duplicate keys of a text."""
    if not _has_duplicate_keys(source.text):
        return _NONE
    from proctor.files.text.json_scanner import scan

    duplicates = DuplicateKeys([], [])
    for path, problem in scan(source).duplicate_keys:
        is_of_format = is_config or _is_of_format(path)
        (duplicates.of_format if is_of_format else duplicates.of_free_maps).append(problem)
    return duplicates


def duplicate_keys_in_document(document: Document, *, is_config: bool = False) -> DuplicateKeys:
    """Return the duplicate keys of a document that was read whole. The YAML reader refuses duplicate keys itself."""
    return (
        duplicate_keys_in(document.source, is_config=is_config)
        if isinstance(document, JsonDocument)
        else _NONE
    )


def duplicate_keys_in_cases(source: FileBytes, cases: Cases) -> DuplicateKeys:
    """Return the duplicate keys of a set whose cases stay in the file."""
    if source.size <= QUICK:
        return duplicate_keys_in(
            SourceText(source.name, source.read(0, source.size).decode("utf-8-sig", "replace"))
        )
    duplicates = _NONE
    for index in range(len(cases)):
        piece = cases.piece(index)
        if _has_duplicate_keys(piece):
            duplicates += duplicate_keys_in(SourceText(source.name, piece.decode(), cases.start(index)))
    return duplicates


def _has_duplicate_keys(text: str | bytes) -> bool:
    has_duplicates = False

    def compare_counts(pairs: list[tuple[str, object]]) -> None:
        nonlocal has_duplicates
        has_duplicates = has_duplicates or len(dict(pairs)) < len(pairs)

    try:
        json.loads(text, object_pairs_hook=compare_counts)
    except ValueError:  # JSON with comments: only the scanner reads it
        return True
    return has_duplicates


# --- objects of the format -------------------------------------------------------------------------------------------

_FREE = frozenset(
    "state args arguments tool_input tool_parameters parameters response extra metadata meta".split()
)
_OWN_FORMS = frozenset({"expectations", "trajectory_rules", "response_schema", "final_session_state"})
"""Keys below these belong to metrics or to the expected state: each of them states an expectation."""
_FORMAT = frozenset(
    "eval_cases conversation conversation_scenario session_input rubrics opening user_content final_response "
    "intermediate_data app_details parts function_call function_response inline_data file_data tool_uses tool_responses "
    "intermediate_responses invocation_events content rubric_content user_persona behaviors scenarios data initial_session "
    "expected_tool_use expected_intermediate_agent_responses prompt reference reference_trajectory expected_tools function "
    "agent_details".split()
)


def _is_of_format(path: Iterable[str | int]) -> bool:
    """Whether the object at `path` of an eval set is an object of the format."""
    parent, is_expectation = "", False
    for step in path:
        if isinstance(step, int):
            continue
        name = to_snake(step)
        if name in _FREE and (parent, name) != ("reference", "response") and parent != "final_session_state":
            return False
        is_expectation = is_expectation or name in _OWN_FORMS
        if not is_expectation and name not in _FORMAT and name != "response":
            return False
        parent = name
    return True
