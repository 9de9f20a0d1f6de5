"""The eval sets and configs of the project, to choose from for a run."""

from __future__ import annotations

from pathlib import Path

from proctor.common.safe_text import shorten
from proctor.errors import ProctorError, UnknownNameError
from proctor.files.eval_sets.load import load_eval_set
from proctor.files.eval_sets.selectors import CONFIG_NAMES, SET_SUFFIXES
from proctor.runs.setup.settings import find_config, load_settings
from proctor.schema.format.case import EvalCase
from proctor.web.pages.bounded_cache import BoundedCache
from proctor.web.pages.eval_sets.set_pages import case_tags, first_message
from proctor.web.pages.start import SetFile, StartCase, StartPage, StartSet
from proctor.web.server.runs.run_command import file_below, files_below

_LONGEST = 120
_MOST_READ = 20
_CONFIG = "config"

_sets: BoundedCache[StartSet] = BoundedCache(_MOST_READ)


def start_page(root: Path) -> StartPage:
    """Return the eval sets, configs and defaults for a run."""
    settings = load_settings(root)
    files = filter(_is_config_name, files_below(root, (".json", ".yaml", ".yml")))
    configs = [name for name in files if _has_criteria(root / name)]
    return StartPage(
        sets=[SetFile(path=path, name=_name(path)) for path in files_below(root, SET_SUFFIXES)],
        configs=configs,
        config=settings.config and settings.config.removeprefix(f"{root}/"),
        num_runs=settings.options.get("num_runs") or 1,
        concurrency=settings.options.get("concurrency") or 8,
        max_cost=settings.options.get("max_cost"),
    )


def set_page(root: Path, name: str) -> StartSet:
    """Return one eval set with its cases, or with the problem that prevents a run.

    Raises:
        UnknownNameError: there is no such file below `root`.
    """
    path = file_below(root, name, SET_SUFFIXES)
    if path is None:
        raise UnknownNameError(f"{name}: no eval set below {root.name}")
    status = path.stat()
    return _sets.get(path, lambda: _page(path, name), stamp=(status.st_mtime_ns, status.st_size))


def _page(path: Path, name: str) -> StartSet:
    try:
        eval_set, problem = load_eval_set(path), ""
        cases = [_case(case) for case in eval_set.eval_cases]
        set_id = eval_set.eval_set_id
    except ProctorError as error:
        cases, problem, set_id = [], str(error), _name(name)
    try:
        config = find_config(path)
    except ProctorError as error:
        config, problem = None, problem or str(error)
    near = str(config).removeprefix(str(path)[: -len(name)]) if config is not None else None
    return StartSet(path=name, eval_set_id=set_id, cases=cases, problem=problem, config=near)


def _case(case: EvalCase) -> StartCase:
    return StartCase(
        eval_id=case.eval_id, tags=case_tags(case), message=shorten(first_message(case), _LONGEST)
    )


def _has_criteria(path: Path) -> bool:
    """Whether a file states criteria; other tools have configs, too."""
    try:
        return b"criteria" in path.read_bytes()
    except OSError:
        return False


def _is_config_name(name: str) -> bool:
    file = Path(name).name.lower()
    return (
        file in CONFIG_NAMES
        or (_CONFIG in file and not file.endswith(SET_SUFFIXES))
        or file.startswith("criteria")
    )


def _name(path: str) -> str:
    file = Path(path).name
    return next((file[: -len(suffix)] for suffix in SET_SUFFIXES if file.lower().endswith(suffix)), file)
