"""`tool_schema`: do the arguments of each call fit what its tool declares?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from proctor.errors import CriterionError, MetricError
from proctor.metrics.base import MetricFacts, Survey
from proctor.metrics.criterion_check import misfit
from proctor.metrics.reason_text import and_more, show_name
from proctor.metrics.statements import prohibition
from proctor.metrics.structure.declarations import Declaration, Tools, is_open, misspelled, read_declarations
from proctor.metrics.structure.json_schema import Mistake, Schema, schema_of
from proctor.metrics.structure.tool_calls import ToolCallMetric, unknown_tool
from proctor.schema.format.case import EvalCase
from proctor.schema.format.content import FunctionCall
from proctor.schema.format.criterion import BaseCriterion

__all__ = ["ToolSchema"]


class ToolSchemaCriterion(BaseCriterion):
    """How strictly arguments are held against declarations."""

    declarations: list[Any] = []  # noqa: RUF012 - pydantic copies a model's mutable defaults
    allow_undeclared: bool = False
    formats: bool = False


class ToolSchema(ToolCallMetric[ToolSchemaCriterion]):
    """The share of calls whose arguments are valid under the schema that their tool declares; overall the mean.

    Declared by the agent that made the call, or else by any of the app. A call of a tool that nobody declares is not
    valid. JSON Schema lets objects have further keys; an argument that is not declared is a mistake all the same,
    unless the schema speaks of such (`additionalProperties`), or the criterion allows them.
    """

    facts = MetricFacts(
        name="tool_schema",
        description="How many of the calls have arguments as their tool declares them.",
        default_threshold=1.0,
        needs=frozenset({"tools"}),
        statement=prohibition,
        options={
            "declarations": 'declarations of tools (`{"name", "parameters"}`), for agents that do not tell theirs',
            "allow_undeclared": "true: arguments that are not declared are no mistake",
            "formats": "true: `format` (date, email, ipv4 …) is checked, too",
        },
        source="JSON Schema (json-schema.org), checked by the package jsonschema",
        example={
            "tool_schema": {
                "threshold": 1.0,
                "declarations": [
                    {
                        "name": "get_weather",
                        "parameters": {
                            "type": "object",
                            "properties": {"city": {"type": "string"}},
                            "required": ["city"],
                        },
                    }
                ],
            }
        },
    )
    kind = ToolSchemaCriterion

    def given(self) -> Sequence[Declaration]:
        """The declarations of the criterion, checked.

        Raises:
            CriterionError: something in them would not be heard, or is no usable schema; all that is wrong is said.
        """
        schema_of({})  # says what to install, before anything runs
        found: list[Declaration] = []
        problems: list[str] = []
        for index, entry in enumerate(self.criterion.declarations):
            read = [*read_declarations([entry])]
            slips = [*misspelled(entry)]
            if not read and not slips:
                slips = [f'expected {{"name": …, "parameters": {{…}}}}, got {type(entry).__name__}']
            slips += [slip for each in read if (slip := self._wrong_schema(each))]
            twice = {each.name for each in found} & {each.name for each in read}
            slips += [f"{name!r} is declared twice" for name in sorted(twice)]
            problems += [f"declarations[{index}]: {slip}" for slip in slips]
            found += read
        if problems:
            raise misfit(self.facts.name, problems)
        return found

    def survey(self) -> Survey | None:
        """Say what in the declarations checks nothing."""
        return DeclarationSurvey(self._given, self._schema) if self._given else None

    def _wrong_schema(self, declared: Declaration) -> str:
        try:
            self._schema(declared, strict=True)
        except CriterionError as error:
            return f"the schema of {declared.name!r}: {error}"
        return ""

    def is_right(self, call: FunctionCall, author: str, tools: Tools) -> bool:
        """Tell whether the arguments fit one of the declarations."""
        declared = tools.of(call.name, author)
        return any(self._fits(call, each) for each in declared)

    def mistakes(self, call: FunctionCall, author: str, tools: Tools) -> list[dict[str, Any]]:
        """What is wrong with the arguments, by the declaration that they come nearest to."""
        declared = tools.of(call.name, author)
        if not declared:
            return [{"message": unknown_tool(call.name, tools)}]
        found: list[Mistake] = min((self._mistakes(call, each) for each in declared), key=len)
        return [{"message": each.sentence("the call"), **each.to_data()} for each in found]

    def all_is_well(self, calls: int) -> str:
        """The reason where all arguments are as declared."""
        return f"the arguments of {'the call are' if calls == 1 else f'all {calls} calls are'} as declared"

    def doubt(self, calls: Sequence[tuple[str, FunctionCall]], tools: Tools) -> str:
        """Which tools were called that declare nothing about their arguments, and slips in what they declare."""
        silent: dict[str, None] = {}
        slips: dict[str, None] = {}
        for author, call in calls:
            schemas = [self._checked(each) for each in tools.of(call.name, author)]
            if schemas and all(map(_says_nothing, schemas)):
                silent[show_name(call.name)] = None
            for schema in schemas:
                slips |= (
                    {f"{show_name(call.name)}: {said}": None for said in (*schema.slips, *schema.unknown)}
                    if schema
                    else {}
                )
        told = (
            [f"no arguments are declared, so none were checked: {', '.join(and_more([*silent]))}"]
            if silent
            else []
        )
        return "; ".join([*told, *(f"the agent's own schema of {slip}" for slip in and_more([*slips]))])

    def _fits(self, call: FunctionCall, declared: Declaration) -> bool:
        schema = self._checked(declared)
        return schema is None or schema.fits(call.args or {})

    def _mistakes(self, call: FunctionCall, declared: Declaration) -> list[Mistake]:
        schema = self._checked(declared)
        return [] if schema is None else schema.mistakes(call.args or {})

    def _checked(self, declared: Declaration) -> Schema | None:
        try:
            return self._schema(declared)
        except CriterionError as error:
            whose = f" of the agent {declared.agent!r}" if declared.agent else ""
            raise MetricError(
                f"the tool {declared.name!r}{whose} declares no usable schema: {error}"
            ) from None

    def _schema(self, declared: Declaration, *, strict: bool = False) -> Schema | None:
        if declared.schema is None:
            return None
        document = declared.schema if self.criterion.allow_undeclared else _closed(declared.schema)
        return schema_of(document, formats=self.criterion.formats, strict=strict)


class DeclarationSurvey:
    """What in a criterion's declarations checks nothing."""

    def __init__(
        self, given: Sequence[Declaration], schema_of_one: Callable[[Declaration], Schema | None]
    ) -> None:
        self._given, self._schema = given, schema_of_one

    def see(self, case: EvalCase) -> None:
        """Cases say nothing about it."""

    def problems(self) -> Iterator[str]:
        """None: these are found when the metric is built."""
        return iter(())

    def doubts(self) -> Iterator[str]:
        """Tools without schema, and keywords that nobody knows."""
        for each in self._given:
            schema = self._schema(each)
            if schema is None or _says_nothing(schema):
                yield (
                    f"declarations: {each.name!r} declares nothing about its arguments, so none are checked. For a tool "
                    'without any, write "parameters": {"type": "object", "properties": {}}'
                )
            else:
                yield from (
                    f"declarations: the schema of {each.name!r}: {unknown}" for unknown in schema.unknown
                )


def _says_nothing(schema: Schema | None) -> bool:
    """Whether any arguments fit: they are an object anyway."""
    return schema is None or schema.checked <= {"type"}


def _closed(schema: Any) -> Any:
    """The schema, which allows no arguments but those that it declares, unless it says something about others."""
    if not isinstance(schema, Mapping) or is_open(schema):
        return schema
    return {**schema, "additionalProperties": False}
