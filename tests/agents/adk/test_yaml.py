"""Agents that are YAML files: google-adk builds them, from the folder, the file, or a dotted name."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from proctor.agents.load import describe_ref, load_agent
from proctor.errors import AgentLoadError
from tests.agents.conftest import ask_sync, read, write

pytestmark = [pytest.mark.needs_adk, pytest.mark.filterwarnings("ignore")]  # google-adk warns about itself

ROOT = """
name: clerk
description: Counts.
model_code:
  name: counter.models.MODEL
instruction: Count.
tools:
  - name: counter.tools.add
sub_agents:
  - config_path: helper.yaml
"""
HELPER = "name: helper\nmodel: gemini-2.5-flash\ninstruction: Help.\n"
TOOLS = 'def add(a: int, b: int) -> dict:\n    """Adds."""\n    return {"sum": a + b}\n'
MODELS = """
import sys
sys.path.insert(0, {root!r})
from tests.agents.adk.adk_script import Scripted, call, text
MODEL = Scripted(steps=[call("add", a=1, b=2), text("Three.")])
"""


@pytest.fixture
def counter(project: Path, root: Path) -> Path:
    files = {"root_agent.yaml": ROOT, "helper.yaml": HELPER, "tools.py": TOOLS}
    write(project, {f"counter/{name}": text for name, text in files.items()})
    write(project, {"counter/models.py": MODELS.format(root=str(root))})
    return project


@pytest.mark.parametrize(
    "ref", ["counter", "counter/root_agent.yaml", "./counter/", "counter with a package"]
)
def test_it_is_an_agent_as_any_other(counter: Path, ref: str) -> None:
    if ref.endswith("package"):  # as `adk create --type=config` makes it
        write(counter, {"counter/__init__.py": ""})
    agent: Any = load_agent(ref.split(maxsplit=1)[0])
    found = read(ask_sync(agent))
    assert [(one.name, one.args) for one in found.tool_calls] == [("add", {"a": 1, "b": 2})]
    assert [one.response for one in found.tool_responses] == [{"sum": 3}]
    details = asyncio.run(agent.describe()).app_details["agent_details"]
    assert {name: one["instructions"] for name, one in details.items()} == {
        "clerk": "Count.",
        "helper": "Help.",
    }
    assert describe_ref(ref.split(maxsplit=1)[0]) == "counter"


def test_python_goes_first(counter: Path) -> None:
    write(counter, {"counter/agent.py": "def root_agent(text): return 'python'\n"})
    assert read(ask_sync(load_agent("counter"))).final_response.joined_text() == "python"  # type: ignore[union-attr]  # it is there


def test_two_of_the_same_names_do_not_mix(counter: Path) -> None:
    load_agent("counter")
    other = {
        "other/counter/root_agent.yaml": ROOT.replace("Count.", "Other."),
        "other/counter/tools.py": TOOLS,
    }
    models = (counter / "counter" / "models.py").read_text().replace("Three.", "Drei.")
    write(counter, {**other, "other/counter/helper.yaml": HELPER, "other/counter/models.py": models})
    assert read(ask_sync(load_agent("other/counter"))).final_response.joined_text() == "Drei."  # type: ignore[union-attr]  # it is there
    assert read(ask_sync(load_agent("counter"))).final_response.joined_text() == "Three."  # type: ignore[union-attr]  # it is there


@pytest.mark.parametrize(
    ("text", "messages"),
    [
        ("name: [\n", ["root_agent.yaml cannot be loaded: ", "line 2"]),
        ("", ["File is empty"]),
        ("nme: x\n", ["it does not describe an agent:", "name: Field required", "nme: Extra inputs"]),
        ("name: x\nagent_class: Nope\n", ["Nope"]),
        (ROOT.replace("tools.add", "tools.ad"), ["names something in Python", "ad", "counter.tools.my_tool"]),
        (ROOT.replace("counter.tools", "conter.tools"), ["No module named 'conter'", "counter.tools.my_tool"]),
        (ROOT.replace("helper.yaml", "helpr.yaml"), ["helpr.yaml"]),
        (ROOT.replace("models.MODEL", "models.MODL"), ["models.MODL"]),
    ],
    ids=["no YAML", "empty", "wrong keys", "class", "tool", "module", "sub-agent", "model"],
)  # fmt: skip
def test_invalid_file_is_reported(counter: Path, text: str, messages: list[str]) -> None:
    (counter / "counter" / "root_agent.yaml").write_text(text)
    with pytest.raises(AgentLoadError) as caught:
        load_agent("counter")
    for message in messages:
        assert message in str(caught.value)
    assert "errors.pydantic.dev" not in str(caught.value)
