"""Loading: every spelling, every layout, every kind of object; and the cause of what cannot be loaded."""

import asyncio
import importlib
import os
import re
import sys
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import proctor
from proctor.agents import adapt, load
from proctor.agents.base import Session
from proctor.agents.function import FunctionAgent
from proctor.agents.load import load_agent, read_env_file
from proctor.agents.replay import ReplayAgent
from proctor.common.registry import AGENTS
from proctor.errors import AgentLoadError, MissingExtraError
from proctor.schema.evidence.event import Event
from proctor.schema.format.content import Content
from tests.agents.conftest import last_text, write

ADK_LAYOUT = {
    "agents/hello_world/__init__.py": "from . import agent",
    "agents/hello_world/agent.py": (
        "from .tools import greet\n"
        "def root_agent(text): return greet(text)\n"
        "def other(text): return 'other ' + text\n"
        "class Box: inner = staticmethod(other)\n"
    ),
    "agents/hello_world/tools.py": "def greet(text): return 'hello ' + text",
}


@pytest.mark.parametrize(
    ("ref", "answer"),
    [
        ("agents/hello_world", "hello hi"),
        ("./agents/hello_world/", "hello hi"),
        ("agents/hello_world/__init__.py", "hello hi"),
        ("agents/hello_world/agent.py", "hello hi"),
        ("agents.hello_world", "hello hi"),
        ("agents.hello_world.agent", "hello hi"),
        ("agents.hello_world:agent", "hello hi"),
        ("agents.hello_world:agent.root_agent", "hello hi"),
        ("agents.hello_world.agent:root_agent", "hello hi"),
        ("agents.hello_world.agent:other", "other hi"),
        ("agents.hello_world.agent:Box.inner", "other hi"),
        ("agents/hello_world/agent.py:other", "other hi"),
        ("agents/hello_world:agent.other", "other hi"),
        ("agents/hello_world:root_agent", "hello hi"),
        ("agents.hello_world:other", "other hi"),
    ],
)
def test_every_spelling_leads_to_the_agent(project: Path, ref: str, answer: str) -> None:
    write(project, ADK_LAYOUT)
    assert last_text(load_agent(ref)) == answer


def test_a_path_object_is_a_spelling_too(project: Path) -> None:
    write(project, ADK_LAYOUT)
    assert last_text(load_agent(project / "agents" / "hello_world")) == "hello hi"


@pytest.mark.parametrize(
    "files",
    [
        pytest.param(
            {"bot/__init__.py": "from .agent import root_agent"}, id="the package takes it from agent"
        ),
        pytest.param({"bot/__init__.py": "from . import agent"}, id="the package imports agent"),
        pytest.param({"bot/__init__.py": ""}, id="the package imports nothing"),
        pytest.param({}, id="no __init__.py"),
        pytest.param(
            {"bot/__init__.py": "class agent: root_agent = staticmethod(str.upper)"}, id="a namespace"
        ),
    ],
)
def test_every_layout_of_a_folder(project: Path, files: dict[str, str]) -> None:
    write(project, {"bot/agent.py": "from . import words\nroot_agent = words.loud", **files})
    write(project, {"bot/words.py": "def loud(text): return text.upper()"})
    assert last_text(load_agent("bot")) == "HI"
    assert last_text(load_agent("bot", agent_name=None)) == "HI", "a second time"


@pytest.mark.parametrize(
    ("code", "answer"),
    [
        ("def root_agent(text): return 'root'\ndef app(text): return 'app'", "root"),
        ("root_agent = None\ndef app(text): return 'app'", "app"),
        ("def app(text): return 'app'", "app"),
        ("async def root_agent(text): return 'async'", "async"),
        ("def root_agent(text):\n yield 'one'\n yield 'two'", "two"),
        ("class Loud:\n def __call__(self, text): return 'called'\nroot_agent = Loud()", "called"),
    ],
)
def test_what_a_module_may_expose(project: Path, code: str, answer: str) -> None:
    write(project, {"anything.py": code})
    assert last_text(load_agent("anything")) == answer
    assert last_text(load_agent("anything.py")) == answer


