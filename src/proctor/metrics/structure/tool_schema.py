"""The metric `tool_schema`: whether the arguments of each call fit the declaration of its tool."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from proctor.errors import CriterionError, MetricError
from proctor.metrics.base import MetricFacts, Survey, prohibition
from proctor.metrics.criterion_check import misfit
from proctor.metrics.reason_text import and_more, show_name
from proctor.metrics.structure.declarations import (
    Declaration,
    Tools,
    declaration_problems,
    is_open,
    read_declarations,
)
from proctor.metrics.structure.json_schema import Mistake, Schema, schema_of
from proctor.metrics.structure.known_tools import ToolCallMetric, unknown_tool
from proctor.schema.format.case import EvalCase
from proctor.schema.format.content import FunctionCall
from proctor.schema.format.criterion import BaseCriterion


class ToolSchemaCriterion(BaseCriterion):
    """How strictly arguments are compared with declarations."""

    declarations: list[object] = []  # noqa: RUF012 - pydantic copies a model's mutable defaults
    allow_undeclared: bool = False
    formats: bool = False


class ToolSchema(ToolCallMetric[ToolSchemaCriterion]):
    """The share of calls whose arguments are valid under the schema that their tool declares; overall the mean.

    The declaration is that of the agent that made the call, or else of any agent of the app. A call of an undeclared tool is
    not valid. JSON Schema allows objects to have further keys; here an undeclared argument is a mistake, unless the schema
    mentions such arguments (`additionalProperties`) or the criterion allows them.
    """

    facts = MetricFacts(
        name="tool_schema",
        description="The share of the calls with arguments that fit the declaration of their tool.",
        default_threshold=1.0,
        needs=frozenset({"tools"}),
        statement=prohibition,
        options={
            "declarations": 'declarations of tools (`{"name", "parameters"}`), for agents that do not declare theirs',
            "allow_undeclared": "true: arguments that are not declared are no mistake",
            "formats": "true: also check `format` (date, email, ipv4 …)",
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

    def own_declarations(self) -> Sequence[Declaration]:
        """Return the declarations of the criterion.

        Raises:
            CriterionError: a key or a schema in them is not valid; the message has all problems.
        """
        schema_of({})  # raises before the run if the package is missing
        declarations: list[Declaration] = []
        problems: list[str] = []
        for index, entry in enumerate(self.criterion.declarations):
            tools = [*read_declarations([entry])]
            repeated = {each.name for each in declarations} & {each.name for each in tools}
            entry_problems = [*self._entry_problems(entry, tools)]
            entry_problems += [f"{name!r} is declared twice" for name in sorted(repeated)]
            problems += [f"declarations[{index}]: {problem}" for problem in entry_problems]
            declarations += tools
        if problems:
            raise misfit(self.facts.name, problems)
        return declarations

    def survey(self) -> Survey | None:
        """Return the survey for declarations that check nothing."""
        return DeclarationSurvey(self._declarations, self._schema) if self._declarations else None

    def _entry_problems(self, entry: object, tools: Sequence[Declaration]) -> Iterator[str]:
        slips = [*declaration_problems(entry)]
        yield from slips
        if not tools and not slips:
            yield f'expected {{"name": …, "parameters": {{…}}}}, got {type(entry).__name__}'
        yield from filter(None, map(self._schema_problem, tools))

    def _schema_problem(self, declared: Declaration) -> str:
        try:
            self._schema(declared, strict=True)
        except CriterionError as error:
            return f"the schema of {declared.name!r}: {error}"
        return ""

    def is_right(self, call: FunctionCall, author: str, tools: Tools) -> bool:
        """Return whether the arguments fit one of the declarations."""
        schemas = map(self._usable_schema, tools.of(call.name, author))
        return any(schema is None or schema.fits(call.args or {}) for schema in schemas)

    def mistakes(self, call: FunctionCall, author: str, tools: Tools) -> list[dict[str, object]]:
        """Return the mistakes in the arguments, by the declaration with the fewest."""
        declared = tools.of(call.name, author)
        if not declared:
            return [{"message": unknown_tool(call.name, tools)}]
        schemas = map(self._usable_schema, declared)
        of_each = ([] if schema is None else schema.mistakes(call.args or {}) for schema in schemas)
        mistakes: list[Mistake] = min(of_each, key=len)
        return [{"message": each.sentence("the call"), **each.to_data()} for each in mistakes]

    def all_is_well(self, calls: int) -> str:
        """Return the reason if all arguments fit."""
        return f"the arguments of {'the call are' if calls == 1 else f'all {calls} calls are'} as declared"

    def warning(self, calls: Sequence[tuple[str, FunctionCall]], tools: Tools) -> str:
        """Return the called tools without declared arguments, and mistakes in the schemas of the others."""
        unchecked: dict[str, None] = {}
        slips: dict[str, None] = {}
        for author, call in calls:
            schemas = [self._usable_schema(each) for each in tools.of(call.name, author)]
            if schemas and all(map(_checks_nothing, schemas)):
                unchecked[show_name(call.name)] = None
            for schema in filter(None, schemas):
                slips |= {
                    f"{show_name(call.name)}: {each}": None for each in (*schema.slips, *schema.unknown)
                }
        warnings = [f"the agent's own schema of {slip}" for slip in and_more([*slips])]
        if unchecked:
            names = ", ".join(and_more([*unchecked]))
            warnings.insert(0, f"no arguments are declared, so none were checked: {names}")
        return "; ".join(warnings)

    def _usable_schema(self, declared: Declaration) -> Schema | None:
        try:
            return self._schema(declared)
        except CriterionError as error:
            agent = f" of the agent {declared.agent!r}" if declared.agent else ""
            raise MetricError(
                f"the tool {declared.name!r}{agent} declares no usable schema: {error}"
            ) from None

    def _schema(self, declared: Declaration, *, strict: bool = False) -> Schema | None:
        if declared.schema is None:
            return None
        document = declared.schema if self.criterion.allow_undeclared else _close(declared.schema)
        return schema_of(document, formats=self.criterion.formats, strict=strict)


class DeclarationSurvey(Survey):
    """Finds declarations in a criterion that check nothing; their problems are found when the metric is built."""

    def __init__(
        self,
        declarations: Sequence[Declaration],
        schema_of_declaration: Callable[[Declaration], Schema | None],
    ) -> None:
        self._declarations, self._schema = declarations, schema_of_declaration

    def add_case(self, case: EvalCase) -> None:
        """Do nothing: declarations do not depend on cases."""

    def warnings(self) -> Iterator[str]:
        """Yield tools without schema, and keywords that are not checked."""
        for each in self._declarations:
            schema = self._schema(each)
            if schema is None or _checks_nothing(schema):
                yield (
                    f"declarations: {each.name!r} declares nothing about its arguments, so none are checked. For a tool "
                    'without any, write "parameters": {"type": "object", "properties": {}}'
                )
            else:
                yield from (
                    f"declarations: the schema of {each.name!r}: {unknown}" for unknown in schema.unknown
                )


def _checks_nothing(schema: Schema | None) -> bool:
    """Return whether any arguments fit: they are always an object."""
    return schema is None or schema.checked <= {"type"}


def _close(schema: object) -> object:
    """Return the schema without undeclared arguments, unless it mentions them itself."""
    if not isinstance(schema, Mapping) or is_open(schema):
        return schema
    return {**schema, "additionalProperties": False}
