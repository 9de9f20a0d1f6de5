"""The `response_schema` of a case: one JSON Schema for all its answers, or a list with schemas of single turns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from proctor.errors import CriterionError, did_you_mean
from proctor.metrics.reason_text import and_more, show_value
from proctor.metrics.structure.json_schema import Schema, schema_of
from proctor.schema.format.case import EvalCase
from proctor.schema.format.case_extensions import stated

__all__ = ["KEY", "SchemaSurvey", "Schemas", "read_schema"]

KEY = "response_schema"
EVERY_TURN = -1
_KEYS = frozenset({"turn", "schema"})
_LIST = '[{"turn": 2, "schema": {…}}]'


class Schemas:
    """The schemas that a case states; `problems` has a message for each that cannot be read."""

    def __init__(self, data: Any, turns: int | None, *, formats: bool, where: str = KEY) -> None:
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

    def _add_of_turn(self, data: Any, where: str) -> None:
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
        if isinstance(turn, bool) or not isinstance(turn, int) or turn < 1:
            self.problems.append(f"{where}.turn: turns are counted from 1, got {show_value(turn)}")
        elif self._turns is not None and turn > self._turns:
            self.problems.append(f"{where}.turn: the case has {self._turns} turn(s), got {turn}")
        elif turn - 1 in self._by_turn:
            self.problems.append(f"{where}.turn: turn {turn} has a schema already")
        else:
            self._add(turn - 1, data["schema"], f"{where}.schema")

    def _add(self, turn: int, document: Any, where: str) -> None:
        try:
            self._by_turn[turn] = read_schema(document, formats=self._formats)
        except CriterionError as error:
            self.problems.append(f"{where}: {error}")


def read_schema(document: Any, *, formats: bool) -> Schema:
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
        self._doubts = {f"schema: {each}": None for each in unchecked_keywords(schema)} if schema else {}

    def see(self, case: EvalCase) -> None:
        """Record the schemas of one case."""
        own = stated(case, KEY)
        if own is None:
            return
        self._is_stated = True
        schemas = Schemas(own.value, None, formats=self._formats)
        self._doubts |= dict.fromkeys(
            f"{KEY} of case {case.eval_id!r}: {each}" for each in schemas.unchecked_keywords()
        )

    def problems(self) -> Iterator[str]:
        """Yield a problem if no schema is stated."""
        if not self._is_stated:
            yield (
                "schema: neither the criterion nor any case states a schema. Write "
                f'{{"threshold": 1.0, "schema": {{…}}}}, or `{KEY}` into the cases'
            )

    def doubts(self) -> Iterator[str]:
        """Yield the keywords that are not checked; cases without a schema are reported when they are scored."""
        yield from and_more([*self._doubts], 10)
