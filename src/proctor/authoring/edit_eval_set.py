"""Making eval sets: new ones, further cases, scenarios; and taking cases out again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from proctor.authoring.check_files import assertion_problems_of_file
from proctor.errors import SetupError, did_you_mean
from proctor.files.edit import add_remove_cases
from proctor.files.eval_sets.documents import read_yaml
from proctor.files.eval_sets.eval_set_file import EvalSetFile
from proctor.files.eval_sets.load import load_scenarios, load_session_input
from proctor.files.eval_sets.selectors import find_sets, require_new_case_id, require_new_set_id, set_path
from proctor.files.eval_sets.source import open_document, open_eval_set
from proctor.files.text.problems import Problem
from proctor.files.yaml.writer import emit
from proctor.runs.output_guard import check_growing_set
from proctor.schema.format.case import ConversationScenario, EvalCase, SessionInput


@dataclass(slots=True)
class Added:
    """What was put into a set."""

    path: Path
    cases: list[str] = field(default_factory=list)
    """The ids of the new cases."""
    skipped: list[str] = field(default_factory=list)
    """Ids that the set had already."""
    warnings: list[Problem] = field(default_factory=list)
    """The new cases that a run would refuse because they assert nothing, and those that are negative only."""


def eval_set_path(set_or_dir: str | Path, eval_set_id: str | None = None) -> Path:
    """Return the file of a set by its path, or by its id in an agent's folder.

    Raises:
        SetupError: the id cannot be part of a path.
    """
    return Path(set_or_dir) if eval_set_id is None else set_path(Path(set_or_dir), eval_set_id)


def create_eval_set(path: str | Path, eval_set_id: str | None = None, *, make_parents: bool = False) -> Path:
    """Write a new set without cases; its suffix selects JSON, YAML or JSON lines. Returns its path.

    With `eval_set_id`, `path` is the folder of an agent, as google-adk has it. A missing parent folder needs `make_parents`.

    Raises:
        SetupError: the id is none, or the file belongs to what Proctor reads or keeps.
        EvalFileError: the file exists already, or cannot be written.
    """
    if eval_set_id is not None:
        require_new_set_id(eval_set_id)
    file = eval_set_path(path, eval_set_id)
    check_growing_set(file, make_parents=make_parents)
    add_remove_cases.create_set(file)
    return file


def new_case(
    eval_id: str,
    ask: str,
    *,
    expect: str | None = None,
    tools: Sequence[str] | None = None,
    state: dict[str, object] | None = None,
) -> EvalCase:
    """Return a case of one turn; `tools` as in YAML sets: `get_weather(city=Paris)`, `None`: not stated.

    Raises:
        SetupError: the id could not be named (`file.json:ID,ID`).
        EvalFileError: a call cannot be read.
    """
    written: dict[str, Any] = {"case": require_new_case_id(eval_id), "ask": ask}
    fields = {"tools": None if tools is None else list(tools), "expect": expect, "state": state}
    written |= {key: value for key, value in fields.items() if value is not None}
    text = emit({"eval_set": "new", "cases": [written]})
    return open_document(read_yaml(text.encode(), f"case {eval_id}")).case(0)


def add_cases(path: str | Path, cases: Sequence[EvalCase], *, make_parents: bool = False) -> Added:
    """Put cases behind those of a set; a set that is not there is made, and a missing parent folder with `make_parents`.

    Raises:
        SetupError: the file is a file of Proctor and not an eval set.
        EvalFileError: the set has a case of that id, or cannot be read, written or changed in place.
    """
    file = Path(path)
    check_growing_set(file, make_parents=make_parents)
    if add_remove_cases.is_occupied(file):
        add_remove_cases.add_cases(file, cases)
    else:
        add_remove_cases.create_set(file, cases=cases)
    ids = [case.eval_id for case in cases]
    return Added(file, ids, warnings=assertion_problems_of_file(file, set(ids)) if ids else [])


def copy_cases(path: str | Path, selectors: Sequence[str], *, make_parents: bool = False) -> Added:
    """Put cases of other sets (`file.json:case_1,case_2`; without names all of them) behind those of a set.

    Raises:
        EvalFileError: as `add_cases`.
        SetupProblems: a set or a case is not there.
    """
    cases: list[EvalCase] = []
    for selection in find_sets(selectors):
        source = open_eval_set(selection.path, label=selection.label)
        cases += [source.case(index) for index in _indexes(source, selection.case_ids)]
    return add_cases(path, cases, make_parents=make_parents)


def _indexes(source: EvalSetFile, ids: Sequence[str]) -> list[int]:
    indexes = []
    for eval_id in ids:
        if (place := source.position(eval_id)) is None:
            raise SetupError(
                f"{source.label}: there is no case {eval_id!r}.{did_you_mean(eval_id, source.ids())}"
            )
        indexes.append(place)
    return indexes if ids else list(range(len(source)))


def scenario_id(scenario: ConversationScenario) -> str:
    """Return the id that google-adk gives a scenario: 8 hex digits of SHA-256 over its JSON with sorted keys."""
    text = json.dumps(scenario.model_dump(mode="json"), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def add_scenarios(
    path: str | Path,
    scenarios: str | Path,
    *,
    session_input: str | Path | SessionInput | None = None,
    make_parents: bool = False,
) -> Added:
    """Put a case for each scenario of a file behind those of a set; those that it has already are left out.

    Raises:
        EvalFileError: one of the files cannot be read, or the set cannot be written.
    """
    if isinstance(session_input, str | Path):
        session_input = load_session_input(session_input)
    file = Path(path)
    check_growing_set(file, make_parents=make_parents)
    is_new = not add_remove_cases.is_occupied(file)
    there = set() if is_new else set(open_eval_set(file, allow_empty=True).ids())
    cases: dict[str, EvalCase] = {}
    skipped = []
    for scenario in load_scenarios(scenarios).scenarios:
        eval_id = scenario_id(scenario)
        if eval_id in there or eval_id in cases:
            skipped.append(eval_id)
        else:
            cases[eval_id] = EvalCase(
                eval_id=eval_id, conversation_scenario=scenario, session_input=session_input
            )
    added = (
        add_cases(file, list(cases.values()), make_parents=make_parents) if cases or is_new else Added(file)
    )
    added.skipped = skipped
    return added


def remove_cases(path: str | Path, eval_ids: Sequence[str]) -> None:
    """Take cases out of a set.

    Raises:
        SetupError: it has no such case.
        EvalFileError: the file cannot be read, written or changed in place.
    """
    add_remove_cases.remove_cases(Path(path), eval_ids)
