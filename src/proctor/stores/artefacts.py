"""Large artefacts outside of the database: objects named by the hash of their content, in a folder or in a bucket of an object store."""

from __future__ import annotations

import hashlib
import re
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from proctor.errors import SetupError, StoreError

if TYPE_CHECKING:
    from proctor.stores.object_store import Objects

LARGEST_INLINE = 256 * 1024
"""Bytes of an image, a sound or a file up to which it is stored in the database."""

_BUCKET = re.compile(r"(s3|gs)://([A-Za-z0-9][A-Za-z0-9._-]*)((?:/[^?#@]*)?)")
_NAME = re.compile(r"[0-9a-f]{64}")
_MARKS = "stores"
"""The folder with an object for each store that writes to a place."""
_CACHED_BYTES = 32 * 1024 * 1024
_AT_ONCE = 8
"""Requests to an object store at a time."""


def check_location(url: str) -> str:
    """Return a folder as an absolute path, and the URL of a bucket without a final slash.

    Raises:
        SetupError: it is another kind of URL, or contains a user, a password or options.
    """
    if "://" not in url:
        return str(Path(url).expanduser().absolute())
    match = _BUCKET.fullmatch(url)
    if match is None:  # the URL is not shown: it may contain a password
        raise SetupError(
            f"artefacts: expected a folder, s3://BUCKET/FOLDER or gs://BUCKET/FOLDER, got another {url.partition(':')[0][:20]}: URL. "
            "Keys, endpoints and other options come from the environment of the provider, such as AWS_PROFILE or AWS_ENDPOINT_URL"
        )
    return f"{match[1]}://{match[2]}{match[3].rstrip('/')}"


@dataclass(frozen=True, slots=True)
class StoreId:
    """A store as its mark names it."""

    id: str
    """Differs from that of a copy of its database."""
    name: str


@dataclass(slots=True)
class Artefacts:
    """Where the large artefacts of a store are written, and how they are read. Any thread may use it."""

    url: str = ""
    """A folder or a bucket, as `check_location` returns it; empty: the database, as for the rest."""
    place: str = ""
    """The part of it that belongs to the store alone; empty until the store has chosen it."""
    present: dict[str, int] = field(default_factory=dict)
    """The artefacts that were seen there, by name, each with the number of deletions of the store before."""
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)
    _recent: dict[str, bytes] = field(default_factory=dict, repr=False)

    def open(self, place: str, store: StoreId) -> None:
        """Write to this place from now on, and mark it as used by this store.

        Raises:
            StoreError: it cannot be used.
        """
        try:
            objects = _objects(place)
            objects.check()
            objects.put_new(f"{_MARKS}/{store.id}", store.name.encode())
        except StoreError as error:
            raise StoreError(
                f"artefacts: {error}. Correct the setting `artefacts`, or make its location usable"
            ) from error
        self.place = place

    def is_large(self, body: bytes) -> bool:
        """Return whether a body is written here."""
        return bool(self.place) and len(body) > LARGEST_INLINE

    def put(self, bodies: Mapping[str, bytes]) -> None:
        """Write bodies by their hash, unless they are there already.

        Raises:
            StoreError: one cannot be written.
        """
        if not bodies:
            return
        try:
            objects = _objects(self.place)
            _for_each(bodies, lambda name: objects.put_new(_path(name), bodies[name]))
        except StoreError as error:
            raise StoreError(
                f"artefacts: {error}. Make the location usable, then continue the run with `proctor resume`"
            ) from error

    def read(self, place: str, name: str) -> bytes:
        """Return a body that was written to `place`, or was moved with everything else to the present location.

        Raises:
            StoreError: it is missing or damaged, or the place cannot be reached.
        """
        with self._lock:
            body = self._recent.pop(name, None)
        if body is None:
            body = self._fetch(place, name)
        with self._lock:
            self._recent[name] = body
            while sum(map(len, self._recent.values())) > _CACHED_BYTES:
                del self._recent[next(iter(self._recent))]
        return body

    def _fetch(self, place: str, name: str) -> bytes:
        for location in self.locations(place):
            objects = _objects(location)
            body = objects.read(_path(name))
            if body is None:
                continue
            if hashlib.sha256(body).hexdigest() != name:
                raise StoreError(
                    f"the artefact {objects.label(_path(name))} is damaged: its content does not have the hash in its name. {_REMEDY}"
                )
            return body
        raise StoreError(f"the artefact {_objects(place).label(_path(name))} is missing. {_REMEDY}")

    def locations(self, place: str) -> list[str]:
        """Return where objects that were written to `place` may be: they may have been moved to the present location."""
        present = f"{self.url}/{place.rpartition('/')[2]}" if self.url else place
        return list(dict.fromkeys((present, place)))

    def names(self, place: str) -> Iterator[str]:
        """Yield the names of all artefacts in a place."""
        for path in _objects(place).paths():
            name = path.rpartition("/")[2]
            if _NAME.fullmatch(name) and path == _path(name):
                yield name


class Deletion:
    """A deletion of artefacts that no run of a store uses. In a place that another store uses, too, nothing is deleted."""

    def __init__(self, artefacts: Artefacts, identity: Callable[[], StoreId]) -> None:
        """`identity` returns that of the store. Only artefacts need it: a server may reserve its function for administrators."""
        self._artefacts = artefacts
        self._identity = identity
        self._moved: dict[str, set[str]] = {}
        self.marks: set[str] = set()
        """The marks of other stores that were found."""

    def may_delete(self, location: str) -> bool:
        """Return whether no other store has its mark there: a copy of the database names the same objects."""
        objects = _objects(location)
        others = set(objects.names(_MARKS) or ()) - {self._identity().id}
        self.marks |= {objects.label(f"{_MARKS}/{one}") for one in others}
        return not others

    def delete(self, place: str, names: Collection[str]) -> bool:
        """Delete artefacts that were written to `place`; return `False` if a place is not only of this store.

        A missing one is not an error.
        """
        present, *earlier = self._artefacts.locations(place)
        places = [present]
        if earlier and not self._moved_from(place, present) >= set(names):
            places += earlier  # a bucket from which everything was moved may be gone
        if not all(self.may_delete(location) for location in places):
            return False
        for location in places:
            _delete(location, names)
        return True

    def _moved_from(self, place: str, present: str) -> set[str]:
        if place not in self._moved:
            self._moved[place] = set(self._artefacts.names(present))
        return self._moved[place]


def _delete(location: str, names: Collection[str]) -> None:
    objects = _objects(location)
    _for_each(names, lambda name: objects.delete(_path(name)))


_REMEDY = (
    "Put it back from a backup; if all artefacts were moved, name their new location with the setting `artefacts`. "
    "Everything else in the store can still be shown"
)


def _path(name: str) -> str:
    return f"{name[:2]}/{name}"


@lru_cache(maxsize=8)
def _objects(place: str) -> Objects:
    """Open a place."""
    from proctor.stores.object_store import BucketDocuments, FolderDocuments

    match = _BUCKET.fullmatch(place)
    return BucketDocuments(match[1], match[2], match[3]) if match else FolderDocuments(place)


def _for_each(names: Iterable[str], use: Callable[[str], object]) -> None:
    """Call `use` for several names at a time, and raise the first error."""
    all_names = list(names)
    if len(all_names) == 1:
        use(all_names[0])
        return
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        for _ in pool.map(use, all_names):
            pass
