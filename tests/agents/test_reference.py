"""AGENT strings: their meaning, their printed form, and the messages about invalid ones."""

import sys
from pathlib import Path

import pytest

from proctor.agents.load import agent_folder, describe_ref
from proctor.agents.reference import read_reference
from proctor.errors import AgentLoadError
from tests.agents.conftest import write


@pytest.fixture
def hello(project: Path) -> Path:
    write(
        project,
        {
            "agents/hello_world/__init__.py": "from . import agent",
            "agents/hello_world/agent.py": "def root_agent(text): return text",
            "agents/hello_world/flawed.py": "def root_agent(text): return text",
            "agents/lone/bot.py": "def root_agent(text): return text",
        },
    )
    return project


SPELLINGS = [
    ("agents/hello_world", "hello_world"),
    ("./agents/hello_world/", "hello_world"),
    ("agents/../agents/hello_world", "hello_world"),
    ("agents/hello_world/agent.py", "hello_world"),
    ("agents/hello_world/__init__.py", "hello_world"),
    ("agents.hello_world", "hello_world"),
    ("agents.hello_world.agent", "hello_world"),
    ("agents.hello_world.agent:root_agent", "hello_world"),
    ("agents/hello_world:agent.root_agent", "hello_world"),
    ("  agents/hello_world  ", "hello_world"),
    ("agents.hello_world.agent:other", "hello_world:other"),
    ("agents/hello_world/flawed.py", "hello_world.flawed"),
    ("agents.hello_world.flawed", "hello_world.flawed"),
    ("agents/lone/bot.py", "bot"),
    ("replay", "replay"),
    ("replay:drop-call", "replay:drop-call"),
    ("http://localhost:8000/run", "http://localhost:8000/run"),
    ("HTTPS://Example.com", "https://Example.com"),
    ("http+sse://localhost:8000", "http+sse://localhost:8000"),
    (
        "http+sse:http://me:hunter2@localhost:8000/?token=hunter2",
        "http+sse:http://***@localhost:8000/?token=***",
    ),
    ("https://hunter2@localhost:8000/", "https://***@localhost:8000/"),
]


@pytest.mark.parametrize(("spelling", "label"), SPELLINGS)
def test_what_is_printed_does_not_depend_on_the_spelling(hello: Path, spelling: str, label: str) -> None:
    assert describe_ref(spelling) == label


def test_an_absolute_path_is_printed_like_any_other(hello: Path) -> None:
    assert describe_ref(str(hello / "agents" / "hello_world")) == "hello_world"
    assert describe_ref(hello / "agents" / "hello_world" / "agent.py") == "hello_world"


def test_the_working_folder_itself(hello: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(hello / "agents" / "hello_world")
    assert describe_ref(".") == "hello_world"
    assert agent_folder(".") == hello / "agents" / "hello_world"


@pytest.mark.parametrize(
    ("spelling", "folder"),
    [(spelling, "agents/hello_world") for spelling, label in SPELLINGS if label.startswith("hello_world")]
    + [("agents/lone/bot.py", "agents/lone"), ("replay", None), ("not/there", None), ("nowhere.agent", None)],
)
def test_the_folder_an_agent_lives_in(hello: Path, spelling: str, folder: str | None) -> None:
    assert agent_folder(spelling) == (hello / folder if folder else None)


def test_objects_have_a_folder_and_a_name_too() -> None:
    def weather(text: str) -> str:
        return text

    assert describe_ref(weather) == "weather"
    assert agent_folder(weather) == Path(__file__).parent
    assert describe_ref(_Answering()) == "_Answering"
    assert agent_folder(_Answering()) == Path(__file__).parent
    assert agent_folder(len) is None
    assert agent_folder({}) is None


def test_an_object_of_a_class_that_was_typed_at_a_prompt_has_no_folder(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delattr(sys.modules["__main__"], "__file__", raising=False)
    typed = type("Typed", (_Answering,), {"__module__": "__main__"})
    assert agent_folder(typed()) is None


class _Answering:
    def answer(self) -> None: ...


@pytest.mark.parametrize(
    ("spelling", "messages"),
    [
        ("", ["No agent given", "dotted module"]),
        ("   ", ["No agent given"]),
        ("htp+sse://localhost:8000", ["unknown prefix 'htp+sse'", "Did you mean 'http+sse'?", "replay:"]),
        ("package.module:", ["nothing after its colon", "package.module:root_agent"]),
        ("package.module:not an attribute", ["'not an attribute'", "package.module:root_agent"]),
        ("what is this?", ["is not an agent", "a folder or a file"]),
    ],
)
def test_what_means_nothing_is_refused_with_what_would(
    project: Path, spelling: str, messages: list[str]
) -> None:
    with pytest.raises(AgentLoadError) as caught:
        read_reference(spelling)
    for message in messages:
        assert message in str(caught.value)


@pytest.mark.parametrize(
    "spelling",
    [r"C:\agents\hello", "C:/agents/hello", r"c:\agents\hello\agent.py", r"D:\x\agent.py:root_agent"],
)
def test_drive_letter_is_not_a_prefix(project: Path, spelling: str) -> None:
    reference = read_reference(spelling)
    assert not reference.plugin
    assert str(reference.path) == spelling.removesuffix(":root_agent")
    assert reference.attribute == ("root_agent" if spelling.endswith("root_agent") else "")


def test_a_folder_named_like_a_plug_in_is_reached_by_its_path(project: Path) -> None:
    write(project, {"replay/agent.py": "def root_agent(text): return text"})
    assert read_reference("replay").plugin == "replay"
    assert read_reference("./replay").folder == project / "replay"
