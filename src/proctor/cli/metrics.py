"""`proctor metrics`: what there is to measure with, and what each metric needs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import click

from proctor.cli.common import SectionedCommand, common_options, option
from proctor.errors import SetupError
from proctor.metrics.base import COMMON_OPTIONS, MetricFacts
from proctor.registry import METRICS
from proctor.sanitize import clean, clean_json

EXAMPLES = """
proctor metrics
proctor metrics tool_trajectory_avg_score
proctor metrics --json
"""

_NEEDS = {
    "expected": "a recorded conversation",
    "expected_state": "final_session_state in the case",
    "rubrics": "rubrics",
    "scenario": "a conversation scenario",
    "judge": "a judge model",
}


@click.command("metrics", cls=SectionedCommand, examples=EXAMPLES)
@click.argument("name", required=False)
@option("--json", "as_json", section="What to show", is_flag=True, help="Everything, as JSON.")
@common_options
def metrics(name: str | None, *, as_json: bool) -> None:
    """List the metrics, or explain one.

    A metric is used by naming it under `criteria` in a config, with a threshold or with options.
    """
    found = [_facts(each) for each in ([name] if name else METRICS.names())]
    if as_json:
        listed = [_as_data(each) for each in found]
        click.echo(
            clean_json(json.dumps(listed[0] if name else {"metrics": listed}, indent=2, ensure_ascii=False))
        )
    elif name:
        click.echo("\n".join(clean(line) for line in _explained(found[0])))
    else:
        click.echo("\n".join(clean(line) for line in _table(found)))


def _facts(name: str) -> MetricFacts:
    """Return the facts of a metric; a plug-in function has none of its own."""
    plugin = METRICS.get(name)
    facts = getattr(plugin, "facts", None)
    if isinstance(facts, MetricFacts):
        return facts
    if not callable(plugin):
        raise SetupError(f"The metric {name!r} is {type(plugin).__name__}: neither a metric nor a function.")
    first_line = next(iter((plugin.__doc__ or "").strip().splitlines()), "")
    return MetricFacts(name=name, description=first_line, kind="custom", minimum=float("-inf"), maximum=None)


def _table(found: list[MetricFacts]) -> Iterator[str]:
    ready = [facts for facts in found if not facts.unavailable]
    missing = [facts for facts in found if facts.unavailable]
    width = max(len(facts.name) for facts in found)
    for facts in ready:
        yield f"{facts.name:<{width}}  {facts.description}"
        yield f"{'':<{width}}  {'; '.join(_in_short(facts))}"
    if missing:
        yield ""
        yield "Known by name, and not in this version (a config that asks for one is refused):"
        for facts in missing:
            yield f"{facts.name:<{width}}  {facts.description}"
    yield ""
    yield "`proctor metrics NAME` explains one."


def _in_short(facts: MetricFacts) -> Iterator[str]:
    yield f"needs {_needs(facts)}" if facts.needs else "needs nothing"
    if not facts.gates:
        yield "always reported, never decides"
    else:
        yield f"from {_range(facts)}"
        if facts.default_threshold is not None:
            yield f"default threshold {facts.default_threshold:g}"


def _needs(facts: MetricFacts) -> str:
    return ", ".join(_NEEDS.get(need, need) for need in sorted(facts.needs))


def _range(facts: MetricFacts) -> str:
    low = "any number" if facts.minimum == float("-inf") else f"{facts.minimum:g}"
    high = "any number" if facts.maximum is None else f"{facts.maximum:g}"
    return f"{low} to {high}"


def _explained(facts: MetricFacts) -> Iterator[str]:
    yield facts.name
    yield f"  {facts.description}"
    if facts.unavailable:
        yield f"  Not in this version: {facts.unavailable}."
    yield ""
    yield f"  kind       {facts.kind}"
    yield f"  needs      {_needs(facts) or 'nothing'}"
    if facts.gates:
        yield f"  scores     {_range(facts)}"
        if facts.default_threshold is not None:
            yield f"  threshold  {facts.default_threshold:g} unless the criterion says otherwise"
    else:
        yield "  decides    nothing: it is always reported, and takes no threshold"
    if facts.source:
        yield f"  from       {facts.source}"
    if facts.gates:
        yield from _options(facts)
        yield from _sample(facts)


def _options(facts: MetricFacts) -> Iterator[str]:
    options = _options_of(facts)
    width = max(map(len, options))
    yield ""
    yield "  options of its criterion"
    for name, meaning in options.items():
        yield f"    {name:<{width}}  {meaning}"


def _options_of(facts: MetricFacts) -> dict[str, str]:
    """Return the options that mean something to this metric."""
    common = {
        name: meaning
        for name, meaning in COMMON_OPTIONS.items()
        if facts.kind == "judge" or "judge" not in meaning
    }
    return {**facts.options, **common}


def _sample(facts: MetricFacts) -> Iterator[str]:
    threshold = facts.default_threshold if facts.default_threshold is not None else 0.8
    yield ""
    yield "  in a config"
    yield f'    {{"criteria": {{"{facts.name}": {threshold:g}}}}}'
    if facts.options:
        option_name, meaning = next(iter(facts.options.items()))
        value = "true" if meaning.startswith("true") else json.dumps(meaning.split(" ", 1)[0])
        yield f'    {{"criteria": {{"{facts.name}": {{"threshold": {threshold:g}, "{option_name}": {value}}}}}}}'


def _as_data(facts: MetricFacts) -> dict[str, Any]:
    return {
        "name": facts.name,
        "description": facts.description,
        "kind": facts.kind,
        "available": not facts.unavailable,
        "unavailable": facts.unavailable or None,
        "needs": sorted(facts.needs),
        "gates": facts.gates,
        "minimum": None if facts.minimum == float("-inf") else facts.minimum,
        "maximum": facts.maximum,
        "default_threshold": facts.default_threshold,
        "options": _options_of(facts) if facts.gates else {},
        "source": facts.source or None,
    }
