"""Mistakes in a JSON Schema that JSON Schema itself does not report, because it ignores unknown keywords.

References without target, and references in a circle, are found here as well; jsonschema would only report them
when the agent has answered.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from proctor.common.optional_packages import import_extra
from proctor.errors import did_you_mean
from proctor.metrics.reason_text import show_name, show_text

__all__ = ["Findings", "drafts", "lint_schema"]

NAMED = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies")
LISTED = ("allOf", "anyOf", "oneOf", "prefixItems", "items", "extends", "type", "disallow")
SINGLE = (
    "items", "additionalItems", "unevaluatedItems", "contains", "additionalProperties", "unevaluatedProperties",
    "propertyNames", "not", "if", "then", "else", "contentSchema",
)  # fmt: skip
IN_PLACE = ("allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas")
"""Keywords with schemas that apply to the same value."""
DRAFTS = ("3", "4", "6", "7", "201909", "202012")
REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")

UNCHECKED = frozenset(
    {
        "$anchor", "$comment", "$defs", "$dynamicAnchor", "$id", "$recursiveAnchor", "$schema", "$vocabulary", "contentEncoding",
        "contentMediaType", "contentSchema", "default", "definitions", "deprecated", "description", "else", "examples", "id",
        "maxContains", "minContains", "readOnly", "then", "title", "writeOnly",
    }
)  # fmt: skip
"""Keywords that check nothing by themselves."""
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


@dataclass(slots=True)
class Findings:
    """The problems of one schema."""

    dead: list[str] = field(default_factory=list)
    """References that cannot be resolved."""
    slips: list[str] = field(default_factory=list)
    """Keywords that are certainly mistakes."""
    unknown: list[str] = field(default_factory=list)
    """Unknown keywords, which are not checked."""


def drafts(jsonschema: Any) -> list[Any]:
    """Return the classes of jsonschema, one for each draft."""
    return [getattr(jsonschema, f"Draft{draft}Validator") for draft in DRAFTS]


def lint_schema(document: Any, kind: Any, formats: Collection[str] | None) -> Findings:
    """Return the problems of a schema that is valid under its draft (`kind`, jsonschema's validator class).

    `formats`: the formats that can be checked; `None` if `format` is not checked.

    Raises:
        RecursionError: it is nested too deeply.
    """
    search = _Search(kind, formats)
    search.go(document, search.resolver_for(document), "")
    search.follow()
    return search.findings


class _Search:
    def __init__(self, kind: Any, formats: Collection[str] | None) -> None:
        feature = "Checking a JSON Schema"
        jsonschema = import_extra("jsonschema", extra="jsonschema", feature=feature)
        self._registry = import_extra(
            "jsonschema_specifications", extra="jsonschema", feature=feature
        ).REGISTRY
        self._referencing = import_extra("referencing", extra="jsonschema", feature=feature)
        self._every = {name for draft in drafts(jsonschema) for name in draft.VALIDATORS}
        self._kind, self._formats = kind, formats
        self._draft = kind.META_SCHEMA.get("$id", kind.META_SCHEMA.get("id", ""))
        self._known = {*kind.VALIDATORS, *UNCHECKED}
        if "$vocabulary" not in kind.META_SCHEMA:  # older drafts list their keywords in one place
            self._known |= kind.META_SCHEMA["properties"].keys()
        self._specification = self._referencing.jsonschema.specification_with(self._draft)
        self.findings = Findings()
        self._seen: dict[int, tuple[Any, Any]] = {}
        """Schemas by identity, each with its resolver."""
        self._done: set[int] = set()
        self._definitions: list[str] = []

    def resolver_for(self, document: Any) -> Any:
        resource = self._specification.create_resource(document)
        base = resource.id() or ""
        return self._registry.with_resource(base, resource).resolver(base_uri=base)

    # --- keywords ---

    def go(self, schema: Any, resolver: Any, place: str) -> None:
        """Check one schema and those inside it."""
        if not isinstance(schema, Mapping) or id(schema) in self._seen:
            return
        if place:
            resolver = resolver.in_subresource(self._specification.create_resource(schema))
        self._seen[id(schema)] = schema, resolver
        for keyword in schema:
            self._check_keyword(keyword, schema, place)
        for name, within in _within(schema):
            if name.startswith(("$defs/", "definitions/")) and not place:
                self._definitions.append(f"#/{name}")
            self.go(
                within, resolver, f"{place}.{name.replace('/', '.')}" if place else name.replace("/", ".")
            )

    def _check_keyword(self, keyword: str, schema: Mapping[str, Any], place: str) -> None:
        at = f" at {show_name(place)}" if place else ""
        known = self._known
        shown = f"`{show_name(keyword)}`{at}"
        if keyword in NOT_KEYWORDS:
            self.findings.slips.append(f"{shown} is not a keyword of JSON Schema: {NOT_KEYWORDS[keyword]}")
        elif keyword in self._every - known:
            self.findings.slips.append(f"{shown} {self._of_another_draft(keyword)}")
        elif keyword not in known and keyword not in HARMLESS and not keyword.startswith("x-"):
            if hint := did_you_mean(keyword, known):
                self.findings.slips.append(f"{shown} is not a keyword of JSON Schema.{hint}")
            else:
                self.findings.unknown.append(f"{shown} is not a keyword of JSON Schema, so it is not checked")
        self._check_context(keyword, schema, shown)

    def _of_another_draft(self, keyword: str) -> str:
        instead = f"write {INSTEAD[keyword]}, or " if keyword in INSTEAD else ""
        return f"has no effect in {self._draft.rstrip('#')}: {instead}name the intended draft with `$schema`"

    def _check_context(self, keyword: str, schema: Mapping[str, Any], shown: str) -> None:
        """Check the keywords that a keyword needs or excludes."""
        if keyword in {"then", "else"} and "if" not in schema:
            self.findings.slips.append(f"{shown} has no effect without `if`")
        if keyword == "$ref" and "unevaluatedProperties" not in self._kind.VALIDATORS:
            others = [each for each in schema if each in self._kind.VALIDATORS and each != "$ref"]
            if others:
                self.findings.slips.append(
                    f"{shown}: in this draft all other keywords next to it are ignored, also `{others[0]}`"
                )
        if keyword == "required" and isinstance(schema["required"], list):
            self._check_required(schema, shown)
        if keyword == "format" and self._formats is not None and schema["format"] not in self._formats:
            self.findings.slips.append(f"{shown}: {self._unchecked_format(str(schema['format']))}")

    def _check_required(self, schema: Mapping[str, Any], shown: str) -> None:
        """Report a required key that is not among the listed properties, so that its value is not checked."""
        properties = schema.get("properties")
        if not isinstance(properties, Mapping) or not properties or schema.get("patternProperties"):
            return
        for name in schema["required"]:
            if name not in properties:
                hint = did_you_mean(str(name), properties)
                self.findings.unknown.append(
                    f"{shown} names {show_text(str(name))}, which is not in `properties`.{hint}"
                )

    def _unchecked_format(self, name: str) -> str:
        checked = sorted(self._formats or ())
        if name in FORMATS:
            why = "cannot be checked without further packages (pip install 'jsonschema[format-nongpl]')"
        else:
            why = f"is not a format.{did_you_mean(name, [*checked, *FORMATS])}"
        return f"{show_text(name)} {why} Checked are: {', '.join(checked)}"

    # --- references ---

    def follow(self) -> None:
        """Resolve every reference, and check their targets."""
        waiting = [*self._seen]
        while waiting:
            schema, resolver = self._seen[waiting.pop()]
            for keyword in REFERENCES:
                if isinstance(schema.get(keyword), str):
                    before = len(self._seen)
                    self._look_up(schema[keyword], resolver)
                    waiting += [*self._seen][before:]
        for number in [*self._seen]:
            self._check_circle(number, [])

    def _look_up(self, target: str, resolver: Any) -> tuple[Any, Any] | None:
        try:
            found = resolver.lookup(target)
        except (
            self._referencing.exceptions.Unresolvable,
            self._referencing.exceptions.NoSuchResource,
            ValueError,
        ):
            self._report_reference(target, "which is not in it")
            return None
        is_container = target.rstrip("/").rpartition("/")[2] in NAMED and id(found.contents) not in self._seen
        if is_container or not isinstance(found.contents, Mapping | bool):
            self._report_reference(target, "which is not a schema")
            return None
        is_own = "json-schema.org" not in target
        if is_own and isinstance(found.contents, Mapping) and id(found.contents) not in self._seen:
            self.go(found.contents, found.resolver, target.lstrip("#/").replace("/", "."))
        return found.contents, found.resolver

    def _report_reference(self, target: str, why: str) -> None:
        if target.startswith(("http:", "https:", "file:")):
            what = "and nothing is fetched: put that schema under `$defs`"
        else:
            what = f"{why}.{did_you_mean(target, self._definitions)}"
        problem = f"it refers to {show_text(target)}, {what}"
        if problem not in self.findings.dead:
            self.findings.dead.append(problem)

    def _check_circle(self, number: int, way: list[int]) -> None:
        """Follow the schemas that apply to the same value; a schema that is reached again never ends."""
        if number in way:
            schema = self._seen[number][0]
            target = next((str(schema[each]) for each in REFERENCES if each in schema), "")
            subject = f"its reference {show_text(target)}" if target else "it"
            if not any("without end" in each for each in self.findings.dead):
                self.findings.dead.append(f"{subject} refers to itself without end")
            return
        if number in self._done:
            return
        for following in self._in_place(number):
            self._check_circle(following, [*way, number])
        self._done.add(number)

    def _in_place(self, number: int) -> Iterator[int]:
        schema, resolver = self._seen[number]
        for keyword in REFERENCES:
            found = self._look_up(schema[keyword], resolver) if isinstance(schema.get(keyword), str) else None
            if found and id(found[0]) in self._seen:
                yield id(found[0])
        for name, within in _within(schema):
            if name.partition("/")[0] in IN_PLACE and id(within) in self._seen:
                yield id(within)


def _within(schema: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the schemas directly inside one, each with its path; the values of `const` and `enum` are not schemas."""
    for keyword in NAMED:
        if isinstance(inside := schema.get(keyword), Mapping):
            yield from (
                (f"{keyword}/{name}", each) for name, each in inside.items() if not isinstance(each, list)
            )
    for keyword in LISTED:
        if isinstance(inside := schema.get(keyword), list):
            yield from ((f"{keyword}/{index}", each) for index, each in enumerate(inside))
    for keyword in SINGLE:
        if isinstance(inside := schema.get(keyword), Mapping):
            yield keyword, inside
