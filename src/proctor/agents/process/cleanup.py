"""What a trial leaves behind in its process, put right before the next one: folder, environment, signals, locale, mask."""

from __future__ import annotations

import asyncio
import locale
import os
import signal
import threading
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from proctor.common.quick_dataclasses import dataclass

MOST_LEFT = 50
"""Threads, or tasks, that a trial may leave behind (clients keep some) before its process is not used again."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The state of a process that code may change for all that comes after it."""

    folder: str
    environment: dict[str, str]
    mask: int
    locale: str
    signals: Mapping[Any, Any]
    threads: int
    tasks: int

    @classmethod
    def now(cls) -> Surroundings:
        """Look around."""
        mask = os.umask(0o077)
        os.umask(mask)
        signals = {number: signal.getsignal(number) for number in signal.valid_signals()}
        return cls(
            folder=os.getcwd(),  # noqa: PTH109 - text, as chdir takes it
            environment=dict(os.environ),
            mask=mask,
            locale=locale.setlocale(locale.LC_ALL),
            signals=signals,
            threads=threading.active_count(),
            tasks=len(asyncio.all_tasks()),
        )

    def restore(self) -> bool:
        """Put right what can be; returns whether all of it was."""
        with suppress(FileNotFoundError):
            if os.getcwd() == self.folder and os.environ == self.environment:  # noqa: PTH109 - as above
                return self._restore_the_rest()
        try:
            os.chdir(self.folder)
        except OSError:
            return False
        os.environ.clear()
        os.environ.update(self.environment)
        return self._restore_the_rest()

    def _restore_the_rest(self) -> bool:
        os.umask(self.mask)
        if locale.setlocale(locale.LC_ALL) != self.locale:
            locale.setlocale(locale.LC_ALL, self.locale)
        for number, handler in self.signals.items():
            if handler is not None and signal.getsignal(number) is not handler:
                with suppress(OSError, ValueError, TypeError):
                    signal.signal(number, handler)
        left = (threading.active_count() - self.threads, len(asyncio.all_tasks()) - self.tasks)
        return max(left) <= MOST_LEFT
