"""Which words of `proctor eval` are agents and which are sets."""

from pathlib import Path

import pytest

from proctor.cli.eval.eval_request import Selection, select_agents_and_sets
from proctor.errors import SetupError
from proctor.runs.setup.judge_and_user import load_function
from proctor.runs.setup.settings import Settings, engine_options

WITH_AGENT = Settings(agent=("bot",), sets=("mine.json",))
NO_SETTINGS = Settings()

SPELLINGS = {
    "agent and set": (["bot", "a.json"], [], [], NO_SETTINGS, ["bot"], ["a.json"]),
    "agent and several sets": (
        ["bot", "a.json", "b.yaml"],
        [],
        [],
        NO_SETTINGS,
        ["bot"],
        ["a.json", "b.yaml"],
    ),
    "options": ([], ["bot"], ["a.json"], NO_SETTINGS, ["bot"], ["a.json"]),
    "--agent makes every word a set": (
        ["evals", "booking"],
        ["bot"],
        [],
        NO_SETTINGS,
        ["bot"],
        ["evals", "booking"],
    ),
    "several --agent": (["a.json"], ["v1", "v2"], [], NO_SETTINGS, ["v1", "v2"], ["a.json"]),
    "a word and --set": (["bot"], [], ["a.json"], NO_SETTINGS, ["bot"], ["a.json"]),
    "words before --set": (["bot", "a.json"], [], ["b.json"], NO_SETTINGS, ["bot"], ["a.json", "b.json"]),
    "nothing: all from the settings": ([], [], [], WITH_AGENT, ["bot"], ["mine.json"]),
    "an agent: the settings' sets": (["other"], [], [], WITH_AGENT, ["other"], ["mine.json"]),
    "a set: the settings' agent": (["a.json"], [], [], WITH_AGENT, ["bot"], ["a.json"]),
    "a set with cases": (["a.json:x,y"], [], [], WITH_AGENT, ["bot"], ["a.json:x,y"]),
    "YAML is a set, too": (["a.yaml"], [], [], WITH_AGENT, ["bot"], ["a.yaml"]),
    "a folder of sets": (["evals"], [], [], WITH_AGENT, ["bot"], ["evals"]),
    "a folder with an agent": (["bot"], [], [], WITH_AGENT, ["bot"], ["mine.json"]),
    "a folder with an agent and its sets": (["both"], [], [], WITH_AGENT, ["both"], ["mine.json"]),
    "the id of a set of the settings' agent": (["booking"], [], [], WITH_AGENT, ["bot"], ["booking"]),
    "a folder of sets is an agent where none is set": (
        ["evals", "a.json"],
        [],
        [],
        NO_SETTINGS,
        ["evals"],
        ["a.json"],
    ),
    "an agent's folder: the sets in it": (["bot"], [], [], NO_SETTINGS, ["bot"], ["bot"]),
    "replay": (["replay", "a.json"], [], [], WITH_AGENT, ["replay"], ["a.json"]),
    "a dotted module": (["pkg.agent", "a.json"], [], [], WITH_AGENT, ["pkg.agent"], ["a.json"]),
}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("a.json", "b.yaml", "evals/a.evalset.json", "bot/agent.py", "bot/booking.evalset.json"):
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.touch()
    (tmp_path / "both").mkdir()
    for name in ("__init__.py", "x.evalset.json"):
        (tmp_path / "both" / name).touch()
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("words", "agents", "sets", "settings", "expected_agents", "expected_sets"),
    SPELLINGS.values(),
    ids=SPELLINGS,
)
@pytest.mark.usefixtures("project")
def test_who_and_what(
    words: list[str],
    agents: list[str],
    sets: list[str],
    settings: Settings,
    expected_agents: list[str],
    expected_sets: list[str],
) -> None:
    found = select_agents_and_sets(words, agents, sets, settings)
    assert (found.agents, found.sets) == (expected_agents, expected_sets)


@pytest.mark.usefixtures("project")
def test_agent_and_sets_of_an_earlier_run_precede_those_of_the_settings() -> None:
    old = Selection(["old"], ["old.json"])
    assert select_agents_and_sets([], [], [], WITH_AGENT, earlier=old) == Selection(
        ["old"], ["old.json"], False
    )
    assert select_agents_and_sets(["a.json"], [], [], WITH_AGENT, earlier=old) == Selection(
        ["old"], ["a.json"], False
    )


