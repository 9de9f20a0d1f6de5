"""The `response_schema` of a case: one JSON Schema for its answers, or one for each of some turns."""

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
    """What a case states, read; `problems` says what is wrong with it."""

    def __init__(self, given: Any, turns: int | None, *, formats: bool, where: str = KEY) -> None:
        """Read an object (a schema for every turn) or a list; `turns` is how many there are, where that is known."""
        self.problems: list[str] = []
        self._turns, self._formats = turns, formats
        self._by_turn: dict[int, Schema] = {}
        if not isinstance(given, list):
            self._take(EVERY_TURN, given, where)
        elif not given:
            self.problems.append(f"{where}: the list is empty; leave the key out where no schema is meant")
        else:
            for index, each in enumerate(given):
                self._read(each, f"{where}[{index}]")

    def of_turn(self, index: int, *, is_asked: bool) -> Schema | None:
        """The schema of a turn, counted from 0; one for every turn is for those that the criterion asks about."""
        return self._by_turn.get(index) or (self._by_turn.get(EVERY_TURN) if is_asked else None)

    def unknown(self) -> Iterator[str]:
        """What is said of keywords that nobody knows."""
        for schema in self._by_turn.values():
            yield from unheard(schema)

    def _read(self, given: Any, where: str) -> None:
        if not isinstance(given, Mapping) or not given.keys() >= _KEYS:
            self.problems.append(
                f"{where}: expected a turn and its schema, as in {_LIST}, got {show_value(given)}"
            )
            return
        for key in given:
            if key not in _KEYS:
                self.problems.append(
                    f"{where}: unknown key {key!r}.{did_you_mean(str(key), _KEYS)} Keys: schema, turn"
                )
        turn = given["turn"]
        if isinstance(turn, bool) or not isinstance(turn, int) or turn < 1:
            self.problems.append(f"{where}.turn: turns are counted from 1, got {show_value(turn)}")
        elif self._turns is not None and turn > self._turns:
            self.problems.append(f"{where}.turn: the case has {self._turns} turn(s), got {turn}")
        elif turn - 1 in self._by_turn:
            self.problems.append(f"{where}.turn: turn {turn} has a schema already")
        else:
            self._take(turn - 1, given["schema"], f"{where}.schema")

    def _take(self, turn: int, document: Any, where: str) -> None:
        try:
            self._by_turn[turn] = read_schema(document, formats=self._formats)
        except CriterionError as error:
            self.problems.append(f"{where}: {error}")


def read_schema(document: Any, *, formats: bool) -> Schema:
    """A JSON Schema as it stands in a file.

    Raises:
        CriterionError: it is none, a reference of it leads nowhere, or a keyword is misspelled.
    """
    if not isinstance(document, dict):
        raise CriterionError(
            f"expected a JSON Schema (an object), got {type(document).__name__}. "
            "Write the schema itself, not its path or its text"
        )
    return schema_of(document, formats=formats, strict=True)


def unheard(schema: Schema) -> Iterator[str]:
    """What in a schema checks nothing."""
    if not schema.checked and not schema.unknown:
        yield "it has no keyword that checks anything: any JSON fits"
    yield from schema.unknown


class SchemaSurvey:
    """Whether there is a schema at all, and which of their keywords nobody knows."""

    def __init__(self, given: Schema | None = None, *, formats: bool = False) -> None:
        self._is_stated = given is not None
        self._formats = formats
        self._doubts = {f"schema: {said}": None for said in unheard(given)} if given else {}

    def see(self, case: EvalCase) -> None:
        """Look at one case."""
        own = stated(case, KEY)
        if own is None:
            return
        self._is_stated = True
        read = Schemas(own.value, None, formats=self._formats)
        self._doubts |= dict.fromkeys(f"{KEY} of case {case.eval_id!r}: {each}" for each in read.unknown())

    def problems(self) -> Iterator[str]:
        """None is stated."""
        if not self._is_stated:
            yield (
                "schema: neither the criterion nor any case states a schema. Write "
                f'{{"threshold": 1.0, "schema": {{…}}}}, or `{KEY}` into the cases'
            )

    def doubts(self) -> Iterator[str]:
        """Keywords that nobody knows; cases without a schema are said where they are scored."""
        yield from and_more([*self._doubts], 10)
