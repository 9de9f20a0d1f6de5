"""The metric `response_schema`: whether the final answer is JSON that fits a schema."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Literal

from pydantic import Field

from proctor.errors import CriterionError, MetricError, did_you_mean
from proctor.metrics.base import CaseView, MetricFacts, Survey
from proctor.metrics.criterion_check import misfit
from proctor.metrics.reason_text import and_more, show_value
from proctor.metrics.structure.json_schema import Schema, schema_of
from proctor.metrics.text.answer import NOT_ASKED, TURNS, AnswerMetric, Expected
from proctor.metrics.text.json.parse import json_in, not_json_reason, read_json
from proctor.schema.format.case import EvalCase, Statement, find_extension, find_extensions
from proctor.schema.format.criterion import BaseCriterion
from proctor.schema.results.score import Explanation, MetricScore, Score, mean_score

KEY = "response_schema"
EVERY_TURN = -1
_KEYS = frozenset({"turn", "schema"})
_LIST = '[{"turn": 2, "schema": {…}}]'


class Schemas:
    """The schemas that a case states; `problems` has a message for each that cannot be read."""

    def __init__(self, data: object, turns: int | None, *, formats: bool, where: str = KEY) -> None:
        """Read an object (a schema for every turn) or a list; `turns` is the number of turns, if known."""
        self.problems: list[str] = []
        self._turns, self._formats = turns, formats
        self._by_turn: dict[int, Schema] = {}
        if not isinstance(data, list):
            self._add(EVERY_TURN, data, where)
        elif not data:
            self.problems.append(f"{where}: the list is empty; leave the key out if there is no schema")
        else:
            for index, each in enumerate(data):
                self._add_of_turn(each, f"{where}[{index}]")

    def of_turn(self, index: int, *, is_asked: bool) -> Schema | None:
        """Return the schema of a turn, counted from 0; one for every turn only applies to turns that the criterion selects."""
        return self._by_turn.get(index) or (self._by_turn.get(EVERY_TURN) if is_asked else None)

    def unchecked_keywords(self) -> Iterator[str]:
        """Yield a message for each keyword that is not checked."""
        for schema in self._by_turn.values():
            yield from unchecked_keywords(schema)

    def _add_of_turn(self, data: object, where: str) -> None:
        if not isinstance(data, Mapping) or not data.keys() >= _KEYS:
            self.problems.append(
                f"{where}: expected a turn and its schema, as in {_LIST}, got {show_value(data)}"
            )
            return
        for key in data:
            if key not in _KEYS:
                self.problems.append(
                    f"{where}: unknown key {key!r}.{did_you_mean(str(key), _KEYS)} Keys: schema, turn"
                )
        turn = data["turn"]
        if problem := self._turn_problem(turn):
            self.problems.append(f"{where}.turn: {problem}")
        else:
            self._add(turn - 1, data["schema"], f"{where}.schema")

    def _turn_problem(self, turn: object) -> str:
        """Return why no schema can be added for a turn, counted from 1; empty if one can."""
        if isinstance(turn, bool) or not isinstance(turn, int) or turn < 1:
            return f"turns are counted from 1, got {show_value(turn)}"
        if self._turns is not None and turn > self._turns:
            return f"the case has {self._turns} turn(s), got {turn}"
        return f"turn {turn} has a schema already" if turn - 1 in self._by_turn else ""

    def _add(self, turn: int, document: object, where: str) -> None:
        try:
            self._by_turn[turn] = read_schema(document, formats=self._formats)
        except CriterionError as error:
            self.problems.append(f"{where}: {error}")


def read_schema(document: object, *, formats: bool) -> Schema:
    """Return the JSON Schema in a document.

    Raises:
        CriterionError: it is not a schema, a reference in it has no target, or a keyword is misspelled.
    """
    if not isinstance(document, dict):
        raise CriterionError(
            f"expected a JSON Schema (an object), got {type(document).__name__}. "
            "Write the schema itself, not its path or its text"
        )
    return schema_of(document, formats=formats, strict=True)


def unchecked_keywords(schema: Schema) -> Iterator[str]:
    """Yield a message for each part of a schema that checks nothing."""
    if not schema.checked and not schema.unknown:
        yield "no keyword in it checks anything: any JSON fits"
    yield from schema.unknown


class SchemaSurvey:
    """Detects whether any schema is stated, and finds keywords in them that are not checked."""

    def __init__(self, schema: Schema | None = None, *, formats: bool = False) -> None:
        self._is_stated = schema is not None
        self._formats = formats
        self._warnings = {f"schema: {each}": None for each in unchecked_keywords(schema)} if schema else {}

    def add_case(self, case: EvalCase) -> None:
        """Record the schemas of one case."""
        own = find_extension(case, KEY)
        if own is None:
            return
        self._is_stated = True
        schemas = Schemas(own.value, None, formats=self._formats)
        self._warnings |= dict.fromkeys(
            f"{KEY} of case {case.eval_id!r}: {each}" for each in schemas.unchecked_keywords()
        )

    def problems(self) -> Iterator[str]:
        """Yield a problem if no schema is stated."""
        if not self._is_stated:
            yield (
                "schema: neither the criterion nor any case states a schema. Write "
                f'{{"threshold": 1.0, "schema": {{…}}}}, or `{KEY}` into the cases'
            )

    def warnings(self) -> Iterator[str]:
        """Yield the keywords that are not checked; cases without a schema are reported when they are scored."""
        yield from and_more([*self._warnings], 10)


NO_SCHEMA = "neither the case nor the criterion states a schema for this turn"
MOST_MISTAKES = 100
"""The number in the details; the reason names only a few."""


class SchemaCriterion(BaseCriterion):
    """The schema, and where the JSON may be in the answer."""

    json_schema: object = Field(default=None, alias="schema")
    formats: bool = False
    anywhere: bool = False
    turns: Literal["all", "last"] = "all"


def _stated_schema(case: EvalCase) -> Statement:
    """Find a schema that the case states; an answer without text is not valid JSON."""
    return Statement.NONE if find_extension(case, KEY) is None else Statement.POSITIVE


class ResponseSchema(AnswerMetric[SchemaCriterion]):
    """1.0 where the final answer is JSON that is valid under its schema, else 0.0; overall the mean.

    The schema is the case's own (`response_schema`), or else the criterion's. One pair of code fences around the JSON is
    ignored. A missing answer scores 0. References to other documents are never fetched: such a schema is a
    configuration error.
    """

    facts = MetricFacts(
        name="response_schema",
        description="Whether the final answer is JSON that a JSON Schema allows.",
        default_threshold=1.0,
        needs=frozenset({KEY}),
        statement=_stated_schema,
        options={
            "schema": "the JSON Schema of cases without their own, draft 2020-12 unless its `$schema` names another",
            "formats": "true: also check `format` (date, email, ipv4 …)",
            "anywhere": "true: a valid object or list anywhere in the answer is enough, with any text around it",
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

    def expected_by_criterion(self) -> Expected | None:
        """Return the criterion's schema."""
        document = self.criterion.json_schema
        if "json_schema" not in self.criterion.model_fields_set:
            return None
        try:
            return [read_schema(document, formats=self.criterion.formats)]
        except CriterionError as error:
            raise misfit(self.facts.name, [f"schema: {error}"]) from None

    def applies(self, case: EvalCase) -> bool:
        """Return whether there is a schema for the case."""
        return self._expected is not None or find_extension(case, KEY) is not None

    def reason_not_applicable(self, case: EvalCase) -> str:
        """Return what the case lacks."""
        return "neither the case nor the criterion states a schema"

    def check(self, case: EvalCase) -> list[str]:
        """Return the problems of the schemas of a case."""
        turns = None if case.conversation is None else len(case.conversation)
        formats = self.criterion.formats
        schemas = (
            Schemas(each.value, turns, formats=formats, where=each.where)
            for each in find_extensions(case, KEY)
        )
        return [problem for each in schemas for problem in each.problems]

    def survey(self) -> Survey | None:
        """Return the survey for a missing schema, and for keywords that are not checked."""
        return SchemaSurvey(self._expected[0] if self._expected else None, formats=self.criterion.formats)

    def score(self, case: CaseView) -> MetricScore:
        """Check the answers turn by turn; no recorded conversation is needed."""
        return mean_score([self._turn(case, index) for index in range(len(case.actual))])

    def expected_of(self, case: CaseView, index: int) -> Expected | Score:
        """Return the schema of one turn: the case's, or else the criterion's."""
        is_asked = index >= self._first_turn(len(case.actual))
        own = self._schemas_of(case).of_turn(index, is_asked=is_asked) if KEY in (case.extra or {}) else None
        if own is not None:
            return [own]
        if not is_asked:
            return Score(reason=NOT_ASKED, not_applicable=True)
        return self._expected or Score(reason=NO_SCHEMA, not_applicable=True)

    def _schemas_of(self, case: CaseView) -> Schemas:
        schemas = Schemas((case.extra or {})[KEY], len(case.actual), formats=self.criterion.formats)
        if schemas.problems:
            raise MetricError(f"the case's schema cannot be read: {'; '.join(schemas.problems)}")
        return schemas

    def compare(self, expected: Expected, answer: str) -> Score:
        """Return 1 for valid JSON; with `anywhere`, if one of the values in the answer is valid."""
        (schema,) = expected
        try:
            return Score(1.0 if any(schema.fits(value) for value in self._values(answer)) else 0.0)
        except ValueError:
            return Score(0.0)

    def explain_answer(self, expected: Expected, answer: str) -> Explanation:
        """Return the mistakes in the answer; of several values, those of the one with the fewest."""
        schema: Schema = expected[0]
        try:
            candidates = [(value, schema.mistakes(value)) for value in self._values(answer)]
        except ValueError as error:
            return Explanation(not_json_reason(answer, error))
        value, mistakes = min(candidates, key=lambda each: len(each[1]))
        reason = "; ".join(and_more([each.sentence("the answer") for each in mistakes]))
        details = {
            "json": json.dumps(value, indent=2, ensure_ascii=False),
            "mistakes": [each.to_data() for each in mistakes[:MOST_MISTAKES]],
        }
        return Explanation(reason or "the answer is JSON that fits the schema", details)

    def _values(self, answer: str) -> list[object]:
        return json_in(answer) if self.criterion.anywhere else [read_json(answer)]
