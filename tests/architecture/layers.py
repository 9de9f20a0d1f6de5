"""The layers of the package: which package may import which. Imports point down."""

from tests.architecture.source import PACKAGE, Import, third_party

GROUND = frozenset({"errors", "common", "stats"})
"""What every layer may import: the standard library's only customers."""

PLUGINS = frozenset({"agents", "simulation", "metrics", "judges", "models", "stores", "reports", "files"})
PLUGIN_IMPORTS = {
    "metrics": {"judges"},
    "judges": {"models"},
    "simulation": {"models"},
    "stores": {"files"},
}
BELOW_RUNS = frozenset({"engine", "schema"}) | PLUGINS
LAYERS = {
    "schema": frozenset[str](),
    "engine": frozenset({"schema"}),
    "runs": BELOW_RUNS,
    "analysis": BELOW_RUNS | {"runs"},
    "authoring": BELOW_RUNS | {"runs"},
    "web.pages": BELOW_RUNS | {"runs", "analysis", "authoring"},
    "web": BELOW_RUNS | {"runs", "analysis", "authoring", "web.pages"},
    "cli": BELOW_RUNS | {"runs", "analysis", "authoring", "web.pages"},
    "pytest_plugin": BELOW_RUNS | {"runs", "analysis", "authoring"},
    "compat": BELOW_RUNS | {"runs", "analysis", "authoring"},
    "__main__": frozenset({"cli"}),
}
"""A package and what it may import, besides itself and the ground. The engine may import each plug-in package's `base` only."""

FACADE = frozenset({"", "api", "types", "testing", "conformance"})
"""`proctor` itself, its former name `proctor.api`, `proctor.types`, `proctor.testing`, `proctor.conformance`: for users, loaded on first use."""

PYDANTIC = frozenset({"pydantic", "pydantic_core"})
CORE = PYDANTIC | {"click", "rich", "yaml", "dotenv"}
OF_ENTRY_POINT = {
    "pytest_plugin": frozenset({"pytest"}),
    "web": frozenset({"fastapi", "starlette", "uvicorn"}),
}
"""Packages that are installed wherever the entry point is used: only pytest imports its plug-in, only `proctor web` the server."""


def part_of(module: str) -> str:
    """Return the package below `proctor` that a module is in; `facade` for the modules that users import."""
    below = module.removeprefix(PACKAGE).lstrip(".")
    if below == "web.pages" or below.startswith("web.pages."):
        return "web.pages"
    first = below.partition(".")[0]
    return "facade" if first in FACADE else first


def is_base(module: str) -> bool:
    """Return whether `module` is the contract of a plug-in package, its `base.py`."""
    return module.count(".") == 2 and module.endswith(".base")


def breaks_layers(imported: Import) -> bool:
    """Return whether this is an import of Proctor's own that points up, or sideways where that is not allowed."""
    return imported.top == PACKAGE and not _may_import(part_of(imported.importer), imported.target)


def breaks_dependencies(imported: Import) -> bool:
    """Return whether this is a third-party import that its layer may not have, or that makes an optional package necessary."""
    if not third_party(imported):
        return False
    part = part_of(imported.importer)
    if part in GROUND or part == "facade":
        return True
    if part == "schema":
        return imported.top not in PYDANTIC
    return imported.at_import and imported.top not in CORE | OF_ENTRY_POINT.get(part, frozenset())


def _may_import(part: str, target: str) -> bool:
    to = part_of(target)
    if part == "facade":
        return True
    if to == part or to in GROUND:
        return True
    if part in GROUND:
        return False
    if part in PLUGINS:
        return to == "schema" or to in PLUGIN_IMPORTS.get(part, ())
    if part == "engine" and to in PLUGINS:
        return is_base(target)
    return to in LAYERS[part]