def test_single_file_finds_the_modules_of_its_folder(project: Path) -> None:
    write(
        project,
        {
            "bots/loud.py": "import words_beside\nfrom . import more_words\nroot_agent = words_beside.loud",
            "bots/words_beside.py": "def loud(text): return text.upper()",
            "bots/more_words.py": "",
        },
    )
    assert last_text(load_agent("bots/loud.py")) == "HI"


def test_the_file_is_executed_once(project: Path) -> None:
    count = "import pathlib\n\nwith pathlib.Path('ran').open('a') as f: f.write('x')\ndef root_agent(text): return text"
    write(project, {"bot/__init__.py": "from . import agent", "bot/agent.py": count})
    for ref in ("bot", "bot/agent.py", "bot.agent", "bot:agent"):
        load_agent(ref)
    assert (project / "ran").read_text() == "x"


# --- two agents in one run --------------------------------------------------------------------------------------------


def _build(version: str) -> dict[str, str]:
    return {
        f"{version}/hello/__init__.py": "from . import agent",
        f"{version}/hello/agent.py": (
            "from .words import version\nfrom hello.words import version as again\nimport beside_hello\n"
            "def root_agent(text):\n"
            "    from .late import late\n"
            "    return ' '.join([version, again, beside_hello.version, late])\n"
        ),
        f"{version}/hello/words.py": f"version = '{version}'",
        f"{version}/hello/late.py": f"late = 'late {version}'",
        f"{version}/beside_hello.py": f"version = 'beside {version}'",
    }


def test_two_folders_of_one_name_do_not_mix(project: Path) -> None:
    write(project, {**_build("v1"), **_build("v2"), **_build("v3")})
    agents = {version: load_agent(f"{version}/hello") for version in ("v1", "v2", "v3")}
    agents |= {f"{version} again": load_agent(f"{version}/hello/agent.py") for version in ("v2", "v1")}
    for name, agent in agents.items():
        version = name[:2]
        assert last_text(agent) == f"{version} {version} beside {version} late {version}", name


def test_names_stay_with_the_agent_that_had_them_first(project: Path) -> None:
    write(project, {**_build("v1"), **_build("v2")})
    load_agent("v1/hello")
    first = {name: sys.modules[name] for name in ("hello", "hello.agent", "hello.words", "beside_hello")}
    load_agent("v2/hello")
    assert {name: sys.modules[name] for name in first} == first
    assert sys.modules["hello__2"].__path__ == [str(project / "v2" / "hello")]


def test_a_package_that_imports_itself_by_name_is_executed_once(project: Path) -> None:
    for version in ("v1", "v2"):
        count = f"with open('{version}.log', 'a') as log: log.write('x')\nfrom . import agent"
        code = "import hello_again\ndef root_agent(text): return hello_again.__file__"
        write(project, {f"{version}/hello_again/__init__.py": count, f"{version}/hello_again/agent.py": code})
        assert f"{version}/hello_again" in last_text(load_agent(f"{version}/hello_again"))
        assert (project / f"{version}.log").read_text() == "x"


