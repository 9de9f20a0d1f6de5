"""Read the other files of the format: configs, scenarios, session inputs, results."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import ValidationError

from proctor.files.eval_sets.config_warnings import config_findings, misspelled_keys
from proctor.files.eval_sets.detect_format import Kind, kind
from proctor.files.eval_sets.documents import RESULT_LIMIT, Document, problems_at, read_document
from proctor.files.eval_sets.source import (
    EvalSetFile,
    load_eval_set,
    load_eval_set_text,
    open_document,
    open_eval_set,
)
from proctor.files.eval_sets.whole_documents import not_a
from proctor.files.text.duplicate_keys import duplicate_keys_in_document
from proctor.files.text.json_stream import no_collection
from proctor.files.text.problems import Problem, file_error
from proctor.files.text.validation_messages import explain
from proctor.schema.format.case import ConversationScenarios, SessionInput
from proctor.schema.format.config import EvalConfig
from proctor.schema.format.wire_model import WireModel

if TYPE_CHECKING:
    from proctor.schema.format.result import EvalSetResult

__all__ = [
    "EvalSetFile",
    "load_config",
    "load_eval_set",
    "load_eval_set_text",
    "load_results",
    "load_scenarios",
    "load_session_input",
    "open_document",
    "open_eval_set",
    "read_config",
]

_Model = TypeVar("_Model", bound=WireModel)


def load_config(path: str | Path, *, label: str = "") -> tuple[EvalConfig, list[Problem]]:
    """Read a `test_config.json`; with it what is doubtful: unknown keys, keys given twice, what is not supported.

    Raises:
        EvalFileError: it is not a config, or one of its keys is misspelled; with every problem and its position.
    """
    config, doubts, duplicates = load_config_strictly(path, label=label)
    return config, [*duplicates, *doubts]


def load_config_strictly(
    path: str | Path, *, label: str = ""
) -> tuple[EvalConfig, list[Problem], list[Problem]]:
    """As `load_config`, with the duplicate keys (as warnings) as a separate list."""
    document = read_document(Path(path), label)
    config, doubts = read_config(document)
    duplicates = duplicate_keys_in_document(document, is_config=True).of_format
    return config, [doubt for doubt in doubts if doubt not in duplicates], duplicates


def read_config(document: Document) -> tuple[EvalConfig, list[Problem]]:
    """As `load_config`, for a document that was already read."""
    config = read_model(document, EvalConfig, "an eval config", {Kind.CONFIG, Kind.UNKNOWN})
    doubts = [
        *document.warnings,
        *problems_at(document, config_findings(config, document.value), "warning"),
    ]
    if slips := misspelled_keys(config):
        raise file_error([*problems_at(document, slips), *doubts])
    return config, doubts


def load_scenarios(path: str | Path, *, label: str = "") -> ConversationScenarios:
    """Read a file of conversation scenarios. Raises EvalFileError."""
    return read_scenarios(read_document(Path(path), label))


def read_scenarios(document: Document) -> ConversationScenarios:
    """As `load_scenarios`, for a document that was already read."""
    return read_model(document, ConversationScenarios, "conversation scenarios", {Kind.SCENARIOS})


def load_session_input(path: str | Path, *, label: str = "") -> SessionInput:
    """Read the session in which cases start. Raises EvalFileError."""
    return read_session_input(read_document(Path(path), label))


def read_session_input(document: Document) -> SessionInput:
    """As `load_session_input`, for a document that was already read."""
    return read_model(document, SessionInput, "a session input", {Kind.SESSION_INPUT, Kind.UNKNOWN})


def load_results(path: str | Path, *, label: str = "") -> EvalSetResult:
    """Read an `*.evalset_result.json` of any age, also wrapped in a JSON string. Raises EvalFileError."""
    with no_collection():
        return read_results(read_document(Path(path), label, limit=RESULT_LIMIT))


def read_results(document: Document) -> EvalSetResult:
    """As `load_results`, for a document that was already read."""
    from proctor.schema.format.result import EvalSetResult

    return read_model(document, EvalSetResult, "an eval set result", {Kind.RESULT})


def read_model(document: Document, model: type[_Model], wanted: str, kinds: Collection[Kind]) -> _Model:
    """Return the document as `model`, if it is of one of `kinds`."""
    found = kind(document.value, document.name)
    value: Any = document.value
    if found not in kinds or not isinstance(value, dict):
        raise file_error([*document.warnings, *not_a(document, wanted, found)])
    try:
        return model.model_validate(value)
    except ValidationError as error:
        raise file_error([*document.warnings, *problems_at(document, explain(error, value))]) from None
