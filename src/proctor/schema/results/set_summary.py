"""The summary of one eval set of a run."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from proctor.schema.evidence.trial import Failure
from proctor.schema.results.repeats import TrialRule

NOT_JUDGED = "not judged"
"""The `config_source` of a set that could not be run."""


@dataclass(slots=True)
class SetSummary:
    """One eval set of a run, with the config that scored it."""

    eval_set_id: str
    path: str | None
    config_source: str
    """The config file's path, or a description of where the criteria are from."""
    cases: int
    metrics: list[str] = field(default_factory=list)
    """Names of the computed metrics, gating ones first."""
    skipped_metrics: dict[str, str] = field(default_factory=dict)
    """Metrics left out on purpose, and by what."""
    failure: Failure | None = None
    """Why the set could not be run (`keep_going`)."""
    num_runs: int = 1
    """Trials of each case."""
    rule: TrialRule | None = None
    """The required pass rate of a case; `None`: every metric's mean over the trials decides."""
    criteria: dict[str, Any] = field(default_factory=dict)
    """The criteria by metric as the config has them, as JSON: thresholds or objects."""
