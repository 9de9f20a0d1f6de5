"""What the names on a command line mean: eval sets, single cases of them, the config that judges each.

Names become paths here and nowhere else: an id is checked before it is joined to a folder.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path

from proctor.common.project_root import project_root
from proctor.errors import SetupError, SetupProblems

SET_SUFFIXES = (
    ".evalset.json", ".test.json", ".evalset.yaml", ".evalset.yml", ".test.yaml", ".test.yml",
    ".evalset.jsonl", ".test.jsonl",
)  # fmt: skip
CONFIG_NAMES = ("test_config.json", "test_config.yaml", "test_config.yml")
_DRIVE = re.compile(r"[A-Za-z]:[\\/]")
_CASE_NAME = re.compile(r'(?:"((?:[^"]|"")+)"|([^,:]*))(,|:|$)', re.DOTALL)
_NEW_SET_ID = re.compile(r"[a-zA-Z0-9_]+")
_LONGEST_NAME = 255  # bytes in a file's name, on the systems people use
_DEVICES = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])", re.IGNORECASE)
ON_WINDOWS = os.name == "nt"
"""Whether the names of devices cannot be names of files."""


@dataclass(slots=True)
class FoundSet:
    """An eval set to be read: its file, the name to show, and the cases asked for (none: all)."""

    path: Path
    label: str
    case_ids: list[str] = field(default_factory=list)


# --- selectors ---------------------------------------------------------------------------------------------------------


def split_selector(selector: str) -> tuple[str, list[str], str]:
    """`file.json:case_1,case_2` as the set, its cases, and what stands behind a second colon (ADK ignores that).

    A Windows drive (`C:\\` or `C:/`) is part of the name. Blank case names are dropped, others are not trimmed. One in
    double quotes may hold commas and colons; a quote within is doubled.
    """
    drive = selector[:2] if _DRIVE.match(selector) else ""
    name, _, rest = selector[len(drive) :].partition(":")
    cases, at, sign = [], 0, ","
    while sign == ",":
        found = _CASE_NAME.match(rest, at)
        quoted, plain, sign = found.groups() if found else (None, "", "")
        cases.append(plain if quoted is None else quoted.replace('""', '"'))
        at = found.end() if found else len(rest)
    return drive + name, [case for case in cases if case.strip()], rest[at:]


def quoted(case_id: str) -> str:
    """Return the id as `split_selector` reads it: in double quotes where a sign of selectors is in it."""
    is_plain = not any(sign in case_id for sign in ',:"')
    return case_id if is_plain else f'"{case_id.replace(chr(34), chr(34) * 2)}"'


def split_where_found(selector: str, folder: Path | None = None) -> tuple[str, list[str], str]:
    """As `split_selector`, but a file or folder that is there, seen from `folder`, is not split at a colon of its name."""
    at, drive = len(selector), 2 if _DRIVE.match(selector) else 0
    while at > drive:
        if _exists(selector[:at], folder):
            _, cases, ignored = split_selector(selector[at:])
            return selector[:at], cases, ignored
        at = selector.rfind(":", 0, at)
    return split_selector(selector)


def split_selectors(selectors: Sequence[str]) -> dict[str, list[str]]:
    """Sets and their cases; a set named twice has the cases of both (all cases and a list: the list)."""
    found: dict[str, list[str]] = {}
    for selector in selectors:
        name, cases, _ = split_selector(selector)
        found.setdefault(name, []).extend(cases)
    return found


def find_sets(selectors: Sequence[str], *, agent_folder: Path | None = None) -> list[FoundSet]:
    """The sets that `selectors` name, in their order: files, folders, ids of sets in the agent's folder.

    A folder stands for all sets in it and below. A file named twice comes once, with the cases of both.

    Raises:
        SetupProblems: for every name that means nothing, with the closest names.
    """
    problems: list[SetupError] = []
    found: dict[str, FoundSet] = {}
    for selector in selectors:
        try:
            for one in _find(selector, agent_folder):
                known = found.setdefault(os.path.normpath(one.path), one)
                if known is not one:
                    known.case_ids += [case for case in one.case_ids if case not in known.case_ids]
        except SetupError as problem:
            problems.append(problem)
    if problems:
        raise SetupProblems(problems)
    return list(found.values())


def _find(selector: str, agent_folder: Path | None) -> list[FoundSet]:
    name, cases, ignored = split_where_found(selector)
    if ignored:
        raise SetupError(
            f"{selector}: two colons; cases are separated by commas, as in FILE:case_1,case_2 (an id with a comma or a colon in it goes in double quotes)"
        )
    if not name:
        raise SetupError(f"{selector!r} names no eval set")
    path = Path(name)
    if path.is_dir():
        return _in_folder(path, cases)
    if path.exists():
        return [FoundSet(path, name, cases)]
    by_id = _by_id(name, agent_folder)
    if by_id is not None:
        return [FoundSet(by_id, str(by_id), cases)]
    raise SetupError(_nothing_there(name, agent_folder))


def _exists(name: str, folder: Path | None = None) -> bool:
    try:
        return bool(name) and (folder or Path()).joinpath(name).exists()
    except (OSError, ValueError):  # too long, or with NUL
        return False


def _in_folder(folder: Path, cases: list[str]) -> list[FoundSet]:
    if cases:
        raise SetupError(
            f"{folder} is a folder; cases are picked from one file, as in FILE:{','.join(cases)}"
        )
    paths = list(sets_in(folder))
    if not paths:
        looked = ", ".join(f"*{suffix}" for suffix in SET_SUFFIXES[:3])
        raise SetupError(f"no eval sets in the folder {folder} (looked for {looked} …, in subfolders too)")
    return [FoundSet(path, str(path)) for path in paths]


def sets_in(folder: Path) -> Iterator[Path]:
    """All eval set files in a folder and below, sorted; hidden folders (results are kept in one) are left out."""
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith((".", "__pycache__")))
        for name in sorted(files):
            path = Path(place) / name
            if name.lower().endswith(SET_SUFFIXES) and not name.startswith(".") and may_be_read(path):
                yield path


def may_be_read(path: Path) -> bool:
    """Whether an entry of a folder is a file, or a link that should lead to one; reading a pipe might never end."""
    return path.is_file() or not path.exists()


def _by_id(name: str, agent_folder: Path | None) -> Path | None:
    if agent_folder is None or path_segment_fault(name):
        return None
    candidates = (agent_folder / f"{name}{suffix}" for suffix in SET_SUFFIXES)
    return next((path for path in candidates if path.is_file()), None)


def _nothing_there(name: str, agent_folder: Path | None) -> str:
    hint = near_files(Path(name))
    if agent_folder is not None and not path_segment_fault(name):
        ids = [_without_suffix(path.name) for path in sets_in(agent_folder) if path.parent == agent_folder]
        near = get_close_matches(name, ids, n=3)
        known = f"sets there: {', '.join(ids[:8])}" if ids else "there are none"
        listed = f"did you mean {' or '.join(near)}?" if near else known
        return f"{name}: no such file, and no eval set of this id in {agent_folder} ({hint or listed})"
    return f"{name}: no such file or folder" + (f" ({hint})" if hint else "")


def _without_suffix(name: str) -> str:
    suffix = next(suffix for suffix in SET_SUFFIXES if name.lower().endswith(suffix))
    return name[: -len(suffix)]


def near_files(path: Path) -> str:
    """A hint for a file that is not there: files of nearly its name in its folder, or that the folder is missing."""
    folder = path.parent
    try:
        if not folder.is_dir():
            return f"there is no folder {folder}"
        names = [entry.name for entry in folder.iterdir()]
    except (OSError, ValueError):
        return ""
    if path.is_symlink():
        return f"it is a link to {path.readlink()}, which is not there"
    near = get_close_matches(path.name, names, n=2, cutoff=0.6)
    return f"did you mean {' or '.join(str(folder / name) for name in near)}?" if near else ""


# --- configs -----------------------------------------------------------------------------------------------------------


def find_config(set_path: Path) -> Path | None:
    """The `test_config.json` that judges a set: beside it, else in the nearest folder above, up to the project's root.

    ADK looks beside the file only, and for JSON. Outside of a project Proctor, too, looks beside it only. None: there
    is none. Raises SetupError: a folder has two.
    """
    folder = set_path.absolute().parent
    root = project_root(folder)
    for place in [folder, *folder.parents]:
        there = [_as_named(place / name, set_path) for name in CONFIG_NAMES if _is_config(place / name)]
        if len(there) > 1:
            raise SetupError(f"{there[0]} and {there[1]}: which of them judges {set_path.name}? Keep one.")
        if there:
            return there[0]
        if place == root or root is None:
            return None
    return None


def _is_config(path: Path) -> bool:
    """Whether a config is meant to be there; a link that leads nowhere is told when it is read."""
    return path.is_file() or (path.is_symlink() and not path.exists())


def _as_named(path: Path, set_path: Path) -> Path:
    """The path in the way the set was named: relative when that was, and when it can be."""
    if set_path.is_absolute():
        return path
    try:
        return path.relative_to(Path.cwd())
    except ValueError:
        return path


# --- identifiers -------------------------------------------------------------------------------------------------------


def path_segment_fault(text: str) -> str:
    """Why `text` may not be one part of a path; empty when it may. The rule is ADK's."""
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
    """Whether a file is there; false, too, for a name that is longer than any file's can be."""
    try:
        return path.is_file()
    except OSError:
        return False


