"""The eval sets and configs of the project, to choose from for a run."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from proctor.common.safe_text import shorten
from proctor.errors import EvalFileError, ProctorError, UnknownNameError
from proctor.files.eval_sets.documents import CONFIG_KEYS, DocumentKind, kind, read_bytes, read_document
from proctor.files.eval_sets.selectors import CONFIG_NAMES, SET_SUFFIXES
from proctor.files.eval_sets.source import load_eval_set
from proctor.runs.setup.settings import find_config, load_settings
from proctor.schema.format.case import EvalCase
from proctor.schema.format.wire_model import to_camel
from proctor.web.pages.bounded_cache import BoundedCache
from proctor.web.pages.eval_sets.set_pages import case_tags, first_message
from proctor.web.pages.start import SetFile, StartCase, StartPage, StartSet
from proctor.web.server.runs.run_command import CONFIG_SUFFIXES, file_below, files_below

_LONGEST = 120
_MOST_READ = 20
_MOST_SEEN = 10_000
"""Files that are searched for configs."""
_LARGEST_CONFIG = 1 << 20
_CONFIG_MARKS = [spelling.encode() for key in CONFIG_KEYS for spelling in {key, to_camel(key)}]
"""The keys of a config in both spellings: a file without one is not parsed."""

_sets: BoundedCache[StartSet] = BoundedCache(_MOST_READ)
_are_configs: BoundedCache[bool | None] = BoundedCache(_MOST_SEEN)


def start_page(root: Path) -> StartPage:
    """Return the eval sets, configs and defaults for a run."""
    settings = load_settings(root)
    files = files_below(root, CONFIG_SUFFIXES, most=_MOST_SEEN)
    sets = files_below(root, SET_SUFFIXES)
    folders = {Path(path).parent for path in sets}
    configs = [
        name for name in files if not name.lower().endswith(SET_SUFFIXES) and _is_config(root, name, folders)
    ]
    return StartPage(
        sets=[SetFile(path=path, name=_name(path)) for path in sets],
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


def _is_config(root: Path, name: str, set_folders: Collection[Path]) -> bool:
    """Whether a file is a config by its content, as `proctor check` decides it, or a broken one by its name and folder.

    A file that has not changed is not read again.
    """
    path, relative = root / name, Path(name)
    try:
        status = path.stat()
    except OSError:
        return False
    state = status.st_mtime_ns, status.st_size
    is_config = _are_configs.get(path, lambda: _has_config(path), stamp=state)
    if is_config is not None:
        return is_config
    return relative.name in CONFIG_NAMES or (
        "config" in relative.name.lower() and relative.parent in set_folders
    )


def _has_config(path: Path) -> bool | None:
    """Whether the content of a file is that of a config; `None` if it cannot be read."""
    try:
        data = read_bytes(path, path.name, limit=_LARGEST_CONFIG)
        may_be = any(mark in data for mark in _CONFIG_MARKS)
        return may_be and kind(read_document(path).value, path.name) is DocumentKind.CONFIG
    except EvalFileError:
        return None


def _name(path: str) -> str:
    file = Path(path).name
    return next((file[: -len(suffix)] for suffix in SET_SUFFIXES if file.lower().endswith(suffix)), file)
