"""Judges for tests: the real ones over a scripted model, and one that repeats what was recorded."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from proctor.judges.answer_schema import check_schema
from proctor.judges.base import Ballot, Question, Settled, UnusableAnswerError, V, Vote
from proctor.judges.pool import RunJudges
from proctor.judges.votes import cast, unusable_answer_failure
from proctor.models.scripted import ScriptedModel
from proctor.schema.evidence.trial import Failure, FailureKind
from proctor.schema.format.criterion import JudgeModelOptions


def scripted(script: Any = None, **how: Any) -> tuple[RunJudges, ScriptedModel]:
    """The judges of a run, all of them a model that follows a script."""
    model = ScriptedModel(script, **how)
    return RunJudges(find=lambda *_: model, default="scripted"), model


Answer = Callable[[Question[Any], int], Any]
"""From a question and the number of the vote to the answer as data; raises for a call that failed."""


class CallFailedError(Exception):
    """A recorded call of a judge that failed."""


@dataclass
class Repeating:
    """Judges that answer by a function of the question and the number of the vote; ballots are cast as always."""

    answer: Answer
    asked: int = 0

    def judge(self, metric: str, options: JudgeModelOptions, *, stated: bool) -> _Repeated:
        return _Repeated(self, options)


@dataclass
class _Repeated:
    judges: Repeating
    options: JudgeModelOptions
    model: str = "recorded"
    notes: Sequence[str] = ()

    async def ask(
        self, question: Question[V], *, samples: int | None = None, settled: Settled[V] | None = None
    ) -> Ballot[V]:
        planned = samples or self.options.num_samples
        assert settled is not None
        votes, decided = await cast(lambda number: self._vote(question, number), planned, settled)
        return Ballot(
            votes=votes, planned=planned, is_decided=decided, model=self.model, prompt=question.prompt.hash
        )

    async def _vote(self, question: Question[V], number: int) -> Vote[V]:
        self.judges.asked += 1
        try:
            answer = self.judges.answer(question, number)
            check_schema(question.form.schema, answer)
            return Vote(verdict=question.form.read(answer), rationale=answer.get("rationale", ""))
        except UnusableAnswerError as error:
            return Vote(problem=unusable_answer_failure(str(error), question.turn))
        except CallFailedError:
            return Vote(
                problem=Failure(
                    where="judge", kind=FailureKind.NO_REPLY, message="failed", infrastructure=True
                )
            )


def verdicts(*answers: str | bool, rationale: str = "because") -> dict[str, Any]:
    """An answer about rubrics or points: `verdicts("yes", "no")`."""
    words = [each if isinstance(each, str) else ("yes" if each else "no") for each in answers]
    return {
        "verdicts": [
            {"number": number, "evidence": "", "rationale": rationale, "verdict": word}
            for number, word in enumerate(words, 1)
        ]
    }


def labels(*words: str, **more: Any) -> dict[str, Any]:
    """An answer about sentences: `labels("supported", "unsupported")`."""
    texts = {"supporting_excerpt": "", "contradicting_excerpt": "", "rationale": "because", **more}
    return {"sentences": [{"number": number, **texts, "label": word} for number, word in enumerate(words, 1)]}


def agreeing(messages: Any, options: Any) -> dict[str, Any]:
    """A model that finds no fault in anything, in any requested form."""
    fields = {name: one for name, one in options.schema["properties"].items() if name not in options.echo}
    return {**options.echo, **{name: _best(field) for name, field in fields.items()}}


_BEST = ("yes", "valid", "safe", "none", "supported", "5")


def _best(field: dict[str, Any]) -> Any:
    if "enum" in field:
        return next(word for word in _BEST if word in field["enum"])
    if field["type"] == "array":
        [count] = re.findall(r"(\d+) in all", field["description"])
        item = {name: _best(inside) for name, inside in field["items"]["properties"].items()}
        return [{**item, "number": number} for number in range(1, int(count) + 1)]
    return 1 if field["type"] == "integer" else "as it should be"


def passages(question: Question[Any] | Any) -> dict[str, list[str]]:
    """What a question shows the judge, by label."""
    found: dict[str, list[str]] = {}
    for passage in question.passages:
        found.setdefault(passage.label, []).append(passage.text)
    return found


def rubric(rubric_id: str, text: str = "It is so.", **more: Any) -> dict[str, Any]:
    return {"rubric_id": rubric_id, "rubric_content": {"text_property": text}, **more}


def criterion(threshold: float = 0.5, **options: Any) -> Mapping[str, Any]:
    return {"threshold": threshold, **options}


def shown(questions: Sequence[Question[Any]]) -> list[dict[str, list[str]]]:
    return [passages(each) for each in questions]