def require_path_segment(text: str, what: str) -> str:
    """`text`, if it may be one part of a path. `what` names it in the message. Raises SetupError."""
    fault = path_segment_fault(text)
    if fault:
        raise SetupError(f"{what} {text!r} cannot be part of a path: {fault}")
    return text


def require_new_set_id(text: str) -> str:
    """`text`, if a new eval set may have this id: letters, digits, `_`, and a file can be named so. Raises SetupError."""
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
    """`text`, if a new case may have this id: `file.json:ID,ID` can name it. Raises SetupError."""
    taken = [sign for sign in ",:" if sign in text]
    if taken:
        raise SetupError(
            f"the id {text!r} of a new case has a {taken[0]!r} in it, and could not be named: FILE:CASE,CASE has it as well"
        )
    if not text.strip():
        raise SetupError("the id of a new case is empty")
    return text


def set_path(folder: Path, eval_set_id: str) -> Path:
    """The file of the set `eval_set_id` in an agent's folder.

    Raises:
        SetupError: the id is no part of a path, or the file is a link that leads out of the folder.
    """
    path = folder / f"{require_path_segment(eval_set_id, 'the eval set id')}{SET_SUFFIXES[0]}"
    if path.is_symlink() and not path.resolve().is_relative_to(folder.resolve()):
        raise SetupError(f"{path} is a link that leads out of {folder}")
    return path
