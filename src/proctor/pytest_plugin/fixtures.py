"""Implementation of the fixtures `evaluate` and `eval_case`."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import pytest

from proctor.common.async_tools import is_within_a_loop
from proctor.common.safe_text import clean
from proctor.errors import SetupError, did_you_mean
from proctor.files.eval_sets.selectors import find_sets, split_existing
from proctor.pytest_plugin.collection import item_name
from proctor.pytest_plugin.inspected_results import Evaluated, Pending
from proctor.pytest_plugin.project import STORED_RUNS, NoAgentError, project_of
from proctor.pytest_plugin.session_watch import watch_of
from proctor.runs.setup.settings import find_config
from proctor.schema.format.case import EvalCase, EvalSet

_HOW = '@pytest.mark.proctor("cases.evalset.json")'


# --- The cases of a set, one by one ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Origin:
    """The origin of a case."""

    path: Path
    eval_set_id: str
    place: str


_ORIGINS = pytest.StashKey[dict[int, Origin]]()
"""Keyed by the identity of the case, which the parameters of its test keep alive."""


def parametrize(metafunc: pytest.Metafunc) -> None:
    """Parametrize a test with the cases of the sets that its marker names.

    Raises:
        CollectError: a set cannot be read; the message contains all problems.
    """
    marker = metafunc.definition.get_closest_marker("proctor")
    if marker is None or not marker.args:
        return  # the fixture raises an error, unless the test defines its own
    origins = metafunc.config.stash.setdefault(_ORIGINS, {})
    folder = metafunc.definition.path.parent
    params = []
    project = project_of(metafunc.config)
    try:
        with project.recorded_attempt():
            duplicates = bool(marker.kwargs.get("allow_duplicate_ids") or project.allows_duplicates)
            for selected_set in find_sets([relative_selector(str(one), folder) for one in marker.args]):
                for case, origin in _cases(
                    selected_set.path, selected_set.case_ids, allow_duplicate_ids=duplicates
                ):
                    origins[id(case)] = origin
                    params.append(pytest.param(case, id=item_name(case.eval_id)))
    except SetupError as problem:
        raise pytest.Collector.CollectError(clean(str(problem), lines=True)) from None
    metafunc.parametrize("eval_case", params)


def _cases(path: Path, ids: Sequence[str], *, allow_duplicate_ids: bool) -> Iterator[tuple[EvalCase, Origin]]:
    from proctor.files.eval_sets.source import open_eval_set

    source = open_eval_set(path, allow_duplicate_ids=allow_duplicate_ids)
    for name in ids:
        if source.position(name) is None:
            raise SetupError(f"{path}: no case {name!r}.{did_you_mean(name, source.ids())}")
    for index, eval_id in enumerate(source.ids()):
        if not ids or eval_id in ids:
            yield source.case(index), Origin(path, source.eval_set_id, source.where(index))


def origin_of(case: object, config: pytest.Config) -> Origin | None:
    """Return the origin of a case that `parametrize` created; `None` for any other object."""
    return config.stash.get(_ORIGINS, {}).get(id(case)) if isinstance(case, EvalCase) else None


def relative_selector(selector: str, folder: Path) -> str:
    """Return a selector relative to the test file's folder if the path exists there, otherwise to the working folder."""
    name = split_existing(selector, folder)[0]
    path = folder / name
    if Path(name).is_absolute() or not name or not path.exists():
        return selector
    try:
        relative_path = path.resolve().relative_to(Path.cwd().resolve())
    except ValueError:
        relative_path = path
    return f"{relative_path}{selector[len(name) :]}"


def not_marked() -> NoReturn:
    """Raise the error for a test that requests `eval_case` without a marker.

    Raises:
        SetupError: always.
    """
    raise SetupError(f"`eval_case` needs to know the eval set: mark the test with {_HOW}")


# --- Evaluation in a test -------------------------------------------------------------------------------------------------


