"""The locked environments: pinned, hashed, without addresses, and consistent with pyproject.toml."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

LOCKED = ["build", "run", "test", "adk", "judges", "adk-eval", "frameworks"]


@pytest.fixture(scope="module")
def project(root: Path) -> dict[str, Any]:
    table: dict[str, Any] = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return table


def _sources(root: Path, name: str) -> set[str]:
    lines = (root / "requirements" / f"{name}.in").read_text(encoding="utf-8").splitlines()
    return {line for line in lines if line and not line.startswith(("#", "-"))}


def _pins(root: Path, name: str) -> list[str]:
    joined = (root / "requirements" / f"{name}.txt").read_text(encoding="utf-8").replace("\\\n", " ")
    return joined.splitlines()


@pytest.mark.parametrize("name", LOCKED)
def test_every_line_is_one_version_with_its_hashes(root: Path, name: str) -> None:
    pin = re.compile(r"[a-z0-9.-]+==[\w.]+( ; [^#]+?)?(\s+--hash=sha256:[0-9a-f]{64})+\s*")
    assert [line for line in _pins(root, name) if not pin.fullmatch(line)] == []


def test_environments_agree_on_versions(root: Path) -> None:
    versions: dict[str, set[str]] = {}
    for name in LOCKED:
        for line in _pins(root, name):
            package, _, rest = line.partition("==")
            marker = rest.partition(";")[2].partition("--hash")[0].strip()
            versions.setdefault(f"{package} {marker}", set()).add(rest.split()[0])
    assert {package: found for package, found in versions.items() if len(found) > 1} == {}


def test_core_dependencies(root: Path, project: dict[str, Any]) -> None:
    assert _sources(root, "run") == set(project["dependencies"])


@pytest.mark.parametrize(
    ("extra", "name"),
    [
        ("test", "test"),
        ("dev", "test"),
        ("adk", "adk"),
        ("judges", "judges"),
        ("judges-anthropic", "judges"),
        ("judges-bedrock", "judges"),
        ("judges-google", "judges"),
        ("judges-openai", "judges"),
        ("judges", "adk-eval"),
        ("http", "judges"),
        ("gcs", "adk"),
        ("s3", "adk"),
        ("bench", "test"),
        ("rapidfuzz", "test"),
        ("jsonschema", "test"),
        ("jinja2", "test"),
        ("langgraph", "frameworks"),
        ("openai-agents", "frameworks"),
        ("traces", "frameworks"),
    ],
)
def test_extras(root: Path, project: dict[str, Any], extra: str, name: str) -> None:
    assert set(project["optional-dependencies"][extra]) <= _sources(root, name)


def test_extra_judges_installs_together_with_google_adk_eval(root: Path, project: dict[str, Any]) -> None:
    """`make lock` resolves both into one environment, and that lock has what each of them brings."""
    assert "google-adk[eval]>=2.0" in _sources(root, "adk-eval")
    locked = {line.partition("==")[0] for line in _pins(root, "adk-eval")}
    assert {"google-adk", "litellm", "pydantic-ai-slim", "google-genai", "anthropic", "boto3"} <= locked


@pytest.mark.parametrize("provider", ["anthropic", "bedrock", "google", "openai"])
def test_each_provider_of_judges_has_an_extra_that_requires_no_other(
    project: dict[str, Any], provider: str
) -> None:
    extras = project["optional-dependencies"]
    (required,) = [one for one in extras[f"judges-{provider}"] if one.startswith("pydantic-ai-slim")]
    assert re.fullmatch(rf"pydantic-ai-slim\[{provider}\]>=[\d.]+", required)


def test_judges_requires_no_package_that_google_adk_eval_excludes(project: dict[str, Any]) -> None:
    assert [one for one in project["optional-dependencies"]["judges"] if "openai" in one] == []
