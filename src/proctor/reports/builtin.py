"""The reports that come with Proctor, by the name that `--report NAME=PATH` takes."""

from __future__ import annotations

REPORTS: dict[str, str] = {
    "json": "proctor.reports.formats.json:JsonReport",
    "jsonl": "proctor.reports.formats.json:JsonlReport",
    "csv": "proctor.reports.formats.csv:CsvReport",
    "csv-raw": "proctor.reports.formats.csv:RawCsvReport",
    "adk": "proctor.reports.formats.adk:AdkReport",
    "junit": "proctor.reports.formats.junit:JunitReport",
    "github": "proctor.reports.formats.github:GithubReport",
    "markdown": "proctor.reports.formats.markdown:MarkdownReport",
    "md": "proctor.reports.formats.markdown:MarkdownReport",
    "svg": "proctor.reports.formats.svg:SvgReport",
    "adk-rs": "proctor.reports.formats.adk:AdkRsReport",
    "text": "proctor.reports.plain:PlainReport",
    "html": "proctor.web.pages.bundle.html_report:HtmlReport",
}
