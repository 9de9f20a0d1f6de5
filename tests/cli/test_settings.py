"""Settings: their location, their values, and the messages about invalid ones."""

import json
import sys
from dataclasses import fields
from pathlib import Path

import pytest

from proctor.errors import SettingsError
from proctor.runs.setup.settings import Settings, load_settings, project_root
from tests.cli.project import in_this_process
from tests.web.stored_runs import working_in


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


class TestWhereTheyAreFound:
    def test_in_the_working_folder(self, tmp_path: Path) -> None:
        write(tmp_path / "proctor.toml", 'agent = "replay"')
        assert load_settings(tmp_path).agent == ("replay",)

    def test_in_pyproject(self, tmp_path: Path) -> None:
        file = write(tmp_path / "pyproject.toml", '[project]\nname = "x"\n[tool.proctor]\nagent = "replay"')
        assert load_settings(tmp_path) == Settings(file=file, agent=("replay",))

    def test_in_a_folder_above(self, tmp_path: Path) -> None:
        write(tmp_path / "proctor.toml", "num_runs = 3")
        below = tmp_path / "a" / "b"
        below.mkdir(parents=True)
        assert load_settings(below).options.get("num_runs") == 3

    def test_the_nearest_wins_and_nothing_is_merged(self, tmp_path: Path) -> None:
        write(tmp_path / "proctor.toml", "num_runs = 3\ntimeout = 5")
        write(tmp_path / "a" / "proctor.toml", "num_runs = 4")
        found = load_settings(tmp_path / "a")
        assert (found.options.get("num_runs"), found.options.get("timeout")) == (4, None)

    @pytest.mark.parametrize("git", ["folder", "file of a worktree"])
    def test_not_beyond_the_repository(self, tmp_path: Path, git: str) -> None:
        write(tmp_path / "proctor.toml", "num_runs = 3")
        repository = tmp_path / "repository"
        if git == "folder":
            (repository / ".git").mkdir(parents=True)
        else:
            write(repository / ".git", "gitdir: elsewhere")
        assert load_settings(repository) == Settings()

    def test_a_pyproject_without_the_table_does_not_end_the_search(self, tmp_path: Path) -> None:
        write(tmp_path / "proctor.toml", "num_runs = 3")
        write(tmp_path / "package" / "pyproject.toml", '[project]\nname = "x"')
        assert load_settings(tmp_path / "package").options.get("num_runs") == 3

    def test_none_at_all(self, tmp_path: Path) -> None:
        (tmp_path / ".git").mkdir()
        assert load_settings(tmp_path) == Settings()

    def test_two_in_one_folder_are_refused(self, tmp_path: Path) -> None:
        write(tmp_path / "proctor.toml", "num_runs = 3")
        write(tmp_path / "pyproject.toml", "[tool.proctor]\nnum_runs = 4")
        with pytest.raises(SettingsError, match=r"proctor\.toml and \[tool\.proctor\] in .*pyproject\.toml"):
            load_settings(tmp_path)


ROOTS = {
    "proctor.toml": ({"proctor.toml": "", "a/x": ""}, "."),
    "[tool.proctor]": ({"pyproject.toml": "[tool.proctor]", "a/x": ""}, "."),
    "[tool.proctor.env] alone": ({"pyproject.toml": "[tool.proctor.env]", "a/x": ""}, "."),
    ".git": ({".git/HEAD": "", "a/x": ""}, "."),
    "the nearest of two": ({".git/HEAD": "", "a/proctor.toml": ""}, "a"),
    "any pyproject.toml, when nothing else marks a root": ({"pyproject.toml": "[project]", "a/x": ""}, "."),
    "the repository before a bare pyproject.toml": ({".git/HEAD": "", "a/pyproject.toml": ""}, "."),
    "an inline table": ({"pyproject.toml": "tool = {proctor = {}}", "a/x": "", ".git/HEAD": ""}, "."),
    "a broken [tool.proctor] is still a root": ({"pyproject.toml": "[tool.proctor]\nx =", "a/x": ""}, "."),
}


@pytest.mark.parametrize(("files", "expected"), ROOTS.values(), ids=ROOTS)
def test_project_root(tmp_path: Path, files: dict[str, str], expected: str) -> None:
    for name, text in files.items():
        write(tmp_path / name, text)
    assert project_root(tmp_path / "a") == tmp_path / expected


