"""Collect an eval-set file as a test file, with each case as a test item."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

import pytest

from proctor.common.safe_text import clean
from proctor.errors import SetupError
from proctor.pytest_plugin.batches import BatchItem, batches_of
from proctor.pytest_plugin.failures import (
    CaseFailedError,
    ItemResult,
    NoVerdictError,
    failure_representation,
    problem_representation,
)
from proctor.pytest_plugin.project import project_of
from proctor.runs.setup.settings import relative_to_working_folder
from proctor.schema.format.case import EvalCase, tags_of
from proctor.schema.results.score import Outcome

if TYPE_CHECKING:
    from _pytest._code.code import TerminalRepr

    from proctor.engine.planning.set_plan import CaseSource

_SHOWN_AS_FAILED = frozenset({Outcome.FAILED, Outcome.INCONCLUSIVE})


def collector_of(path: Path, parent: pytest.Collector, *, certain: bool) -> EvalSetFile | None:
    """Return the collector of the eval set at `path`; unless `certain`, return `None` if the content is not an eval set."""
    if not certain and not _is_set(path):
        return None  # `x.test.yaml` may belong to another plug-in
    collector: EvalSetFile = EvalSetFile.from_parent(parent, path=path)
    return collector


def _is_set(path: Path) -> bool:
    from proctor.files.eval_sets.documents import SETS
    from proctor.files.eval_sets.file_problems import check_file

    return check_file(path).kind in {str(kind) for kind in SETS}


class EvalSetFile(pytest.File):
    """An eval set; its collection validates the set, its config and the agent."""

    def collect(self) -> Iterable[CaseItem | AuditItem]:
        """Return an item for each case to run, and one for the audit if it is requested.

        Raises:
            SetupError: all problems of the set, its config, the agent or an option.
        """
        project = project_of(self.config)
        with project.recorded_attempt():
            (planned_set,) = project.plan(self.path).plan.sets
        counts: dict[str, int] = {}
        for index in planned_set.cases:
            case = planned_set.source.case(index)
            name = item_name(case.eval_id)
            counts[name] = counts.get(name, 0) + 1
            name += f"#{counts[name]}" if counts[name] > 1 else ""
            item: CaseItem = CaseItem.from_parent(self, name=name)
            item.of_case(case, planned_set.source, index)
            yield item
        if project.audited_share is not None:
            yield AuditItem.from_parent(self, name="(audit)")

    def repr_failure(  # type: ignore[override]  # pytest's own collectors omit `style`, too
        self, excinfo: pytest.ExceptionInfo[BaseException]
    ) -> str | TerminalRepr:
        """Return the messages of a configuration error, one problem per line; leave other errors to pytest."""
        if isinstance(excinfo.value, SetupError):
            return problem_representation(excinfo)
        own: str | TerminalRepr = super().repr_failure(excinfo)
        return own


class AuditFailedError(Exception):
    """The audit of an eval set as text: too few mutants are caught, or an agent that does nothing passes a case."""


class AuditItem(pytest.Item):
    """The audit of an eval set. It runs after the cases of the session, which form one batch."""

    def runtest(self) -> None:
        """Fail if the set catches too few mutants, or an agent that does nothing passes a case."""
        from proctor.authoring.audit.audit_report import audit_text
        from proctor.authoring.audit.audit_sentence import shortfall
        from proctor.authoring.audit.audit_sets import audit_sync

        project = project_of(self.config)
        notify = partial(self.add_report_section, "call", "proctor")
        path = relative_to_working_folder(str(self.path))
        report = audit_sync(path, proposals=False, notify=notify, **project.audit_options())
        if problem := shortfall(report, project.audited_share or 0.0):
            raise AuditFailedError(f"{problem}\n{audit_text(report)}")

    def repr_failure(  # type: ignore[override]  # as above
        self, excinfo: pytest.ExceptionInfo[BaseException]
    ) -> str | TerminalRepr:
        """Return the audit instead of a traceback."""
        if isinstance(excinfo.value, AuditFailedError):
            return str(excinfo.value)
        if isinstance(excinfo.value, SetupError):
            return problem_representation(excinfo)
        own: str | TerminalRepr = super().repr_failure(excinfo)
        return own

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Return the eval set."""
        return self.path, None, f"audit of {clean(self.path.name)}"


