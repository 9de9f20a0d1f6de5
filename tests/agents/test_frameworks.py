"""Frameworks are recognised by the names of classes; the error about a missing one names the package to install."""

import subprocess
import sys
from pathlib import Path

import pytest

from proctor.agents.adapt import framework_of
from proctor.agents.load import load_agent
from proctor.common.registry import load_object
from proctor.errors import AgentLoadError, MissingExtraError


def _look_alike(name: str, module: str) -> object:
    return type(name, (), {"__module__": module, "name": "bot", "deps_type": None})()


def test_no_import_is_needed_to_recognise_a_framework() -> None:
    loaded = (
        "import sys, proctor.agents.load as load\n"
        "from proctor.agents.adapt import framework_of\n"
        "assert framework_of(object()) is None\n"
        "print(sorted({'google', 'pydantic_ai', 'agents', 'langgraph', 'langchain_core'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", loaded], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("name", "module", "found"),
    [
        ("AbstractAgent", "pydantic_ai.agent.abstract", "pydantic-ai"),
        ("LlmAgent", "google.adk.agents", None),
        ("BaseAgent", "google.adk.agents.base_agent", "google-adk"),
        ("Pregel", "langgraph.pregel.main", "langgraph"),
        ("Pregel", "langgraphics", None),
        ("Runnable", "langchain_core.runnables.base", "langchain"),
        ("AgentBase", "agents.agent", None),
    ],
)
def test_what_an_object_is_an_agent_of(name: str, module: str, found: str | None) -> None:
    """A package called `agents` is the OpenAI Agents SDK only where it has that SDK's Runner."""
    framework = framework_of(_look_alike(name, module))
    assert (framework.name if framework else None) == found


@pytest.mark.parametrize(
    ("adapter", "extra"),
    [
        ("proctor.agents.frameworks.pydantic_ai:PydanticAiAgent", "pydantic-ai"),
        ("proctor.agents.frameworks.openai_agents:OpenAiAgent", "openai-agents"),
        ("proctor.agents.frameworks.langgraph:LangGraphAgent", "langgraph"),
        ("proctor.agents.frameworks.langgraph:RunnableAgent", "langgraph"),
    ],
)
def test_missing_framework_names_the_package_to_install(
    adapter: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("pydantic_ai", "agents", "langgraph", "langchain_core"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingExtraError, match=rf"pip install 'proctor\[{extra}\]'"):
        load_object(adapter)(_look_alike("X", "x"))


@pytest.mark.parametrize(
    ("line", "extra"),
    [
        ("import pydantic_ai", "pydantic-ai"),
        ("from agents import Agent", "openai-agents"),
        ("from langgraph.graph import StateGraph", "langgraph"),
    ],
)
def test_file_that_imports_a_missing_framework_names_the_package(
    line: str, extra: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bot.py").write_text(line)
    monkeypatch.chdir(tmp_path)
    for name in ("pydantic_ai", "agents", "langgraph"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(
        AgentLoadError, match=rf"at bot\.py:1: {line}\n *Run: pip install 'proctor\[{extra}\]'"
    ):
        load_agent("bot.py")
