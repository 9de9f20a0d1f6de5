"""Reports are found by name."""

import io
from pathlib import Path

import pytest

from proctor.common.registry import REPORTS
from proctor.errors import UnknownNameError
from proctor.reports.base import load_report
from proctor.reports.builtin import REPORTS as BUILTIN
from proctor.reports.plain import PlainReport
from proctor.web.pages.built_page import FOLDER
from tests.reports.sample_runs import sketch
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
