"""Where the baselines of a store are: one file per baseline, in a folder next to the store's file."""

from __future__ import annotations

from pathlib import Path

from proctor.errors import EvalFileError, ProctorError, SetupError, UnknownNameError, did_you_mean
from proctor.files.results.baselines import read_baseline
from proctor.schema.analysis.comparison import Baseline
from proctor.stores.base import Store
from proctor.stores.open import store_file

SUFFIX = ".json"


def is_file(name: str) -> bool:
    """Return whether a name is that of a file, and not of a baseline of a store."""
    name = str(name)
    return name.endswith(SUFFIX) or "/" in name or "\\" in name


def baseline_folder(store: Store) -> Path:
    """Return the folder of the baselines of `store`. One file each: two processes cannot lose one another's baselines.

    Raises:
        SetupError: the store is not in a file.
    """
    file = store_file(store.url)
    if file is None:
        raise SetupError(
            f"the store {store.name} is not in a file: baselines are kept next to a store that is (sqlite:///PATH)"
        )
    return file.with_name(f"{file.name}.baselines")


def baseline_files(store: Store) -> list[Path]:
    """Return the files of all baselines of `store`, by name.

    Raises:
        SetupError: the store is not in a file.
    """
    paths = baseline_folder(store).glob(f"*{SUFFIX}")
    return sorted(path for path in paths if not path.name.startswith("."))


def find_baseline(store: Store, name: str) -> Path:
    """Return the file of the baseline called `name`.

    Raises:
        UnknownNameError: there is none.
    """
    known = [path.stem for path in baseline_files(store)]
    if name in known:
        return baseline_folder(store) / f"{name}{SUFFIX}"
    there = f" There is: {', '.join(known)}." if known else ""
    raise UnknownNameError(
        f"No baseline {name!r} in {store.name}.{did_you_mean(name, known)}{there} `proctor baseline set {name} RUN` makes one; "
        "a name that ends in .json is that of a file"
    )


def baseline_names(store: Store, *, strict: bool = False) -> dict[str, list[str]]:
    """Return the names of each run that is a baseline, by run id. A file that cannot be read is left out.

    `strict`: for a deletion. It is unknown whose baseline an unreadable file is, and that run must not be deleted.

    Raises:
        SetupError: a file cannot be read (`strict`).
    """
    names: dict[str, list[str]] = {}
    for path in baseline_files(store) if store_file(store.url) is not None else ():
        try:
            names.setdefault(read_baseline(path).run_id, []).append(path.stem)
        except EvalFileError as error:
            if strict:
                raise SetupError(
                    f"{error}. No run is deleted, because it may be the one of this baseline; run `proctor baseline remove {path.stem}` first"
                ) from None
    return names


def is_baseline(name: str, store: Store) -> bool:
    """Return whether `name` is a baseline of `store`, or an existing file."""
    if is_file(name):
        return Path(name).is_file()
    return store_file(store.url) is not None and name in [path.stem for path in baseline_files(store)]


def read_named_baseline(name: str, store: Store | None) -> Baseline:
    """Return the baseline in the file `name`, or the one called `name` of `store`.

    Raises:
        UnknownNameError: there is none.
        EvalFileError: it cannot be read.
    """
    if is_file(name):
        return read_baseline(Path(name))
    if store is None:
        raise UnknownNameError(
            f"No baseline {name!r}: no store is open; a name that ends in .json is the name of a file"
        )
    return read_baseline(find_baseline(store, name))


def base_name(name: str, run_id: str, store: Store | None) -> str:
    """Return the name of the baseline for a run that began `against` NAME, which was the run `run_id` then.

    The file or baseline, as long as it is of that run: its run need not be in the store, or may have another scoring. Otherwise
    the run itself: what `latest` was then.
    """
    return name if _is_baseline_of(name, run_id, store) else run_id


def _is_baseline_of(name: str, run_id: str, store: Store | None) -> bool:
    try:
        return read_named_baseline(name, store).run_id == run_id
    except ProctorError:
        return False