@pytest.mark.parametrize(
    ("text", "name", "value"),
    [
        ('agent = "pkg.agent"', "agent", ("pkg.agent",)),
        ('agent = ["pkg.v1", "pkg.v2"]', "agent", ("pkg.v1", "pkg.v2")),
        ('agent-name = "helper"', "agent_name", "helper"),
        ('agent_name = "helper"', "agent_name", "helper"),
        ("trial-timeout = 2.5", "trial_timeout", 2.5),
        ("timeout = 30", "timeout", 30),
        ("concurrency = 1", "concurrency", 1),
        ("max-text = 100", "max_text", 100),
        ("max_events = 50", "max_events", 50),
        ("retry_errors = 0", "retry_errors", 0),
        ('metrics = "response_match_score"', "metrics", ["response_match_score"]),
        ('compat = "adk"', "compat", "adk"),
        ('judge = "some-model"', "judge", "some-model"),
        ('store = "memory:"', "store", ("memory:",)),
        ('store = ["memory:", "memory:x"]', "store", ("memory:", "memory:x")),
        ('setup = "project.hooks:before"', "setup", "project.hooks:before"),
        ('[env]\nDATABASE = "test"', "env", {"DATABASE": "test"}),
    ],
)
def test_valid_settings(tmp_path: Path, text: str, name: str, value: object) -> None:
    write(tmp_path / "proctor.toml", text)
    settings = load_settings(tmp_path)
    values = {field.name: getattr(settings, field.name) for field in fields(settings)}
    assert {**values, **settings.options}[name] == value


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "\n\nconcurency = 3",
            r"proctor\.toml:3: there is no setting 'concurency'\. Did you mean 'concurrency'\?",
        ),
        (
            "concurrency = true",
            r"proctor\.toml:1: 'concurrency' must be a whole number of at least 1, not true",
        ),
        ("concurrency = 0", r"at least 1, not 0"),
        ("max_text = 0", r"'max_text' must be a whole number of at least 1, not 0"),
        ("timeout = 'long'", r"'timeout' must be a number of seconds above 0, not the text 'long'"),
        ("timeout = -1", r"not -1"),
        ("timeout = nan", r"not nan"),
        ("timeout = inf", r"not inf"),
        ("sets = []", r"'sets' must be an eval set, or an array of eval sets, not the array \[\]"),
        ("sets = ['a.json', 3]", r"not the array \['a\.json', 3\]"),
        ("agent = ' '", r"'agent' must be an agent"),
        ("setup = 'before'", r"'setup' must be \"module:function\", not the text 'before'"),
        ("compat = 'ADK'", r"'compat' must be \"adk\""),
        ("env = 'A=1'", r"'env' must be a table"),
        ("x = 1\n[env]\nA = 1", r"proctor\.toml:2: 'env' must be a table .* each a text, not a table"),
        ("num-runs = 2\nnum_runs = 3", r"'num_runs' and 'num-runs' are the same setting"),
        ("agent = \nx = 1", r"proctor\.toml: not valid TOML: .*line 1, column 9"),
        ("[tool.proctor]\nagent = 'x'", r"proctor\.toml:1: the settings are at the top"),
    ],
)
def test_invalid_settings(tmp_path: Path, text: str, message: str) -> None:
    write(tmp_path / "proctor.toml", text)
    with pytest.raises(SettingsError, match=message):
        load_settings(tmp_path)


def test_all_problems_are_named_at_once(tmp_path: Path) -> None:
    text = '[project]\ntimeout = "x"\n\n[tool.proctor]\ntimeout = "x"\nagnet = "y"\n'
    write(tmp_path / "pyproject.toml", text)
    with pytest.raises(SettingsError) as caught:
        load_settings(tmp_path)
    first, second = str(caught.value).splitlines()
    assert "pyproject.toml:5: 'timeout' must be" in first
    assert "pyproject.toml:6: there is no setting 'agnet'. Did you mean 'agent'?" in second


def test_not_a_table(tmp_path: Path) -> None:
    write(tmp_path / "pyproject.toml", "[tool]\nproctor = 3\n[tool.proctorial]\nx = 1")
    with pytest.raises(SettingsError, match=r"tool\.proctor must be a table of settings, not 3"):
        load_settings(tmp_path)


def test_a_broken_pyproject_of_another_project_is_none_of_our_business(tmp_path: Path) -> None:
    write(tmp_path / "pyproject.toml", '[project]\ndependencies = ["proctor"\n[tool.other]\n')
    assert load_settings(tmp_path) == Settings()


def test_not_utf_8(tmp_path: Path) -> None:
    (tmp_path / "proctor.toml").write_bytes(b'agent = "\xff"')
    with pytest.raises(SettingsError, match="not UTF-8"):
        load_settings(tmp_path)