def item_name(eval_id: str) -> str:
    """Return a case's id for a node id: printable, and without `::`, which separates the parts of node ids."""
    return clean(eval_id).replace("::", r":\x3a") or "(no id)"


class CaseItem(BatchItem):
    """One case of an eval set.

    The item runs the case in its setup: an outcome of *error* is an error of the setup, and the test itself checks whether
    the case passed.
    """

    result: ItemResult | None = None
    """Result of the case, until the teardown of the item."""
    waited = 0.0
    """Seconds that the session has waited for this case, while others may have run at the same time."""

    def of_case(self, case: EvalCase, source: CaseSource, position: int) -> None:
        """Set what is known about the case before it runs; the item does not store the case itself."""
        self.eval_set_id, self.eval_id, self.position = source.eval_set_id, case.eval_id, position
        line = source.where(position).rpartition(":")[2]
        self._line = int(line) - 1 if line.isdecimal() else None
        self.extra_keyword_matches.update(clean(tag) for tag in tags_of(case))

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Return the location of the case."""
        return self.path, self._line, clean(f"{self.eval_set_id}/{self.eval_id}")

    def setup(self) -> None:
        """Wait for the result of the case; the first item of a batch starts the run of the whole batch."""
        if self.config.getoption("setuponly", default=False):
            return
        began = perf_counter()
        try:
            self.result = batches_of(self.config).take(self)
        finally:
            self.waited = perf_counter() - began
        case = self.result.case
        if case.outcome is Outcome.SKIPPED:
            pytest.skip(clean(case.reason) or "left out")
        if case.outcome is not Outcome.PASSED and case.outcome not in _SHOWN_AS_FAILED:
            raise NoVerdictError(self.result)

    def runtest(self) -> None:
        """Fail unless the case has passed."""
        if self.result is None or self.result.case.outcome is not Outcome.PASSED:
            raise CaseFailedError(self.result)

    def teardown(self) -> None:
        """Release the evidence."""
        self.result = None

    def begin_report(self, call: pytest.CallInfo[None]) -> None:
        """Drop pytest's internal traceback, which is slow to format and adds nothing to the evidence."""
        excinfo = call.excinfo
        if excinfo is not None and isinstance(excinfo.value, (CaseFailedError, NoVerdictError, SetupError)):
            excinfo.traceback = excinfo.traceback[-1:]

    def finish_report(self, report: pytest.TestReport, call: pytest.CallInfo[None]) -> None:
        """Add the result of the case to the report: its evidence, its duration, and the data for the summary."""
        report.sections = [(clean(name), clean(text, lines=True)) for name, text in report.sections]
        if call.when == "setup":
            report.duration = max(0.0, report.duration - self.waited)
        if call.excinfo is not None:
            self._show(report, call.excinfo)
        if self.result is not None and (call.when == "call" or (call.when == "setup" and not report.passed)):
            report.duration += self.result.seconds
            report.proctor = self.result.summary_data()  # type: ignore[attr-defined]  # pytest serializes all attributes of a report
            self.user_properties[:] = dict([*self.user_properties, *self.result.properties()]).items()

    def _show(self, report: pytest.TestReport, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        error = excinfo.value
        if isinstance(error, SetupError):
            report.longrepr = problem_representation(excinfo)
        elif isinstance(error, NoVerdictError | CaseFailedError) and error.result is not None:
            report.longrepr = failure_representation(excinfo, error.result.case, self)
        elif report.skipped and isinstance(report.longrepr, tuple):
            path, line, _ = self.reportinfo()
            report.longrepr = (str(path), (line or 0) + 1, report.longrepr[2])
