"""`response_schema`: is the final answer JSON as a schema says?"""

from __future__ import annotations

import json
from typing import Any, Literal

from pydantic import Field

from proctor.errors import CriterionError
from proctor.metrics.base import MetricFacts
from proctor.metrics.structure.json_schema import Schema, schema_of
from proctor.metrics.text.answer import TURNS, AnswerMetric, Expected
from proctor.metrics.text.json_text import json_in, read_json
from proctor.metrics.wording import and_more
from proctor.schema.criterion import BaseCriterion
from proctor.schema.score import Explanation, Score

__all__ = ["ResponseSchema"]

MOST_MISTAKES = 100
"""Listed in the details; the reason names a few of them."""


class SchemaCriterion(BaseCriterion):
    """The schema, and where its JSON may stand."""

    json_schema: Any = Field(default=None, alias="schema")
    formats: bool = False
    anywhere: bool = False
    turns: Literal["all", "last"] = "all"


class ResponseSchema(AnswerMetric[SchemaCriterion]):
    """1.0 where the final answer is JSON that is valid under the criterion's `schema`, else 0.0; overall the mean.

    One pair of code fences around the JSON is not part of it. Without an answer it is 0. References to other documents
    are never fetched: such a schema is a set-up error.
    """

    facts = MetricFacts(
        name="response_schema",
        description="Whether the final answer is JSON that a JSON Schema allows.",
        default_threshold=1.0,
        options={
            "schema": "the JSON Schema, draft 2020-12 unless its `$schema` says another",
            "formats": "true: `format` (date, email, ipv4 …) is checked, too",
            "anywhere": "true: a valid object or list anywhere in the answer is enough, whatever stands around it",
            **TURNS,
        },
        required=frozenset({"schema"}),
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

    def given(self) -> Expected:
        """The schema, checked."""
        document = self.criterion.json_schema
        what = "The criterion of 'response_schema' does not fit: schema:"
        if document is None:
            raise CriterionError(f'{what} none is given. Write {{"threshold": 1.0, "schema": {{…}}}}.')
        if not isinstance(document, dict):
            raise CriterionError(
                f"{what} expected a JSON Schema (an object), got {type(document).__name__}. "
                "Write the schema itself, not its path or its text."
            )
        try:
            self._schema: Schema = schema_of(document, formats=self.criterion.formats)
        except CriterionError as error:
            raise CriterionError(f"{what} {error}.") from None
        return [document]

    def compare(self, expected: Expected, answer: str) -> Score:
        """1 for JSON that is valid; with `anywhere`, where one of the values in the answer is."""
        try:
            return Score(1.0 if any(self._schema.fits(value) for value in self._read(answer)) else 0.0)
        except ValueError:
            return Score(0.0)

    def tell(self, expected: Expected, answer: str) -> Explanation:
        """What in the answer is not as the schema says (of several values, the one with fewest mistakes)."""
        try:
            found = [(value, self._schema.mistakes(value)) for value in self._read(answer)]
        except ValueError as error:
            return Explanation(self._no_json(answer, error))
        value, mistakes = min(found, key=lambda each: len(each[1]))
        reason = "; ".join(and_more([each.sentence("the answer") for each in mistakes]))
        details = {
            "json": json.dumps(value, indent=2, ensure_ascii=False),
            "mistakes": [each.to_data() for each in mistakes[:MOST_MISTAKES]],
        }
        return Explanation(reason or "the answer is JSON as the schema says", details)

    def _read(self, answer: str) -> list[Any]:
        return json_in(answer) if self.criterion.anywhere else [read_json(answer)]

    def _no_json(self, answer: str, error: ValueError) -> str:
        reason = f"the answer is no JSON: {error}"
        try:
            json_in(answer)
        except ValueError:
            return reason
        return f"{reason}; there is JSON in it, which counts with `anywhere`"
