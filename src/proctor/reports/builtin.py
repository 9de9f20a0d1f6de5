"""The reports that come with Proctor, by the name that `--report NAME=PATH` takes."""

from __future__ import annotations

REPORTS: dict[str, str] = {
    "json": "proctor.reports.json_report:JsonReport",
    "jsonl": "proctor.reports.jsonl:JsonlReport",
    "csv": "proctor.reports.csv_report:CsvReport",
    "csv-raw": "proctor.reports.csv_report:RawCsvReport",
    "adk": "proctor.reports.adk_results:AdkReport",
    "junit": "proctor.reports.junit:JunitReport",
    "github": "proctor.reports.github:GithubReport",
    "markdown": "proctor.reports.markdown:MarkdownReport",
    "md": "proctor.reports.markdown:MarkdownReport",
    "adk-rs": "proctor.reports.adk_rs:AdkRsReport",
    "text": "proctor.reports.plain:PlainReport",
    "html": "proctor.reports.html:HtmlReport",
}
