"""W11: what commands on large stored runs take: statements of the store for each case, and growth with ten times the cases.

    python -m benchmarks.scale eval|resume FOLDER CASES     a new run; or one that was stopped before its last cases, resumed
    python -m benchmarks.scale eval-into URL CASES          a new run in a store that exists, such as one in PostgreSQL
    python -m benchmarks.scale score|delete STORE           the newest run of a store, on a copy
    python -m benchmarks.scale distant-score STORE          the same, with 1 ms added to each statement
    python -m benchmarks.scale trials FOLDER TRIALS         a run of at most 1,000 cases whose agent answers at once

A statement costs a round trip where the store is on a server. Statements and memory depend little on other work of the machine.
"""

from __future__ import annotations

import shutil
import sqlite3
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

# the scripts are one package, wherever they start
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks import compare, web, workload
from benchmarks.measuring import Command, Found, alternate, module
from benchmarks.table import OURS, Budget, Row

GROWN = 10.5


def rows(folder: Path, repeats: int, *, small: int, large: int) -> Iterator[Row]:
    """Measure, one row after the other."""
    found = {cases: _measured(folder / str(cases), repeats, cases) for cases in (small, large)}
    for command, most in (("eval", 1.0), ("score", 0.1), ("resume", 0.1)):
        what = f"statements a case, `{command}`, {large:,} cases"
        yield Row("W11", what, "", {OURS: found[large][command]["statements"]}, [Budget(most)])
    for command, column, what, most in (
        ("score", "cpu", "time of `score`", GROWN),
        ("delete", "cpu", "time of deleting one of two runs", GROWN),
        ("web", "first", "time of the first answers of `web`", 2.0),
        ("compare", "peak", "memory of `compare`", 1.3),
        ("html", "peak", "memory of the HTML report", 1.3),
    ):
        figures = {cases: of_size[command][column] for cases, of_size in found.items() if command in of_size}
        grown = {OURS: figures[large] / figures[small]} if len(figures) == 2 else {}
        growth = f"growth with {large // small} times the cases, {what}, {large:,} cases"
        yield Row("W11", growth, "×", grown, [Budget(most)])
    yield from _growth_with_trials(folder, large)


def _growth_with_trials(folder: Path, trials: int) -> Iterator[Row]:
    """Compare a run with one of ten times as many trials, once: the head needs no more for each trial."""
    few, many = (module("scale", "trials", folder, count)() for count in (trials, 10 * trials))
    for column, what, most in (("cpu", "time", GROWN), ("peak", "memory", 2.0)):
        growth = f"growth with 10 times the trials, {what} of `eval`, {10 * trials:,} trials"
        yield Row("W11", growth, "×", {OURS: many[column] / few[column]}, [Budget(most)])


def _measured(folder: Path, repeats: int, cases: int) -> dict[str, Found]:
    folder.mkdir()
    store = folder / compare.NAME
    module(
        "compare", folder, cases
    )()  # in a process of its own: what is open in this one is not all in the file
    proctor = [sys.executable, "-m", "proctor"]
    stored = ["--store", str(store)]
    html = ["latest", "--output", str(folder / "run.html"), "--overwrite"]
    contestants: dict[str, Callable[[], Found]] = {
        "eval": module("scale", "eval", folder, cases),
        "resume": module("scale", "resume", folder, cases),
        "score": module("scale", "score", store),
        "delete": module("scale", "delete", store),
        "compare": Command([*proctor, "compare", "--json", *stored], reports=False, exit_codes=(1, 4)),
        "html": Command([*proctor, "export", *html, *stored], reports=False),
        "web": lambda: web.measured(store, 0),
    }
    found = alternate(contestants, repeats)
    _remove(store)
    return found


# --- one command, in this process ---------------------------------------------------------------------------------------


class _Statements:
    """The number of statements that SQLite executes from now on."""

    def __init__(self, delay: float = 0) -> None:
        """Begin to count the statements of connections that are opened from now on; each waits `delay` seconds."""
        self.count, self._delay = 0, delay
        self._connect = sqlite3.connect
        sqlite3.connect = self._traced  # type: ignore[assignment]  # the same call

    def _traced(self, *given: Any, **named: Any) -> sqlite3.Connection:
        connection: sqlite3.Connection = self._connect(*given, **named)
        connection.set_trace_callback(self._add)
        return connection

    def _add(self, _statement: str) -> None:
        self.count += 1
        if self._delay:
            time.sleep(self._delay)


