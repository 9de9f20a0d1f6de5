"""The request of a run like a stored one: what it takes over, what it leaves out, and that nothing but the form is filled in."""

import json
from collections.abc import Iterator
from pathlib import Path
from shutil import copyfile, copytree
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from proctor import evaluate_sync
from proctor.runs.setup.settings import load_settings
from proctor.schema.results.manifest import AgentManifest, Manifest
from proctor.web.pages.start import StartRun
from proctor.web.server.app import create_app
from proctor.web.server.context import ServerContext
from proctor.web.server.runs.run_command import InvalidRunError, command_of
from proctor.web.server.runs.stored_options import left_out_options, names_of, repeatable_options
from tests.cli.project import in_this_process
from tests.web.stored_runs import working_in

SET = "sets/greetings.evalset.json"
AGENT = '"""Answers politely, but not to all."""\n\ndef root_agent(text: str) -> str:\n    return "Go away." if "rude" in text else "Hello!"\n'


def _case(eval_id: str) -> dict[str, Any]:
    turn = {
        "user_content": {"parts": [{"text": eval_id}]},
        "final_response": {"parts": [{"text": "Hello!"}]},
    }
    return {"eval_id": eval_id, "conversation": [turn]}


def _write_set(folder: Path, *ids: str) -> None:
    document = {"eval_set_id": "greetings", "eval_cases": [_case(eval_id) for eval_id in ids]}
    (folder / SET).write_text(json.dumps(document), encoding="utf-8")


