"""Plug-ins by name, loaded on first use.

Each plug-in package lists its plug-ins in a table (`NAME -> "module:attribute"`); other distributions register theirs as
entry points. Listing the names imports nothing heavy.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from typing import Any

from proctor.errors import ProctorError, SetupError, unknown_name


@dataclass(eq=False)
class Registry:
    """The named plug-ins of one kind."""

    kind: str
    """The kind as users name it."""
    table: str
    """The table of built-in plug-ins, as `module:attribute`."""
    group: str
    """The group of entry points."""
    replaceable: bool = True
    """Whether `add` may replace a built-in plug-in."""
    _added: dict[str, object] = field(default_factory=dict)

    def add(self, name: str, plugin: object) -> None:
        """Register `plugin` under `name` in this process; a later one of the same name replaces it.

        Raises:
            SetupError: a built-in plug-in that cannot be replaced has this name.
        """
        if not self.replaceable and self.is_built_in(name):
            raise SetupError(f"{name!r} is the name of a built-in {self.kind}; choose another name")
        self._added[name] = plugin

    def is_built_in(self, name: str) -> bool:
        """Return whether a built-in plug-in has this name."""
        return name in self._built_in()

    def check_clash(self, name: str) -> None:
        """Refuse a built-in name that an installed package also registers, because the name is ambiguous.

        Raises:
            SetupError: an entry point has the name of a built-in plug-in.
        """
        point = _entry_points(self.group).get(name)
        if point is not None and self.is_built_in(name) and point.value != self._built_in()[name]:
            source = point.dist.name if point.dist else "?"
            raise SetupError(
                f"the package {source!r} registers a {self.kind} {name!r}, which is the name of a built-in one; "
                "rename the entry point, or uninstall the package"
            )

    def package_of(self, name: str) -> str | None:
        """Return the package of a plug-in with its version: empty for a built-in one, `None` if it is unknown.

        A plug-in that was added in this process has no package; only its code identifies it.
        """
        if name in self._added:
            return "(added)"
        if self.is_built_in(name):
            return ""
        point = _entry_points(self.group).get(name)
        return f"{point.dist.name} {point.dist.version}" if point is not None and point.dist else None

    def remove(self, name: str) -> None:
        """Remove a plug-in that was added in this process."""
        self._added.pop(name, None)

    def added(self) -> list[object]:
        """Return the plug-ins that were added in this process, the last one first."""
        return [*reversed(self._added.values())]

    def names(self) -> list[str]:
        """Return every known name: built-in ones first, then entry points, then those added here."""
        return list(dict.fromkeys([*self._built_in(), *_entry_points(self.group), *self._added]))

    def __contains__(self, name: str) -> bool:
        return name in self._added or name in self._built_in() or name in _entry_points(self.group)

    def get(self, name: str) -> Any:
        """Load the plug-in called `name`.

        Raises:
            UnknownNameError: no plug-in has this name; the message suggests the closest one.
            SetupError: an entry point cannot be loaded; the message names its distribution and the cause.
        """
        if name in self._added:
            return self._added[name]
        if (path := self._built_in().get(name)) is not None:
            return load_object(path)
        if (point := _entry_points(self.group).get(name)) is None:
            raise unknown_name(self.kind, name, self.names())
        try:
            return point.load()
        except (Exception, SystemExit) as error:
            # SystemExit: a script that exits on import must not end this process
            source = point.dist.name if point.dist else "?"
            raise SetupError(
                f"The {self.kind} {name!r} of the package {source!r} cannot be loaded: "
                f"{type(error).__name__}: {error}"
            ) from error

    def make(self, name: str, *arguments: object, **options: object) -> Any:
        """Load the plug-in called `name` and call it.

        Raises:
            UnknownNameError: no plug-in has this name; the message suggests the closest one.
            SetupError: it cannot be loaded, or a plug-in that is not built in raised an error or returned None.
        """
        plugin = self.get(name)
        if name not in self._added and self.is_built_in(name):
            return plugin(*arguments, **options)
        try:
            instance = plugin(*arguments, **options)
        except ProctorError:
            raise
        except (Exception, SystemExit) as error:
            raise SetupError(f"{self._origin(name)} failed: {type(error).__name__}: {error}") from error
        if instance is None:
            raise SetupError(f"{self._origin(name)} returned None: expected an object")
        return instance

    def _origin(self, name: str) -> str:
        package = self.package_of(name)
        source = f" of the package {package!r}" if package and name not in self._added else ""
        return f"The {self.kind} {name!r}{source}"

    def _built_in(self) -> dict[str, str]:
        table: dict[str, str] = load_object(self.table)
        return table


def load_object(path: str) -> Any:
    """Import `module:attribute` and return the attribute."""
    module, _, attribute = path.partition(":")
    return getattr(import_module(module), attribute)


@cache
def _entry_points(group: str) -> dict[str, Any]:
    from importlib.metadata import entry_points

    points: Iterable[Any] = entry_points(group=group)
    return {point.name: point for point in points}


METRICS = Registry(
    "metric", table="proctor.metrics.builtin:METRICS", group="proctor.metrics", replaceable=False
)
AGENTS = Registry("agent prefix", table="proctor.agents.builtin:AGENTS", group="proctor.agents")
REPORTS = Registry("report", table="proctor.reports.builtin:REPORTS", group="proctor.reports")
STORES = Registry("store scheme", table="proctor.stores.builtin:STORES", group="proctor.stores")
MODELS = Registry("provider of models", table="proctor.models.builtin:MODELS", group="proctor.models")
