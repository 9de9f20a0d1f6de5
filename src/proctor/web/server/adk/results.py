"""google-adk's result files, for its clients: `AGENT/.adk/eval_history/*.evalset_result.json`."""

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
    """Return a result; `None` if there is none with that id.

    Raises:
        SetupError: the id is invalid.
        EvalFileError: the file cannot be read, or is not a result.
    """
    require_path_segment(result_id, "the result id")
    path = _folder(app) / f"{result_id}{SUFFIX}"
    return read_file(path) if is_file(path) else None


def kept_session(app: App, user_id: str | None, session_id: str) -> Json | None:
    """Return the session of an evaluation from the result of its case (`user_id` `None`: any user); `None` if there is none."""
    needle = session_id.encode()
    if not needle:
        return None
    for path in reversed(_files(app)):
        if needle not in _bytes(path):
            continue
        for case in _cases(path):
            details = case.session_details
            is_of_user = user_id is None or (case.user_id or "") == user_id
            if case.session_id == session_id and is_of_user and details is not None:
                return stored_session_json(details.model_dump(mode="json"), app.name)
    return None


def _cases(path: Path) -> list[EvalCaseResult]:
    """Return the cases of a result file; an unreadable file has none, so that it hides no other."""
    try:
        return read_file(path).eval_case_results
    except EvalFileError:
        return []


def result_json(result: EvalSetResult, app: App) -> Json:
    """Return a result as JSON for clients."""
    document = wire(result)
    for row, case in zip(document.get("evalCaseResults", ()), result.eval_case_results, strict=True):
        _explain(row)
        if case.session_details is not None:
            row["sessionDetails"] = stored_session_json(
                case.session_details.model_dump(mode="json"), app.name
            )
    return document


def run_result_json(case: EvalCaseResult) -> Json:
    """Return a result for the response to an evaluation: without the session."""
    document = wire(case.model_copy(update={"session_details": None}))
    _explain(document)
    document.pop("proctor", None)
    return {**document, "evalMetricResults": []}


def _explain(case: Json) -> None:
    """Add the reason of each metric as `explanation`, which google-adk's page shows and its files do not contain."""
    extras = case.get("proctor")
    ours = extras if isinstance(extras, dict) else {}
    case_failure = ours.get("failure")
    for result in case.get("overallEvalMetricResults", ()):
        of_metric = (ours.get("metrics") or {}).get(result["metricName"]) or {}
        failure = of_metric.get("failure") or (case_failure if result.get("score") is None else None)
        why = of_metric.get("reason") or (of_metric.get("case") or {}).get("reason") or _cause(failure)
        if why:
            result["details"]["explanation"] = why


def _cause(failure: object) -> str:
    try:
        return Failure.model_validate(failure).cause if failure else ""
    except ValidationError:
        return ""  # the file was edited


def _folder(app: App) -> Path:
    return app.folder.joinpath(*HISTORY)


def _files(app: App) -> list[Path]:
    """Return the result files in the order in which they were written."""
    files = []
    for path in _folder(app).glob(f"*{SUFFIX}"):
        try:
            files.append((path.stat().st_mtime_ns, path.name, path))
        except OSError:  # it was removed
            continue
    return [path for _, _, path in sorted(files)]


def _id_of(path: Path) -> str:
    return path.name.removesuffix(SUFFIX)


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def read_file(path: Path) -> EvalSetResult:
    """Read a result file. Raises EvalFileError: it cannot be read, or is not a result."""
    try:
        return read_results(read_document(path, limit=RESULT_LIMIT))
    except OSError as error:
        raise EvalFileError(f"{path}: cannot be read: {error.strerror or error}") from error
