"""Guard for output files: decides which files a report, an export or a converted file may overwrite.

One rule for every writer: a file that Proctor reads or keeps is never overwritten; any other existing file that is not
an earlier output of the same kind needs `overwrite`; a missing parent folder needs `make_parents`. Empty files, devices
and pipes may be written. Files are compared by identity, so that links and the case of names change nothing.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from proctor.common.atomic_write import new_file
from proctor.errors import SetupError
from proctor.files.eval_sets.selectors import CONFIG_NAMES, SET_SUFFIXES
from proctor.runs.storage.open import kept_stores

EVAL_SET, BASELINE, ADK_TABLE = "eval set", "baseline", "CSV table of google-adk"
SUMMARY_VARIABLE = "GITHUB_STEP_SUMMARY"
"""Names the file of a GitHub Actions step that reports are appended to."""
_SETTINGS = ("proctor.toml", "pyproject.toml")
_COMPANIONS = ("-wal", "-shm", "-journal")
_BESIDE_STORE = (".baselines", ".attempt.json", ".lock")
_SQLITE = (
    b"SQLite format 3\0",
    b"\x37\x7f\x06\x82",
    b"\x37\x7f\x06\x83",
    b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7",
)
"""The first bytes of a database, its write-ahead log and its rollback journal."""
_STREAM = re.compile(r"/dev/(stdout|stderr|fd/\d+)|/proc/(self|\d+)/fd/\d+")
_HEAD = 4096
_SET_MARK = re.compile(rb'["\'](eval_cases|evalCases)["\']')
_BASELINE_HEAD = r'\{\s*"proctor_baseline"'

_AUDIT_SENTENCE = r"(Catches \d|No mutant could be |This change (lowers|raises) )"
_AUDIT_MARKDOWN = rf"(\*\*{_AUDIT_SENTENCE}|<h3>! )"

HEADS = {
    "json": r'\{"proctor_report": ',
    "jsonl": r'\{("eval_set_id": (null|".*?"), "eval_id": (null|".*?"), "trial": |"proctor_note": )',
    "csv": '"agent","eval_set_id","eval_id","trial"',
    "csv-raw": '"agent","eval_set_id","eval_id","trial"',
    "adk": r'\{\s*"eval_set_result_id": ',
    "junit": r'<\?xml [^>]*>\s*<testsuites name="proctor"',
    "github": r"::(notice|warning|error) ([^:\n]*,)?title=",
    "markdown": r"(?:### |<h3>)[✓✕!?–] ",
    "md": r"(?:### |<h3>)[✓✕!?–] ",
    "svg": r'<svg xmlns="http://www.w3.org/2000/svg" data-report="proctor" ',
    "adk-rs": r'\{\s*"results": \[',
    "text": r"(RUN|AGENTS|EMPTY|ERROR)  ",
    "html": r'(?s)<!doctype html>.{0,2000}<meta http-equiv="Content-Security-Policy" content="default-src \'none\'',
    "comparison json": r'\{\s*"version": \d+,\s*"outcome": ',
    "comparison markdown": r"(?:### |<h3>)[✓✕!?–] ",
    "comparison md": r"(?:### |<h3>)[✓✕!?–] ",
    "comparison text": "(BASELINE|ERROR)  ",
    "audit json": r'\{\s*"version": \d+,\s*"(run_id|outcome)": ',
    "audit markdown": _AUDIT_MARKDOWN,
    "audit md": _AUDIT_MARKDOWN,
    "audit github": r"::(notice|warning|error) ([^:\n]*,)?title=",
    "audit text": rf"({_AUDIT_SENTENCE}|ERROR  )",
    "audit html": r'(?s)<!doctype html>.{0,2000}<meta http-equiv="Content-Security-Policy" content="default-src \'none\'',
    "comparison html": r'(?s)<!doctype html>.{0,2000}<meta http-equiv="Content-Security-Policy" content="default-src \'none\'',
    BASELINE: _BASELINE_HEAD,
    "traces": r'\s*\{\s*"resource_?[sS]pans"',
    ADK_TABLE: "eval_set_id,eval_id,metric_name,threshold,",
}  # fmt: skip
"""The beginning of a file of each kind, as a regular expression. A kind that is not listed (a plug-in's report) is never recognized."""


@dataclass(frozen=True, slots=True)
class OutputGuard:
    """The files that one command may overwrite, and those that it reads."""

    overwrite: bool = False
    """Whether an existing file of another kind may be replaced. A file that Proctor reads or keeps is never replaced."""
    make_parents: bool = False
    """Whether missing parent folders are created."""
    inputs: Sequence[Path] = ()
    """Files that the command reads: eval sets, configs, agents."""
    folders: Sequence[Path] = ()
    """Folders of agents. All their files count as read, regardless of their names."""
    stores: Sequence[Path] = ()
    """Store files. Files next to a store whose names begin with its name belong to it."""

    def check(self, path: Path, kind: str, label: str = "", *, appends: bool = False) -> None:
        """Refuse a path that may not be written. `label` is what the user wrote, as in `--report json=out.json`.

        `appends`: the command appends to an earlier output of this kind and replaces nothing.

        Raises:
            SetupError: the path may not be written; the message has the reason and the remedy.
        """
        where = f"{label or path}: "
        if path.is_dir():
            raise SetupError(f"{where}{path} is a folder; name a file in it")
        target = Path(os.path.realpath(path))
        if any(_belongs_to(target, store) for store in self.stores):
            raise SetupError(f"{where}{path} belongs to the store of runs; name another file")
        if path.exists() and not path.is_file():
            return  # a device or a pipe
        if kind_of_name := self._kind_of_names(path, target, kind):
            raise SetupError(f"{where}by its name {path.name} is {kind_of_name}; name another file")
        self._check_parent(target.parent, path, where)
        if path.exists():
            self._check_existing(path, kind, where, appends=appends)

    def check_folder(self, folder: Path) -> None:
        """Refuse a folder for outputs that cannot be created here, or that belongs to a store.

        Raises:
            SetupError: the folder may not be written; the message has the reason and the remedy.
        """
        target = Path(os.path.realpath(folder))
        if any(_belongs_to(target, store) for store in self.stores):
            raise SetupError(f"{folder} belongs to the store of runs; name another folder")
        if target.exists() and not target.is_dir():
            raise SetupError(f"{folder} is not a folder")
        if not target.exists():
            self._check_parent(target.parent, folder, f"{folder}: ")

    @contextmanager
    def open(self, path: Path, kind: str, label: str = "", *, errors: str = "strict") -> Iterator[TextIO]:
        """Open a checked path for writing: the file is replaced when it is complete; a stream is written directly.

        The file that `GITHUB_STEP_SUMMARY` names is appended to.

        Raises:
            SetupError: as for `check`, which runs again because the file may have changed.
            OSError: the file cannot be written.
        """
        self.check(path, kind, label)
        if self.make_parents:
            path.parent.mkdir(parents=True, exist_ok=True)
        if is_appended(path) or _STREAM.fullmatch(str(path)):
            with path.open("a", encoding="utf-8", errors=errors, newline="\n") as file:
                yield file
            return
        with new_file(path, errors=errors) as file:
            yield file

    # --- rules --------------------------------------------------------------------------------------------------------

    @staticmethod
    def _kind_of_names(path: Path, target: Path, kind: str) -> str:
        return _kind_of_name(path.name.lower(), kind) or _kind_of_name(target.name.lower(), kind)

    def _check_parent(self, parent: Path, path: Path, where: str) -> None:
        above = next(folder for folder in (parent, *parent.parents) if folder.exists())
        if not above.is_dir():
            raise SetupError(f"{where}{above} is not a folder")
        if above != parent and not self.make_parents:
            raise SetupError(
                f"{where}the folder {path.parent} does not exist; create it, or add --make-parents (in Python make_parents=True)"
            )
        if not os.access(above, os.W_OK | os.X_OK) or (path.exists() and not os.access(path, os.W_OK)):
            raise SetupError(f"{where}no permission to write {path}")

    def _check_existing(self, path: Path, kind: str, where: str, *, appends: bool) -> None:
        if any(_is_same(path, one) for one in self.inputs):
            raise SetupError(f"{where}{path} is read by this command; name another file")
        if not path.stat().st_size or is_appended(path) or _STREAM.fullmatch(str(path)):
            return
        head = _read_head(path)
        if kind in HEADS and re.match(HEADS[kind], head.decode("utf-8", "replace").removeprefix("\ufeff")):
            return
        if file_kind := _kept_kind(path, head, kind) or self._kind_in_agent(path):
            raise SetupError(f"{where}{path} is {file_kind}, which is never overwritten; name another file")
        if appends:
            if kind == EVAL_SET:  # the reader of the set reports a file of another kind
                return
            raise SetupError(f"{where}{path} exists and is not an earlier {kind}; name another file")
        if not self.overwrite:
            what = "" if kind in (EVAL_SET, BASELINE) else f" and is not an earlier {kind} report"
            raise SetupError(
                f"{where}{path} exists{what}; name another file, or add --overwrite (in Python overwrite=True)"
            )

    def _kind_in_agent(self, path: Path) -> str:
        """Return what a file is if it is in an agent's folder. The working folder and its parents hold more than an agent."""
        here, target = Path.cwd(), Path(os.path.realpath(path))
        folders = [Path(os.path.realpath(one)) for one in self.folders]
        owned = any(target.is_relative_to(one) and not here.is_relative_to(one) for one in folders)
        return "a file of the agent" if owned else ""


def check_growing_set(path: Path, *, make_parents: bool = False, inputs: Sequence[Path] = ()) -> None:
    """Refuse a path for an eval set that is created or extended; `inputs` are files that the command reads.

    Raises:
        SetupError: the path may not be written; the message has the reason and the remedy.
    """
    guard = OutputGuard(make_parents=make_parents, inputs=inputs, stores=kept_stores())
    guard.check(path, EVAL_SET, appends=True)


def is_appended(path: Path) -> bool:
    """Return whether a path is the summary of a GitHub Actions step, which other tools write to as well."""
    summary = os.environ.get(SUMMARY_VARIABLE)
    return bool(summary) and os.path.realpath(path) == os.path.realpath(str(summary))


def _is_same(path: Path, other: Path) -> bool:
    """Return whether two paths are the same file, regardless of links and of upper and lower case."""
    try:
        return path.samefile(other)
    except (OSError, ValueError):
        return False


def _belongs_to(target: Path, store: Path) -> bool:
    """Return whether a path is a store or a file kept next to it (`-wal`, `-shm`, baselines …), even if it does not exist yet."""
    if _is_same(target, store) or any(
        _is_same(target, store.with_name(store.name + end)) for end in _COMPANIONS
    ):
        return True
    home, name = Path(os.path.realpath(store.parent)), store.name.casefold()
    owned = {f"{start}{name}{end}" for start in ("", ".") for end in ("", *_COMPANIONS, *_BESIDE_STORE)}
    return any(
        place.name.casefold() in owned and (place.parent == home or _is_same(place.parent, home))
        for place in (target, *target.parents)
    )


def _kind_of_name(name: str, kind: str) -> str:
    """Return what a file with this name is to a run; empty for any other file."""
    if name in CONFIG_NAMES:
        return "a config"
    if name in _SETTINGS:
        return "a file of settings"
    if name == ".env" or name.startswith(".env."):
        return "a file of environment variables"
    if name.endswith(SET_SUFFIXES) and kind != EVAL_SET:
        return "an eval set"
    return "a program" if name.endswith((".py", ".ipynb")) else ""


def _read_head(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(_HEAD)


def _kept_kind(path: Path, head: bytes, kind: str) -> str:
    """Return what an existing file is to Proctor; empty for a file that it neither reads nor keeps."""
    if head.startswith(_SQLITE) or path.name.lower().endswith(_COMPANIONS):
        return "a database"
    if re.match(_BASELINE_HEAD, head.decode("utf-8", "replace")):
        return "a baseline"
    from proctor.files.eval_sets.documents import SETS, DocumentKind
    from proctor.files.eval_sets.file_problems import check_file

    file_kind = check_file(path, allow_duplicate_ids=True).kind
    if file_kind in SETS or _SET_MARK.search(head):
        return "" if kind == EVAL_SET else "an eval set"
    kinds = {
        DocumentKind.CONFIG: "an eval config",
        DocumentKind.SCENARIOS: "a file of scenarios",
        DocumentKind.SESSION_INPUT: "a session input",
    }
    return next((text for one, text in kinds.items() if one == file_kind), "")
