"""Load the agent, the eval sets and the configs of a run, from files or from objects in Python.

Code of an agent may change the working folder during import (`os.chdir`). Paths of the user are relative to the folder in which the
command began, so the change takes effect only after everything is read; the agent may need it for its own files.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from pydantic import ValidationError

from proctor.engine.run_options import RunOptions
from proctor.errors import EvalFileError, SetupError, SetupProblems
from proctor.runs.arguments import AgentLike, ConfigLike, validation_lines
from proctor.schema.format.case import EvalSet
from proctor.schema.format.config import EvalConfig, TrialsConfig

if TYPE_CHECKING:
    from proctor.agents.base import Agent
    from proctor.engine.planning.set_plan import EvalSetSource
    from proctor.files.eval_sets.documents import Document
    from proctor.runs.arguments import EvalSetLike

_changes: ContextVar[list[str] | None] = ContextVar("working_folder_changes", default=None)


@contextmanager
def user_folder() -> Iterator[None]:
    """Delay changes by `agent_code` until the block ends; discard them after an error."""
    if _changes.get() is not None:
        yield
        return
    changes: list[str] = []
    token = _changes.set(changes)
    try:
        yield
    finally:
        _changes.reset(token)
    if changes:
        with suppress(OSError):  # the folder does not exist any more
            os.chdir(changes[-1])


@contextmanager
def agent_code() -> Iterator[None]:
    """Restore the working folder after the block, which imports code of an agent; `user_folder` applies the change later."""
    changes, begin = _changes.get(), _folder()
    try:
        yield
    finally:
        if changes is not None and begin and (now := _folder()) != begin:
            os.chdir(begin)
            changes.append(now)


def _folder() -> str:
    """Return the working folder; empty if it was deleted."""
    try:
        return str(Path.cwd())
    except OSError:
        return ""


def load_eval_set(
    path: str | Path | EvalSet | Mapping[str, object], *, allow_duplicate_ids: bool = False
) -> EvalSet:
    """Load a whole eval set: a file (JSON or YAML, any version of the format), or a dict in any form that a file may have.

    Raises:
        EvalFileError: the problems of the file, each with its location.
        SetupError: two cases of an `EvalSet` share an id.
    """
    if not isinstance(path, str | os.PathLike):
        return read_python_eval_set(path, allow_duplicate_ids=allow_duplicate_ids)
    from proctor.files.eval_sets.source import load_eval_set as load

    return load(path, allow_duplicate_ids=allow_duplicate_ids)


def load_config(path: str | Path) -> EvalConfig:
    """Read a `test_config.json`.

    Raises:
        EvalFileError: the file is missing or is not a config; each problem has its location.
    """
    from proctor.files.eval_sets.load import load_config as load

    return load(path)[0]


def load_agent(
    ref: AgentLike,
    *,
    agent_name: str | None = None,
    isolate: bool = False,
    isolate_memory: str | int | None = None,
) -> Agent:
    """Load an agent under test from an AGENT string or an object of any recognised kind.

    With `isolate`, worker processes load a Python agent when it is opened, and this process does not. `isolate_memory` is the
    memory limit of each worker (`"2GB"`) and implies `isolate`.

    Raises:
        AgentLoadError: the agent cannot be loaded (the message has the cause), or it is to be isolated and is not a string.
        MissingExtraError: the agent needs an optional package.
    """
    if isolate or isolate_memory is not None:
        from proctor.agents.process.worker_agent import isolated_agent

        return isolated_agent(ref, agent_name=agent_name, memory=isolate_memory)
    from proctor.agents.load import load_agent as load

    with agent_code():
        return load(ref, agent_name=agent_name)


def load_agent_of_run(ref: AgentLike, options: RunOptions) -> Agent:
    """Load the agent of a run here, or return the workers that load it.

    Raises:
        SetupError: the agent cannot be loaded, or workers cannot be used.
    """
    if options.on is not None:
        from proctor.runs.setup.workers.make_pool import worker_pool

        return worker_pool(ref, options)
    return load_agent(
        ref,
        agent_name=options.agent_name,
        isolate=options.isolate,
        isolate_memory=options.isolate_memory,
    )


def forget_outdated_imports(folder: Path) -> None:
    """Discard the imported modules of an agent whose files have changed, so that the next load imports them again."""
    from proctor.agents.import_user_code import forget_outdated_imports as forget

    forget(folder)


# --- Eval sets made in Python: models, or dicts and lists in any form that a file may have ----------------------------


_NAME = "<eval set>"


def as_list(eval_sets: EvalSetLike | Sequence[EvalSetLike]) -> list[EvalSetLike]:
    """Return the given sets as a list. A list of cases, or of turns as in old files, is one set."""
    if isinstance(eval_sets, str | bytes | Path | Mapping) or not isinstance(eval_sets, Iterable):
        return [cast("EvalSetLike", eval_sets)]
    if hasattr(eval_sets, "model_dump"):  # Proctor's or google-adk's model, which iterates over its fields
        return [cast("EvalSet", eval_sets)]
    sets = list(eval_sets)
    return [cast("EvalSetLike", sets)] if _is_one(sets) else sets


def _is_one(items: list[Any]) -> bool:
    from proctor.files.eval_sets.documents import DocumentKind, kind

    lists = (DocumentKind.CASE_LIST, DocumentKind.OLD_TURNS, DocumentKind.OLD_CASES)
    all_dicts = bool(items) and all(isinstance(item, dict) for item in items)
    return (
        all_dicts and kind(items) in lists and all(kind(item) is not DocumentKind.EVAL_SET for item in items)
    )


def read_python_set(
    entry: EvalSet | Mapping[str, object],
    *,
    allow_duplicate_ids: bool = False,
    allow_unknown_keys: bool = True,
) -> EvalSetSource:
    """Read an eval set made in Python: a model, or a dict in any form that a file may have.

    With `allow_duplicate_ids` the second case `x` runs as `x#2`. Without `allow_unknown_keys`, unknown keys that look like
    an expectation are refused.

    Raises:
        EvalFileError: the dict is not an eval set.
        SetupProblems: the refused keys.
        SetupError: two cases share an id.
    """
    from proctor.engine.planning.set_plan import EvalSetSource

    eval_set, warnings = _read_inline(
        entry, allow_duplicate_ids=allow_duplicate_ids, allow_unknown_keys=allow_unknown_keys
    )
    return EvalSetSource(eval_set, warnings=warnings)


def read_python_eval_set(
    entry: EvalSet | Mapping[str, object], *, allow_duplicate_ids: bool = False
) -> EvalSet:
    """Return the eval set that `read_python_set` would read; raises as `read_python_set`."""
    from proctor.engine.planning.set_plan import EvalSetSource

    eval_set, _ = _read_inline(entry, allow_duplicate_ids=allow_duplicate_ids, allow_unknown_keys=True)
    EvalSetSource(eval_set)  # refuses duplicate ids
    return eval_set


def _read_inline(
    entry: EvalSet | Mapping[str, object], *, allow_duplicate_ids: bool, allow_unknown_keys: bool
) -> tuple[EvalSet, list[str]]:
    """Return the set and its warnings."""
    from proctor.files.eval_sets.source import open_eval_set_text, refusal_of
    from proctor.files.keys.key_findings import keys_of_set, refuse_keys

    if isinstance(entry, EvalSet):
        misread, unknown_keys = keys_of_set(entry)
        refuse_keys([] if allow_unknown_keys else misread)
        return (_rename_duplicates(entry) if allow_duplicate_ids else entry), [*misread, *unknown_keys]
    opened = open_eval_set_text(_text(entry), _NAME, allow_duplicate_ids=allow_duplicate_ids)
    errors, warnings = opened.split_warnings(allow_unknown_keys=allow_unknown_keys)
    if errors:
        raise refusal_of(errors, allows=True)
    return opened.eval_set(), [warning.without_severity for warning in warnings]


def _text(entry: object) -> str:
    if isinstance(entry, bytes):
        raise EvalFileError(f"{_NAME}: expected a path, an EvalSet or a dict, got bytes")
    try:
        return json.dumps(entry, default=_plain)
    except RecursionError:
        raise EvalFileError(f"{_NAME}: it is nested too deep") from None
    except (TypeError, ValueError) as error:  # a key that is not a string, an object that contains itself
        raise EvalFileError(f"{_NAME}: it cannot be written as JSON: {error}") from None


def _plain(value: Any) -> Any:
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json", exclude_unset=True)
    raise EvalFileError(f"{_NAME}: {type(value).__name__} is not JSON and no model")


def _rename_duplicates(eval_set: EvalSet) -> EvalSet:
    from proctor.files.eval_sets.eval_set_file import rename_duplicates

    renamed = rename_duplicates([case.eval_id for case in eval_set.eval_cases])
    cases = [
        case.model_copy(update={"eval_id": renamed[index]}) if index in renamed else case
        for index, case in enumerate(eval_set.eval_cases)
    ]
    return eval_set.model_copy(update={"eval_cases": cases})


# --- The config that scores a set: the one for all sets, one found near the set, or ADK's defaults. Each is validated once ---


CONFIG_OBJECT = "a config object in Python"
"""The source of criteria that come from no file, but from a dictionary or an `EvalConfig`."""
_CONFIG_OBJECTS = {CONFIG_OBJECT, "the config given"}  # the second: in stores of earlier commits


def is_config_object(source: str) -> bool:
    """Return whether the source of criteria is a config object: there is no file to use again."""
    return source in _CONFIG_OBJECTS


ADK_RS = "adk-rs"
ADK_RS_CRITERIA = {
    "tool_trajectory_avg_score": 1.0,
    "final_response_match_v1": {"threshold": 0.5, "aggregate": "every_invocation"},
}
"""The criteria of adk-rs's `eval`, which reads no config."""
NO_CONFIG = "(no test_config.json found)"
"""The end of the source of criteria that come from no file."""
ADK_RS_SOURCE = f"adk-rs's criteria {NO_CONFIG}"


