"""Result files as google-adk keeps them, read for its clients: `AGENT/.adk/eval_history/*.evalset_result.json`."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from proctor.agents.chat_host import Json
from proctor.errors import EvalFileError
from proctor.files.eval_sets.documents import RESULT_LIMIT, read_document
from proctor.files.eval_sets.load import read_results
from proctor.files.eval_sets.selectors import is_file, require_path_segment
from proctor.schema.evidence.trial import Failure
from proctor.schema.format.adk_results import HISTORY, SUFFIX
from proctor.schema.format.result import EvalCaseResult, EvalSetResult
from proctor.web.server.adk.apps import App
from proctor.web.server.adk.wire import stored_session_json, wire


def result_ids(app: App) -> list[str]:
    """Return the ids of an app's results, oldest first."""
    return [_id_of(path) for path in _files(app)]


def read_result(app: App, result_id: str) -> EvalSetResult | None:
    """Return a result; `None` where there is none of that id.

    Raises:
        SetupError: the id cannot be one.
        EvalFileError: the file cannot be read, or holds no result.
    """
    require_path_segment(result_id, "the result id")
    path = _folder(app) / f"{result_id}{SUFFIX}"
    return read_file(path) if is_file(path) else None


def kept_session(app: App, user_id: str | None, session_id: str) -> Json | None:
    """Return the session of an evaluation (of any user: `None`) as the result of its case has it; `None`: none has."""
    needle = session_id.encode()
    if not needle:
        return None
    for path in reversed(_files(app)):
        if needle not in _bytes(path):
            continue
        for case in _cases(path):
            details = case.session_details
            is_theirs = user_id is None or (case.user_id or "") == user_id
            if case.session_id == session_id and is_theirs and details is not None:
                return stored_session_json(details.model_dump(mode="json"), app.name)
    return None


def _cases(path: Path) -> list[EvalCaseResult]:
    """The cases of a result file; none of one that cannot be read: it hides no other."""
    try:
        return read_file(path).eval_case_results
    except EvalFileError:
        return []


def result_json(result: EvalSetResult, app: App) -> Json:
    """Return a result as clients read it."""
    document = wire(result)
    for told, case in zip(document.get("evalCaseResults", ()), result.eval_case_results, strict=True):
        _explain(told)
        if case.session_details is not None:
            told["sessionDetails"] = stored_session_json(
                case.session_details.model_dump(mode="json"), app.name
            )
    return document


def run_result_json(case: EvalCaseResult) -> Json:
    """Return a result as the answer to running an evaluation has it: without the session."""
    document = wire(case.model_copy(update={"session_details": None}))
    _explain(document)
    document.pop("proctor", None)
    return {**document, "evalMetricResults": []}


def _explain(case: Json) -> None:
    """Say with each metric why it came to what it did: google-adk's page shows `explanation`, and its files have no place."""
    beside = case.get("proctor")
    ours = beside if isinstance(beside, dict) else {}
    broken = ours.get("failure")
    for result in case.get("overallEvalMetricResults", ()):
        of_metric = (ours.get("metrics") or {}).get(result["metricName"]) or {}
        failure = of_metric.get("failure") or (broken if result.get("score") is None else None)
        why = of_metric.get("reason") or (of_metric.get("case") or {}).get("reason") or _cause(failure)
        if why:
            result["details"]["explanation"] = why


def _cause(failure: object) -> str:
    try:
        return Failure.model_validate(failure).cause if failure else ""
    except ValidationError:
        return ""  # a file that was edited


def _folder(app: App) -> Path:
    return app.folder.joinpath(*HISTORY)


def _files(app: App) -> list[Path]:
    """The result files, in the order in which they were written."""
    found = []
    for path in _folder(app).glob(f"*{SUFFIX}"):
        try:
            found.append((path.stat().st_mtime_ns, path.name, path))
        except OSError:  # gone meanwhile
            continue
    return [path for _, _, path in sorted(found)]


def _id_of(path: Path) -> str:
    return path.name.removesuffix(SUFFIX)


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def read_file(path: Path) -> EvalSetResult:
    """Read a result file. Raises EvalFileError: it cannot be read, or holds no result."""
    try:
        return read_results(read_document(path, limit=RESULT_LIMIT))
    except OSError as error:
        raise EvalFileError(f"{path}: cannot be read: {error.strerror or error}") from error
