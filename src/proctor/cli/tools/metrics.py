"""`proctor metrics`: list the metrics and their requirements."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

import click

from proctor.cli.command_base import SectionedCommand, argument, common_options, option
from proctor.cli.print_lines import print_lines
from proctor.common.registry import METRICS
from proctor.common.safe_text import clean_json
from proctor.metrics.base import MetricFacts, example_of, metric_options, needs_of, range_of
from proctor.runs.metric_facts import facts_of

EXAMPLES = """
proctor metrics
proctor metrics tool_trajectory_avg_score
proctor metrics --json
"""


@click.command("metrics", cls=SectionedCommand, examples=EXAMPLES)
@argument("name", required=False, completes="METRIC")
@option("--json", "as_json", section="What to show", is_flag=True, help="Everything, as JSON.")
@common_options
def metrics(name: str | None, *, as_json: bool) -> None:
    """List the metrics, or explain one.

    A metric is used by naming it under `criteria` in a config, with a threshold or with options.
    """
    facts = [facts_of(each) for each in ([name] if name else METRICS.names())]
    if as_json:
        rows = [_as_data(each) for each in facts]
        click.echo(
            clean_json(json.dumps(rows[0] if name else {"metrics": rows}, indent=2, ensure_ascii=False))
        )
    elif name:
        print_lines(_explanation(facts[0]))
    else:
        print_lines(_list(facts))


def _list(metrics: Iterable[MetricFacts]) -> Iterator[str]:
    for facts in metrics:
        yield facts.name
        yield f"  {facts.description}"
        yield f"  {'; '.join(_summary_lines(facts))}"
    yield ""
    yield "`proctor metrics NAME` explains one."


def _summary_lines(facts: MetricFacts) -> Iterator[str]:
    yield f"needs {needs_of(facts)}"
    if not facts.gates:
        yield "always reported, never decides"
    else:
        yield f"from {range_of(facts)}"
        if facts.default_threshold is not None:
            yield f"default threshold {facts.default_threshold:g}"


def _explanation(facts: MetricFacts) -> Iterator[str]:
    yield facts.name
    yield f"  {facts.description}"
    yield ""
    yield f"  kind       {facts.kind}"
    yield f"  needs      {needs_of(facts)}"
    if facts.gates:
        yield f"  scores     {range_of(facts)}"
        if facts.default_threshold is not None:
            yield f"  threshold  {facts.default_threshold:g} unless the criterion sets another"
    else:
        yield "  decides    nothing: it is always reported, and takes no threshold"
    if facts.source:
        yield f"  from       {facts.source}"
    if facts.gates:
        yield from _options(facts)
        yield from _sample(facts)


def _options(facts: MetricFacts) -> Iterator[str]:
    options = metric_options(facts)
    width = max(map(len, options))
    yield ""
    yield "  options of its criterion"
    for name, meaning in options.items():
        yield f"    {name:<{width}}  {meaning}"


def _sample(facts: MetricFacts) -> Iterator[str]:
    yield ""
    yield "  in a config"
    document = json.dumps({"criteria": example_of(facts)}, indent=2, ensure_ascii=False)
    yield from (f"    {line}" for line in document.splitlines())


def _as_data(facts: MetricFacts) -> dict[str, Any]:
    return {
        "name": facts.name,
        "description": facts.description,
        "kind": facts.kind,
        "needs": sorted(facts.needs),
        "gates": facts.gates,
        "minimum": None if facts.minimum == float("-inf") else facts.minimum,
        "maximum": facts.maximum,
        "default_threshold": facts.default_threshold,
        "options": metric_options(facts),
        "source": facts.source or None,
        "example": {"criteria": example_of(facts)} if facts.gates else None,
    }
