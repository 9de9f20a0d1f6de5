"""What published eval sets catch: the audit of each, with ADK's default criteria and with its own config. Only totals are shown.

    python -m benchmarks.audit_corpus [FOLDER]

FOLDER holds the files and their `index.json` (`../shared/corpus` next to the repository when not given).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from benchmarks.corpus_table import CORPUS, entries
from proctor import SetupError, audit_sync, evaluate_sync, load_eval_set
from proctor.authoring.audit.audit_sentence import audit_sentence
from proctor.authoring.audit.mutant import SCENARIO
from proctor.schema.analysis.audit_result import AGENTS, AuditResult, MutationScore, OperatorScore
from proctor.schema.format.config import DEFAULT_CRITERIA
from proctor.schema.format.content import Content, text_of
from proctor.schema.results.score import Outcome

SETS = ("evalset", "evalset-old", "test-old", "test-new", "scenarios")
"""The kinds of files in the index that hold cases."""
DEFAULTS: dict[str, Any] = {"criteria": DEFAULT_CRITERIA}


@dataclass(frozen=True, slots=True)
class SetFile:
    """An eval set, and the config that its project has for it."""

    path: Path
    config: Path | None


def set_files(folder: Path) -> list[SetFile]:
    """Return the files that hold cases. Their config is in the nearest folder of the project, from theirs upwards."""
    index = entries(folder)
    configs: dict[tuple[str, PurePosixPath], list[dict[str, Any]]] = {}
    for entry in index:
        if entry["kind"] == "config":
            configs.setdefault((entry["repo"], PurePosixPath(entry["path"]).parent), []).append(entry)
    return [
        SetFile(folder / entry["file"], _nearest(folder, entry, configs))
        for entry in index
        if entry["kind"] in SETS
    ]


def _nearest(
    folder: Path, entry: dict[str, Any], configs: dict[tuple[str, PurePosixPath], list[dict[str, Any]]]
) -> Path | None:
    for parent in PurePosixPath(entry["path"]).parents:
        if near := configs.get((entry["repo"], parent)):
            return folder / str(min(near, key=_preference)["file"])
    return None


def _preference(config: dict[str, Any]) -> tuple[int, str]:
    name = PurePosixPath(config["path"]).name
    usual = ("test_config.json", "eval_config.json")
    return usual.index(name) if name in usual else len(usual), name


# --- The audits ------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Audits:
    """The audits of many files, each with one config."""

    found: list[AuditResult] = field(default_factory=list)
    refused: int = 0
    """Files that cannot be run: no eval set, or a configuration error."""
    idle_passes: int = 0
    """Verdicts *passed* of agents that do nothing, in runs."""
    unreported: int = 0
    """Those of them that the audit does not report."""

    @property
    def total(self) -> AuditResult:
        """All audits as one."""
        first = self.found[0]
        return AuditResult([one for each in self.found for one in each.sets], first.seed, first.operators)

    @property
    def unnamed(self) -> list[str]:
        """Classes below 95 % that the sentence of their audit does not name. There must be none."""
        return [
            each.name
            for one in self.found
            for each in one.by_operator
            if each.family != AGENTS and each.score.is_weak and each.label not in audit_sentence(one)
        ]


def audit_files(files: Sequence[SetFile], *, own: bool) -> Audits:
    """Audit the files, each with ADK's default criteria or with its own config."""
    audits = Audits()
    for one in files:
        config = one.config if own else DEFAULTS
        try:
            found = audit_sync(one.path, config=config, proposals=False, allow_unknown_keys=True)
        except SetupError:
            audits.refused += 1
            continue
        audits.found.append(found)
        passes = idle_passes(one.path, config)
        audits.idle_passes += len(passes)
        audits.unreported += sum(not _is_reported(*each, found) for each in passes)
    return audits


# --- Agents that do nothing, in a run --------------------------------------------------------------------------------


def _filler(_: Content) -> str:
    return "..."


def _apology(_: Content) -> str:
    return "I'm sorry, but I can't help with that."


def _fixed(_: Content) -> str:
    return "Your request has been completed."


def _echo(message: Content) -> str:
    return text_of(message)


IDLE = {"filler": _filler, "apology": _apology, "fixed-answer": _fixed, "echo": _echo}
"""Agents as users would write them. The empty answer is left out: it is an error of the agent in every run."""


