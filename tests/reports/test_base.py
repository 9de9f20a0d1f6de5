"""Reports are found by name; rich is loaded only when something is drawn."""

import io
import subprocess
import sys
from pathlib import Path

import pytest

from proctor.cli.outputs import report_for
from proctor.common.registry import REPORTS
from proctor.errors import UnknownNameError
from proctor.reports.base import load_report
from proctor.reports.builtin import REPORTS as BUILTIN
from proctor.reports.plain import PlainReport
from proctor.reports.terminal.run import TerminalReport
from proctor.web.pages.built_page import FOLDER
from tests.reports.sample_runs import sketch
from tests.reports.terminal.test_progress import Terminal
from tests.web.pages.single_file import make_page


@pytest.mark.parametrize("name", BUILTIN)
def test_every_report_writes(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FOLDER, str(make_page(tmp_path / "page")))
    report = load_report(name)
    out = io.StringIO()
    report.write([sketch(1)], out)
    assert out.getvalue().endswith("\n")
    assert isinstance(report.needs_evidence, bool)


def test_an_unknown_report_names_the_closest() -> None:
    with pytest.raises(UnknownNameError, match=r"No report named 'jsno'\. Did you mean 'json' or 'jsonl'\?"):
        load_report("jsno")


def test_a_plug_in_may_be_a_class_or_an_object() -> None:
    plain = PlainReport()
    for plugin in (PlainReport, plain):
        REPORTS.add("mine", plugin)
        try:
            assert isinstance(load_report("mine"), PlainReport)
        finally:
            REPORTS.remove("mine")


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
