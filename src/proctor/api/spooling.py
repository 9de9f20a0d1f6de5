"""Cases put aside until their run can be begun: there may be very many, and memory stays flat."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import TracebackType
from typing import Self

from proctor.errors import StoreError
from proctor.schema.run import PlannedCase

_IN_MEMORY = 1 << 20


class PlannedSpool:
    """Planned cases in a file that has no name and ends with this object. Use as a context manager."""

    def __init__(self) -> None:
        """Begin with none; up to a mebibyte stays in memory."""
        self._file = tempfile.SpooledTemporaryFile[bytes](max_size=_IN_MEMORY)  # closed by __exit__

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with suppress(OSError):  # what could not be written is of no use any more
            self._file.close()

    def add(self, eval_set_id: str, eval_id: str, content_hash: str, place: str) -> None:
        """Put the next case aside.

        Raises:
            StoreError: there is no room for it.
        """
        with _in_words():
            self._file.write(json.dumps([eval_set_id, eval_id, content_hash, place]).encode() + b"\n")

    def __iter__(self) -> Iterator[PlannedCase]:
        """Return them, in the order in which they came.

        Raises:
            StoreError: there was no room for the last of them.
        """
        with _in_words():
            self._file.seek(0)
        for position, line in enumerate(self._file):
            yield PlannedCase(position, *json.loads(line))


@contextmanager
def _in_words() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StoreError(
            f"{tempfile.gettempdir()}: cases cannot be put aside there ({error.strerror or error}). Make room, "
            "or name another folder with TMPDIR"
        ) from error
