"""Check whether an agent could see the expected values of the cases: in its environment, in its code, in the files that it opens.

An answer alone is weak evidence: an honest agent may have a fixed text, and the eval set may have been recorded from it. A text
is evidence only if it has the message of the user and the expected answer of the same case, both of some length.
"""

from __future__ import annotations

import inspect
import os
import re
import shlex
import sqlite3
import sys
import sysconfig
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote, urlsplit

from proctor.agents.base import Agent
from proctor.common.safe_text import count_text
from proctor.engine.planning.set_plan import SetPlan
from proctor.reports.content.text_blocks import Block, Gap, Line, TextSpan, text_line
from proctor.runs.arguments import AgentLike
from proctor.runs.infer import infer
from proctor.runs.load import load_agent
from proctor.schema.analysis.audit_result import Leak, LeakageCheck
from proctor.schema.format.case import EvalCase, EvalSet
from proctor.schema.format.content import text_of

_MOST_CASES = 3
"""Cases that the agent answers for the check."""
_FEWEST_WORDS = 4
"""A message or an expected answer with fewer words is no evidence."""
_MOST_BYTES = 20_000_000
_SQLITE = b"SQLite format 3\0"
_MOST_NAMED = 4
_CLOCK = 0.05
"""Seconds by which the time of a file may be late."""
_ESCAPE = re.compile(r"\\u([0-9a-fA-F]{4})")
_CONTROL = re.compile(r"\\[nrt]")
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class _Expected:
    """What a text has that shows the expected values of one case."""

    eval_id: str
    turns: Sequence[tuple[str, str]]
    """The message and the answer of each turn whose answer is long enough."""

    def is_in(self, words: str) -> bool:
        """Return whether a text has a message and the answer to it."""
        return any(_has(words, answer) and _has(words, message) for message, answer in self.turns)

    def has_answer_in(self, words: str) -> bool:
        """Return whether a text has an answer with a number that the message does not have."""
        return any(
            _has(words, answer) and any(word.isdigit() and not _has(message, word) for word in answer.split())
            for message, answer in self.turns
        )


async def find_leaks(ref: AgentLike, plans: Sequence[SetPlan]) -> LeakageCheck:
    """Look at what an agent can see here, and report also what cannot be looked at.

    An agent in Python answers up to three cases, while the files are observed that it opens. No other agent is called.

    Raises:
        AgentLoadError: the agent cannot be loaded or opened.
    """
    from proctor.agents.load import describe_ref, imports_of
    from proctor.agents.process.process_agent import ProcessAgent

    sets = _files(plans)
    cases = [(plan, plan.source.case(index)) for plan in plans for index in plan.cases]
    check = _Check(describe_ref(ref), [_expected(case) for _, case in cases])
    opened, before, started = _Opened(), set(sys.modules), time.time() - _CLOCK
    with opened.observed():
        agent = load_agent(ref)
    if type(agent).__module__.startswith("proctor.agents.remote"):
        check.result.not_looked_at.append("anything: it runs behind a URL")
        return check.result
    check.environment(os.environ)
    check.add_reachable_sets(sets)
    if isinstance(agent, ProcessAgent):
        check.texts(_files_of_command(str(ref)), "file", " of its command")
        check.result.not_looked_at.append("the files that its process opens")
    else:
        check.texts(_sources(ref, before), "source file" if isinstance(ref, str | Path) else "function")
        with opened.observed(), imports_of(ref):
            await _answer(agent, check, [each for each in cases if each[1].conversation][:_MOST_CASES])
        check.opened(opened.paths, sets, started)
        check.result.not_looked_at.append("files that native code or a process started by it opens")
    return check.result


def _files(plans: Sequence[SetPlan]) -> set[Path]:
    return {Path(plan.source.label).resolve() for plan in plans if plan.source.label}


def _expected(case: EvalCase) -> _Expected:
    turns = (
        (_words(text_of(turn.user_content)), _words(text_of(turn.final_response, thoughts=False)))
        for turn in case.conversation or ()
    )
    long = (pair for pair in turns if min(len(text.split()) for text in pair) >= _FEWEST_WORDS)
    return _Expected(case.eval_id, [pair for pair in long if not _has(*pair)])


def _has(words: str, text: str) -> bool:
    return f" {text} " in f" {words} "


def _words(text: str) -> str:
    """Return the words of a text in lower case, the same for the text itself and for a string in JSON or source code."""
    plain = _CONTROL.sub(" ", _ESCAPE.sub(lambda match: chr(int(match[1], 16)), text))
    return " ".join(_WORD.findall(plain.casefold()))


