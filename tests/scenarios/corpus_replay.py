"""Published eval sets against the replay agent: as they are, and with each fault built in.

    python -m tests.scenarios.corpus_replay [FOLDER]

prints the table. FOLDER holds the files and their `index.json` (`../shared/corpus` next to the repository by default).
Whether a fault applies to a case, and what a reason must then name, is decided here from the expectation alone: nothing
of `proctor.agents.replay` is asked.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import proctor
from proctor.errors import EvalFileError
from proctor.schema.format.case import EvalCase
from proctor.schema.format.content import FunctionCall
from proctor.schema.format.invocation import Invocation
from proctor.schema.results.run_result import CaseResult, Outcome
from proctor.schema.results.score import MetricScore

CORPUS = Path(__file__).resolve().parents[3] / "shared" / "corpus"
KINDS = ("evalset", "evalset-old", "test-new", "test-old")
CONFIG = {"criteria": {"tool_trajectory_avg_score": 1.0, "response_match_score": 0.8}}
FAULTS = ("drop-call", "add-call", "swap-calls", "change-arg", "other-text")


@dataclass(slots=True)
class Published:
    """One file that reads as an eval set, and which of its cases can be run."""

    file: str
    kind: str
    eval_set_id: str
    recorded: list[EvalCase]
    """Recorded conversations, with the ids that they run under."""
    scenarios: int
    without_turns: list[str]
    """Ids of conversations that are empty: nothing decides these."""


@dataclass(slots=True)
class Tally:
    """The result of one agent on all files."""

    applied: int = 0
    not_applied: int = 0
    unasserted: int = 0
    """Cases that assert nothing."""
    as_wanted: int = 0
    """Passed where nothing is wrong, failed where something is, skipped where nothing is asserted, an error where a turn
    has nothing to replay."""
    named: int = 0
    """Failed cases whose reason names the fault, turn by turn."""
    wrong: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Corpus:
    """All files of the kinds that are eval sets."""

    published: list[Published] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)

    @property
    def turns(self) -> list[Invocation]:
        """Every recorded turn."""
        return [turn for one in self.published for case in one.recorded for turn in case.conversation or ()]


def read_corpus(folder: Path) -> Corpus:
    """Read every eval set of the index, and all other files that read as one."""
    corpus = Corpus()
    for entry in json.loads((folder / "index.json").read_text(encoding="utf-8")):
        try:
            eval_set = proctor.load_eval_set(folder / entry["file"], allow_duplicate_ids=True)
        except EvalFileError:
            if entry["kind"] in KINDS:
                corpus.refused.append(entry["file"])
            continue
        cases = eval_set.eval_cases
        corpus.published.append(
            Published(
                file=entry["file"],
                kind=entry["kind"],
                eval_set_id=eval_set.eval_set_id,
                recorded=[case for case in cases if case.conversation],
                scenarios=sum(case.conversation is None for case in cases),
                without_turns=[case.eval_id for case in cases if case.conversation == []],
            )
        )
    return corpus


def run(folder: Path, one: Published, fault: str) -> Iterator[tuple[EvalCase, CaseResult]]:
    """Run the recorded cases of one file against `replay`, or against `replay:FAULT`."""
    result = proctor.evaluate_sync(
        f"replay:{fault}" if fault else "replay",
        folder / one.file,
        config=CONFIG,
        only={one.eval_set_id: [case.eval_id for case in one.recorded]},
        allow_duplicate_ids=True,
        allow_unknown_keys=True,
        allow_unasserted=True,
    )
    yield from zip(one.recorded, result.cases, strict=True)


def count(folder: Path, corpus: Corpus, fault: str) -> Tally:
    """Run every file and compare every case with the expected outcome."""
    tally = Tally()
    for one in corpus.published:
        if not one.recorded:
            continue
        for case, result in run(folder, one, fault):
            names = [names_of(fault, turn) for turn in case.conversation or ()] if fault else []
            is_unasserted = not any(map(asserts, case.conversation or ()))
            tally.unasserted += is_unasserted
            is_silent = any(does_nothing(fault, turn) for turn in case.conversation or ())
            applies = any(name is not None for name in names) and not is_unasserted and not is_silent
            tally.applied += applies
            tally.not_applied += not applies
            wanted = Outcome.FAILED if applies else Outcome.PASSED
            if is_unasserted or is_silent:
                wanted = Outcome.SKIPPED if is_unasserted else Outcome.ERROR
            if result.outcome is wanted:
                tally.as_wanted += 1
            else:
                tally.wrong.append(f"{one.file}: {result!r}, and it should be {wanted}")
            if applies:
                missing = list(unnamed(fault, names, result))
                tally.named += not missing
                tally.wrong += [f"{one.file}: {case.eval_id}: {line}" for line in missing]
    return tally


# --- faults, derived from the expectation ------------------------------------------------------------------------


def names_of(fault: str, turn: Invocation) -> list[str] | None:
    """What the reason for this turn must name under a fault; None where the fault does not apply to it."""
    calls = turn.tool_calls
    match fault:
        case "drop-call":
            return (
                [f"`{calls[0].name}(", "was not called|was called less often than expected"]
                if calls
                else None
            )
        case "add-call":
            return ["`call_added_by_replay()` was called but not expected"]
        case "swap-calls":
            differing = [pair for pair in pairwise(calls) if key(pair[0]) != key(pair[1])]
            return ["called in another order: ", _either(differing[0])] if differing else None
        case "change-arg":
            call = next((call for call in calls if call.args), calls[0] if calls else None)
            return (
                None
                if call is None
                else [f"`{call.name}` argument `{next(iter(call.args or {'changed': 0}))}` is "]
            )
        case _:
            return [] if answer_text(turn) else None


def asserts(turn: Invocation) -> bool:
    """Whether the turn states an answer, or calls, be it as an empty list that is written."""
    data = turn.intermediate_data
    written = data is not None and "tool_uses" in data.model_fields_set
    return bool(answer_text(turn) or turn.tool_calls or written)


def does_nothing(fault: str, turn: Invocation) -> bool:
    """Whether the agent has nothing to replay in a turn that does not state silence: then it is in error."""
    calls = len(turn.tool_calls) + {"drop-call": -1, "add-call": 1}.get(fault, 0)
    parts = (turn.final_response.parts if turn.final_response else None) or []
    states_silence = [part.text for part in parts] == [""]
    return not answer_text(turn) and not states_silence and calls <= 0


def _either(calls: tuple[FunctionCall, FunctionCall]) -> str:
    """Of two calls that changed places one stays where it is for a reader, and one moved: either may be named."""
    return "|".join(call.name or "" for call in calls)


def key(call: FunctionCall) -> tuple[str | None, str]:
    """What makes two calls the same."""
    return call.name, json.dumps(call.args or {}, sort_keys=True)


def answer_text(turn: Invocation) -> str:
    """The text of the expected answer, without thoughts."""
    parts = (turn.final_response.parts if turn.final_response else None) or []
    return "".join(part.text or "" for part in parts if not part.thought).strip()


METRIC_OF = dict.fromkeys(FAULTS, "tool_trajectory_avg_score") | {"other-text": "response_match_score"}


def unnamed(fault: str, names: list[list[str] | None], result: CaseResult) -> Iterator[str]:
    """Yield where a failed case does not name the fault: in the case's own reason, and in that of every turn."""
    metric = METRIC_OF[fault]
    verdict = result.metrics[metric]
    if not result.reason.startswith(metric):
        yield f"the case's reason is about something else: {result.reason}"
    first = next(index for index, wanted in enumerate(names) if wanted is not None)
    for index, (wanted, judged) in enumerate(zip(names, verdict.per_invocation, strict=True)):
        if wanted is None:
            continue
        if judged.outcome is not Outcome.FAILED:
            yield f"turn {index + 1} is {judged.outcome}"
        if index == first and judged.reason not in result.reason:
            yield f"turn {index + 1}'s reason is not the case's: {judged.reason!r}, {result.reason!r}"
        for name in wanted:
            if not any(one in judged.reason for one in name.split("|")):
                yield f"turn {index + 1} does not name {name!r}: {judged.reason}"
    if fault == "other-text":
        yield from _texts_differ(names, verdict.per_trial[0])


