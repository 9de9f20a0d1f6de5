"""Checks of arguments of the Python API for which a wrong type would cause an error far from its origin."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from proctor.common.error_text import safe_repr
from proctor.common.option_kinds import LARGEST, number_problem
from proctor.errors import SetupError, StoreError
from proctor.schema.results.run_result import RunResult

if TYPE_CHECKING:
    from typing_extensions import TypeIs

    from proctor.stores.base import Store


def is_open(store: str | Path | Store | None) -> TypeIs[Store]:
    """Return whether `store` is an open store, rather than the location of one.

    Raises:
        StoreError: `store` is neither.
    """
    if store is None or isinstance(store, str | Path):
        return False
    if isinstance(store, type) or not all(hasattr(store, name) for name in ("url", "index", "find")):
        raise StoreError(
            f"store: expected a URL (sqlite:///PATH, memory:), a path, an open store (`open_store`) or None, got {safe_repr(store)}"
        )
    return True


def name_of_run(run: str | RunResult) -> str:
    """Return the name of a stored run: the given name, or the id of a result.

    Raises:
        SetupError: `run` is neither, or the result is in no store.
    """
    if isinstance(run, str):
        return run
    if not isinstance(run, RunResult):
        raise SetupError(
            "run: expected an id, the beginning of one, `latest`, `latest~1` or a result that is in the store, "
            f"got {safe_repr(run)}"
        )
    if not run.run_id:
        raise SetupError(
            "this run was not kept: give evaluate(…, store=…) a store, and its evidence can be judged again"
        )
    return run.run_id


def check_count(name: str, value: object) -> None:
    """Refuse an invalid number of runs; `None` means that none is given.

    Raises:
        SetupError: the value is not a whole number, is below 0 or above 2**63 - 1.
    """
    if value is not None and (problem := number_problem(value, 0, LARGEST)):
        raise SetupError(f"{name} must be {problem}")