def test_an_earlier_run_whose_agent_is_not_known_needs_one() -> None:
    old = Selection([], ["old.json"], missing="name the agent with --agent")
    with pytest.raises(SetupError, match="name the agent with --agent"):
        select_agents_and_sets([], [], [], WITH_AGENT, earlier=old)
    assert select_agents_and_sets(["new"], [], [], WITH_AGENT, earlier=old) == Selection(
        ["new"], ["old.json"]
    )


def test_its_agent_runs_where_no_other_is_named() -> None:
    old = Selection(["old"], ["old.json"])
    assert select_agents_and_sets([], [], [], NO_SETTINGS, earlier=old) == Selection(
        ["old"], ["old.json"], False
    )
    assert select_agents_and_sets(["new"], [], [], NO_SETTINGS, earlier=old) == Selection(
        ["new"], ["old.json"]
    )


@pytest.mark.parametrize(
    ("words", "agents", "settings", "message"),
    [
        ([], [], NO_SETTINGS, "no agent is named, and no settings"),
        (["a.json"], [], NO_SETTINGS, r"a\.json is an eval set, and no agent is named: .*--agent"),
        (["a.json", "b.py"], [], NO_SETTINGS, r"Did you mean `proctor eval b\.py a\.json`\?"),
        (["pkg.bot"], [], NO_SETTINGS, r"No eval set to run against pkg.bot: .*proctor eval AGENT SET"),
        (["a.json", "b.py"], [], WITH_AGENT, r"b\.py is a Python file .*: `proctor eval b\.py a\.json`"),
        (["evals", "b.py"], [], NO_SETTINGS, r"The agent comes first: `proctor eval b\.py evals`"),
        ([], ["replay"], NO_SETTINGS, "No eval set"),
    ],
)
@pytest.mark.usefixtures("project")
def test_what_is_missing_is_named(
    words: list[str], agents: list[str], settings: Settings, message: str
) -> None:
    with pytest.raises(SetupError, match=message):
        select_agents_and_sets(words, agents, [], settings)


class TestTheCommandLineWins:
    SETTINGS = Settings(
        options={
            "config": "settings.json",
            "concurrency": 2,
            "timeout": 5,
            "num_runs": 7,
            "metrics": ["response_match_score"],
            "compat": "adk",
        }
    )

    def test_over_the_settings(self) -> None:
        given = {
            "config": "mine.json",
            "concurrency": 3,
            "metrics": ["tool_trajectory_avg_score"],
            "num_runs": 1,
        }
        assert engine_options(given, self.SETTINGS) == {
            "config": "mine.json",
            "concurrency": 3,
            "timeout": 5,
            "num_runs": 1,
            "metrics": ["tool_trajectory_avg_score"],
            "compat": "adk",
        }

    def test_even_with_zero(self) -> None:
        assert engine_options({"retry_errors": 0}, Settings(options={"retry_errors": 3})) == {
            "retry_errors": 0
        }

    def test_values_without_an_option_are_left_to_the_engine(self) -> None:
        assert engine_options({"limit": None, "no_judge": False, "tags": ()}, NO_SETTINGS) == {}

    def test_switches(self) -> None:
        given = {"no_judge": True, "keep_going": True, "fail_fast": True, "tags": ("x",), "limit": 2}
        assert engine_options(given, NO_SETTINGS) == given


class TestHooks:
    def test_a_function_of_a_module(self) -> None:
        assert load_function("json:dumps", "--setup") is __import__("json").dumps

    def test_a_method(self) -> None:
        assert load_function("json:JSONEncoder.encode", "--setup").__name__ == "encode"

    @pytest.mark.parametrize(
        ("reference", "message"),
        [
            ("json", "takes module:function, got 'json'"),
            (":dumps", "takes module:function"),
            ("no_such_module_here:before", "'no_such_module_here' cannot be imported: ModuleNotFoundError"),
            ("json:dump_s", r"'json' has no 'dump_s'\. Did you mean 'dumps'\?"),
            ("json:__name__", "that is str, not a function"),
        ],
    )
    def test_what_is_not(self, reference: str, message: str) -> None:
        with pytest.raises(SetupError, match=f"--setup {reference.partition(':')[0]}|{message}") as caught:
            load_function(reference, "--setup")
        assert caught.match(message)

    @pytest.mark.parametrize("body", ["raise SystemExit(0)", "1 / 0"])
    def test_a_module_that_breaks(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str) -> None:
        (tmp_path / "breaking_hooks.py").write_text(body)
        monkeypatch.syspath_prepend(tmp_path)
        with pytest.raises(
            SetupError, match=r"'breaking_hooks' cannot be imported: (SystemExit|ZeroDivisionError)"
        ):
            load_function("breaking_hooks:before", "--setup")
