"""Former names of documented modules: importing one returns the module under its present name."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec

RENAMED = {
    "proctor.agents.langgraph": "proctor.agents.frameworks.langgraph",
    "proctor.agents.openai_agents": "proctor.agents.frameworks.openai_agents",
    "proctor.agents.pydantic_ai": "proctor.agents.frameworks.pydantic_ai",
    "proctor.api.authoring": "proctor.authoring.edit_eval_set",
    "proctor.api.baselines": "proctor.analysis.compare.baselines",
    "proctor.api.blessing": "proctor.authoring.bless",
    "proctor.api.calibrating": "proctor.analysis.calibration.calibrate",
    "proctor.api.checking": "proctor.authoring.check_files",
    "proctor.api.comparing": "proctor.analysis.compare.compare_runs",
    "proctor.api.estimating": "proctor.runs.estimate",
    "proctor.api.evaluating": "proctor.runs.evaluate",
    "proctor.api.exporting": "proctor.runs.storage.export",
    "proctor.api.generating": "proctor.authoring.generate_scenarios",
    "proctor.api.importing_runs": "proctor.runs.importing.import_runs",
    "proctor.api.labelling": "proctor.analysis.calibration.labels",
    "proctor.api.looking_back": "proctor.analysis.history.history",
    "proctor.api.planning": "proctor.analysis.power.plan",
    "proctor.api.reading": "proctor.runs.load",
    "proctor.api.receiving_traces": "proctor.runs.traces.receiver",
    "proctor.api.rescoring": "proctor.runs.rescore",
    "proctor.api.resuming": "proctor.runs.resume",
    "proctor.api.runs": "proctor.runs.storage.queries",
    "proctor.api.scoring": "proctor.runs.score",
    "proctor.api.traces": "proctor.runs.traces.score",
    "proctor.authoring.check": "proctor.authoring.check_files",
    "proctor.authoring.traces_to_eval_set": "proctor.authoring.record",
    "proctor.reports.csv_report": "proctor.reports.formats.csv",
    "proctor.schema.baseline": "proctor.schema.analysis.comparison",
    "proctor.schema.calibration": "proctor.schema.analysis.calibration",
    "proctor.schema.case": "proctor.schema.format.case",
    "proctor.schema.comparison": "proctor.schema.analysis.comparison",
    "proctor.schema.config": "proctor.schema.format.config",
    "proctor.schema.content": "proctor.schema.format.content",
    "proctor.schema.criterion": "proctor.schema.format.criterion",
    "proctor.schema.estimate": "proctor.schema.results.model_usage",
    "proctor.schema.eval_set": "proctor.schema.format.case",
    "proctor.schema.event": "proctor.schema.evidence.event",
    "proctor.schema.evidence.span": "proctor.schema.evidence.turn",
    "proctor.schema.history": "proctor.schema.analysis.history",
    "proctor.schema.invocation": "proctor.schema.format.invocation",
    "proctor.schema.label": "proctor.schema.analysis.calibration",
    "proctor.schema.results.estimate": "proctor.schema.results.model_usage",
    "proctor.schema.rubric": "proctor.schema.format.rubric",
    "proctor.schema.run": "proctor.schema.results.manifest",
    "proctor.schema.run_size": "proctor.schema.analysis.power_plan",
    "proctor.schema.score": "proctor.schema.results.score",
    "proctor.schema.span": "proctor.schema.evidence.turn",
    "proctor.schema.trial": "proctor.schema.evidence.trial",
    "proctor.schema.verdict": "proctor.schema.results.run_result",
    "proctor.simulation.generate": "proctor.simulation.generate_scenarios",
}


class ModuleAliases:
    """An import finder and loader that imports a module under a second name."""

    def __init__(self, target_of: Callable[[str], str | None]) -> None:
        """Take the function that returns the present name of a module, or `None` if a name is not an alias."""
        self._target_of = target_of
        self._specs: dict[str, ModuleSpec | None] = {}

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return how to load the module, if its name is an alias."""
        present = self._target_of(fullname)
        if present is None:
            return None
        from importlib.machinery import ModuleSpec

        module = import_module(present)
        loader: Any = (
            self  # typeshed wants a subclass of importlib.abc.Loader, which would be imported for nothing
        )
        return ModuleSpec(fullname, loader, loader_state=module, is_package=hasattr(module, "__path__"))

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Return the module under its present name."""
        module: ModuleType = spec.loader_state
        self._specs[module.__name__] = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Restore the module's own spec, which the import replaced; the module has run already."""
        module.__spec__ = self._specs.pop(module.__name__)


_FINDER = ModuleAliases(RENAMED.get)


def find_renamed_modules() -> None:
    """Make the old names importable. The finder comes last, so that only imports that would fail reach it."""
    if _FINDER not in sys.meta_path:
        sys.meta_path.append(_FINDER)