ANCHORED = {
    "an agent's folder": ('agent = "my_agent"', "agent", "{root}/my_agent"),
    "a file and its attribute": ('agent = "my_agent/agent.py:bot"', "agent", "{root}/my_agent/agent.py:bot"),
    "a path that is not there yet": ('agent = "agents/new"', "agent", "{root}/agents/new"),
    "a dotted module": ('agent = "package.agent:bot"', "agent", "package.agent:bot"),
    "replay": ('agent = "replay:drop-call"', "agent", "replay:drop-call"),
    "a URL": ('agent = "http+sse:http://127.0.0.1:8000/run"', "agent", "http+sse:http://127.0.0.1:8000/run"),
    "a set": ('sets = "evals/a.json"', "sets", "{root}/evals/a.json"),
    "a set and its cases": ('sets = ["evals/a.json:one,two"]', "sets", "{root}/evals/a.json:one,two"),
    "a missing set": ('sets = ["b.json"]', "sets", "{root}/b.json"),
    "the id of a set": ('sets = "booking"', "sets", "booking"),
    "an absolute path": ('sets = "/somewhere/a.json"', "sets", "/somewhere/a.json"),
    "a config": ('config = "strict.json"', "config", "{root}/strict.json"),
    "a command and its file": (
        'agent = "cmd:python my_agent/agent.py --fast"',
        "agent",
        "cmd:python {root}/my_agent/agent.py --fast",
    ),
    "a program": ('agent = "cmd:my_agent/agent.py"', "agent", "cmd:{root}/my_agent/agent.py"),
    "a command without a file": ('agent = "cmd:npm  start"', "agent", "cmd:npm  start"),
    "a command longer than a file's name": (
        f'agent = "cmd:python -c {"x;" * 200}"',
        "agent",
        f"cmd:python -c {'x;' * 200}",
    ),
    "an open quotation mark": ("agent = 'cmd:python \"a'", "agent", 'cmd:python "a'),
    "a script as the judge": ('judge = "scripted:a/judge.json"', "judge", "scripted:{root}/a/judge.json"),
    "a model as the judge": ('judge = "ollama/llama3.2"', "judge", "ollama/llama3.2"),
    "a script as the user": ('user = "scripted:user.json"', "user", "scripted:{root}/user.json"),
    "a function as the user": ('user = "my_agent/agent.py:ask"', "user", "{root}/my_agent/agent.py:ask"),
}


@pytest.mark.parametrize(("text", "name", "expected"), ANCHORED.values(), ids=ANCHORED)
def test_paths_are_relative_to_the_file(tmp_path: Path, text: str, name: str, expected: str) -> None:
    write(tmp_path / "my_agent" / "agent.py", "")
    write(tmp_path / "evals" / "a.json", "{}")
    write(tmp_path / "proctor.toml", text)
    below = tmp_path / "evals"
    value = getattr(load_settings(below), name)
    assert (value if isinstance(value, str) else value[0]) == expected.format(root=tmp_path)


@pytest.mark.parametrize("text", ['judge = "scripted:judge.json"', 'agent = "cmd:python  bot.py"'])
def test_in_the_folder_of_the_file_a_run_records_what_the_file_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    write(tmp_path / "bot.py", "")
    write(tmp_path / "proctor.toml", text)
    monkeypatch.chdir(tmp_path)
    settings = load_settings(tmp_path)
    assert text.partition('"')[2].rstrip('"') in (settings.judge, *settings.agent)


_BOT = """
import json, sys
for line in sys.stdin:
    if json.loads(line)["type"] == "turn":
        print(json.dumps({"text": "Hello!"}))
        print(json.dumps({"type": "done"}), flush=True)
"""
_GREETING = {
    "eval_set_id": "greeting",
    "eval_cases": [
        {
            "eval_id": "hi",
            "conversation": [
                {
                    "user_content": {"parts": [{"text": "Hi"}]},
                    "final_response": {"parts": [{"text": "Hello!"}]},
                }
            ],
        }
    ],
}


@pytest.mark.slow
def test_a_run_in_a_folder_below_finds_the_program_and_the_script_of_the_judge(tmp_path: Path) -> None:
    write(tmp_path / "bot.py", _BOT)
    script = [{"when": "Hello!", "say": {"rationale": "The same.", "verdict": "valid"}}]
    write(tmp_path / "judge.json", json.dumps(script))
    write(tmp_path / "a.evalset.json", json.dumps(_GREETING))
    write(tmp_path / "test_config.json", json.dumps({"criteria": {"final_response_match_v2": 0.5}}))
    settings = [
        'judge = "scripted:judge.json"',
        f'agent = "cmd:{sys.executable} bot.py"',
        'sets = "a.evalset.json"',
    ]
    write(tmp_path / "proctor.toml", "\n".join(settings))
    (tmp_path / "below").mkdir()
    with working_in(tmp_path / "below"):
        done = in_this_process("eval", "--store", "memory:")
    assert "PASSED  greeting/hi" in done.stdout, done.stdout + done.stderr