class Evaluate:
    """Runs eval sets or cases against the agent, with the options of the session and of the test's marker.

    Takes the same sets as `proctor.evaluate`: paths (relative to the test file's folder, otherwise to the working folder),
    sets, dicts, one `EvalCase` or several. The default is the sets that the marker names. `agent=` selects another agent.
    """

    def __init__(self, request: pytest.FixtureRequest) -> None:
        """Read the markers and the fixtures of the test."""
        self._request = request
        self._project = project_of(request.config)
        marks = list(request.node.iter_markers("proctor"))
        self._marked = {name: value for mark in reversed(marks) for name, value in mark.kwargs.items()}
        self._sets = next((mark.args for mark in marks if mark.args), ())
        self._agent = self._find_agent()
        self._watch = watch_of(request.node)

    def _find_agent(self) -> object:
        """Return the agent of the marker, of the test's own `agent` fixture or of the session; `None` if there is none."""
        if "agent" in self._marked:
            return self._marked.pop("agent")
        try:
            return self._project.reference(self._request.getfixturevalue("agent"))
        except NoAgentError:
            return None

    def __repr__(self) -> str:
        return "evaluate"

    def __call__(self, eval_sets: object = None, /, *, agent: object = None, **options: object) -> Any:
        """Run and return the result; in an async test, return an awaitable.

        Raises:
            SetupProblems: all configuration errors, before the first call of the agent.
        """
        __tracebackhide__ = True
        try:
            with self._project.recorded_attempt():
                run = self._prepared(eval_sets, agent, options)
            if is_within_a_loop():
                self._watch.pending.append(Pending(run))
                return self._watch.pending[-1]
            from proctor.engine.execution.run_control import run_sync

            return run_sync(run)
        except SetupError as problem:
            raise problem.with_traceback(None) from None

    def _prepared(
        self, eval_sets: object, agent: object, arguments: dict[str, object]
    ) -> Callable[[], Coroutine[object, object, Evaluated]]:
        folder = self._request.path.parent
        requested_sets = self._requested_sets(eval_sets)
        origins = [self._origin(one) for one in requested_sets]
        own = {**self._marked, **arguments}
        if isinstance(own.get("config"), str | Path):
            own["config"] = relative_selector(str(own["config"]), folder)
        options: dict[str, Any] = {"store": self._project.store, **self._project.options, **own}
        options.setdefault("config", _config_of(origins))
        ref = self._agent if agent is None else agent
        if ref is None:
            ref = self._project.agent_ref  # raises an error that names the places for an agent
        sets = [_as_set(one, origin, folder) for one, origin in zip(requested_sets, origins, strict=True)]

        async def run() -> Evaluated:
            from proctor.runs.evaluate import evaluate

            result = await evaluate(ref, sets, **options)
            if result.run_id and options["store"] is self._project.store:
                self._request.node.stash.setdefault(STORED_RUNS, []).append(result.run_id)
            for case, origin in zip(result.cases, origins, strict=False):
                case.place = case.place or (origin.place if origin else "")
            watched: Evaluated = self._watch.keep(result)
            return watched

        return run

    def _requested_sets(self, eval_sets: object) -> list[Any]:
        if eval_sets is None:
            params = getattr(self._request.node, "callspec", None)
            case = params.params.get("eval_case") if params is not None else None
            if case is not None:
                return [case]
            if not self._sets:
                raise SetupError(f'name what to evaluate: evaluate("cases.evalset.json"), or {_HOW}')
            return list(self._sets)
        return list(eval_sets) if isinstance(eval_sets, list | tuple) else [eval_sets]

    def _origin(self, one: object) -> Origin | None:
        return origin_of(one, self._request.config)


def _config_of(origins: Iterable[Origin | None]) -> Path | None:
    """Return the config that applies to the files of the cases, as a run of these files would find it.

    Raises:
        SetupError: several configs apply.
    """
    configs = list(dict.fromkeys(find_config(origin.path) for origin in origins if origin is not None))
    if len(configs) > 1:
        raise SetupError("the cases come from files with different configs: choose one with config=")
    return configs[0] if configs else None


def _as_set(one: object, origin: Origin | None, folder: Path) -> Any:
    if isinstance(one, EvalCase):
        return EvalSet(eval_set_id=origin.eval_set_id if origin else "evaluate", eval_cases=[one])
    return relative_selector(str(one), folder) if isinstance(one, str | Path) else one
