"""The page of the JSON schemas in docs/schemas: the fields of each object, with type and meaning."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from tests.docs.examples.pages import ROOT
from tests.docs.reference.docstrings import table

PAGE = "reference/schemas.md"
FOLDER = ROOT / "docs" / "schemas"

INTRODUCTION = """# JSON schemas

`make reference` writes this page from the schemas in [docs/schemas](../schemas). They are draft 2020-12. A field in bold is required. `X[]` is
an array of `X`, and a name with a link is an object that this page describes.
"""

Schema = Mapping[str, Any]


def pages() -> dict[str, str]:
    """Return the text of the page by its path in `docs`."""
    return {PAGE: "\n".join([INTRODUCTION, *_schemas()])}


def _schemas() -> Iterator[str]:
    for path in sorted(FOLDER.glob("*.schema.json")):
        schema = json.loads(path.read_text(encoding="utf-8"))
        yield from _Document(path.name, schema).lines()


class _Document:
    """One schema file; inner objects without a name get the name of their field."""

    def __init__(self, file: str, schema: Schema) -> None:
        self.file, self.schema = file, schema
        self.stem = file.partition(".")[0]
        self.sections: list[tuple[str, Schema]] = []

    def lines(self) -> Iterator[str]:
        yield f"## {self.stem}\n"
        yield f"[{self.file}](../schemas/{self.file}): {self.schema.get('title', '')}\n"
        yield from self._object(self.schema)
        self.sections += self.schema.get("$defs", {}).items()
        while self.sections:
            name, schema = self.sections.pop(0)
            yield f"### {self.stem}: {name}\n"
            yield from self._object(schema)

    def _object(self, schema: Schema) -> Iterator[str]:
        if text := schema.get("description"):
            yield f"{text}\n"
        fields = dict(self._fields(schema))
        if not fields:
            kind = self._type(schema, "")
            yield f"Type: {kind}.\n" if kind != "any" else ""
            return
        rows = [
            [name, self._type(one, name.strip("*`")), one.get("description", "")]
            for name, one in fields.items()
        ]
        yield table(["field", "type", "meaning"], rows)

    def _fields(self, schema: Schema) -> Iterator[tuple[str, Schema]]:
        required = schema.get("required", ())
        for name, one in schema.get("properties", {}).items():
            yield (f"**`{name}`**" if name in required else f"`{name}`"), one
        others = schema.get("additionalProperties")
        if isinstance(others, dict) and "properties" not in schema:
            yield "any name", others
        for part in [*schema.get("allOf", ()), *schema.get("oneOf", ()), *schema.get("anyOf", ())]:
            yield from self._fields(part)

    def _type(self, schema: Schema, field: str) -> str:
        """Return the type as text; an inner object becomes a separate section."""
        if "$ref" in schema:
            name = schema["$ref"].rpartition("/")[2]
            return self._link(name) if name != "#" else f"[{self.stem}](#{self.stem})"
        if "const" in schema:
            return f"`{json.dumps(schema['const'])}`"
        if "enum" in schema:
            return ", ".join(f"`{json.dumps(value)}`" for value in schema["enum"])
        if alternatives := schema.get("oneOf") or schema.get("anyOf"):
            return " or ".join(dict.fromkeys(self._type(one, field) for one in alternatives))
        return self._plain(schema, field)

    def _plain(self, schema: Schema, field: str) -> str:
        kinds = schema.get("type", "any")
        names = [kinds] if isinstance(kinds, str) else list(kinds)
        if "array" in names and isinstance(schema.get("items"), dict):
            names[names.index("array")] = f"{self._type(schema['items'], field)}[]"
        elif "properties" in schema and field:
            names = [self._section(field, schema)] + [name for name in names if name != "object"]
        elif isinstance(others := schema.get("additionalProperties"), dict):
            names = [f"object of {self._type(others, field)}"] + [name for name in names if name != "object"]
        return " or ".join(names)

    def _section(self, field: str, schema: Schema) -> str:
        known = dict(self.sections)
        if known.get(field, schema) != schema:
            field = f"{field} ({len(known)})"
        if field not in known:
            self.sections.append((field, schema))
        return self._link(field)

    def _link(self, name: str) -> str:
        anchor = "".join(letter for letter in name.lower() if letter.isalnum() or letter in "_- ").replace(
            " ", "-"
        )
        return f"[{name}](#{self.stem}-{anchor})"
