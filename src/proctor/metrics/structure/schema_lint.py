"""Mistakes in a JSON Schema that JSON Schema itself does not report, because it ignores unknown keywords.

References without target, and references in a circle, are found here as well; jsonschema would only report them
when the agent has answered.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cache
from graphlib import CycleError, TopologicalSorter
from types import ModuleType
from typing import TYPE_CHECKING, Any

from proctor.common.inline_code import code_mark
from proctor.common.optional_packages import import_extra
from proctor.errors import did_you_mean
from proctor.metrics.reason_text import show_name, show_text

if TYPE_CHECKING:
    from jsonschema.protocols import Validator
    from referencing._core import Resolver


FEATURE = "Checking a JSON Schema"
NAMED = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies")
"""Keywords with schemas by name."""
VALUES = ("const", "enum", "default", "examples", "dependentRequired", "$vocabulary")
"""Keywords whose lists and objects are not schemas."""
IN_PLACE = ("allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas")
"""Keywords with schemas that apply to the same value."""
DRAFTS = ("3", "4", "6", "7", "201909", "202012")
REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")

HARMLESS = frozenset(
    {
        "discriminator",
        "enumNames",
        "example",
        "externalDocs",
        "markdownDescription",
        "propertyOrdering",
        "xml",
    }
)
"""Annotations of other tools."""
FORMATS = (
    "date-time", "time", "duration", "hostname", "idn-hostname", "uri", "uri-reference", "iri", "iri-reference", "uri-template",
    "json-pointer", "relative-json-pointer",
)  # fmt: skip
"""Formats of JSON Schema that need further packages."""
NOT_KEYWORDS = {
    "nullable": 'it belongs to OpenAPI; write the type as a list, as in ["string", "null"]',
    "optional": "a key that is not listed in `required` is optional",
}
INSTEAD = {
    "dependencies": "`dependentRequired` or `dependentSchemas`",
    "additionalItems": "`items` (and `prefixItems` for what was a list of `items`)",
    "divisibleBy": "`multipleOf`",
    "extends": "`allOf`",
    "disallow": "`not`",
    "$recursiveRef": "`$dynamicRef`",
}


Schema = Mapping[str, object]


def drafts(jsonschema: ModuleType) -> list[type[Validator]]:
    """Return the classes of jsonschema, one for each draft."""
    return [getattr(jsonschema, f"Draft{draft}Validator") for draft in DRAFTS]


def specifications() -> Any:
    """Return the registry of the metaschemas, in which references are resolved; nothing is fetched."""
    return import_extra("jsonschema_specifications", extra="jsonschema", feature=FEATURE).REGISTRY


@cache
def _all_keywords() -> tuple[frozenset[str], frozenset[str]]:
    """Return the keywords of all drafts that check something, and those that do not: the other ones of the metaschemas."""
    kinds = drafts(import_extra("jsonschema", extra="jsonschema", feature=FEATURE))
    described: set[str] = set()
    for metaschema in (kind.META_SCHEMA for kind in kinds):
        resolver = specifications().resolver(metaschema.get("$id", ""))
        parts = [resolver.lookup(part["$ref"]).contents for part in metaschema.get("allOf", ())]
        described.update(keyword for each in (metaschema, *parts) for keyword in each["properties"])
    checking = frozenset(keyword for kind in kinds for keyword in kind.VALIDATORS)
    return checking, frozenset(described - checking)


def lint_schema(document: object, kind: type[Validator], formats: Collection[str] | None) -> SchemaProblems:
    """Return the problems of a schema that is valid under its draft (`kind`, jsonschema's validator class).

    `formats`: the formats that can be checked; `None` if `format` is not checked.

    Raises:
        RecursionError: it is nested too deeply.
    """
    search = SchemaProblems(kind, formats)
    search.add(document, search.resolver_for(document), "")
    search.check_references()
    return search


class SchemaProblems:
    """The problems of one schema."""

    def __init__(self, kind: type[Validator], formats: Collection[str] | None) -> None:
        self._referencing = import_extra("referencing", extra="jsonschema", feature=FEATURE)
        self._kind, self._formats = kind, formats
        self._draft = kind.META_SCHEMA.get("$id", kind.META_SCHEMA.get("id", ""))
        self._checking, annotations = _all_keywords()
        self._known = {*kind.VALIDATORS, *annotations}
        if "$vocabulary" not in kind.META_SCHEMA:  # older drafts list their keywords in one place
            self._known |= kind.META_SCHEMA["properties"].keys()
        self._with_schemas = (self._checking | annotations) - {*VALUES}
        self._specification = self._referencing.jsonschema.specification_with(self._draft)
        self.dead: list[str] = []
        """References that cannot be resolved."""
        self.slips: list[str] = []
        """Keywords that are certainly mistakes."""
        self.unknown: list[str] = []
        """Unknown keywords, which are not checked."""
        self._schemas: list[tuple[Schema, Resolver[Any]]] = []
        self._ids: set[int] = set()
        self._definitions: list[str] = []

    def resolver_for(self, document: object) -> Resolver[Any]:
        """Return what resolves the references of a document."""
        resource = self._specification.create_resource(document)
        base = resource.id() or ""
        resolver: Resolver[Any] = specifications().with_resource(base, resource).resolver(base_uri=base)
        return resolver

    # --- keywords ---

    def add(self, schema: object, resolver: Resolver[Any], place: str) -> None:
        """Check the keywords of one schema and of those inside it."""
        if not isinstance(schema, Mapping) or id(schema) in self._ids:
            return
        if place:
            resolver = resolver.in_subresource(self._specification.create_resource(schema))
        self._ids.add(id(schema))
        self._schemas.append((schema, resolver))
        for keyword in schema:
            self._check_keyword(keyword, schema, place)
        for name, within in self._within(schema):
            if name.startswith(("$defs/", "definitions/")) and not place:
                self._definitions.append(f"#/{name}")
            self.add(within, resolver, ".".join(filter(None, (place, name.replace("/", ".")))))

    def _within(self, schema: Schema) -> Iterator[tuple[str, object]]:
        """Yield the schemas directly inside one, each with its path."""
        for keyword, inside in schema.items():
            if keyword not in self._with_schemas:
                continue
            if isinstance(inside, Mapping) and keyword not in NAMED:
                yield keyword, inside
            elif isinstance(inside, Mapping):
                yield from ((f"{keyword}/{name}", each) for name, each in inside.items())
            elif isinstance(inside, list):
                yield from ((f"{keyword}/{index}", each) for index, each in enumerate(inside))

    def _check_keyword(self, keyword: str, schema: Schema, place: str) -> None:
        at = f" at {show_name(place)}" if place else ""
        keyword_text = f"{code_mark(show_name(keyword))}{at}"
        if keyword in NOT_KEYWORDS:
            self.slips.append(f"{keyword_text} is not a keyword of JSON Schema: {NOT_KEYWORDS[keyword]}")
        elif keyword in self._checking - self._known:
            self.slips.append(f"{keyword_text} {self._draft_note(keyword)}")
        elif keyword not in self._known and keyword not in HARMLESS and not keyword.startswith("x-"):
            if hint := did_you_mean(keyword, self._known):
                self.slips.append(f"{keyword_text} is not a keyword of JSON Schema.{hint}")
            else:
                self.unknown.append(f"{keyword_text} is not a keyword of JSON Schema, so it is not checked")
        if check := _CONTEXT.get(keyword):
            check(self, schema, keyword_text)

    def _draft_note(self, keyword: str) -> str:
        instead = f"write {INSTEAD[keyword]}, or " if keyword in INSTEAD else ""
        return f"has no effect in {self._draft.rstrip('#')}: {instead}name the intended draft with `$schema`"

    # --- keywords that need or exclude others ---

    def check_condition(self, schema: Schema, keyword_text: str) -> None:
        """Report `then` or `else` without `if`."""
        if "if" not in schema:
            self.slips.append(f"{keyword_text} has no effect without `if`")

    def check_siblings(self, schema: Schema, keyword_text: str) -> None:
        """Report keywords next to a reference, which older drafts ignore."""
        others = [each for each in schema if each in self._kind.VALIDATORS and each != "$ref"]
        if others and "unevaluatedProperties" not in self._kind.VALIDATORS:
            self.slips.append(
                f"{keyword_text}: in this draft all other keywords next to it are ignored, also `{others[0]}`"
            )

    def check_required(self, schema: Schema, keyword_text: str) -> None:
        """Report a required key that is not among the listed properties, so that its value is not checked."""
        properties, required = schema.get("properties"), schema["required"]
        if not isinstance(properties, Mapping) or not properties or schema.get("patternProperties"):
            return
        for name in required if isinstance(required, list) else ():
            if name not in properties:
                hint = did_you_mean(str(name), properties)
                self.unknown.append(
                    f"{keyword_text} names {show_text(str(name))}, which is not in `properties`.{hint}"
                )

    def check_format(self, schema: Schema, keyword_text: str) -> None:
        """Report a format that cannot be checked."""
        name = str(schema["format"])
        if self._formats is None or name in self._formats:
            return
        checked = sorted(self._formats)
        if name in FORMATS:
            why = "cannot be checked without further packages (pip install 'jsonschema[format-nongpl]')"
        else:
            why = f"is not a format.{did_you_mean(name, [*checked, *FORMATS])}"
        self.slips.append(f"{keyword_text}: {show_text(name)} {why} Checked are: {', '.join(checked)}")

    # --- references ---

    def check_references(self) -> None:
        """Resolve every reference, check its target, and report schemas that apply to the same value again and again."""
        applied: dict[int, list[int]] = {}
        for schema, resolver in self._schemas:  # grows by the targets of the references
            applied[id(schema)] = [id(each) for each in self._applied(schema, resolver)]
        try:
            TopologicalSorter(applied).prepare()
        except CycleError as error:
            circle = (schema for schema, _ in self._schemas if id(schema) in error.args[1])
            reference = next(each for schema in circle for each in _references(schema))
            self.dead.append(f"its reference {show_text(reference)} refers to itself without end")

    def _applied(self, schema: Schema, resolver: Resolver[Any]) -> Iterator[Schema]:
        """Yield the schemas that one applies to the same value."""
        targets = [self._target(reference, resolver) for reference in _references(schema)]
        inside = (each for name, each in self._within(schema) if name.partition("/")[0] in IN_PLACE)
        yield from (each for each in (*targets, *inside) if isinstance(each, Mapping))

    def _target(self, reference: str, resolver: Resolver[Any]) -> object:
        """Return the schema that a reference names; `None` if there is none, which is reported."""
        exceptions = self._referencing.exceptions
        try:
            target = resolver.lookup(reference)
        except (exceptions.Unresolvable, exceptions.NoSuchResource, ValueError):
            self._report_reference(reference, "which is not in it")
            return None
        schema = target.contents
        is_container = reference.rstrip("/").rpartition("/")[2] in NAMED and id(schema) not in self._ids
        if is_container or not isinstance(schema, Mapping | bool):
            self._report_reference(reference, "which is not a schema")
            return None
        if "json-schema.org" not in reference:
            self.add(schema, target.resolver, reference.lstrip("#/").replace("/", "."))
        return schema

    def _report_reference(self, reference: str, why: str) -> None:
        if reference.startswith(("http:", "https:", "file:")):
            what = "and nothing is fetched: put that schema under `$defs`"
        else:
            what = f"{why}.{did_you_mean(reference, self._definitions)}"
        problem = f"it refers to {show_text(reference)}, {what}"
        if problem not in self.dead:
            self.dead.append(problem)


def _references(schema: Schema) -> Iterator[str]:
    return (target for each in REFERENCES if isinstance(target := schema.get(each), str))


_CONTEXT: Mapping[str, Callable[[SchemaProblems, Schema, str], None]] = {
    "then": SchemaProblems.check_condition,
    "else": SchemaProblems.check_condition,
    "$ref": SchemaProblems.check_siblings,
    "required": SchemaProblems.check_required,
    "format": SchemaProblems.check_format,
}