def test_a_dotted_module_is_not_another_agents_folder_of_that_name(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(project, {**_build("v1"), **_build("v2")})
    first = load_agent("v1/hello")
    monkeypatch.chdir(project / "v2")
    second = load_agent("hello.agent")
    assert last_text(second) == "v2 v2 beside v2 late v2"
    assert last_text(first) == "v1 v1 beside v1 late v1"


LATE = """
def root_agent(text):
    import words_late
    from words_early import early
    words_late.count += 1
    return f"{words_late.whose} {early} {words_late.count}"
"""


def _late(version: str, *, early: str = "") -> dict[str, str]:
    """A build whose function imports by absolute names, when it is called."""
    return {
        f"{version}/agent.py": early + LATE,
        f"{version}/words_late.py": f"whose, count = '{version}', 0",
        f"{version}/words_early.py": f"early = '{version}'",
    }


@pytest.mark.parametrize("early", ["", "import words_late\n"], ids=["imported late", "imported at once, too"])
def test_what_an_agent_imports_while_it_runs_is_its_own(project: Path, early: str) -> None:
    for name in ("words_late", "words_early"):
        sys.modules.pop(name, None)
    write(project, {**_late("left", early=early), **_late("right", early=early)})
    agents: list[Any] = ["left", "right"]
    loaded = {ref: load_agent(ref) for ref in agents}
    for turn in (1, 2):
        for ref in agents:
            with load.imports_of(ref):
                assert last_text(loaded[ref]) == f"{ref} {ref} {turn}"


def test_agents_in_one_folder_are_distinguished_by_their_late_imports(project: Path) -> None:
    for name in ("words_late", "words_early"):
        sys.modules.pop(name, None)
    write(project, {**_late("left"), **_late("right")})
    case = {
        "eval_id": "a",
        "conversation": [
            {
                "user_content": {"parts": [{"text": "hi"}]},
                "final_response": {"parts": [{"text": "left left 1"}]},
            }
        ],
    }
    sets, config = {"eval_set_id": "s", "eval_cases": [case]}, {"criteria": {"response_match_score": 1}}
    runs = asyncio.run(proctor.evaluate_matrix(["left", "right"], sets, config=config))
    assert [run.outcome for run in runs] == ["passed", "failed"]
    assert proctor.evaluate_sync("right", sets, config=config).outcome == "failed"


def test_agents_of_one_name_in_one_folder_are_numbered(project: Path) -> None:
    write(project, _late("left"))
    turn = {"user_content": {"parts": [{"text": "hi"}]}, "intermediate_data": {"tool_uses": []}}
    case = {"eval_id": "a", "conversation": [turn]}
    sets, config = {"eval_set_id": "s", "eval_cases": [case]}, {"criteria": {"tool_trajectory_avg_score": 1}}
    runs = asyncio.run(
        proctor.evaluate_matrix(["left", "replay", "left/agent.py", "left"], sets, config=config)
    )
    assert [run.agent for run in runs] == ["left", "replay", "left#2", "left#3"]


def test_of_agents_that_run_at_the_same_time_the_first_keeps_the_names(project: Path) -> None:
    for name in ("words_late", "words_early"):
        sys.modules.pop(name, None)
    write(project, {**_late("left"), **_late("right")})
    left, right = load_agent("left"), load_agent("right")
    with load.imports_of("left"), load.imports_of("right"):
        assert last_text(left) == "left left 1"
    with load.imports_of("right"):
        assert last_text(right) == "right right 1"


@pytest.mark.parametrize("name", ["json", "colorsys"])
def test_a_folder_named_like_a_standard_module_shadows_nothing(project: Path, name: str) -> None:
    sys.modules.pop("colorsys", None)
    agent = "import json, colorsys\ndef root_agent(text): return json.dumps(colorsys.hls_to_rgb(0, 0, 0))"
    write(project, {f"{name}/__init__.py": "from . import agent", f"{name}/agent.py": agent})
    assert last_text(load_agent(f"./{name}")) == "[0, 0, 0]"
    assert not str(sys.modules[name].__file__).startswith(str(project))


def test_folder_whose_name_is_not_an_identifier(project: Path) -> None:
    write(project, {"my-bot.v1/agent.py": "from . import words\nroot_agent = words.loud"})
    write(project, {"my-bot.v1/words.py": "def loud(text): return text.upper()"})
    assert last_text(load_agent("./my-bot.v1")) == "HI"


@pytest.mark.parametrize("broken", ["bot/__init__.py", "bot/agent.py"])
def test_a_folder_that_failed_can_be_loaded_once_it_is_mended(project: Path, broken: str) -> None:
    mended = {
        "bot/__init__.py": "name = 'mended'\nfrom . import agent",
        "bot/agent.py": "import bot\ndef root_agent(text): return bot.name + ' and longer'",
    }
    write(project, {**mended, broken: "1 / 0"})
    with pytest.raises(AgentLoadError, match="ZeroDivisionError"):
        load_agent("bot")
    write(project, mended)
    assert last_text(load_agent("bot")) == "mended and longer"


# --- .env -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("place", [".env", "bots/.env", "bots/bot/.env"])
@pytest.mark.parametrize("ref", ["bots/bot", "bots.bot", "bots/bot/agent.py"])
def test_an_env_file_in_or_above_the_folder_is_read_before_the_agent(
    project: Path, monkeypatch: pytest.MonkeyPatch, place: str, ref: str
) -> None:
    monkeypatch.setenv("PROCTOR_TEST_SET", "from the environment")
    write(project, {place: "PROCTOR_TEST_NEW=from the file\nPROCTOR_TEST_SET=from the file"})
    code = "import os\nfound = os.environ['PROCTOR_TEST_NEW'] + ', ' + os.environ['PROCTOR_TEST_SET']"
    write(project, {"bots/bot/agent.py": f"{code}\ndef root_agent(text): return found"})
    assert last_text(load_agent(ref)) == "from the file, from the environment"


def test_the_nearest_env_file_is_the_one(project: Path) -> None:
    write(project, {".env": "PROCTOR_TEST_NEW=far", "bot/.env": "PROCTOR_TEST_NEW=near"})
    write(project, {"bot/agent.py": "def root_agent(text): return text"})
    load_agent("bot")
    assert os.environ["PROCTOR_TEST_NEW"] == "near"


def test_invalid_line_of_an_env_file_is_ignored_with_a_located_warning(
    project: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AFTER_IT", raising=False)
    file = project / ".env"
    file.write_text("BEFORE=1\n= nothing\nAFTER_IT=2\n", encoding="utf-8")
    read_env_file(project)
    read_env_file(project)  # an agent may be loaded many times: it is reported once
    assert os.environ["AFTER_IT"] == "2"
    assert [record.getMessage() for record in caplog.records] == [
        f"{file}:2: expected NAME=value; the line is left out"
    ]


def test_binary_env_file_is_an_error_with_its_name(project: Path) -> None:
    write(project, {"bot/agent.py": "def root_agent(text): return text"})
    (project / "bot" / ".env").write_bytes(b"KEY=\xff\xfe")
    with pytest.raises(AgentLoadError, match=r"bot/\.env cannot be read"):
        load_agent("bot")


# --- what cannot be loaded --------------------------------------------------------------------------------------------

BROKEN = {
    "unknown_module.py": "import os\nimport pandas_is_missing\n",
    "unknown_google.py": "from google.nothing.like import this\n",
    "misspelled.py": "from os import pahts\n",
    "syntax.py": "def root_agent(text:\n    return 1\n",
    "raises.py": "def start():\n    raise RuntimeError('no database')\nstart()\n",
    "exits.py": "import sys\nsys.exit('usage: exits')\n",
    "hostile.py": "class Bad(Exception):\n    def __str__(self): raise ValueError\nraise Bad()\n",
    "deep.py": "import json\njson.loads('{')\n",
    "nothing.py": "rootagent = 1\ndef helper(): ...\n",
    "empty.py": "",
    "wrong.py": "root_agent = 42\n",
    "klass.py": "class Bot:\n    def answer(self, message, session): ...\nroot_agent = Bot\n",
    "two_args.py": "def root_agent(text, database): ...\n",
    "no_args.py": "def root_agent(): ...\n",
    "pkg/__init__.py": "",
    "pkg/agent.py": "from ..outside import x\n",
    "beside/__init__.py": "from . import agent",
    "beside/agent.py": "import tools_beside\n",
    "beside/tools_beside.py": "",
    "yaml_agent/root_agent.yaml": "name: x",
    "many/one/agent.py": "",
    "many/two/agent.py": "",
    "notes.txt": "",
    "random.py": "def bot(text): return text\n",
    "2nd.py": "",
}


def test_a_file_without_root_agent_names_its_functions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "desk.py").write_text("from json import dumps\n\ndef reply(text):\n    return dumps(text)\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(AgentLoadError) as raised:
        load_agent("desk.py")
    assert "Did you mean 'reply'? Add the line `root_agent = reply` to the file" in str(raised.value)
    assert str(raised.value).endswith("or give desk.py:reply as the agent.")


def test_a_file_without_root_agent_names_likely_functions_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "shop.py").write_text(
        "def price(item): ...\ndef total(): ...\nasync def answer(message, state): ...\n"
    )
    monkeypatch.chdir(tmp_path)
    with pytest.raises(
        AgentLoadError, match=r"Did you mean 'answer' or 'price'\? Add the line `root_agent = answer`"
    ):
        load_agent("shop.py")


@pytest.mark.parametrize(
    ("ref", "messages"),
    [
        (
            "unknown_module",
            ["ModuleNotFoundError", "'pandas_is_missing'", "unknown_module.py:2", "Install what brings"],
        ),
        ("unknown_module.py", ["'pandas_is_missing'", "unknown_module.py:2: import pandas_is_missing"]),
        ("unknown_google", ["pip install 'proctor[adk]'"]),
        ("misspelled", ["ImportError", "'pahts'", "misspelled.py:1"]),
        ("syntax", ["SyntaxError", "never closed", "syntax.py:1"]),
        ("raises", ["RuntimeError: no database", "raises.py:2: raise RuntimeError('no database')"]),
        ("exits", ["SystemExit: usage: exits", "exits.py:2", "__main__"]),
        ("hostile", ["Bad", "str() raised ValueError", "hostile.py:3"]),
        ("deep", ["JSONDecodeError", "deep.py:2: json.loads('{')"]),
        ("nothing", ["none of root_agent, get_agent_async, app", "Did you mean 'rootagent'?"]),
        ("empty", ["none of root_agent, get_agent_async, app", "module:attribute"]),
        ("wrong", ["int 42", "a function"]),
        ("klass", ["the class Bot", "Bot(...)"]),
        ("two_args", ["'two_args'", "'database'", "`session`, `state`"]),
        ("no_args", ["no parameter for the user's message"]),
        ("pkg", ["beyond top-level package", "dotted module"]),
        ("beside", ["tools_beside", "from . import tools_beside"]),
        ("raises:root", ["no database"]),
        ("nothing:helpr", ["nothing has no 'helpr'", "Did you mean 'helper'?"]),
        ("os.path:joni", ["has no 'joni'", "Did you mean 'join'?"]),
        ("./not_there", ["is not there", "no file or folder not_there"]),
        ("besid/deep/agent.py", ["no file or folder besid.", "Did you mean 'beside'?"]),
        ("./beside/agnet.py", ["is not there", "Did you mean 'agent.py'?"]),
        ("notes.txt", ["is not a Python file, a YAML file or a folder"]),
        ("./many", ["neither agent.py nor __init__.py", "one, two"]),
        ("syntx", ["no module or folder 'syntx'", "Did you mean 'syntax'?"]),
        ("reply", ["no module or folder 'reply'", "Did you mean 'replay'?"]),
        ("relay:drop-call", ["'drop-call'", "Did you mean 'replay'?"]),
        ("relay:fault", ["no module or folder 'relay'", "no prefix relay:", "Did you mean 'replay'?"]),
        ("pkg.agnt", ["no module or folder 'agnt' in the package pkg", "Did you mean 'agent'?"]),
        ("os.nothing", ["no module or folder 'nothing'"]),
        ("nothing.helper", ["helper is not a module", "Write nothing:helper."]),
        ("random", ["Python's own module random", "Write random.py."]),
        ("random:bot", ["Write random.py:bot."]),
        ("2nd", ["'2nd' is not an agent", "Did you mean 2nd.py?"]),
        ("~nobody-has-this-name/agent", ["is not there", "home directory"]),
        ("x" * 5000, ["xxx…", "is not there"]),
        ("./" + "x" * 5000, ["xxx…", "is not there", "too long"]),
    ],
)
def test_load_error_gives_its_reason(project: Path, ref: str, messages: list[str]) -> None:
    write(project, BROKEN)
    with pytest.raises(AgentLoadError) as caught:
        load_agent(ref)
    for message in messages:
        assert message in str(caught.value)
    assert "importlib" not in str(caught.value)


@pytest.mark.slow
def test_why_has_no_secret_of_the_environment_and_no_password(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_API_KEY", "swordfish-swordfish")
    write(
        project,
        {
            "boom.py": "import os\nraise OSError(os.environ['SOME_API_KEY'] + ' http://me:hunter2@a.example/?api_key=xyzzy')"
        },
    )
    with pytest.raises(AgentLoadError, match="OSError: \\*\\*\\* http") as caught:
        load_agent("boom")
    assert not [one for one in ("swordfish", "hunter2", "xyzzy") if one in str(caught.value)]


@pytest.mark.slow
def test_yaml_agent_names_the_package_to_install(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(project, BROKEN)
    monkeypatch.setitem(sys.modules, "google.adk.agents.config_agent_utils", None)
    with pytest.raises(MissingExtraError, match=r"is a YAML file needs .* pip install 'proctor\[adk\]'"):
        load_agent("./yaml_agent")


@pytest.mark.slow
def test_ctrl_c_during_an_import_is_not_the_agents_fault(project: Path) -> None:
    write(project, {"slow.py": "raise KeyboardInterrupt"})
    with pytest.raises(KeyboardInterrupt):
        load_agent("slow")


# --- objects ----------------------------------------------------------------------------------------------------------


class Answering:
    async def answer(self, message: Content, session: Session) -> AsyncIterator[Event]:
        yield Event.said("answered")


class Loud:
    def __call__(self, text: str) -> str:
        return "called"


def plain(text: str) -> str:
    return "plain"


def _with(prefix: str, text: str) -> str:
    return prefix + text


@pytest.mark.parametrize(
    ("candidate", "answer"),
    [
        (Answering(), "answered"),
        (Loud(), "called"),
        (Loud().__call__, "called"),
        (plain, "plain"),
        (partial(_with, "with "), "with hi"),
        (str.upper, "HI"),
        (lambda text: "lambda", "lambda"),
    ],
)
def test_objects_of_every_recognised_kind(candidate: object, answer: str) -> None:
    assert last_text(load_agent(candidate)) == answer


def test_agent_object_is_used_unchanged() -> None:
    agent = Answering()
    assert load_agent(agent) is agent


def test_a_module_is_searched(project: Path) -> None:
    write(project, {"bot_module.py": "def root_agent(text): return 'module'"})
    load_agent("bot_module")
    assert last_text(load_agent(sys.modules["bot_module"])) == "module"


@pytest.mark.parametrize(
    ("candidate", "message"),
    [
        (42, "int 42"),
        (None, "NoneType None"),
        ({"name": "x"}, "dict"),
        (Answering, r"the class Answering; expected an instance of it: Answering\(...\)"),
        (re.compile("x"), "Agents of re are called from a function"),
    ],
)
def test_other_objects_are_refused_with_what_is_accepted(candidate: object, message: str) -> None:
    with pytest.raises(AgentLoadError, match=message):
        load_agent(candidate)


# --- sub-agents -------------------------------------------------------------------------------------------------------


class Named:
    def __init__(self, name: str, *sub_agents: Any) -> None:
        self.name, self.sub_agents = name, list(sub_agents)

    async def answer(self, message: Content, session: Session) -> AsyncIterator[Event]:
        yield Event.said(self.name)


TREE = Named("root", Named("left", Named("leaf")), Named("right"))


@pytest.mark.parametrize("name", ["root", "left", "leaf", "right"])
def test_a_sub_agent_is_picked_by_its_name(name: str) -> None:
    assert last_text(load_agent(TREE, agent_name=name)) == name


def test_a_sub_agent_that_is_not_there() -> None:
    with pytest.raises(
        AgentLoadError, match=r"'lefd'\. Did you mean 'left'\? It has: root, left, leaf, right\."
    ):
        load_agent(TREE, agent_name="lefd")


@pytest.mark.parametrize("ref", [plain, "replay"])
def test_agents_without_names_have_no_sub_agents(ref: object) -> None:
    with pytest.raises(AgentLoadError, match="no sub-agent"):
        load_agent(ref, agent_name="left")


# --- folders with the names of packages -------------------------------------------------------------------------------


def test_folder_does_not_hide_a_package_that_proctor_requires(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "dotenv"]:
        monkeypatch.delitem(sys.modules, name)
    write(project, {"dotenv/__init__.py": "from . import agent", "dotenv/agent.py": "root_agent = str.upper"})
    assert last_text(load_agent("dotenv/")) == "HI"
    assert hasattr(importlib.import_module("dotenv"), "load_dotenv")


def test_folder_without_init_gives_way_to_an_installed_package(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed = tmp_path / "site-packages"
    write(installed, {"some_library.py": "upper = str.upper"})
    monkeypatch.syspath_prepend(str(installed))
    write(project, {"some_library/agent.py": "from some_library import upper\nfrom .tools import ending"})
    write(project, {"some_library/tools.py": "ending = '!'"})
    with (project / "some_library/agent.py").open("a", encoding="utf-8") as file:
        file.write("\ndef root_agent(text): return upper(text) + ending\n")
    assert last_text(load_agent("some_library")) == "HI!"


# --- plug-ins ---------------------------------------------------------------------------------------------------------


def test_replay_by_name() -> None:
    agent = load_agent("replay:drop-call,other-text")
    assert isinstance(agent, ReplayAgent)
    assert agent.faults == ("drop-call", "other-text")


def test_replay_with_a_fault_that_is_none() -> None:
    with pytest.raises(AgentLoadError, match=r"'drop-cal'\. Did you mean 'drop-call'\?"):
        load_agent("replay:drop-cal")


def test_plug_in_gets_the_text_after_its_colon() -> None:
    AGENTS.add("shout", lambda rest: FunctionAgent(lambda text: f"{text} {rest}!"))
    try:
        assert last_text(load_agent("shout:at:me")) == "hi at:me!"
        assert last_text(load_agent("shout")) == "hi !"
    finally:
        AGENTS.remove("shout")


def test_google_is_not_imported_to_recognise_an_object() -> None:
    before = {name for name in sys.modules if name.startswith("google.adk")}
    assert adapt.is_adk_app(TREE) is False
    assert {name for name in sys.modules if name.startswith("google.adk")} == before


@pytest.mark.slow
def test_file_that_imports_itself_gets_advice_to_change_its_name(project: Path) -> None:
    write(
        project,
        {"lib_x.py": "from lib_x import thing", "ring/agent.py": "from .other import f\nroot_agent = f"},
    )
    write(project, {"ring/other.py": "from .agent import root_agent\ndef f(text): ..."})
    with pytest.raises(AgentLoadError, match="this file hides it"):
        load_agent("lib_x.py")
    with pytest.raises(AgentLoadError, match="circular import") as ring:
        load_agent("ring")
    assert "this file hides it" not in str(ring.value)


def test_a_folder_in_the_shadow_of_a_package_is_named_as_a_file(project: Path) -> None:
    write(project, {"json/agent.py": "root_agent = str.upper"})
    with pytest.raises(
        AgentLoadError, match=re.escape(f"json is another package. Write {Path('json/agent.py')}.")
    ):
        load_agent("json.agent")
