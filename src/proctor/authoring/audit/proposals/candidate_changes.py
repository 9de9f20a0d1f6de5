"""Candidates of a proposal: changes of the criteria that may catch survivors, those that cost least first."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

from proctor.authoring.audit.audit_case import AuditedCase
from proctor.authoring.audit.mutant import texts_before_answer
from proctor.common.registry import METRICS
from proctor.engine.planning.case_checks import reader_of
from proctor.schema.analysis.audit_result import AGENTS
from proctor.schema.format.case import EXTENSION_KEYS, find_extension
from proctor.schema.format.config import EvalConfig

Json = dict[str, Any]

TRAJECTORY, RESPONSE_MATCH = "tool_trajectory_avg_score", "response_match_score"
_CALLS = frozenset({"calls", "conversation", AGENTS})
_TEXT = frozenset({"answers", "conversation", AGENTS})
_ANY = _CALLS | _TEXT | {"state"}
_NO_OTHER_CALL = "any other call fails the case"
_LOOSENING = ("gate", "match_type", "ignore_args", "credit")
_FIXED_WORDING = 8
"""The most words of answers that may be compared exactly."""
_THRESHOLDS = (0.5, 0.6, 0.7, 0.8, 0.9)
"""Above, an overlap in words fails most honest rewordings."""


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """A criterion to add, or to put in place of the present one."""

    metric: str
    criterion: float | Json
    """As the config has it."""
    families: frozenset[str] = _ANY
    """The families of mutants that it may catch."""
    cost: int = 0
    """The rank: of changes that cost less, those that catch most are chosen first."""
    note: str = ""
    thresholds: Sequence[float] = ()
    """Other thresholds, ascending; the lowest one that catches nearly as many is chosen."""
    least_share: float = 0.0
    """The share of the cases in which it must catch something; a rarer fault is a matter of its case."""

    def at(self, threshold: float) -> Candidate:
        """Return it with another threshold."""
        options = self.criterion if isinstance(self.criterion, dict) else {}
        criterion = {**options, "threshold": threshold} if len(options) > 1 else threshold
        return Candidate(self.metric, criterion, self.families, self.cost, self.note)


def candidates_for(config: EvalConfig, cases: Sequence[AuditedCase]) -> list[Candidate]:
    """Return the changes of a config that may catch survivors of its cases."""
    written = written_criteria(config)
    candidates = [*_stricter(config, written), *_new_criteria(written, cases), *_overlap(written)]
    return [each for each in candidates if written.get(each.metric) != each.criterion]


def written_criteria(config: EvalConfig) -> Json:
    """Return the criteria as the config has them."""
    dumped: Json = config.model_dump(mode="json", include={"criteria"}, exclude_unset=True)
    return dict(dumped.get("criteria", {}))


def _stricter(config: EvalConfig, written: Json) -> Iterator[Candidate]:
    """Yield criteria that decide, with at least the default threshold and without the options that accept more."""
    for name, value in written.items():
        options = value if isinstance(value, dict) else {"threshold": value}
        strict_options = {key: item for key, item in options.items() if key not in _loosening(name)}
        strict_options["threshold"] = max(options.get("threshold") or 0.0, _default_threshold(name, config))
        if strict_options != options:
            note = _NO_OTHER_CALL if name == TRAJECTORY else ""
            yield Candidate(
                name, strict_options if len(strict_options) > 1 else strict_options["threshold"], note=note
            )


def _loosening(name: str) -> Sequence[str]:
    return _LOOSENING if name == TRAJECTORY else ("gate",)


def _default_threshold(name: str, config: EvalConfig) -> float:
    """Return the default threshold of a metric; 0 where there is none, or where it depends on the wording."""
    if name == RESPONSE_MATCH or name in (config.custom_metrics or {}) or not METRICS.is_built_in(name):
        return 0.0
    facts = METRICS.get(name).facts
    return facts.default_threshold or 0.0


def _new_criteria(written: Mapping[str, Any], cases: Sequence[AuditedCase]) -> Iterator[Candidate]:
    """Yield criteria of metrics that the config does not have."""
    expected_keys = {
        key for case in cases for key in EXTENSION_KEYS if find_extension(case.recording.case, key)
    }
    new = [
        *(Candidate(reader_of(key), 1.0) for key in sorted(expected_keys)),
        Candidate(TRAJECTORY, 1.0, _CALLS, note=_NO_OTHER_CALL, least_share=0.5),
        Candidate("numeric_match", 1.0, _TEXT, note="all numbers of the reference must be stated"),
        *_intermediate_candidates(cases),
        *_fixed_answer_candidates(
            [answer for case in cases for answer in case.recording.answers if answer.strip()]
        ),
        *_only_case_candidates(cases),
    ]
    yield from (each for each in new if each.metric not in written)


def _intermediate_candidates(cases: Sequence[AuditedCase]) -> Iterator[Candidate]:
    """Yield that the texts before the final responses are compared, if cases record some."""
    if any(map(texts_before_answer, (turn for case in cases for turn in case.recording.turns))):
        note = "an intermediate response in other words fails"
        yield Candidate("intermediate_response_match", 1.0, _TEXT, cost=1, note=note)


def _fixed_answer_candidates(answers: Sequence[str]) -> Iterator[Candidate]:
    """Yield criteria for answers whose form or wording is fixed."""
    if answers and all(map(_is_json, answers)):
        yield Candidate("json_equal", 1.0, _TEXT)
    if answers and all(len(answer.split()) <= _FIXED_WORDING for answer in answers):
        note = "a rewording fails: for answers with a fixed wording only"
        yield Candidate("exact_match", 1.0, _TEXT, cost=2, note=note)


def _only_case_candidates(cases: Sequence[AuditedCase]) -> Iterator[Candidate]:
    """Yield the facts of the only case: what the criterion expects applies to every case."""
    if len(cases) == 1 and (facts := _facts(cases[0])):
        turns = {"turns": "last"} if len(cases[0].recording.turns) > 1 else {}
        criterion = {"threshold": 1.0, "expected": facts, **turns}
        yield Candidate("contains", criterion, _TEXT, cost=1, note="holds for the only case")


def _is_json(answer: str) -> bool:
    try:
        return isinstance(json.loads(answer), dict | list)
    except ValueError:
        return False


def _facts(case: AuditedCase) -> list[str]:
    """Return the words of the last answer that its survivors have changed."""
    last = len(case.recording.turns) - 1
    changed = [
        _replaced_words(case.recording.answers[last], mutant.answer(last))
        for mutant in (each.mutant for each in case.survivors)
        if mutant.turn == last and mutant.operator.name.startswith("wrong-")
    ]
    return list(dict.fromkeys(filter(None, changed)))


def _replaced_words(before: str, after: str) -> str:
    """Return the first words of a text that another text replaces, without the punctuation around them."""
    old, new = before.split(), after.split()
    for kind, start, end, _, _ in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "replace":
            return " ".join(old[start:end]).strip(".,;:!?()*_\"'")
    return ""


def _overlap(written: Mapping[str, Any]) -> Iterator[Candidate]:
    """Yield a stricter overlap in words."""
    present = written.get(RESPONSE_MATCH, 0.0)
    options = present if isinstance(present, dict) else {"threshold": present}
    higher = [each for each in _THRESHOLDS if each > options["threshold"]]
    if higher and options.get("gate", True):
        note = "an answer in other words may fail"
        yield Candidate(RESPONSE_MATCH, options, _TEXT, 1, note, higher)
