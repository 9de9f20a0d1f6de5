"""What exactly was run: a run's manifest, from a real project under version control."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import proctor
from proctor.schema.results.manifest import Manifest

AGENT = """
async def answer(text: str) -> str:
    return "ok"
root_agent = answer
"""
SET: dict[str, Any] = {
    "eval_set_id": "tiny",
    "eval_cases": [
        {
            "eval_id": "one",
            "conversation": [
                {
                    "user_content": {"parts": [{"text": "hi"}]},
                    "final_response": {"parts": [{"text": "ok"}]},
                    "intermediate_data": {},
                }
            ],
        }
    ],
}
CONFIG = {"criteria": {"response_match_score": 0.8}}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with an agent, a set and a config, committed once."""
    folder = tmp_path / "tiny_agent"
    folder.mkdir()
    (folder / "__init__.py").write_text("from . import agent\n", encoding="utf-8")
    (folder / "agent.py").write_text(AGENT, encoding="utf-8")
    (folder / "tiny.evalset.json").write_text(json.dumps(SET), encoding="utf-8")
    (folder / "test_config.json").write_text(json.dumps(CONFIG), encoding="utf-8")
    (tmp_path / ".gitignore").write_text("runs.sqlite3*\n__pycache__/\n", encoding="utf-8")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "-c", "user.name=t", "-c", "user.email=t@example.invalid", "commit", "-q", "-m", "first")
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    for name in [name for name in sys.modules if name.partition(".")[0] == "tiny_agent"]:
        del sys.modules[name]


def git(folder: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def manifest_of(**options: Any) -> Manifest:
    result = proctor.evaluate_sync(
        "tiny_agent", "tiny_agent/tiny.evalset.json", store="runs.sqlite3", **options
    )
    return proctor.open_store("runs.sqlite3").manifest(result.run_id)


@pytest.mark.slow
def test_manifest_names_agent_and_code(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "proctor.runs.setup.manifest._GIT_SECONDS", 60.0
    )  # a busy machine may need more than there is
    manifest = manifest_of()
    assert manifest.agent.reference == "tiny_agent"
    assert manifest.agent.label == "tiny_agent"
    assert manifest.agent.commit == git(project, "rev-parse", "HEAD")
    source = manifest.agent.source_hash
    (project / "tiny_agent" / "agent.py").write_text(AGENT + "# edited\n", encoding="utf-8")
    edited = manifest_of()
    assert edited.agent.source_hash != source
    assert edited.agent.commit == git(project, "rev-parse", "HEAD") + "+"


@pytest.mark.slow
def test_manifest_names_sets_cases_and_configs(project: Path) -> None:
    manifest = manifest_of(num_runs=2)
    (one,) = manifest.sets
    assert (one.eval_set_id, one.path, one.cases, one.num_runs) == (
        "tiny",
        "tiny_agent/tiny.evalset.json",
        1,
        2,
    )
    store = proctor.open_store("runs.sqlite3")
    (planned,) = store.planned(manifest.run_id)
    assert (planned.position, planned.eval_id) == (0, "one")
    assert planned.place.startswith("tiny_agent/tiny.evalset.json:")
    (scoring,) = store.scorings(manifest.run_id)
    (judged,) = scoring.sets
    assert judged.config["criteria"] == CONFIG["criteria"]
    assert judged.config_source == "tiny_agent/test_config.json"
    assert [metric.name for metric in judged.metrics if metric.gate] == [
        "response_match_score",
        "final_session_state",
    ]


@pytest.mark.slow
def test_definition_of_a_criterion_follows_its_threshold(project: Path) -> None:
    def definition(threshold: float) -> str:
        manifest = manifest_of(config={"criteria": {"response_match_score": threshold}})
        judged = proctor.open_store("runs.sqlite3").scorings(manifest.run_id)[0].sets[0]
        return judged.metrics[0].definition

    assert definition(0.5) == definition(0.5)
    assert definition(0.5) != definition(0.6)


@pytest.mark.slow
def test_manifest_names_versions_platform_and_options(project: Path) -> None:
    manifest = manifest_of(tags=[], concurrency=3)
    assert manifest.versions["python"] == ".".join(map(str, sys.version_info[:3]))
    assert manifest.versions["pydantic"]
    assert manifest.folder == str(project)
    assert manifest.options["concurrency"] == 3
    assert manifest.options["eval_sets"] == ["tiny_agent/tiny.evalset.json"]
    assert manifest.command


def test_models_and_tokens_that_the_agent_names_are_in_the_summary(project: Path) -> None:
    async def named(text: str) -> Any:
        event = proctor.Event.said("ok")
        event.model_version = "model-7"
        event.usage_metadata = proctor.types.GenerateContentResponseUsageMetadata(total_token_count=11)
        yield event

    result = proctor.evaluate_sync(named, SET, config=CONFIG, store="runs.sqlite3", num_runs=3)
    summary = proctor.open_store("runs.sqlite3").summary(result.run_id)
    assert summary.models == ["model-7"]
    assert summary.tokens == 33
