"""What of two runs' metrics may have changed without anybody knowing: code that is not wholly known."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from proctor.schema.analysis.comparison import Unlike
from proctor.schema.results.manifest import UNKNOWN_MODULES, MetricManifest


def unknown_changes(name: str, both: Sequence[MetricManifest]) -> Iterator[Unlike]:
    """Name what of a metric, as both runs have it, may have changed: its modules, or the code of its judge."""
    if any(one.modules == UNKNOWN_MODULES for one in both):
        yield Unlike("code", f"whether the modules that the metric {name} imports changed is not known")
    if any(one.judge_code == UNKNOWN_MODULES for one in both):
        yield Unlike("judge", f"whether the code of the judge of {name} changed is not known")
