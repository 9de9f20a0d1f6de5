"""The bar itself, as rich draws it."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any, TextIO, cast

from rich.console import RenderableType
from rich.progress import BarColumn, Progress, ProgressColumn, Task
from rich.text import Text

from proctor.reports.base import ReportOptions
from proctor.reports.terminal.console import STYLES, Page
from proctor.schema.results.run_result import Outcome

_MOST_WAITING = 10_000
"""Characters without a line's end that are kept back."""


class Direct:
    """The original stream behind an `StreamCapture`, on which the bar is drawn."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self.write = stream.write

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


class StreamCapture:
    """Passes each whole line that is written to `stream` between `begin` and `end` to `show`.

    It takes the place of the stream's own `write`, so that log handlers which hold the stream since long before are
    caught, too. Only what is written by the number of the descriptor (C libraries, child processes) is not.
    """

    def __init__(self, stream: TextIO, show: Callable[[str], None]) -> None:
        self._stream = stream
        self._direct = stream.write
        self._show = show
        self._waiting = ""
        self._lock = threading.RLock()
        self._process = os.getpid()

    def begin(self) -> None:
        """Capture what is written from now on; a stream that cannot be changed stays unchanged."""
        with suppress(AttributeError, TypeError):
            setattr(self._stream, "write", self._write)  # noqa: B010  (a method of an object, not of its class)

    def end(self) -> None:
        """Restore the stream, and write what was held back."""
        with suppress(AttributeError):
            del self._stream.write
        if self._waiting:
            self._direct(self._waiting + "\n")
            self._waiting = ""

    def _write(self, text: str) -> int:
        if os.getpid() != self._process:  # a child process must not draw its copy of the bar
            return self._direct(text)
        with self._lock:
            *lines, self._waiting = (self._waiting + text).split("\n")
            if len(self._waiting) > _MOST_WAITING:
                lines, self._waiting = [*lines, self._waiting], ""
        if lines:
            try:
                self._show("\n".join(lines))
            except Exception:  # noqa: BLE001  (an error of the display must not reach the code that writes a line)
                self._direct("\n".join(lines) + "\n")
        return len(text)


REFRESHES = 8
"""How often per second the bar is redrawn; between two redraws, events are only counted."""


class _Counts(ProgressColumn):
    """The text of the watcher, computed only when the bar is drawn."""

    def __init__(self, text: Callable[[], Text]) -> None:
        self._text = text
        super().__init__()

    def render(self, task: Task) -> Text:
        """Return the text next to the bar."""
        del task
        return self._text()


class _Bar(Progress):
    """A progress that asks for the counts when it is drawn, so that counting costs nothing."""

    before_drawing: Callable[[], None] = staticmethod(lambda: None)
    aside: StreamCapture | None = None

    def start(self) -> None:
        """Draw the bar; other output appears above it."""
        super().start()
        if self.aside is not None:
            self.aside.begin()

    def stop(self) -> None:
        """Take the bar away."""
        super().stop()
        if self.aside is not None:
            self.aside.end()

    def get_renderables(self) -> Iterable[RenderableType]:
        """Bring the bar up to date, then draw it."""
        self.before_drawing()
        yield from super().get_renderables()


def new_bar(
    out: TextIO, options: ReportOptions, sync: Callable[[], None], text: Callable[[], Text]
) -> Progress:
    """Return a bar on `out` that goes away when it is stopped."""
    console = Page(cast("TextIO", Direct(out)), options).console
    bar = _Bar(
        " ",
        BarColumn(bar_width=min(30, console.width // 4), complete_style="green", finished_style="green"),
        _Counts(text),
        console=console,
        refresh_per_second=REFRESHES,
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
    )
    bar.before_drawing = sync
    bar.aside = StreamCapture(out, lambda line: console.print(Text.from_ansi(line), soft_wrap=True))
    return bar


def counts_text(done: str, signs: Iterable[tuple[str, Outcome]], speed: str) -> Text:
    """Return `187/200   180 ✓  5 ✕  2 !   12/s, 3s left`."""
    counts = Text("  ").join(Text(sign, STYLES.get(outcome, "dim")) for sign, outcome in signs)
    return Text("   ").join(part for part in (Text(done), counts, Text(speed, "dim")) if part.plain)


def print_above(bar: Progress, sign: str, text: str, outcome: Outcome | None) -> None:
    """Print one line above the bar, cut to the width of the page."""
    style = STYLES.get(outcome, "dim") if outcome is not None else "dim"
    bar.console.print(
        Text.assemble("  ", (f"{sign} ", style), text), no_wrap=True, overflow="ellipsis", crop=True
    )
