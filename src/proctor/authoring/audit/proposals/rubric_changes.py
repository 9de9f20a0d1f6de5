"""Rubrics for single turns: a judge that compares whole answers may not notice a fault that a rubric names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from proctor.authoring.audit.answer_spans import sentence_spans
from proctor.authoring.audit.audit_case import AuditedCase
from proctor.authoring.audit.make_mutants import Mutant
from proctor.authoring.audit.mutant import Recording
from proctor.schema.format.case import EvalCase
from proctor.schema.format.rubric import Rubric

RUBRICS = "rubric_based_final_response_quality_v1"
_READ_BY = "FINAL_RESPONSE_QUALITY"
_MOST = 5
"""Sentences of one answer that are named."""


@dataclass(frozen=True, slots=True)
class RubricChange:
    """Rubrics for one turn of a case, and the survivors that they may catch."""

    turn: int
    rubrics: Sequence[Rubric]
    """Those that the turn states already, too."""
    keys: Sequence[tuple[int, int]]

    def case_with(self, case: EvalCase) -> EvalCase:
        """Return the case with these rubrics."""
        turns = [*(case.conversation or ())]
        turns[self.turn] = turns[self.turn].model_copy(update={"rubrics": [*self.rubrics]})
        return case.model_copy(update={"conversation": turns})

    def as_data(self) -> dict[str, Any]:
        """Return the rubrics as a turn in a file has them."""
        return {"rubrics": [each.model_dump(mode="json", exclude_none=True) for each in self.rubrics]}


def rubric_changes(case: AuditedCase, left: Mapping[tuple[int, int], Mutant]) -> Iterator[RubricChange]:
    """Yield rubrics for each turn in which wrong answers survive."""
    turns = case.recording.case.conversation or ()
    for number, turn in enumerate(turns):
        keys = [
            key
            for key, mutant in left.items()
            if mutant.turn == number and mutant.answer(number) != case.recording.answers[number]
        ]
        if new := [*_rubrics(case.recording, number, [left[key] for key in keys])]:
            yield RubricChange(number, [*(turn.rubrics or ()), *new], keys)


def _rubrics(recording: Recording, turn: int, mutants: Sequence[Mutant]) -> Iterator[Rubric]:
    """Yield a rubric for each sentence that a mutant has lost, and one against what a mutant adds."""
    answer = recording.answers[turn]
    sentences = [answer[span.start : span.end].strip() for span in sentence_spans(answer)]
    answers = [mutant.answer(turn) for mutant in mutants]
    lost = [each for each in sentences if any(each not in text for text in answers)]
    for place, sentence in enumerate(lost[:_MOST], 1):
        yield _rubric(f"turn_{turn + 1}_states_{place}", f'The answer states: "{sentence}"')
    if any(all(each in text for each in sentences) for text in answers):
        text = f'The answer claims nothing in addition to: "{" ".join(sentences)}"'
        yield _rubric(f"turn_{turn + 1}_adds_nothing", text)


def _rubric(rubric_id: str, text: str) -> Rubric:
    content = {"text_property": text}
    return Rubric.model_validate({"rubric_id": rubric_id, "rubric_content": content, "type": _READ_BY})


def rubric_criterion(criteria: Mapping[str, Any]) -> Any:
    """Return the criterion that reads rubrics: that of the config, or one with the judge that the config names elsewhere."""
    if RUBRICS in criteria:
        return criteria[RUBRICS]
    options = (each.get("judge_model_options") for each in criteria.values() if isinstance(each, dict))
    judge = next(filter(None, options), None)
    return 1.0 if judge is None else {"threshold": 1.0, "judge_model_options": judge}