class _Check:
    """Collects what was looked at, and what was found."""

    def __init__(self, agent: str, expected: Sequence[_Expected]) -> None:
        self._expected = [each for each in expected if each.turns]
        self._seen: set[str] = set()
        self.result = LeakageCheck(agent)
        if short := len(expected) - len(self._expected):
            what = f"the texts of {count_text(short, 'case')} with messages or answers of fewer than {_FEWEST_WORDS} words"
            self.result.not_looked_at.append(what)

    def environment(self, variables: Mapping[str, str]) -> None:
        """Look into the environment variables; one may have an answer alone."""
        self.result.looked_at.append(count_text(len(variables), "environment variable"))
        for name, value in variables.items():
            words = _words(value)
            ids = [each.eval_id for each in self._expected if each.is_in(words) or each.has_answer_in(words)]
            self._found(f"the environment variable {name} has the expected answer", ids)

    def add_reachable_sets(self, sets: Iterable[Path]) -> None:
        """Name the eval sets below the working folder: an agent could open them by their names."""
        here = Path.cwd()
        self.result.within_reach = [_shown(path) for path in sorted(sets) if path.is_relative_to(here)]

    def texts(self, texts: Mapping[str, str], noun: str, owner: str = "") -> None:
        """Look into the code of the agent: name -> text."""
        self.result.looked_at.append(f"{count_text(len(texts), noun)}{owner}")
        self._seen |= texts.keys()
        for name, text in texts.items():
            self._found(f"{name} has the message and the expected answer", self._cases_in(text))

    def opened(self, paths: Iterable[str], sets: set[Path], started: float) -> None:
        """Look into the files that the agent opened to read; one that changed since then may have its own answers."""
        files = sorted(each for each in {*map(Path.resolve, map(Path, paths))} if not _is_installed(each))
        self.result.looked_at.append(f"{count_text(len(files), 'file')} that it opened")
        for path in files:
            if path in sets:
                self.result.leaks.append(Leak(f"it opened the eval set {_shown(path)}"))
            elif _shown(path) not in self._seen and path.is_file():
                self._read(path, _shown(path), started)
        self.add_reachable_sets(sets - {*files})

    def _read(self, path: Path, name: str, started: float) -> None:
        if path.stat().st_mtime >= started or path.stat().st_size > _MOST_BYTES:
            self.result.not_looked_at.append(f"{name}, which is large or changed meanwhile")
            return
        data = path.read_bytes()
        rows = _rows_of(path) if data.startswith(_SQLITE) else None
        if rows is None and not _is_text(data):
            self.result.not_looked_at.append(f"{name}, of which not all is text in UTF-8")
        what = f"it opened {name}, which has the message and the expected answer"
        self._found(what, self._cases_in(data.decode("utf-8", "replace") if rows is None else rows))

    def _cases_in(self, text: str) -> list[str]:
        words = _words(text)
        return [each.eval_id for each in self._expected if each.is_in(words)]

    def _found(self, what: str, ids: Sequence[str]) -> None:
        if ids:
            self.result.leaks.append(Leak(what, ids))


def _is_text(data: bytes) -> bool:
    try:
        return "\0" not in data.decode()
    except UnicodeDecodeError:
        return False


def _rows_of(path: Path) -> str | None:
    """Return the values in the tables of an SQLite file, which has no space between them; `None` if it cannot be read."""
    url = f"file:{quote(str(path))}?mode=ro&immutable=1"  # no file is made next to it
    try:
        with closing(sqlite3.connect(url, uri=True)) as database:
            database.text_factory = partial(str, encoding="utf-8", errors="replace")
            tables = database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
            names = ['"' + name.replace('"', '""') + '"' for (name,) in tables]
            rows = chain.from_iterable(database.execute(f"SELECT * FROM {name}") for name in names)  # noqa: S608 - quoted names of the file
            return "\n".join(map(_value_text, chain.from_iterable(rows)))
    except sqlite3.Error:
        return None


