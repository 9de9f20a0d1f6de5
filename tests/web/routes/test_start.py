"""Starting a run from the page: what there is to choose, what it takes, and all that is wrong at once, with nothing run."""

import json
import shlex
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from proctor.common.registry import METRICS
from proctor.common.secrets import hide_secrets
from proctor.runs.load import CONFIG_OBJECT
from proctor.web.server.app import create_app
from proctor.web.server.context import ServerContext
from proctor.web.server.runs.active_runs import MOST_AT_ONCE, ChildRuns, NotStartedError, TooManyRunsError
from proctor.web.server.runs.startable_sets import start_page
from tests.web.live_project import ASKED, WITHIN, Server, make_project, open_gate, serving

CASES = 6


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project; its gate is open."""
    folder = make_project(tmp_path_factory.mktemp("project"), CASES)
    open_gate(folder, CASES)
    (folder / "strict_config.json").write_text('{"criteria": {"response_match_score": 1.0}}')
    (folder / "tsconfig.json").write_text('{"compilerOptions": {}}')
    (folder / "broken.evalset.json").write_text('{"eval_cases": [{"eval_id": 3')
    (folder / "secret.txt").write_text("no")
    return folder


@pytest.fixture(scope="module")
def client(folder: Path) -> Iterator[TestClient]:
    """Asks a server of that project."""
    app = create_app(ServerContext(root=folder, store_url=folder / "runs.sqlite3"))
    with TestClient(app, base_url="http://127.0.0.1:8000") as client:
        yield client


def _problems(client: TestClient, **asked: Any) -> list[tuple[str, str]]:
    """Which fields are wrong, and how, when such a run is asked for."""
    answer = client.post("/api/estimates", json={**ASKED, **asked})
    assert answer.status_code == 422, answer.text
    return [(one["field"], one["message"]) for one in answer.json()["problems"]]


def _judged_by(model: str, options: str = "judge_model_options", key: str = "judge_model") -> dict[str, Any]:
    """A run whose judge is named where a criterion names one."""
    return {"criteria": {"final_response_match_v2": {"threshold": 0.5, options: {key: model}}}}


class TestWhatThereIs:
    def test_the_agents_are_those_of_the_server_and_replay(self, client: TestClient) -> None:
        page = client.get("/api/agents").json()
        assert [one["name"] for one in page["items"]] == ["gated.py:root_agent", "replay"]
        assert (page["can_run"], page["why_not"]) == (True, "")

    def test_a_store_in_memory_can_be_shown_and_not_written_by_others(self, tmp_path: Path) -> None:
        app = create_app(ServerContext(root=tmp_path, store_url="memory:here"))
        with TestClient(app, base_url="http://127.0.0.1:8000") as client:
            assert client.get("/api/agents").json()["can_run"] is False
            answer = client.post("/api/runs", json=ASKED)
        assert answer.status_code == 409
        assert "--store" in answer.json()["detail"]

    @pytest.mark.parametrize(
        ("name", "text", "is_config"),
        [
            ("judged.json", '{"criteria": {}}', True),
            ("live.json", '{"userSimulatorConfig": {"model": "m"}}', True),
            ("strict.yaml", "criteria:\n  response_match_score: 1\n", True),
            ("set.json", '{"eval_set_id": "a", "eval_cases": [], "criteria": {}}', False),
            ("result.json", '{"eval_case_results": [], "criteria": {}}', False),
            ("words.json", '{"text": "criteria"}', False),
            ("list.json", '[{"criteria": {}}]', False),
            ("broken_config.json", '{"criteria": ', False),
            ("my.evalset.json", '{"criteria": {}}', False),
        ],
        ids=lambda value: value if isinstance(value, str) and value.endswith(("json", "yaml")) else "",
    )
    def test_a_config_is_recognised_by_its_content(
        self, tmp_path: Path, name: str, text: str, is_config: bool
    ) -> None:
        (tmp_path / name).write_text(text, encoding="utf-8")
        assert start_page(tmp_path).configs == ([name] if is_config else [])

    def test_a_config_that_cannot_be_read_is_offered_by_its_name_next_to_a_set(self, tmp_path: Path) -> None:
        for folder in ("evals", "other"):
            (tmp_path / folder).mkdir()
            for name in ("test_config.json", "my_config.yaml", "notes.json"):
                (tmp_path / folder / name).write_text('{"criteria": ')
        (tmp_path / "evals" / "a.evalset.json").write_text("{}")
        offered = ["evals/my_config.yaml", "evals/test_config.json", "other/test_config.json"]
        assert start_page(tmp_path).configs == offered

    def test_sets_and_configs_are_those_below_the_project(self, client: TestClient) -> None:
        page = client.get("/api/start").json()
        assert {one["path"] for one in page["sets"]} == {"greetings.evalset.json", "broken.evalset.json"}
        assert page["configs"] == ["strict_config.json"]

    def test_a_set_lists_its_cases_with_tags_and_how_they_begin(self, client: TestClient) -> None:
        page = client.get("/api/start/set", params={"path": "greetings.evalset.json"}).json()
        assert page["cases"][1] == {"eval_id": "case_1", "tags": ["odd", "rare"], "message": "hello 1"}
        assert (len(page["cases"]), page["problem"]) == (CASES, "")

    def test_a_broken_set_shows_what_is_wrong(self, client: TestClient) -> None:
        page = client.get("/api/start/set", params={"path": "broken.evalset.json"}).json()
        assert "broken.evalset.json:1" in page["problem"]

    @pytest.mark.parametrize(
        "path",
        [
            "../greetings.evalset.json",
            "/etc/passwd",
            "secret.txt",
            "nothing.evalset.json",
            "a\u0000.evalset.json",
            "C:/x.evalset.json",
            "x" * 400 + ".evalset.json",
        ],
    )
    def test_an_invalid_set_below_the_project_is_not_read(self, client: TestClient, path: str) -> None:
        assert client.get("/api/start/set", params={"path": path}).status_code == 404

    def test_a_link_that_leads_out_is_not_followed(
        self, client: TestClient, folder: Path, tmp_path: Path
    ) -> None:
        (tmp_path / "outside.evalset.json").write_text("{}")
        link = folder / "link.evalset.json"
        link.symlink_to(tmp_path / "outside.evalset.json")
        try:
            assert client.get("/api/start/set", params={"path": "link.evalset.json"}).status_code == 404
        finally:
            link.unlink()

    def test_every_metric_has_its_facts_and_what_each_option_may_be(self, client: TestClient) -> None:
        found = {one["name"]: one for one in client.get("/api/metrics").json()["items"]}
        assert list(found) == list(METRICS.names())
        trajectory = {
            one["name"]: one["json_schema"] for one in found["tool_trajectory_avg_score"]["options"]
        }
        assert trajectory["threshold"]["type"] == "number"
        assert trajectory["gate"] == {"type": "boolean", "default": True}
        assert found["final_response_match_v2"]["asks_judge"] is True
        assert found["token_usage_v1"]["gates"] is False
        for one in found.values():
            for option in one["options"]:
                assert option["meaning"], (one["name"], option["name"])


class TestTheEstimate:
    def test_without_a_run_to_go_by_reports_it(self, tmp_path: Path) -> None:
        folder = make_project(tmp_path, 3)
        with TestClient(
            create_app(ServerContext(root=folder, store_url=folder / "runs.sqlite3")),
            base_url="http://127.0.0.1:8000",
        ) as client:
            page = client.post("/api/estimates", json={**ASKED, "num_runs": 4}).json()
        assert (page["cases"], page["trials"], page["run_id"], page["cost"], page["seconds"]) == (
            3,
            12,
            None,
            None,
            None,
        )
        assert any("no earlier run of these sets" in note for note in page["notes"])
        assert not (folder / "runs.sqlite3").exists()

    @pytest.mark.slow
    def test_rests_on_the_newest_run_and_its_command_line_does_the_same(self, tmp_path: Path) -> None:
        folder = make_project(tmp_path, CASES)
        open_gate(folder, CASES)
        with serving(ServerContext(root=folder, store_url=folder / "runs.sqlite3")) as server:
            _, before = server.ask("POST", "/api/estimates", ASKED)
            words = shlex.split(before["command"])
            assert words[0] == "proctor"
            done = subprocess.run(
                [sys.executable, "-m", "proctor", *words[1:]],
                cwd=folder,
                capture_output=True,
                check=False,
                timeout=60,
            )
            assert done.returncode == 1, done.stderr
            _, page = server.ask("POST", "/api/estimates", {**ASKED, "num_runs": 2})
            latest = server.wait_for("latest", "finished")
        assert (page["run_id"], page["seen"], page["trials"]) == (latest["run_id"], CASES, 2 * CASES)
        seconds = page["seconds"]
        assert 0 <= seconds["low"] <= seconds["value"] <= seconds["high"]

    @pytest.mark.slow
    def test_of_what_failed_goes_by_the_servers_own_store(self, tmp_path: Path) -> None:
        folder = make_project(tmp_path, CASES)
        open_gate(folder, CASES)
        with serving(ServerContext(root=folder, store_url=folder / "elsewhere.sqlite3")) as server:
            run = server.start()
            server.wait_for(run, "finished")
            status, page = server.ask("POST", "/api/estimates", {**ASKED, "failed_of": run, "eval_sets": []})
        assert (status, page.get("cases")) == (200, 2), page  # every third of six answers is wrong
        assert not (folder / ".proctor" / "store.sqlite3").exists()

    def test_any_number_of_cases_may_be_chosen_one_by_one(self, client: TestClient, folder: Path) -> None:
        ids = [f"{number:05d}_{'long' * 15}" for number in range(4_000)]
        turn = {"user_content": {"parts": [{"text": "hello 1"}]}, "intermediate_data": {"tool_uses": []}}
        listed = [{"eval_id": one, "conversation": [turn]} for one in ids]
        many = folder / "many.evalset.json"
        many.write_text(json.dumps({"eval_set_id": "many", "eval_cases": listed}))
        try:
            chosen = [{"path": many.name, "cases": ids[1:]}]
            answer = client.post("/api/estimates", json={**ASKED, "eval_sets": chosen})
        finally:
            many.unlink()
        assert (answer.status_code, answer.json().get("cases")) == (200, len(ids) - 1), answer.text[:500]


class TestWhatIsWrong:
    def test_all_of_it_is_reported_at_once_each_with_its_field_and_nothing_is_run(
        self, client: TestClient, folder: Path
    ) -> None:
        asked = {
            **ASKED,
            "eval_sets": [
                {"path": "greetings.evalset.json", "cases": ["case_1", "unknown"]},
                {"path": "nowhere.evalset.json"},
            ],
            "criteria": {
                "response_match_score": {"threshold": 3},
                "rouge": 0.5,
                "tool_trajectory_avg_score": {"threshold": 1, "match_typ": "EXACT"},
            },
            "judge": "no-such-model",
        }
        answer = client.post("/api/runs", json=asked)
        assert answer.status_code == 422
        problems = answer.json()["problems"]
        reported = {(one["field"], one["metric"]) for one in problems}
        assert {
            ("eval_sets", ""),
            ("judge", ""),
            ("criteria", "rouge"),
            ("criteria", "response_match_score"),
            ("criteria", "tool_trajectory_avg_score"),
        } <= reported, json.dumps(problems, indent=1)
        text = answer.json()["detail"]
        for output in ("nowhere.evalset.json", "unknown", "rouge", "match_typ", "no-such-model"):
            assert output in text
        assert client.get("/api/runs").json()["total"] == 0

    @pytest.mark.nightly(check=1)
    @pytest.mark.slow  # every field of the form
    @pytest.mark.parametrize(
        ("asked", "field", "output"),
        [
            ({"agent": "cmd:touch owned"}, "agent", "no agent named"),
            ({"agent": "http+sse:http://169.254.169.254/"}, "agent", "no agent named"),
            ({"agent": "gated.py:rootagent"}, "agent", "Did you mean 'gated.py:root_agent'?"),
            ({"eval_sets": []}, "eval_sets", "no eval set is chosen"),
            ({"eval_sets": [{"path": "greetings.evalset.json", "cases": []}]}, "eval_sets", "no case"),
            (
                {"eval_sets": [{"path": "greetings.evalset.json", "cases": [" "]}]},
                "eval_sets",
                "cannot be selected",
            ),
            (
                {"eval_sets": [{"path": "greetings.evalset.json", "cases": ["a,b", "case_1"]}]},
                "eval_sets",
                "no case 'a,b'",
            ),
            ({"eval_sets": [{"path": "../x.evalset.json"}]}, "eval_sets", "no eval set below"),
            ({"eval_sets": [{"path": "broken.evalset.json"}]}, "eval_sets", "broken.evalset.json:1"),
            ({"config": "/etc/passwd"}, "config", "there is no config file "),
            ({"config": "../../config.json"}, "config", "there is no config file "),
            (
                {"config": CONFIG_OBJECT},
                "config",
                "the criteria were a config object in Python: choose a config file or metrics",
            ),
            ({"criteria": {}}, "criteria", "no metric is chosen"),
            ({"tags": ["unknown"]}, "tags", "no case carries the tag unknown"),
            ({"failed_of": "../x", "eval_sets": []}, "failed_of", "not the id of a run"),
            (
                {"judge": "openai:gpt@http://evil.example/v1"},
                "judge",
                "the page may not name a judge with a URL",
            ),
            ({"judge": "scripted:/etc/passwd"}, "judge", "scripted judge reads a file"),
            (
                _judged_by("openai:gpt@http://evil.example/v1"),
                "criteria",
                "the page may not name a judge with a URL",
            ),
            (_judged_by("scripted:/etc/passwd"), "criteria", "scripted judge reads a file"),
            (
                _judged_by("openai:gpt@http://evil.example/v1", "judgeModelOptions", "judgeModel"),
                "criteria",
                "the page may not name a judge with a URL",
            ),
            ({"tags": ["a\0b"]}, "", "NUL"),
            ({"metrics": ["a\0b"]}, "", "NUL"),
            ({"judge": "openai:gpt\0"}, "", "NUL"),
            ({"eval_sets": [{"path": "greetings.evalset.json", "cases": ["a\0"]}]}, "", "NUL"),
            (
                {"eval_sets": [{"path": "greetings.evalset.json", "cases": ["c" * 400] * 400}]},
                "eval_sets",
                "no case",
            ),
        ],
        ids=lambda one: next(iter(one)) if isinstance(one, dict) else "",
    )
    def test_each_mistake_is_reported_next_to_its_field(
        self, client: TestClient, asked: dict[str, Any], field: str, output: str
    ) -> None:
        problems = _problems(client, **asked)
        assert field in [one for one, _ in problems], problems
        assert any(output in message for one, message in problems if one == field), problems

    @pytest.mark.parametrize(
        "asked",
        [
            {"num_runs": 0},
            {"max_cost": -1},
            {"timeout": 0},
            {"concurrency": 10**9},
            {"nonsense": 1},
            {"max_time": "x"},
        ],
        ids=lambda one: next(iter(one)),
    )
    def test_what_no_number_can_be_is_refused(self, client: TestClient, asked: dict[str, Any]) -> None:
        answer = client.post("/api/runs", json={**ASKED, **asked})
        assert answer.status_code == 422
        assert next(iter(asked)) in answer.json()["detail"]

    def test_an_agent_that_breaks_when_it_is_imported_is_reported_with_its_cause(
        self, tmp_path: Path
    ) -> None:
        folder = make_project(tmp_path, 2)
        (folder / "gated.py").write_text("raise RuntimeError('out of order')\n")
        with TestClient(
            create_app(ServerContext(root=folder, store_url=folder / "runs.sqlite3")),
            base_url="http://127.0.0.1:8000",
        ) as client:
            answer = client.post("/api/runs", json=ASKED)
        (problem,) = answer.json()["problems"]
        assert (answer.status_code, problem["field"]) == (422, "agent")
        assert "RuntimeError: out of order" in problem["message"]


@pytest.mark.nightly
@pytest.mark.slow
def test_no_more_runs_than_may_be_are_under_way(tmp_path: Path) -> None:
    folder = make_project(tmp_path, 2)
    with serving(ServerContext(root=folder, store_url=folder / "runs.sqlite3")) as server:
        runs = [server.start() for _ in range(MOST_AT_ONCE)]
        status, output = server.ask("POST", "/api/runs", ASKED)
        assert status == 409
        assert all(run in output["detail"] for run in runs)
        open_gate(folder, 2)
        for run in runs:
            server.wait_for(run, "finished")
        assert _started_at_last(server)


def _started_at_last(server: Server) -> bool:
    """A run has ended in the store a moment before its process has."""
    until = time.monotonic() + WITHIN
    while server.ask("POST", "/api/runs", ASKED)[0] != 201:
        if time.monotonic() > until:
            return False
        time.sleep(0.1)
    return True


@pytest.mark.slow
def test_cases_tags_and_metrics_that_are_chosen_are_what_is_run(tmp_path: Path) -> None:
    folder = make_project(tmp_path, CASES)
    open_gate(folder, CASES)
    with serving(ServerContext(root=folder, store_url=folder / "runs.sqlite3")) as server:
        chosen = [{"path": "greetings.evalset.json", "cases": ["case_1", "case_2", "case_3"]}]
        run = server.start(eval_sets=chosen, tags=["rare"], criteria={"response_match_score": 0.5})
        page = server.wait_for(run, "finished")
        _, cases = server.ask("GET", f"/api/runs/{run}/cases")
        _, extras = server.ask("GET", f"/api/runs/{run}/case-extras")
        assert [row["eval_id"] for row in cases["items"]] == ["case_1", "case_3"]
        assert page["sets"][0]["metrics"][0] == "response_match_score"
        assert extras == {
            "tags": {"odd": [0, 1], "rare": [0, 1]},
            "tools": {},
            "tool_figures": [],
            "costs": [],
            "cost_texts": [],
            "attempts": [],
        }
        again = server.start(eval_sets=[], failed_of=run)
        server.wait_for(again, "finished")
        _, failed = server.ask("GET", f"/api/runs/{again}/cases")
        assert [row["eval_id"] for row in failed["items"]] == ["case_3"]


@pytest.mark.slow
def test_a_file_that_a_judge_names_is_not_read(client: TestClient) -> None:
    answer = client.post("/api/estimates", json={**ASKED, **_judged_by("scripted:/etc/passwd")})
    assert "no JSON" not in answer.json()["detail"]


ADDRESS = "http+sse:http://someone:hunter2-hunter2@127.0.0.1:9/ask?api_key=swordfish-1"


@pytest.mark.slow
def test_an_agents_password_is_in_no_answer(tmp_path: Path) -> None:
    folder = make_project(tmp_path, 1)
    (folder / "proctor.toml").write_text(f'agent = ["gated.py:root_agent", "{ADDRESS}"]\n')
    app = create_app(
        ServerContext(root=folder, store_url=f"sqlite:///{folder}/runs.sqlite3?password=swordfish-2")
    )
    shown = "http+sse:http://***@127.0.0.1:9/ask?api_key=***"
    with TestClient(app, base_url="http://127.0.0.1:8000") as client:
        named = [one["name"] for one in client.get("/api/agents").json()["items"]]
        answers = [
            client.get("/api/agents"),
            client.get("/api/about"),
            client.post("/api/estimates", json={**ASKED, "agent": "unknown"}),
            client.post("/api/estimates", json={**ASKED, "agent": shown}),
            client.post("/api/chats", json={"agent": "unknown"}),
        ]
    assert shown in named
    assert shown in answers[3].text or answers[3].status_code == 422
    for answer in answers:
        assert "hunter2" not in answer.text
        assert "swordfish" not in answer.text


@pytest.mark.skipif(
    not Path("/proc/self/cmdline").exists(), reason="this system has no such list of processes"
)
@pytest.mark.slow
def test_no_process_of_a_run_shows_an_agents_password(tmp_path: Path) -> None:
    seen: list[bytes] = []

    class Agent(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            seen.extend(path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline") if _is_there(path))
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b'"Hello!"')

        def log_message(self, *_: object) -> None:
            pass

    folder = make_project(tmp_path, 1)
    with ThreadingHTTPServer(("127.0.0.1", 0), Agent) as agent:
        threading.Thread(target=agent.serve_forever, daemon=True).start()
        address = f"http+sse:http://someone:hunter2-hunter2@127.0.0.1:{agent.server_port}/"
        (folder / "proctor.toml").write_text(f'agent = "{address}"\nisolate = true\n')
        with serving(ServerContext(root=folder, store_url=folder / "runs.sqlite3")) as server:
            server.wait_for(server.start(agent=hide_secrets(address)), "finished")
        agent.shutdown()
    assert any(b"proctor\0eval" in words for words in seen)  # it was looked while the run was under way
    assert not [words for words in seen if b"hunter2" in words]


def _is_there(path: Path) -> bool:
    try:
        return bool(path.read_bytes())
    except OSError:  # it has just ended
        return False


@pytest.mark.slow
def test_a_run_that_is_still_starting_ends_with_the_server(tmp_path: Path) -> None:
    folder = make_project(tmp_path, 1)
    (folder / "gated.py").write_text("import time\nopen('began', 'w').close()\ntime.sleep(60)\n")
    children = ChildRuns(folder, folder / "page")
    words = ["eval", "--agent=gated.py:root_agent", "--set=greetings.evalset.json"]
    with ThreadPoolExecutor(2) as pool:
        asked = [pool.submit(children.start, words), pool.submit(children.ask, [*words, "--estimate"])]
        until = time.monotonic() + 30
        while not (folder / "began").exists() and time.monotonic() < until:
            time.sleep(0.02)
        time.sleep(0.5)  # the other one is as far
        began = time.monotonic()
        children.close()
        for one in asked:
            with pytest.raises(NotStartedError):
                one.result(30)
        assert time.monotonic() - began < 20


def test_no_more_is_asked_at_once_than_may_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proctor.web.server.runs.active_runs.MOST_ASKED", 0)
    with pytest.raises(TooManyRunsError, match="estimates are running"):
        ChildRuns(tmp_path, tmp_path / "page").ask(["eval"])
