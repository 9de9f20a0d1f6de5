"""The floors of the house: who may import whom. Imports point down."""

from tests.architecture.source import PACKAGE, Import, third_party

ROOMS = frozenset({"agents", "simulation", "metrics", "judges", "models", "stores", "reports", "files"})
ROOM_TO_ROOM = {
    "metrics": {"judges"},
    "judges": {"models"},
    "simulation": {"models"},
    "stores": {"files"},
}
DOORS = frozenset({"api", "cli", "pytest_plugin", "server", "compat", "__main__"})
FACADE = frozenset({"", "types", "testing", "conformance"})
"""`proctor` itself, `proctor.types`, `proctor.testing`, `proctor.conformance`: for users, loaded on first use."""

PYDANTIC = frozenset({"pydantic", "pydantic_core"})
CORE = PYDANTIC | {"click", "rich", "yaml", "dotenv"}
OF_A_DOOR = {
    "pytest_plugin": frozenset({"pytest"}),
    "server": frozenset({"fastapi", "starlette", "uvicorn"}),
}
"""What is there whenever somebody comes in by that door: only pytest imports its plug-in, only `proctor web` the server."""


def part_of(module: str) -> str:
    """The part of the house a module is in: `ground`, `schema`, a room, `engine`, a door, or `facade`."""
    first = module.removeprefix(PACKAGE).lstrip(".").partition(".")[0]
    if first in FACADE:
        return "facade"
    return first if first in ROOMS | DOORS | {"schema", "engine"} else "ground"


def is_base(module: str) -> bool:
    """A room's `base.py` (or the room's package itself, which may only gather names)."""
    return module.count(".") == 2 and module.endswith(".base")


def breaks_floors(imported: Import) -> bool:
    """True for an import of our own that points up, or sideways where no door is."""
    return imported.top == PACKAGE and not _may_import(part_of(imported.importer), imported.target)


def breaks_dependencies(imported: Import) -> bool:
    """True for a third-party import that this floor may not have, or that makes an optional package necessary."""
    if not third_party(imported):
        return False
    part = part_of(imported.importer)
    if part in {"ground", "facade"}:
        return True
    if part == "schema":
        return imported.top not in PYDANTIC
    return imported.at_import and imported.top not in CORE | OF_A_DOOR.get(part, frozenset())


def _may_import(part: str, target: str) -> bool:
    to = part_of(target)
    if to in {part, "ground"}:
        return True
    if part in {"ground", "schema"}:
        return part == "schema" and to == "ground"
    if part in ROOMS:
        return to == "schema" or to in ROOM_TO_ROOM.get(part, ())
    if part == "engine":
        return to == "schema" or (to in ROOMS and is_base(target))
    return to == "api" or to not in DOORS | {"facade"} or (part == "__main__" and to == "cli")
