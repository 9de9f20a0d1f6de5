"""Resolve the names on a command line: eval sets, single cases of them, and the config of each set.

Only this module converts names to paths. It checks an id before joining it to a folder.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path

from proctor.errors import SetupError, SetupProblems

SET_SUFFIXES = (
    ".evalset.json", ".test.json", ".evalset.yaml", ".evalset.yml", ".test.yaml", ".test.yml",
    ".evalset.jsonl", ".test.jsonl",
)  # fmt: skip
CONFIG_NAMES = ("test_config.json", "test_config.yaml", "test_config.yml")
_DRIVE = re.compile(r"[A-Za-z]:[\\/]")
_CASE_NAME = re.compile(r'(?:"((?:[^"]|"")+)"|([^,:]*))(,|:|$)', re.DOTALL)
_NEW_SET_ID = re.compile(r"[a-zA-Z0-9_]+")
_LONGEST_NAME = 255  # bytes of a file name, on common systems
_DEVICES = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])", re.IGNORECASE)
ON_WINDOWS = os.name == "nt"
"""Whether device names are invalid file names."""


@dataclass(slots=True)
class SelectedSet:
    """An eval set to read: its file, the name for messages, and the selected cases (none: all)."""

    path: Path
    label: str
    case_ids: list[str] = field(default_factory=list)


# --- selectors ---------------------------------------------------------------------------------------------------------


def split_selector(selector: str) -> tuple[str, list[str], str]:
    """Split `file.json:case_1,case_2` into the set, its cases, and the text after a second colon, which ADK ignores.

    A Windows drive (`C:\\` or `C:/`) is part of the name. Blank case names are dropped, others are not trimmed. A name in
    double quotes may contain commas and colons; a quote in it is doubled.
    """
    drive = selector[:2] if _DRIVE.match(selector) else ""
    name, _, rest = selector[len(drive) :].partition(":")
    cases, at, sign = [], 0, ","
    while sign == ",":
        match = _CASE_NAME.match(rest, at)
        quoted_id, plain, sign = match.groups() if match else (None, "", "")
        cases.append(plain if quoted_id is None else quoted_id.replace('""', '"'))
        at = match.end() if match else len(rest)
    return drive + name, [case for case in cases if case.strip()], rest[at:]


def quote_case_id(case_id: str) -> str:
    """Return the id as `split_selector` reads it: in double quotes if it contains a separator."""
    is_plain = not any(sign in case_id for sign in ',:"')
    return case_id if is_plain else f'"{case_id.replace(chr(34), chr(34) * 2)}"'


def split_existing(selector: str, folder: Path | None = None) -> tuple[str, list[str], str]:
    """As `split_selector`, but an existing file or folder, relative to `folder`, is not split at a colon in its name."""
    at, drive = len(selector), 2 if _DRIVE.match(selector) else 0
    while at > drive:
        if _exists(selector[:at], folder):
            _, cases, ignored = split_selector(selector[at:])
            return selector[:at], cases, ignored
        at = selector.rfind(":", 0, at)
    return split_selector(selector)


def split_selectors(selectors: Sequence[str]) -> dict[str, list[str]]:
    """Return sets with their cases. A set named twice has the cases of both (all cases and a list: the list)."""
    cases_by_set: dict[str, list[str]] = {}
    for selector in selectors:
        name, cases, _ = split_selector(selector)
        cases_by_set.setdefault(name, []).extend(cases)
    return cases_by_set


def find_sets(selectors: Sequence[str], *, agent_folder: Path | None = None) -> list[SelectedSet]:
    """Return the sets that `selectors` name, in order: files, folders, ids of sets in the agent's folder.

    A folder selects all sets in it and below. A file named twice is listed once, with the cases of both.

    Raises:
        SetupProblems: one error per unresolved name, with the closest names.
    """
    problems: list[SetupError] = []
    sets: dict[str, SelectedSet] = {}
    for selector in selectors:
        try:
            for new in _find(selector, agent_folder):
                known = sets.setdefault(os.path.normpath(new.path), new)
                if known is not new:
                    known.case_ids += [case for case in new.case_ids if case not in known.case_ids]
        except SetupError as problem:
            problems.append(problem)
    if problems:
        raise SetupProblems(problems)
    return list(sets.values())


def _find(selector: str, agent_folder: Path | None) -> list[SelectedSet]:
    name, cases, ignored = split_existing(selector)
    if ignored:
        raise SetupError(
            f"{selector}: two colons; separate cases with commas, as in FILE:case_1,case_2 (put an id with a comma or a colon in double quotes)"
        )
    if not name:
        raise SetupError(f"{selector!r} does not name an eval set")
    path = Path(name)
    if path.is_dir():
        return _sets_in_folder(path, cases)
    if path.exists():
        return [SelectedSet(path, name, cases)]
    by_id = _find_by_id(name, agent_folder)
    if by_id is not None:
        return [SelectedSet(by_id, str(by_id), cases)]
    raise SetupError(_not_found_message(name, agent_folder))


def _exists(name: str, folder: Path | None = None) -> bool:
    try:
        return bool(name) and (folder or Path()).joinpath(name).exists()
    except (OSError, ValueError):  # a name that is too long, or contains NUL
        return False


def _sets_in_folder(folder: Path, cases: list[str]) -> list[SelectedSet]:
    if cases:
        raise SetupError(f"{folder} is a folder; name cases of one file, as in FILE:{','.join(cases)}")
    paths = list(sets_in(folder))
    if not paths:
        patterns = ", ".join(f"*{suffix}" for suffix in SET_SUFFIXES[:3])
        raise SetupError(
            f"no eval sets in the folder {folder} (searched for {patterns} …, in subfolders too)"
        )
    return [SelectedSet(path, str(path)) for path in paths]


def sets_in(folder: Path) -> Iterator[Path]:
    """Return all eval set files in a folder and below, sorted; hidden folders, such as that of results, are skipped."""
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith((".", "__pycache__")))
        for name in sorted(files):
            path = Path(place) / name
            if name.lower().endswith(SET_SUFFIXES) and not name.startswith(".") and may_be_read(path):
                yield path


def may_be_read(path: Path) -> bool:
    """Whether an entry of a folder is a file, or a link to one, existing or not; reading a pipe might never end."""
    return path.is_file() or not path.exists()


def _find_by_id(name: str, agent_folder: Path | None) -> Path | None:
    if agent_folder is None or path_segment_fault(name):
        return None
    candidates = (agent_folder / f"{name}{suffix}" for suffix in SET_SUFFIXES)
    return next((path for path in candidates if path.is_file()), None)


def _not_found_message(name: str, agent_folder: Path | None) -> str:
    hint = near_files(Path(name))
    if agent_folder is not None and not path_segment_fault(name):
        ids = [_without_suffix(path.name) for path in sets_in(agent_folder) if path.parent == agent_folder]
        near = get_close_matches(name, ids, n=3)
        known = f"sets in it: {', '.join(ids[:8])}" if ids else "it contains no sets"
        suggestion = f"did you mean {' or '.join(near)}?" if near else known
        return f"{name}: no such file, and no eval set with this id in {agent_folder} ({hint or suggestion})"
    return f"{name}: no such file or folder" + (f" ({hint})" if hint else "")


def _without_suffix(name: str) -> str:
    suffix = next(suffix for suffix in SET_SUFFIXES if name.lower().endswith(suffix))
    return name[: -len(suffix)]


def near_files(path: Path) -> str:
    """Return a hint for a missing file: files with similar names in its folder, or that the folder is missing."""
    folder = path.parent
    try:
        if not folder.is_dir():
            return f"the folder {folder} does not exist"
        names = [entry.name for entry in folder.iterdir()]
    except (OSError, ValueError):
        return ""
    if path.is_symlink():
        return f"it is a link to {path.readlink()}, which does not exist"
    near = get_close_matches(path.name, names, n=2, cutoff=0.6)
    return f"did you mean {' or '.join(str(folder / name) for name in near)}?" if near else ""


# --- identifiers -------------------------------------------------------------------------------------------------------


def path_segment_fault(text: str) -> str:
    """Return why `text` cannot be one part of a path; empty if it can. The rule is ADK's."""
    if not text:
        return "it is empty"
    if text in {".", ".."}:
        return "it names a folder"
    if "\0" in text:
        return "it holds NUL"
    if "/" in text or "\\" in text:
        return "it holds a path separator"
    if re.match(r"[A-Za-z]:", text):
        return "it starts with a drive letter"
    return ""


