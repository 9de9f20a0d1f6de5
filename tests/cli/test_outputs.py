"""The report on the screen: drawn on a terminal, plain lines elsewhere; rich is loaded only when something is drawn."""

import io
import subprocess
import sys

import pytest

from proctor.cli.outputs import report_for
from proctor.reports.plain import PlainReport
from proctor.reports.terminal.run import TerminalReport
from tests.reports.terminal.test_progress import Terminal


def test_a_terminal_gets_a_drawing_and_a_pipe_gets_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    assert isinstance(report_for(Terminal()), TerminalReport)
    assert isinstance(report_for(io.StringIO()), PlainReport)


def test_rich_is_not_loaded_before_something_is_drawn() -> None:
    code = (
        "import sys, io; import proctor.cli.outputs, proctor.reports.terminal.progress, proctor.reports.formats.json;"
        "proctor.cli.outputs.report_for(out := io.StringIO()).write([], out);"
        "proctor.reports.terminal.progress.watch(io.StringIO());"
        "sys.exit(any(name.split('.')[0] == 'rich' for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
