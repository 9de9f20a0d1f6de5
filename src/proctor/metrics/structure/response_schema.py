"""`response_schema`: is the final answer JSON as a schema says?"""

from __future__ import annotations

import json
from typing import Any, Literal

from pydantic import Field

from proctor.errors import CriterionError, MetricError
from proctor.metrics.base import CaseView, MetricFacts, Survey
from proctor.metrics.criterion_check import misfit
from proctor.metrics.reason_text import and_more
from proctor.metrics.structure.case_schemas import KEY, Schemas, SchemaSurvey, read_schema
from proctor.metrics.structure.json_schema import Schema
from proctor.metrics.text.answer import NOT_ASKED, TURNS, AnswerMetric, Expected
from proctor.metrics.text.json.parse import json_in, read_json, why_no_json
from proctor.schema.format.case import EvalCase
from proctor.schema.format.case_extensions import places_of, stated
from proctor.schema.format.criterion import BaseCriterion
from proctor.schema.format.statement import Statement
from proctor.schema.results.score import Explanation, MetricScore, Score, mean_score

__all__ = ["ResponseSchema"]

NO_SCHEMA = "neither the case nor the criterion states a schema for this turn"
MOST_MISTAKES = 100
"""Listed in the details; the reason names a few of them."""


class SchemaCriterion(BaseCriterion):
    """The schema, and where its JSON may stand."""

    json_schema: Any = Field(default=None, alias="schema")
    formats: bool = False
    anywhere: bool = False
    turns: Literal["all", "last"] = "all"


def _stated_schema(case: EvalCase) -> Statement:
    """Find a schema that the case states; an answer without text is not valid JSON."""
    return Statement.NONE if stated(case, KEY) is None else Statement.POSITIVE


class ResponseSchema(AnswerMetric[SchemaCriterion]):
    """1.0 where the final answer is JSON that is valid under its schema, else 0.0; overall the mean.

    The schema is the case's own (`response_schema`), or else the criterion's. One pair of code fences around the JSON is
    not part of it. Without an answer it is 0. References to other documents are never fetched: such a schema is a
    set-up error.
    """

    facts = MetricFacts(
        name="response_schema",
        description="Whether the final answer is JSON that a JSON Schema allows.",
        default_threshold=1.0,
        needs=frozenset({KEY}),
        statement=_stated_schema,
        options={
            "schema": "the JSON Schema of cases that state none, draft 2020-12 unless its `$schema` says another",
            "formats": "true: `format` (date, email, ipv4 …) is checked, too",
            "anywhere": "true: a valid object or list anywhere in the answer is enough, whatever stands around it",
            **TURNS,
        },
        source="JSON Schema (json-schema.org), checked by the package jsonschema",
        example={
            "response_schema": {
                "threshold": 1.0,
                "schema": {
                    "type": "object",
                    "required": ["city", "celsius"],
                    "properties": {"city": {"type": "string"}, "celsius": {"type": "number"}},
                },
                "anywhere": True,
            }
        },
    )
    kind = SchemaCriterion

    def given(self) -> Expected | None:
        """The criterion's schema, checked."""
        document = self.criterion.json_schema
        if "json_schema" not in self.criterion.model_fields_set:
            return None
        try:
            return [read_schema(document, formats=self.criterion.formats)]
        except CriterionError as error:
            raise misfit(self.facts.name, [f"schema: {error}"]) from None

    def applies(self, case: EvalCase) -> bool:
        """Whether there is a schema for the case."""
        return self._given is not None or stated(case, KEY) is not None

    def why_not(self, case: EvalCase) -> str:
        """What the case lacks where it does not apply."""
        return "neither the case nor the criterion states a schema"

    def check(self, case: EvalCase) -> list[str]:
        """What is wrong with the schemas of a case."""
        turns = None if case.conversation is None else len(case.conversation)
        formats = self.criterion.formats
        read = (
            Schemas(each.value, turns, formats=formats, where=each.where) for each in places_of(case, KEY)
        )
        return [problem for each in read for problem in each.problems]

    def survey(self) -> Survey | None:
        """Look whether cases state what the criterion does not, and for keywords that nobody knows."""
        return SchemaSurvey(self._given[0] if self._given else None, formats=self.criterion.formats)

    def score(self, case: CaseView) -> MetricScore:
        """Look at the answers turn by turn; nothing recorded is needed."""
        return mean_score([self._turn(case, index) for index in range(len(case.actual))])

    def expected_of(self, case: CaseView, index: int) -> Expected | Score:
        """The schema of one turn: the case's, or else the criterion's."""
        is_asked = index >= self._first_asked(len(case.actual))
        own = self._stated(case).of_turn(index, is_asked=is_asked) if KEY in (case.extra or {}) else None
        if own is not None:
            return [own]
        if not is_asked:
            return Score(reason=NOT_ASKED, not_applicable=True)
        return self._given or Score(reason=NO_SCHEMA, not_applicable=True)

    def _stated(self, case: CaseView) -> Schemas:
        read = Schemas((case.extra or {})[KEY], len(case.actual), formats=self.criterion.formats)
        if read.problems:
            raise MetricError(f"the case's schema cannot be read: {'; '.join(read.problems)}")
        return read

    def compare(self, expected: Expected, answer: str) -> Score:
        """1 for JSON that is valid; with `anywhere`, where one of the values in the answer is."""
        (schema,) = expected
        try:
            return Score(1.0 if any(schema.fits(value) for value in self._read(answer)) else 0.0)
        except ValueError:
            return Score(0.0)

    def tell(self, expected: Expected, answer: str) -> Explanation:
        """What in the answer is not as the schema says (of several values, the one with fewest mistakes)."""
        schema: Schema = expected[0]
        try:
            found = [(value, schema.mistakes(value)) for value in self._read(answer)]
        except ValueError as error:
            return Explanation(why_no_json(answer, error))
        value, mistakes = min(found, key=lambda each: len(each[1]))
        reason = "; ".join(and_more([each.sentence("the answer") for each in mistakes]))
        details = {
            "json": json.dumps(value, indent=2, ensure_ascii=False),
            "mistakes": [each.to_data() for each in mistakes[:MOST_MISTAKES]],
        }
        return Explanation(reason or "the answer is JSON as the schema says", details)

    def _read(self, answer: str) -> list[Any]:
        return json_in(answer) if self.criterion.anywhere else [read_json(answer)]
