"""The reports that come with Proctor, by the name that `--report NAME=PATH` takes."""

from __future__ import annotations

REPORTS: dict[str, str] = {
    "json": "proctor.reports.json_report:JsonReport",
    "text": "proctor.reports.plain:PlainReport",
}