def _app(folder: Path) -> FastAPI:
    return create_app(ServerContext(root=folder, store_url=folder / "runs.sqlite3"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with one run of three cases, of which one fails."""
    folder = tmp_path_factory.mktemp("project")
    (folder / "sets").mkdir()
    (folder / "polite.py").write_text(AGENT, encoding="utf-8")
    (folder / "other.py").write_text(AGENT, encoding="utf-8")
    (folder / "strict.json").write_text('{"criteria": {"response_match_score": 1.0}}', encoding="utf-8")
    (folder / "proctor.toml").write_text('agent = ["other.py", "polite.py"]\n', encoding="utf-8")
    _write_set(folder, "kind", "rude", "mild")
    command = f"eval polite.py {SET} --config strict.json --num-runs 2 --concurrency 3 --keep-going --store runs.sqlite3"
    with working_in(folder):
        assert in_this_process(*command.split()).returncode == 1
    return folder


@pytest.fixture
def client(folder: Path) -> Iterator[TestClient]:
    """Asks a server of that project, whose eval set is as it was run."""
    _write_set(folder, "kind", "rude", "mild")
    with TestClient(_app(folder), base_url="http://127.0.0.1:8000") as client:
        yield client


OPTIONS = {"agent": "polite.py", "num_runs": 2, "concurrency": 3}


def _words(folder: Path, request: dict[str, Any]) -> list[str]:
    """The command of a request; raises InvalidRunError."""
    return command_of(
        StartRun.model_validate(request), ServerContext(root=folder, store_url=folder / "runs.sqlite3")
    )


def _options(page: Any) -> dict[str, Any]:
    return {**OPTIONS, "options_of": page["run_id"]}


def _get(client: TestClient, query: str, path: str = "repeat") -> Any:
    answer = client.get(f"/api/start/{path}?{query}")
    assert answer.status_code == 200, answer.text
    return answer.json()


class TestRepeatedRun:
    @pytest.mark.parametrize(
        ("query", "expected"),
        [
            ("run=latest", {"config": "strict.json", "eval_sets": [{"path": SET, "cases": None}]}),
            ("run=latest&position=1", {"config": "strict.json", "eval_sets": [{"path": SET, "cases": ["rude"]}]}),
        ],
        ids=["all of it", "one case"],
    )  # fmt: skip
    def test_has_agent_cases_config_and_options(
        self, client: TestClient, query: str, expected: dict[str, Any]
    ) -> None:
        page = _get(client, query)
        assert page["request"] == {**_options(page), **expected}

    def test_of_failures_names_the_run_which_has_the_config(self, client: TestClient) -> None:
        page = _get(client, "run=latest&failures=true")
        assert page["request"] == {**_options(page), "failed_of": page["run_id"], "eval_sets": []}

    def test_has_the_options_that_the_page_has_no_field_for(self, client: TestClient, folder: Path) -> None:
        page = _get(client, "run=latest")
        assert ("--keep-going" in _words(folder, page["request"]), page["notes"]) == (True, [])

    def test_names_the_cases_that_the_file_no_longer_has(self, client: TestClient, folder: Path) -> None:
        _write_set(folder, "kind", "mild", "new")
        page = _get(client, "run=latest")
        assert page["request"]["eval_sets"] == [{"path": SET, "cases": ["kind", "mild"]}]
        assert f"{SET} no longer has rude." in page["notes"]
        assert _get(client, "run=latest&position=1")["eval_set"] is None

    def test_names_the_set_in_which_its_case_can_be_edited(self, client: TestClient) -> None:
        eval_set = _get(client, "run=latest&position=1")["eval_set"]
        case = client.get(f"/api/eval-sets/{eval_set}/case?id=rude")
        assert case.status_code == 200, case.text

    def test_is_accepted_as_it_is(self, client: TestClient) -> None:
        """The estimate checks it as it checks any request."""
        for query, cases in (
            ("run=latest", 3),
            ("run=latest&failures=true", 1),
            ("run=latest&position=1", 1),
        ):
            answer = client.post("/api/estimates", json=_get(client, query)["request"])
            assert (answer.status_code, answer.json().get("cases")) == (200, cases), answer.text

    @pytest.mark.parametrize(
        ("query", "status", "message"),
        [
            ("run=nothing", 404, "No run named 'nothing'"),
            ("run=latest&position=7", 404, "no case at position 7"),
        ],
    )
    def test_of_what_is_not_there_is_refused(
        self, client: TestClient, query: str, status: int, message: str
    ) -> None:
        answer = client.get(f"/api/start/repeat?{query}")
        assert (answer.status_code, message in answer.json()["detail"]) == (status, True), answer.text

    def test_of_an_agent_that_only_the_run_names_is_accepted_for_that_run_alone(self, folder: Path) -> None:
        settings = folder / "proctor.toml"
        before = settings.read_text(encoding="utf-8")
        settings.write_text('agent = "other.py"\n', encoding="utf-8")
        with TestClient(_app(folder), base_url="http://127.0.0.1:8000") as client:
            request = _get(client, "run=latest")["request"]
        assert "--agent=polite.py" in _words(folder, request)
        with pytest.raises(InvalidRunError, match="no agent named"):
            _words(folder, {**request, "options_of": None})
        settings.write_text(before, encoding="utf-8")


def test_a_config_that_was_an_object_in_python_has_to_be_chosen(folder: Path, tmp_path: Path) -> None:
    """The criteria of the project would decide otherwise, and nothing would show it."""
    for name in ("proctor.toml", "polite.py", SET):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        copyfile(folder / name, tmp_path / name)
    with working_in(tmp_path):
        evaluate_sync(
            "polite.py", SET, config={"criteria": {"response_match_score": 0.1}}, store="runs.sqlite3"
        )
    with TestClient(_app(tmp_path), base_url="http://127.0.0.1:8000") as client:
        page = _get(client, "run=latest")
        answer = client.post("/api/estimates", json=page["request"])
    assert page["notes"] == ["The config was an object in Python: choose a config file or metrics."]
    (problem,) = answer.json()["problems"]
    assert (answer.status_code, problem["field"]) == (422, "config")
    assert (
        problem["message"] == "the criteria were a config object in Python: choose a config file or metrics"
    )


USER = """def user(so_far):
    return None if so_far else "Hello!"
"""
ANSWERS = [
    {"when": "Hello", "say": {"verdicts": [{"number": 1, "evidence": "", "rationale": "", "verdict": "yes"}]}}
]
SCENARIO = {
    "eval_set_id": "plans",
    "eval_cases": [
        {
            "eval_id": "asks",
            "conversation_scenario": {"starting_prompt": "Hello!", "conversation_plan": "Greet."},
            "rubrics": [
                {
                    "rubric_id": "polite",
                    "type": "FINAL_RESPONSE_QUALITY",
                    "rubric_content": {"text_property": "It is polite."},
                }
            ],
        }
    ],
}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("outside") / "project"
    folder.mkdir()
    (folder / "polite.py").write_text(AGENT, encoding="utf-8")
    (folder / "user.py").write_text(USER, encoding="utf-8")
    (folder / "plans.evalset.json").write_text(json.dumps(SCENARIO), encoding="utf-8")
    (folder / "answers.json").write_text(json.dumps(ANSWERS), encoding="utf-8")
    criteria = {"criteria": {"rubric_based_final_response_quality_v1": 0.5}}
    (folder / "judged.json").write_text(json.dumps(criteria), encoding="utf-8")
    command = "eval polite.py plans.evalset.json --config judged.json --user user.py --judge scripted:answers.json --store runs.sqlite3"
    with working_in(folder):
        ended = in_this_process(*command.split())
    assert ended.returncode == 0, ended.stderr
    return folder


@pytest.fixture
def of_place(place: Path) -> Iterator[TestClient]:
    with TestClient(_app(place), base_url="http://127.0.0.1:8000") as client:
        yield client


class TestRunWithFilesOfItsOwn:
    """A run whose simulated user, judge, config and agent only its command named."""

    def test_is_repeated_with_them(self, of_place: TestClient) -> None:
        request = _get(of_place, "run=latest")["request"]
        answer = of_place.post("/api/estimates", json=request)
        assert answer.status_code == 200, answer.text
        words = answer.json()["command"].split()
        assert {"--user=user.py", "--judge=scripted:answers.json", "--config=judged.json"} <= {*words}

    @pytest.mark.parametrize(
        ("change", "field"),
        [
            ({"judge": "scripted:other.json"}, "judge"),
            ({"config": "../other.json"}, "config"),
            ({"eval_sets": [{"path": "../other.evalset.json"}]}, "eval_sets"),
            ({"agent": "other.py"}, "agent"),
            ({"options_of": "nothing"}, "options_of"),
        ],
        ids=lambda value: value if isinstance(value, str) else "",
    )
    def test_names_no_other_file(
        self, of_place: TestClient, place: Path, change: dict[str, Any], field: str
    ) -> None:
        request = _get(of_place, "run=latest")["request"] | change
        with pytest.raises(InvalidRunError) as refused:
            _words(place, request)
        assert field in [problem.field for problem in refused.value.problems]

    def test_of_another_store_brings_its_files_nowhere(self, place: Path, tmp_path: Path) -> None:
        """The manifest of an imported run is data: it must not make a server load a file."""
        with working_in(place):
            exported = in_this_process("export", "latest", "--format=jsonl", "--store=runs.sqlite3").stdout
        (tmp_path / "run.jsonl").write_text(exported, encoding="utf-8")
        (tmp_path / "user.py").write_text(USER, encoding="utf-8")
        with working_in(tmp_path):
            ended = in_this_process("import", "run.jsonl", "--store=runs.sqlite3")
            assert ended.returncode == 0, ended.stderr
        with TestClient(_app(tmp_path), base_url="http://127.0.0.1:8000") as client:
            page = _get(client, "run=latest")
        assert "options_of" not in page["request"]
        with pytest.raises(InvalidRunError, match="was imported"):
            _words(tmp_path, {**page["request"], "options_of": page["run_id"]})


class TestStoreOfOthers:
    """A store may come from an untrusted source: a manifest in it starts nothing that the project does not have."""

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("user", "os:abort"),
            ("user", "/elsewhere/user.py"),
            ("user", "../outside.py:user"),
            ("user", "scripted:../outside.json"),
            ("user", "openai:gpt-5@https://elsewhere.example/v1"),
            ("setup", "os:abort"),
            ("teardown", "polite.py\0:x"),
            ("on", "ray://elsewhere.example:10001"),
        ],
    )
    def test_options_that_lead_elsewhere_are_left_out(self, place: Path, name: str, value: str) -> None:
        manifest = _manifest(place, options={name: value, "compat": "adk"})
        assert repeatable_options(manifest, place, load_settings(place)) == {"compat": "adk"}
        assert left_out_options(manifest, place, load_settings(place)) == {name: value}

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("user", "user.py"),
            ("user", "user:user"),
            ("user", "openai:gpt-5"),
            ("setup", "polite:agent"),
            ("on", "processes"),
            ("trial_timeout", 5.0),
        ],
    )
    def test_other_options_are_used(self, place: Path, name: str, value: object) -> None:
        manifest = _manifest(place, options={name: value})
        assert repeatable_options(manifest, place, load_settings(place)) == {name: value}

    @pytest.mark.parametrize(
        ("agent", "judge", "expected"),
        [
            ("polite.py", "scripted:answers.json", ["polite.py", "scripted:answers.json"]),
            ("cmd:touch owned", "openai:gpt-5@https://elsewhere.example/v1", []),
            ("https://elsewhere.example/agent", "scripted:/elsewhere/answers.json", []),
        ],
        ids=["of the project", "a command and a URL", "a URL and a file elsewhere"],
    )
    def test_agent_and_judge_are_files_of_the_project(
        self, place: Path, agent: str, judge: str, expected: list[str]
    ) -> None:
        (place / "cmd").mkdir(exist_ok=True)
        assert names_of(_manifest(place, agent, options={"judge": judge}), place) == expected


def _manifest(folder: Path, agent: str = "polite.py", **fields: Any) -> Manifest:
    described = AgentManifest(reference=agent)
    return Manifest(run_id="run1", created_at=0.0, agent=described, folder=str(folder), **fields)


class TestRunOfSet:
    def test_is_like_the_newest_run_of_the_set(self, client: TestClient) -> None:
        [eval_set] = client.get("/api/eval-sets").json()["items"]
        page = _get(client, f"set={eval_set['id']}&case=kind", "of-set")
        chosen = [{"path": SET, "cases": ["kind"]}]
        assert page["request"] == {**_options(page), "config": "strict.json", "eval_sets": chosen}

    @pytest.mark.slow
    def test_is_like_the_named_run_although_another_agent_ran_later(
        self, tmp_path: Path, folder: Path
    ) -> None:
        project = copytree(folder, tmp_path / "project")
        _write_set(project, "kind", "rude", "mild")
        with working_in(project):
            assert in_this_process(*f"eval other.py {SET}:kind --store runs.sqlite3".split()).returncode == 0
        with TestClient(_app(project), base_url="http://127.0.0.1:8000") as client:
            [eval_set] = client.get("/api/eval-sets").json()["items"]
            newest, named, missing = (
                _get(client, f"set={eval_set['id']}&case=mild{run}", "of-set")
                for run in ("", "&run=latest~1", "&run=gone")
            )
        assert newest["request"]["agent"] == "other.py"
        assert (missing["request"], missing["run_id"]) == (newest["request"], newest["run_id"])
        note = f"Run gone is not in the store: run {newest['run_id'][:6]}, the newest of this set, is taken instead."
        assert missing["notes"] == [note, *newest["notes"]]
        chosen = [{"path": SET, "cases": ["mild"]}]
        assert named["request"] == {**_options(named), "config": "strict.json", "eval_sets": chosen}

    @pytest.mark.parametrize(
        ("agents", "expected"),
        [
            ('"sets"', "sets"),
            ('"sets", "polite.py"', "sets"),
            ('"polite.py"', "polite.py"),
            ('"polite.py", "other.py"', ""),
        ],
        ids=["in its folder", "in its folder, among others", "the only one", "several"],
    )
    def test_without_a_run_has_the_agent_that_is_evident(
        self, tmp_path: Path, agents: str, expected: str
    ) -> None:
        (tmp_path / "sets").mkdir()
        for name in ("sets/agent.py", "polite.py", "other.py"):
            (tmp_path / name).write_text(AGENT, encoding="utf-8")
        (tmp_path / "proctor.toml").write_text(f"agent = [{agents}]\n", encoding="utf-8")
        _write_set(tmp_path, "kind")
        with TestClient(_app(tmp_path), base_url="http://127.0.0.1:8000") as client:
            [eval_set] = client.get("/api/eval-sets").json()["items"]
            page = _get(client, f"set={eval_set['id']}", "of-set")
        assert (page["request"]["agent"], page["run_id"]) == (expected, None)
