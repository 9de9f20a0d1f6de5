"""Shell completion: the values that a shell offers for an option or an argument, and what bash needs in addition to click's part.

Completion never fails: a project without settings or a store, or with broken files, has fewer values.
"""

from __future__ import annotations

import io
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, redirect_stderr, suppress
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click
from click.shell_completion import (
    BashComplete,
    CompletionItem,
    add_completion_class,
    shell_complete,
    split_arg_string,
)

if TYPE_CHECKING:
    from proctor.runs.setup.settings import Settings
    from proctor.stores.base import Store

VARIABLE = "_PROCTOR_COMPLETE"
"""The environment variable by which a shell requests completions."""

Items = Iterable["str | CompletionItem"]
Completer = Callable[[click.Context, str], Items]

_MOST_RUNS = 50
_MOST_CASES = 500
_SAFE = re.compile(r"[\w@%+=:,./~-]+")
"""Values that a shell takes literally. An id with other characters, from a file, could become a command when it is inserted."""


def complete(
    kind: str, ctx: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Return the values for a parameter. `kind` is a key of `_COMPLETERS`: usually the metavar of the parameter."""
    completer = _COMPLETERS.get(kind)
    if completer is None:
        return parameter.type.shell_complete(ctx, parameter, incomplete)
    items: list[CompletionItem] = []
    with suppress(Exception):  # a broken file or store is reported by the command, not while it is written
        for value in completer(ctx, incomplete):
            item = value if isinstance(value, CompletionItem) else CompletionItem(value)
            if item.type != "plain" or (item.value.startswith(incomplete) and _SAFE.fullmatch(item.value)):
                items.append(item)
    return items


# --- Runs and cases --------------------------------------------------------------------------------------------------


def _store(ctx: click.Context) -> Store:
    """Open the store of the command for reading; it is never created."""
    from proctor.runs.storage.open import open_runs

    urls = [url for url in (ctx.params.get("store"), *(ctx.params.get("stores") or ())) if url]
    return open_runs(urls[0] if urls else None, read_only=True)


def _runs(ctx: click.Context, _incomplete: str) -> Items:
    with closing(_store(ctx)) as store:
        entries = store.index()
    if entries:
        yield CompletionItem("latest", help=f"the newest run, {entries[0].run_id}")
    if len(entries) > 1:
        yield CompletionItem("previous", help=f"the run before it, {entries[1].run_id}")
    for entry in entries[:_MOST_RUNS]:
        began = datetime.fromtimestamp(entry.created_at).astimezone()
        yield CompletionItem(entry.run_id, help=f"{began:%Y-%m-%d %H:%M}  {entry.agent}")


def _baselines(ctx: click.Context, _incomplete: str) -> Items:
    from proctor.stores.baselines import baseline_files

    with closing(_store(ctx)) as store:
        yield from [path.stem for path in baseline_files(store)]


def _runs_and_baselines(ctx: click.Context, incomplete: str) -> Items:
    yield from _baselines(ctx, incomplete)
    yield from _runs(ctx, incomplete)


def _cases_of_run(ctx: click.Context, run: str) -> Iterator[str]:
    with closing(_store(ctx)) as store:
        planned = list(islice(store.planned(store.find(run)), _MOST_CASES))
    ids = [case.eval_id for case in planned]
    for case in planned:
        yield case.eval_id if ids.count(case.eval_id) == 1 else f"{case.eval_set_id}/{case.eval_id}"


def _cases(ctx: click.Context, _incomplete: str) -> Items:
    """Complete the cases of the eval set or of the run that the command line names, without those it contains already."""
    cases = ctx.params.get("cases") or ()
    path = ctx.params.get("path")
    known = _cases_of_set(str(path)) if path else _cases_of_run(ctx, ctx.params.get("run") or "latest")
    return (case for case in known if case not in cases)


def _compare_words(ctx: click.Context, incomplete: str) -> Items:
    words: Sequence[str] = ctx.params.get("words") or ()
    return _cases_of_run(ctx, words[1]) if len(words) == 2 else _runs_and_baselines(ctx, incomplete)


def _agent_labels(ctx: click.Context, _incomplete: str) -> Items:
    with closing(_store(ctx)) as store:
        return dict.fromkeys(entry.agent for entry in store.index())


def _set_ids(ctx: click.Context, _incomplete: str) -> Items:
    with closing(_store(ctx)) as store:
        return dict.fromkeys(name for entry in store.index() for name in entry.sets)


# --- Agents, eval sets and their cases -------------------------------------------------------------------------------


def _agents(ctx: click.Context, incomplete: str) -> Items:
    from proctor.runs.setup.settings import relative_to_working_folder

    yield from _files(ctx, incomplete)
    yield from map(relative_to_working_folder, _settings().agent)


def _sets(ctx: click.Context, incomplete: str) -> Items:
    """Complete an eval set of the settings or any file; after `FILE:`, the cases of that file."""
    name, colon, rest = incomplete.rpartition(":")
    if colon and Path(name).is_file():
        chosen, comma, _ = rest.rpartition(",")
        head = f"{name}:{chosen}{comma}"
        yield from (f"{head}{case}" for case in _cases_of_set(name) if case not in chosen.split(","))
        return
    yield from _files(ctx, incomplete)
    yield from _sets_of_settings()


def _sets_of_settings() -> Iterator[str]:
    from proctor.files.eval_sets.selectors import sets_in
    from proctor.runs.setup.settings import relative_to_working_folder

    for name in map(relative_to_working_folder, _settings().sets):
        if Path(name).is_dir():
            yield from (str(path) for path in sets_in(Path(name)))
        else:
            yield name


def _cases_of_set(path: str) -> Iterator[str]:
    from proctor.files.eval_sets.selectors import quote_case_id
    from proctor.files.eval_sets.source import open_eval_set

    ids = open_eval_set(path, allow_duplicate_ids=True).ids()
    return (case for case in islice(ids, _MOST_CASES) if quote_case_id(case) == case)


def _eval_words(ctx: click.Context, incomplete: str) -> Items:
    """Complete the agent first, then eval sets. The settings may name an agent, so that the first word is an eval set."""
    is_first = not (ctx.params.get("words") or ctx.params.get("agents"))
    if is_first and ":" not in incomplete:
        yield from _agents(ctx, incomplete)
    if not is_first or _settings().agent:
        yield from _sets(ctx, incomplete)


# --- Names and files -------------------------------------------------------------------------------------------------


def _settings() -> Settings:
    from proctor.runs.setup.settings import load_settings

    return load_settings(Path.cwd())


def _metrics(_ctx: click.Context, _incomplete: str) -> Items:
    from proctor.common.registry import METRICS

    return METRICS.names()


def _metric_list(ctx: click.Context, incomplete: str) -> Items:
    chosen, comma, _ = incomplete.rpartition(",")
    return [f"{chosen}{comma}{name}" for name in _metrics(ctx, incomplete) if name not in chosen.split(",")]


def _report_names(_ctx: click.Context, _incomplete: str) -> Items:
    from proctor.common.registry import REPORTS

    return REPORTS.names()


def _report_targets(ctx: click.Context, incomplete: str) -> Items:
    if "=" in incomplete:
        return _files(ctx, incomplete)
    return [f"{name}=" for name in _report_names(ctx, incomplete)]


def _stores(ctx: click.Context, incomplete: str) -> Items:
    from proctor.runs.setup.settings import relative_to_working_folder

    yield from _files(ctx, incomplete)
    yield from (relative_to_working_folder(url.removeprefix("sqlite:///")) for url in _settings().store)


def _files(_ctx: click.Context, incomplete: str) -> Items:
    return [CompletionItem(incomplete, type="file")]


def _folders(_ctx: click.Context, incomplete: str) -> Items:
    return [CompletionItem(incomplete, type="dir")]


_COMPLETERS: dict[str, Completer] = {
    "A,B": _metric_list,
    "AGENT": _agents,
    "AGENT SET": _eval_words,
    "AGENTS_DIR": _folders,
    "AGENT_LABEL": _agent_labels,
    "BASELINE": _baselines,
    "CASE": _cases,
    "COMPARED": _compare_words,
    "DIR": _folders,
    "FILE": _files,
    "FOLDER": _folders,
    "IN": _files,
    "METRIC": _metrics,
    "NAME=PATH": _report_targets,
    "NEW": _files,
    "OLD": _files,
    "OUT": _files,
    "PATH": _files,
    "REPORT": _report_names,
    "RUN": _runs,
    "RUN_OR_BASELINE": _runs_and_baselines,
    "SET": _sets,
    "SET_ID": _set_ids,
    "TRACE": _files,
    "URL": _stores,
}
"""What completes each kind of value."""


# --- bash ------------------------------------------------------------------------------------------------------------


class _Bash(BashComplete):
    """bash splits words at `:` and `=`, too, and replaces only the part after the last one."""

    source_template = BashComplete.source_template.replace(
        "COMPREPLY+=($value)", "COMPREPLY+=($value); [[ $value == *= ]] && compopt -o nospace"
    )
    _prefix = ""

    def get_completion_args(self) -> tuple[list[str], str]:
        """Return the words before the cursor, and the word that is written."""
        position = int(os.environ["COMP_CWORD"])
        pieces = split_arg_string(os.environ["COMP_WORDS"])[1 : position + 1]
        words, prefix = _join_words(pieces, position)
        is_option = words[-1].startswith("--")  # click completes only the value of `--option=value`
        self._prefix = prefix.partition("=")[2] if is_option else prefix
        return words[:-1], words[-1]

    def format_completion(self, item: CompletionItem) -> str:
        """Return a line for the script, without the part of the word that bash keeps."""
        return f"{item.type},{item.value.removeprefix(self._prefix)}"


def _join_words(pieces: Sequence[str], position: int) -> tuple[list[str], str]:
    """Join the pieces of each word. Return the words, the last one up to the cursor, and the part of it that bash keeps."""
    words: list[str] = []
    prefix, is_joined = "", False
    for piece in pieces:
        is_break = bool(piece) and not piece.strip(":=")
        if words and (is_break or is_joined):
            prefix = words[-1] + piece if is_break else words[-1]
            words[-1] += piece
        else:
            words.append(piece)
            prefix = ""
        is_joined = is_break
    if len(pieces) < position:  # the cursor is after a space
        return [*words, ""], ""
    return words or [""], prefix


def answer_shell(command: click.Command, instruction: str) -> NoReturn:
    """Print the script of a shell (`bash_source`) or the completions that it requests (`bash_complete`), and exit.

    An error ends in no completions: a message would appear in the line that the user writes.
    """
    add_completion_class(_Bash, "bash")
    if instruction.endswith("_source"):
        raise SystemExit(shell_complete(command, {}, "proctor", VARIABLE, instruction))
    with suppress(Exception), redirect_stderr(io.StringIO()):
        shell_complete(command, {}, "proctor", VARIABLE, instruction)
    raise SystemExit(0)
