"""The garbage collector while a run is under way."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["fewer_collections"]

_OFTEN, _SELDOM, _MANY = 50_000, 50, 2_000
"""New objects between two looks of the garbage collector while a run is under way (Python: 700), and how many of these
looks to one at what survived them (Python: 10): what a run keeps is looked at once, while the processor has it at hand."""


@contextmanager
def fewer_collections() -> Iterator[None]:
    """Let the garbage collector look less often: a run makes many small objects that die by themselves.

    What a large run kept is put among the oldest objects without a look: results are no garbage. A small one leaves
    what it leaves to the collector's next look, so that many of them leave nothing behind.
    """
    before = gc.get_threshold()
    if 0 < before[0] < _OFTEN:
        gc.set_threshold(_OFTEN, max(_SELDOM, before[1]), before[2])
    try:
        yield
    finally:
        if gc.get_count()[0] > _MANY and gc.get_freeze_count() == 0:  # else somebody froze theirs, to stay so
            gc.freeze()
            gc.unfreeze()
        gc.set_threshold(*before)
