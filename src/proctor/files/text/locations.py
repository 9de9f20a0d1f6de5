"""Where in a text the value of a path is."""

from __future__ import annotations

from collections.abc import Iterable

from proctor.files.text.problems import Path_, Place, SourceText


class Places:
    """The places of some paths in one text, found in one pass over it, up to the last of them.

    A path that is not there (a missing key) has the place of the nearest object around it.
    """

    def __init__(self, source: SourceText, paths: Iterable[Path_], *, base: Path_ = ()) -> None:
        from proctor.files.text.json_scanner import scan_for  # only a problem has a place

        wanted = {path[:n] for path in paths for n in range(len(base), len(path) + 1)}
        found = scan_for(source, wanted, base=base)
        self._source, self._base = source, base
        self._values, self._keys = found.places, found.key_places

    def value(self, path: Path_) -> Place:
        """Where the value of `path` starts."""
        while path not in self._values and len(path) > len(self._base):
            path = path[:-1]
        return self._source.place(self._values.get(path, 0))

    def key(self, path: Path_) -> Place:
        """Where the key of `path` starts; for an element of a list, its value."""
        return self._source.place(self._keys[path]) if path in self._keys else self.value(path)