def _texts_differ(names: list[list[str] | None], scored: MetricScore | None) -> Iterator[str]:
    for index, score in enumerate(scored.per_invocation if scored is not None else []):
        if names[index] is None:
            continue
        text: Any = (score.details or {}).get("text", {})
        if not text or text["expected"].strip() == text["actual"].strip():
            yield f"turn {index + 1} does not show both texts: {score.details}"


# --- the table ---------------------------------------------------------------------------------------------------------


def table(folder: Path) -> str:
    """The whole story as text."""
    corpus = read_corpus(folder)
    sets, cases = corpus.published, [case for one in corpus.published for case in one.recorded]
    scenarios, empty = sum(one.scenarios for one in sets), sum(len(one.without_turns) for one in sets)
    with_text = sum(any(answer_text(turn) for turn in case.conversation or ()) for case in cases)
    with_call = sum(any(turn.tool_calls for turn in case.conversation or ()) for case in cases)
    lines = [
        f"{len(sets)} eval sets read, {len(corpus.refused)} refused",
        f"{len(cases)} recorded cases with {len(corpus.turns)} turns run; {with_text} state a text, {with_call} a tool call",
        f"left out: {scenarios} scenarios, {empty} without turns",
        "",
        "| agent | applies to | failed, fault named | skipped: assert nothing | passed | wrong |",
        "|---|---|---|---|---|---|",
    ]
    wrong: list[str] = []
    for fault in ("", *FAULTS):
        tally = count(folder, corpus, fault)
        passed = tally.as_wanted - tally.applied - tally.unasserted if not tally.wrong else "?"
        agent = f"replay:{fault}" if fault else "replay"
        lines.append(
            f"| {agent} | {tally.applied if fault else '-'} | {tally.named if fault else '-'} | {tally.unasserted} | {passed} | {len(tally.wrong)} |"
        )
        wrong += tally.wrong
    return "\n".join([*lines, "", *wrong]).rstrip()


if __name__ == "__main__":
    print(table(Path(sys.argv[1]) if len(sys.argv) > 1 else CORPUS))