def is_file(path: Path) -> bool:
    """Whether a file exists; false also for a name that is too long for a file."""
    try:
        return path.is_file()
    except OSError:
        return False


def require_path_segment(text: str, what: str) -> str:
    """Return `text` if it can be one part of a path. `what` names it in the message. Raises SetupError."""
    fault = path_segment_fault(text)
    if fault:
        raise SetupError(f"{what} {text!r} cannot be part of a path: {fault}")
    return text


def require_new_set_id(text: str) -> str:
    """Return `text` if a new eval set may have this id: letters, digits, `_`, and a valid file name. Raises SetupError."""
    if not _NEW_SET_ID.fullmatch(text):
        raise SetupError(
            f"the id {text!r} of a new eval set may have only letters (a-z, A-Z), digits and `_`"
        )
    if len(f"{text}{SET_SUFFIXES[0]}".encode()) > _LONGEST_NAME:
        raise SetupError(
            f"the id of a new eval set may have at most {_LONGEST_NAME - len(SET_SUFFIXES[0])} characters"
        )
    if ON_WINDOWS and _DEVICES.fullmatch(text):
        raise SetupError(f"{text!r} is the name of a device on Windows; choose another id")
    return text


def require_new_case_id(text: str) -> str:
    """Return `text` if a new case may have this id: `file.json:ID,ID` can select it. Raises SetupError."""
    separators = [sign for sign in ",:" if sign in text]
    if separators:
        raise SetupError(
            f"the id {text!r} of a new case contains {separators[0]!r}, which separates cases in FILE:CASE,CASE; choose another id"
        )
    if not text.strip():
        raise SetupError("the id of a new case is empty")
    return text


def set_path(folder: Path, eval_set_id: str) -> Path:
    """Return the file of the set `eval_set_id` in an agent's folder.

    Raises:
        SetupError: the id cannot be part of a path, or the file is a link that leads out of the folder.
    """
    path = folder / f"{require_path_segment(eval_set_id, 'the eval set id')}{SET_SUFFIXES[0]}"
    if path.is_symlink() and not path.resolve().is_relative_to(folder.resolve()):
        raise SetupError(f"{path} is a link that leads out of {folder}")
    return path
