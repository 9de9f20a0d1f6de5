"""Read the URL of a store, and open the store."""

from __future__ import annotations

import re
from pathlib import Path

from proctor.common.registry import STORES
from proctor.errors import SetupError, UnknownNameError, did_you_mean
from proctor.stores.base import Store

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):(.*)", re.DOTALL)  # one letter is a drive of Windows
_WITH_ARTEFACTS = frozenset({"sqlite", "postgres", "postgresql"})
"""The schemes whose stores keep large artefacts outside of the database if a location is given."""
_SQLITE = "expected sqlite:PATH, or sqlite:///PATH (with a fourth slash for a path from the root)"


def split_url(url: str) -> tuple[str, str]:
    """Return scheme and rest of a store's URL; a bare path has the scheme `sqlite`."""
    match = _SCHEME.fullmatch(url)
    return (match[1].lower(), match[2]) if match else ("sqlite", url)


def store_file(url: str) -> Path | None:
    """Return the file of a SQLite store; `None` for a store of another kind."""
    return sqlite_path(url) if split_url(url)[0] == "sqlite" else None


def sqlite_path(url: str) -> Path:
    """Return the file that `sqlite:PATH`, `sqlite:///PATH` or a bare path means.

    Raises:
        SetupError: it names no file.
    """
    _, rest = split_url(url)
    if rest != url and rest.startswith("//"):
        if not rest.startswith("///"):
            raise SetupError(f"the store {url!r} names a host, and SQLite has none: {_SQLITE}")
        rest = rest[3:]
    if rest == ":memory:":
        raise SetupError(f"the store {url!r}: a store in memory is called memory:")
    if not rest.strip() or "\x00" in rest:
        raise SetupError(f"the store {url!r} names no file: {_SQLITE}")
    try:
        return Path(rest).expanduser()
    except RuntimeError:  # `~name` of an unknown user
        raise SetupError(
            f"the store {url!r}: unknown user {rest.split('/')[0][1:]!r}. For a file whose name begins with ~: ./{rest}"
        ) from None


def open_store_url(url: str, *, read_only: bool = False, artefacts: str = "") -> Store:
    """Open the store that `url` names: a path or `sqlite:PATH`, `postgresql://USER@HOST/DATABASE`, or `memory:NAME`.

    A missing SQLite file and its folder are created. `read_only`: nothing is created or changed, and every write
    raises `StoreError`. `artefacts`: the folder or bucket for large images, sounds and files; it is not used by stores in
    memory and by those of other packages.

    Raises:
        UnknownNameError: no store has this scheme.
        SetupError: the URL names no location, `artefacts` is invalid, or the store of another package lacks a method.
        StoreError: the store cannot be used; it has not been changed.
    """
    scheme, _ = split_url(url)
    if scheme not in STORES:
        known = [*STORES.names(), "adk"]
        raise UnknownNameError(
            f"No store scheme named {scheme!r}.{did_you_mean(scheme, known)} Known: {', '.join(known)} "
            f"(adk:DIR only takes results, in addition to the store of the run), or the path of a SQLite file."
        )
    options: dict[str, str] = {}
    if artefacts and scheme in _WITH_ARTEFACTS:
        from proctor.stores.artefacts import check_location

        options["artefacts"] = check_location(artefacts)
    store: Store = STORES.make(scheme, url, read_only=read_only, **options)
    missing = [name for name in vars(Store) if not name.startswith("_") and not hasattr(store, name)]
    if missing:
        raise SetupError(
            f"the store of the scheme {scheme!r} lacks {', '.join(missing)} of proctor.stores.base.Store: its package is for "
            "another version of Proctor"
        )
    return store
