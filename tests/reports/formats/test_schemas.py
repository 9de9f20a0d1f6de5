"""The published schemas are complete: every key of a report is in its schema, and every key of a schema is used."""

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings

import proctor
from proctor.reports.base import load_report
from proctor.schema.evidence.trial import Failure, Trial
from proctor.schema.evidence.turn import Span, Turn, TurnTrace
from proctor.schema.format.wire_model import WireModel
from proctor.schema.results.run_result import RunResult
from tests.reports.generated_runs import runs
from tests.reports.sample_runs import run, sketch

ROOT = Path(__file__).resolve().parents[3]


def schema(name: str) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(
        (ROOT / f"docs/schemas/{name}.schema.json").read_text(encoding="utf-8")
    )
    return loaded


def closed(node: Any) -> Any:
    """The schema with nothing allowed that it does not name."""
    if isinstance(node, list):
        return [closed(each) for each in node]
    if not isinstance(node, dict):
        return node
    if node.get("$ref") in {"#/$defs/details", "#/$defs/call"}:
        return True  # a metric may put anything into its details
    changed = {key: closed(value) for key, value in node.items()}
    if "properties" in node and isinstance(node["properties"], dict) and "additionalProperties" not in node:
        changed["additionalProperties"] = False
    return changed


def documents(name: str, *results: RunResult) -> list[Any]:
    out = io.StringIO()
    load_report("json" if name == "report" else "jsonl").write(list(results), out)
    return (
        [json.loads(out.getvalue())]
        if name == "report"
        else [json.loads(line) for line in out.getvalue().splitlines()]
    )


NAMES = ["report", "trials"]


@pytest.mark.parametrize("name", NAMES)
def test_it_is_a_schema(name: str) -> None:
    jsonschema.Draft202012Validator.check_schema(schema(name))


@pytest.mark.slow
@pytest.mark.nightly(check=1)
@pytest.mark.parametrize("name", NAMES)
@given(result=runs())
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_every_key_of_every_run_is_named(name: str, result: RunResult) -> None:
    validator = jsonschema.Draft202012Validator(closed(schema(name)))
    for document in documents(name, result):
        assert [
            f"{error.json_path}: {error.message[:200]}" for error in validator.iter_errors(document)
        ] == []


@pytest.fixture(scope="module")
def real() -> list[RunResult]:
    """The sample's runs: one that fails in every way, repeated; and the hand-made one."""
    travel = ROOT / "examples" / "travel"
    found = proctor.evaluate_sync(travel / "flawed.py", travel / "bookings.evalset.json", num_runs=2)
    return [found, sketch(2), run()]


@pytest.mark.parametrize("name", NAMES)
def test_the_sample_fits(name: str, real: list[RunResult]) -> None:
    validator = jsonschema.Draft202012Validator(closed(schema(name)))
    for document in documents(name, *real):
        assert [
            f"{error.json_path}: {error.message[:200]}" for error in validator.iter_errors(document)
        ] == []


def _required(node: Any, path: str = "") -> Iterator[tuple[str, set[str], set[str]]]:
    if isinstance(node, dict):
        if isinstance(node.get("properties"), dict):
            yield path, set(node["properties"]), set(node.get("required", []))
        for key, value in node.items():
            yield from _required(value, f"{path}/{key}")
    elif isinstance(node, list):
        for index, value in enumerate(node):
            yield from _required(value, f"{path}/{index}")


@pytest.mark.parametrize("name", NAMES)
def test_what_is_required_is_described(name: str) -> None:
    for path, properties, required in _required(schema(name)):
        assert required <= properties, path


@pytest.mark.parametrize("model", [Trial, Turn, TurnTrace, Span, Failure], ids=lambda model: model.__name__)
@pytest.mark.parametrize("name", NAMES)
def test_every_field_of_the_evidence_is_named(name: str, model: type[WireModel]) -> None:
    described = [properties for _, properties, _ in _required(schema(name))]
    assert any({*model.model_fields} <= properties for properties in described)