def _report(cases: int, command: Callable[[], object], delay: float = 0) -> None:
    statements, watch = _Statements(delay), workload.Stopwatch()
    command()
    workload.report(**watch.stop(), statements=statements.count / cases)


def _run(store: Path | str, cases: int, **options: Any) -> None:
    from benchmarks.ours import CONFIGS, ScriptedAgent
    from proctor import EvalSet, evaluate_sync

    given = EvalSet.model_validate(workload.eval_set(cases))
    evaluate_sync(ScriptedAgent(), given, config=CONFIGS["exact"], store=store, **options)


def evaluate(folder: Path, cases: int) -> None:
    """Run the set into a new store."""
    store = folder / f"{time.time_ns()}.sqlite3"
    _report(cases, lambda: _run(store, cases))
    _remove(store)


def run_trials(folder: Path, trials: int) -> None:
    """Run so many trials of an agent that answers at once into a new store."""
    from proctor import EvalSet, evaluate_sync

    async def answer(text: str) -> str:
        return text

    cases = min(1_000, max(1, trials // 10))
    parts = [[{"parts": [{"text": f"message {number}"}]}] * 2 for number in range(cases)]
    conversations = [[{"user_content": asked, "final_response": answered}] for asked, answered in parts]
    made = [{"eval_id": f"c{at}", "conversation": turns} for at, turns in enumerate(conversations)]
    given = EvalSet.model_validate({"eval_set_id": "trials", "eval_cases": made})
    store, config = folder / f"{time.time_ns()}.sqlite3", {"criteria": {"response_match_score": 1.0}}
    repeats = trials // cases
    _report(
        cases * repeats,
        lambda: evaluate_sync(answer, given, config=config, store=store, num_runs=repeats, concurrency=100),
    )
    _remove(store)


def resume(folder: Path, cases: int) -> None:
    """Resume a run whose last cases were not run."""
    from benchmarks.ours import ScriptedAgent
    from proctor import EvalSet, resume_sync

    store = folder / f"{time.time_ns()}.sqlite3"
    _run(store, cases, max_failures=max(1, workload.expected_failures(cases) - 1))
    given = EvalSet.model_validate(workload.eval_set(cases))
    _report(cases, lambda: resume_sync(agent=ScriptedAgent(), eval_sets=given, store=store))
    _remove(store)


def score(store: Path, delay: float = 0) -> None:
    """Score the newest run again, by another threshold; each statement takes `delay` seconds longer."""
    from benchmarks.ours import CONFIGS
    from proctor import rescore_sync

    _report(_cases(store), lambda: rescore_sync(store=store, config=CONFIGS["rouge"]), delay)


def delete(store: Path) -> None:
    """Delete the newest run."""
    from proctor.stores.open import open_store_url

    cases = _cases(store)
    with closing(open_store_url(str(store))) as opened:
        _report(cases, lambda: opened.delete([opened.find("latest")]))


def _cases(store: Path) -> int:
    from proctor.stores.open import open_store_url

    with closing(open_store_url(str(store), read_only=True)) as opened:
        return opened.record(opened.find("latest")).cases


def _on_copy(command: Callable[[Path], None], store: Path) -> None:
    copy = store.with_name(f"{time.time_ns()}.sqlite3")
    shutil.copyfile(store, copy)
    command(copy)
    _remove(copy)


def _remove(store: Path) -> None:
    for file in store.parent.glob(f"{store.name}*"):
        file.unlink()


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["eval", folder, cases]:
            evaluate(Path(folder), int(cases))
        case ["resume", folder, cases]:
            resume(Path(folder), int(cases))
        case ["trials", folder, trials]:
            run_trials(Path(folder), int(trials))
        case ["eval-into", url, cases]:
            _report(int(cases), lambda: _run(url, int(cases)))
        case ["distant-score", store]:
            _on_copy(partial(score, delay=0.001), Path(store))
        case ["score", store]:
            _on_copy(score, Path(store))
        case ["delete", store]:
            _on_copy(delete, Path(store))
        case _:
            sys.exit(__doc__)