class Configs:
    """Find and read the configs of a run; collect errors in `problems` and warnings in `warnings`."""

    def __init__(
        self,
        config_like: ConfigLike,
        problems: list[SetupError],
        warnings: list[str],
        trials: Mapping[str, object] | None = None,
        *,
        default: str | None = None,
    ) -> None:
        """Take the config for all sets, if any, and the options that override each config's `trials`."""
        self._given, self._problems, self.warnings = config_like, problems, warnings
        self._trials = trials or {}
        self._default = default
        self._read: dict[str, EvalConfig | None] = {}

    def of(self, set_path: Path | None) -> tuple[EvalConfig | None, str]:
        """Return the config that scores a set, and its source; `None` if it cannot be used, which is one of the problems."""
        config, origin = self._find(set_path)
        return self._with_trials(config) if config and self._trials else config, origin

    def _with_trials(self, config: EvalConfig) -> EvalConfig | None:
        """Override the config's `trials` with the options; the result is validated by the same rules."""
        values = config.trials.model_dump(exclude_none=True) if config.trials is not None else {}
        try:
            trials = TrialsConfig.model_validate({**values, **self._trials})
        except ValidationError as error:
            self._problems += [
                SetupError(f"trials: {line.removeprefix('document: ')}") for line in validation_lines(error)
            ]
            return None
        return config.model_copy(update={"trials": trials})

    def _find(self, set_path: Path | None) -> tuple[EvalConfig | None, str]:
        config_like = self._given
        if isinstance(config_like, Mapping | EvalConfig):
            if CONFIG_OBJECT not in self._read:
                self._read[CONFIG_OBJECT] = self._validate(config_like)
            return self._read[CONFIG_OBJECT], CONFIG_OBJECT
        try:
            path = Path(config_like) if config_like is not None else _nearby_config(set_path)
        except SetupError as problem:
            self._problems.append(problem)
            return None, ""
        if path is None and self._default == ADK_RS:
            return EvalConfig.model_validate({"criteria": ADK_RS_CRITERIA}), ADK_RS_SOURCE
        if path is None:
            return EvalConfig.default(), f"ADK's defaults {NO_CONFIG}"
        return self._from_file(path), str(path)

    def _from_file(self, path: Path) -> EvalConfig | None:
        from proctor.files.eval_sets.load import load_config_strictly
        from proctor.files.eval_sets.source import refusal_of

        key = str(path)
        if key not in self._read:
            try:
                self._read[key], warnings, doubled = load_config_strictly(path)
                self.warnings += [warning.without_severity for warning in warnings]
                if doubled:
                    self._problems.append(refusal_of(doubled))
            except SetupError as problem:
                self._read[key] = None
                self._problems.append(problem)
        return self._read[key]

    def _validate(self, config_like: Mapping[str, object] | EvalConfig) -> EvalConfig | None:
        from proctor.files.eval_sets.load import config_findings, misspelled_keys

        try:
            config = EvalConfig.model_validate(config_like)
        except ValidationError as error:
            self._problems += [SetupError(f"{CONFIG_OBJECT}: {line}") for line in validation_lines(error)]
            return None
        slips = misspelled_keys(config)
        self._problems += [SetupError(f"{CONFIG_OBJECT}: {slip.one_line}") for slip in slips]
        if not slips:
            self.warnings += [
                f"{CONFIG_OBJECT}: {warning.one_line}"
                for warning in config_findings(config, dict(config_like))
            ]
        return config