def _value_text(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _shown(path: Path) -> str:
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


# --- The code of an agent ---------------------------------------------------------------------------------------------


def _sources(ref: AgentLike, before: Collection[str]) -> dict[str, str]:
    """Return the sources of an agent by name: the modules that it imported; of an object the function alone."""
    if isinstance(ref, str | Path):
        return _texts([*_imported(before), *_files_of(str(ref))])
    try:
        return {"its code": inspect.getsource(ref if inspect.isroutine(ref) else type(ref))}
    except (OSError, TypeError):
        return {}


def _imported(before: Collection[str]) -> list[Path]:
    modules = [module for name, module in list(sys.modules.items()) if name not in before]
    return [Path(file) for module in modules if (file := getattr(module, "__file__", None))]


def _files_of(ref: str) -> list[Path]:
    """Return the files of an agent that may have been imported before."""
    from proctor.agents.reference import read_reference

    file = read_reference(ref).file
    return [] if file is None else [file, file / "agent.py"]


def _files_of_command(command: str) -> dict[str, str]:
    """Return the files that the words of a command name, such as `agent.py` in `cmd:python agent.py`."""
    try:
        words = shlex.split(command.partition(":")[2])
    except ValueError:
        words = []
    return _texts(Path(word) for word in words if word.endswith((".py", ".js", ".ts", ".sh", ".json")))


def _texts(paths: Iterable[Path]) -> dict[str, str]:
    own = {path for each in paths if (path := each.resolve()).is_file() and not _is_installed(path)}
    return {_shown(path): path.read_text("utf-8", errors="replace") for path in sorted(own)}


def _is_installed(path: Path) -> bool:
    """Whether a file belongs to Python, to an installed package or to Proctor itself."""
    return path.suffix == ".pyc" or any(path.is_relative_to(folder) for folder in _INSTALLED)


_INSTALLED = [
    Path(__file__).parents[2],
    *(Path(sysconfig.get_path(name)).resolve() for name in ("stdlib", "platstdlib", "purelib", "platlib")),
]


# --- The files that an agent opens ------------------------------------------------------------------------------------


class _Opened:
    """The paths of the files that were opened to read, by an audit hook of the interpreter."""

    def __init__(self) -> None:
        self.paths: set[str] = set()

    @contextmanager
    def observed(self) -> Iterator[None]:
        """Observe the process until the block ends."""
        if not _hooks:
            sys.addaudithook(_note_opened)  # it cannot be removed
            _hooks.append(_note_opened)
        _observers.append(self)
        try:
            yield
        finally:
            _observers.remove(self)


_hooks: list[Any] = []
_observers: list[_Opened] = []


def _note_opened(event: str, arguments: tuple[Any, ...]) -> None:
    if not _observers or event not in ("open", "sqlite3.connect"):
        return
    path = arguments[0]
    reads = event != "open" or _reads(*arguments[1:3])
    if event != "open" and str(path).startswith("file:"):
        path = unquote(urlsplit(str(path)).path)
    if reads and isinstance(path, str | bytes | os.PathLike):
        for observer in _observers:
            observer.paths.add(os.path.abspath(os.fsdecode(path)))  # noqa: PTH100 - the folder may change


def _reads(mode: str | None, flags: int | None) -> bool:
    if mode is not None:
        return "r" in mode or "+" in mode
    return (flags or 0) & os.O_WRONLY == 0


async def _answer(agent: Agent, check: _Check, cases: Sequence[tuple[SetPlan, EvalCase]]) -> None:
    """Run an agent on cases, one after the other."""
    for plan, case in cases:
        one = EvalSet(eval_set_id=plan.source.eval_set_id, eval_cases=[case])
        async for trial in infer(agent, check.result.agent, one, concurrency=1):
            if trial.failure is not None:
                failed = f"what it does on {case.eval_id}: {trial.failure.cause}"
                check.result.not_looked_at.append(failed)
    check.result.looked_at.append(f"its work on {count_text(len(cases), 'case')}")


# --- As text ----------------------------------------------------------------------------------------------------------


def leakage_data(check: LeakageCheck | None) -> dict[str, Any] | None:
    """Return the check as plain data; `None` if there was none."""
    return None if check is None else asdict(check)


def leakage_of(data: Mapping[str, Any] | None) -> LeakageCheck | None:
    """Return the check from plain data; `None` if there was none."""
    return (
        None if data is None else LeakageCheck(**{**data, "leaks": [Leak(**each) for each in data["leaks"]]})
    )


def leakage_blocks(check: LeakageCheck, *, everything: bool) -> Iterator[Block]:
    """Yield where the agent could see expected values, and what was looked at."""
    heading = _heading(check)
    yield Line([TextSpan(heading, "bad" if check.leaks else "")], record=(heading,))
    for leak in check.leaks:
        first_ids = leak.eval_ids if everything else leak.eval_ids[:_MOST_NAMED]
        names = ", ".join([*first_ids, *(["…"] if len(first_ids) < len(leak.eval_ids) else [])])
        yield text_line(f"  {leak.what}: {names}" if names else f"  {leak.what}")
    if check.looked_at:
        yield text_line(f"  looked at: {', '.join(check.looked_at)}")
    yield text_line(f"  not looked at: {'; '.join(check.not_looked_at)}")
    if check.within_reach:
        yield text_line(
            f"  in its working folder, but not seen to be opened: {', '.join(check.within_reach)}"
        )
    yield Gap(is_everywhere=True)


def _heading(check: LeakageCheck) -> str:
    if not check.looked_at:
        return f"{check.agent}: it cannot be checked whether it could see expected values"
    if not check.leaks:
        return f"{check.agent}: no sign that it could see expected values"
    ids = {name for leak in check.leaks for name in leak.eval_ids}
    of = f" of {count_text(len(ids), 'case')}" if all(leak.eval_ids for leak in check.leaks) else ""
    return f"{check.agent} could see the expected values{of}:"
