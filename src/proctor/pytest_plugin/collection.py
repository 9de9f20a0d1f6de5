"""An eval-set file as a test file, each of its cases as a test."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import pytest

from proctor.common.safe_text import clean
from proctor.errors import SetupError
from proctor.pytest_plugin.failures import CaseFailedError, NoVerdictError, shown_failure, shown_problem
from proctor.pytest_plugin.project import project_of
from proctor.schema.format.case import EvalCase
from proctor.schema.results.outcome import Outcome

if TYPE_CHECKING:
    from proctor.engine.planning.plan import CaseSource
    from proctor.pytest_plugin.batches import Ended

_SHOWN_AS_FAILED = frozenset({Outcome.FAILED, Outcome.INCONCLUSIVE})


def collector_of(path: Path, parent: pytest.Collector, *, for_sure: bool) -> EvalSetFile | None:
    """Return what collects the eval set at `path`; unless it is one `for_sure`, `None` where it has another content."""
    if not for_sure and not _is_set(path):
        return None  # `x.test.yaml` may be a file of another plug-in
    collector: EvalSetFile = EvalSetFile.from_parent(parent, path=path)
    return collector


def _is_set(path: Path) -> bool:
    from proctor.files.eval_sets.check import check_file
    from proctor.files.eval_sets.detect_format import SETS

    return check_file(path).kind in {str(kind) for kind in SETS}


class EvalSetFile(pytest.File):
    """An eval set: checked whole, with its config and the agent, when it is collected."""

    def collect(self) -> Iterable[CaseItem]:
        """Return an item for each case that is to be run.

        Raises:
            SetupError: everything that is wrong with the set, its config, the agent or an option.
        """
        project = project_of(self.config)
        with project.recorded_attempt():
            (chosen,) = project.plan(self.path).plan.sets
        taken: dict[str, int] = {}
        for index in chosen.cases:
            case = chosen.source.case(index)
            name = item_name(case.eval_id)
            taken[name] = taken.get(name, 0) + 1
            name += f"#{taken[name]}" if taken[name] > 1 else ""
            item: CaseItem = CaseItem.from_parent(self, name=name)
            item.of_case(case, chosen.source, index)
            yield item

    def repr_failure(  # type: ignore[override]  # pytest's own collectors take no `style`, either
        self, excinfo: pytest.ExceptionInfo[BaseException]
    ) -> Any:
        """Return what is wrong, one line a problem, for a mistake of the user's."""
        if isinstance(excinfo.value, SetupError):
            return shown_problem(excinfo)
        return super().repr_failure(excinfo)


def item_name(eval_id: str) -> str:
    """Return a case's id as it may stand in a node id: printable, and without what parts node ids."""
    return clean(eval_id).replace("::", r":\x3a") or "(no id)"


def tags_of(case: EvalCase) -> list[str]:
    """Return the tags that a case carries."""
    tags = (case.model_extra or {}).get("tags") or []
    return [tags] if isinstance(tags, str) else [str(tag) for tag in tags]


class CaseItem(pytest.Item):
    """One case of an eval set.

    What could not be computed is an error of its set-up, as pytest has it: the test itself is whether the case passes.
    """

    eval_set_id = eval_id = ""
    position = 0
    """Its place in the set."""
    ended: Ended | None = None
    """What came of it, until the test is over."""
    waited = 0.0
    """Seconds that the session has waited for it, others under way at the same time."""

    def of_case(self, case: EvalCase, source: CaseSource, position: int) -> None:
        """Take what is known of the case before it runs; the case itself is not kept."""
        self.eval_set_id, self.eval_id, self.position = source.eval_set_id, case.eval_id, position
        line = source.where(position).rpartition(":")[2]
        self._line = int(line) - 1 if line.isdecimal() else None
        self.extra_keyword_matches.update(clean(tag) for tag in tags_of(case))

    @property
    def key(self) -> tuple[str, str]:
        """What tells it from other cases of a run."""
        return self.eval_set_id, self.eval_id

    @property
    def options(self) -> dict[str, Any]:
        """Options of `proctor.evaluate` for this case alone, from markers that a conftest.py has added."""
        marked = [mark.kwargs for mark in self.iter_markers("proctor")]
        return {name: value for kwargs in reversed(marked) for name, value in kwargs.items()}

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Return where the case stands."""
        return self.path, self._line, clean(f"{self.eval_set_id}/{self.eval_id}")

    def setup(self) -> None:
        """Wait for what the case came to; the first of several starts them all."""
        if self.config.getoption("setuponly", default=False):
            return
        began = perf_counter()
        try:
            self.ended = project_of(self.config).batches.take(self)
        finally:
            self.waited = perf_counter() - began
        case = self.ended.case
        if case.outcome is Outcome.SKIPPED:
            pytest.skip(clean(case.reason) or "left out")
        if case.outcome is not Outcome.PASSED and case.outcome not in _SHOWN_AS_FAILED:
            raise NoVerdictError(self.ended)

    def runtest(self) -> None:
        """Fail unless the case has passed."""
        if self.ended is None or self.ended.case.outcome is not Outcome.PASSED:
            raise CaseFailedError(self.ended)

    def teardown(self) -> None:
        """Let go of the evidence."""
        self.ended = None

    def begin_report(self, call: pytest.CallInfo[None]) -> None:
        """Forget how pytest came here, which it would look up line by line, where the evidence says it all."""
        excinfo = call.excinfo
        if excinfo is not None and isinstance(excinfo.value, (CaseFailedError, NoVerdictError, SetupError)):
            excinfo.traceback = excinfo.traceback[-1:]

    def finish_report(self, report: pytest.TestReport, call: pytest.CallInfo[None]) -> None:
        """Put into the report what came of the case: its evidence, how long it took, and what the summary needs."""
        report.sections = [(clean(name), clean(text, lines=True)) for name, text in report.sections]
        if call.when == "setup":
            report.duration = max(0.0, report.duration - self.waited)
        if call.excinfo is not None:
            self._show(report, call.excinfo)
        if self.ended is not None and (call.when == "call" or (call.when == "setup" and not report.passed)):
            report.duration += self.ended.seconds
            report.proctor = self.ended.told()  # type: ignore[attr-defined]  # any attribute travels with a report
            self.user_properties[:] = dict([*self.user_properties, *self.ended.properties()]).items()

    def _show(self, report: pytest.TestReport, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        error = excinfo.value
        if isinstance(error, SetupError):
            report.longrepr = shown_problem(excinfo)
        elif isinstance(error, NoVerdictError | CaseFailedError) and error.ended is not None:
            report.longrepr = shown_failure(excinfo, error.ended.case, self)
        elif report.skipped and isinstance(report.longrepr, tuple):
            path, line, _ = self.reportinfo()
            report.longrepr = (str(path), (line or 0) + 1, report.longrepr[2])