def trial_overrides(options: RunOptions) -> dict[str, object]:
    """Return the options that override the `trials` of a config; the number of trials only together with another option."""
    rule: dict[str, object] = {
        "min_pass_rate": options.min_pass_rate,
        "pass_k": options.pass_k,
        "confidence": options.confidence,
        "until_decided": (options.until_decided and options.against is None) or None,
    }
    changed = {name: value for name, value in rule.items() if value is not None}
    return {**changed, "num_runs": options.num_runs} if changed and options.num_runs is not None else changed


def read_config(config_like: ConfigLike) -> tuple[EvalConfig, str, list[str]]:
    """Return the given config, its source and its warnings.

    Raises:
        SetupProblems: the errors in the config.
    """
    problems: list[SetupError] = []
    configs = Configs(config_like, problems, [])
    config, source = configs.of(None)
    if config is None or problems:
        raise SetupProblems(problems)
    return config, source, configs.warnings


def _nearby_config(set_path: Path | None) -> Path | None:
    from proctor.runs.setup.settings import find_config

    return find_config(set_path) if set_path is not None else None


# --- Locations of the criteria in a config that planning refuses: line and column -------------------------------------


def locate_problems(problems: SetupProblems) -> SetupProblems:
    """Return the same problems. Those about a config file begin with line and column, like its syntax errors."""
    documents: dict[str, Document | None] = {}
    for problem in problems.problems:
        _locate_problem(problem, documents)
    return SetupProblems(problems.problems)


def _locate_problem(problem: SetupError, documents: dict[str, Document | None]) -> None:
    file, message = problem.file, str(problem)
    if not (file and problem.path and message.startswith(f"{file}: ")):
        return  # made in Python, or already located
    if file not in documents:
        documents[file] = _document(Path(file))
    if (document := documents[file]) is None:
        return
    from proctor.files.text.validation_messages import resolve

    path, _ = resolve(problem.path, document.value)
    if path:
        place = document.locate([path]).key(path)
        problem.args = (f"{file}:{place.line}:{place.column}{message[len(file) :]}",)


def _document(path: Path) -> Document | None:
    from proctor.files.eval_sets.documents import read_document

    try:
        return read_document(path, str(path)) if path.is_file() else None
    except EvalFileError:  # the file has changed since it was read
        return None