def idle_passes(path: Path, config: Any) -> list[tuple[str, str]]:
    """Run the agents, and return each with the id of each case that it passes."""
    recorded = load_eval_set(path)
    recorded.eval_cases = [case for case in recorded.eval_cases if case.conversation is not None]
    found = []
    for name, agent in IDLE.items() if recorded.eval_cases else ():
        run = evaluate_sync(
            agent,
            recorded,
            config=config,
            no_judge=True,
            num_runs=1,
            allow_unasserted=True,
            allow_unknown_keys=True,
        )
        found += [(name, case.eval_id) for case in run.cases if case.outcome is Outcome.PASSED]
    return found


def _is_reported(agent: str, eval_id: str, found: AuditResult) -> bool:
    """Whether the audit names the agent for the case, or leaves it out because it may be right: an apology where one is recorded."""
    case = next(each for each in found.cases if each.eval_id == eval_id)
    tried = {each.operator for each in case.mutants}
    return agent in found.agents_that_pass(case) or (agent == "apology" and agent not in tried)


# --- The tables ------------------------------------------------------------------------------------------------------


def tables(folder: Path) -> Iterator[str]:
    """Yield the tables of the documentation."""
    files = set_files(folder)
    with_config = [one for one in files if one.config is not None]
    audits = audit_files(files, own=False), audit_files(with_config, own=True)
    yield file_table((len(files), len(with_config)), audits)
    yield class_table(audits)


def file_table(numbers: Sequence[int], audits: Sequence[Audits]) -> str:
    """Return what was audited, and what was not."""
    totals = [one.total for one in audits]
    rows = {
        "files": numbers,
        "… that cannot be run: not the format, no case, or an error in the config": [
            one.refused for one in audits
        ],
        "cases": [sum(1 for _ in one.cases) for one in totals],
        "… that only simulate a user": [_without_mutants(one, SCENARIO) for one in totals],
        "… that assert nothing: no metric of the config decides them": [
            _without_mutants(one, "asserts nothing", "nothing decides") for one in totals
        ],
        "… that only an LLM judge decides": [
            _without_mutants(one, "asserts something only") for one in totals
        ],
        "… whose own recorded conversation does not pass": [len(one.contradictions) for one in totals],
        "… audited": [len(one.audited) for one in totals],
        "audited cases that an agent passes that does nothing": [len(one.passed_by_any) for one in totals],
        "verdicts *passed* of such agents in runs": [one.idle_passes for one in audits],
        "… that the audit does not report": [one.unreported for one in audits],
        "mutants": [f"{one.score.made:,}" for one in totals],
        "… caught": [_share(one.score) for one in totals],
        "classes of a set below 95 % that its audit does not name": [len(one.unnamed) for one in audits],
    }
    return _table(
        ["", "ADK's default criteria", "the set's own config"], [[name, *row] for name, row in rows.items()]
    )


def _without_mutants(total: AuditResult, *reasons: str) -> int:
    return sum(case.problem.startswith(reasons) for case in total.cases if not case.contradicts)


def class_table(audits: Sequence[Audits]) -> str:
    """Return the share of the mutants of each class that is caught."""
    default, own = (one.total.by_operator for one in audits)
    rows = [
        [one.label, *_cells(one), *_cells(other)]
        for one, other in zip(default, own, strict=True)
        if one.score.made or other.score.made
    ]
    return _table(
        ["class", "default criteria", "share, 95 % CI", "", "own config", "share, 95 % CI", ""], rows
    )


def _cells(one: OperatorScore) -> list[str]:
    score = one.score
    if not score.made:
        return ["", "", ""]
    word = "blind" if score.is_blind else "weak" if score.is_weak else ""
    return [f"{score.caught:,} of {score.made:,}", _share(score), "" if one.family == AGENTS else word]


def _share(score: MutationScore) -> str:
    low, high = (100 * each for each in score.interval)
    return f"{100 * score.caught / score.made:.1f} % ({low:.0f}–{high:.0f} %)"


def _table(heading: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    lines = [heading, ["---", *["--:"] * (len(heading) - 1)], *rows]
    return "\n".join(f"| {' | '.join(map(str, cells))} |" for cells in lines)


if __name__ == "__main__":
    corpus = Path(sys.argv[1]) if len(sys.argv) > 1 else CORPUS
    print(*tables(corpus), sep="\n\n")
