"""Runs that a model judges, over HTTP: what is asked, what is paid twice (nothing), and what survives a kill [2]."""

from __future__ import annotations

import json
import os
import random
import signal
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from proctor.schema.results.run_result import Outcome
from tests.models.loopback import Breaks, Completion, ModelRequest, ModelServer
from tests.scenarios.judges.judged_project import (
    METRIC,
    PATIENCE,
    Project,
    ballot_of,
    judge,
    kill,
    valid,
    wait_for,
)

pytestmark = pytest.mark.slow  # each test starts the command line several times

pytest.importorskip("pydantic_ai")

NEEDED = 3
"""Votes of five that decide where they agree."""
AT_ONCE = 4
"""Calls under way where runs are killed."""


def outcomes(project: Project) -> dict[str, Outcome]:
    return {case.eval_id: case.outcome for case in project.result().cases}


def expected(project: Project) -> dict[str, Outcome]:
    return {f"c{n}": Outcome.FAILED if n % 2 else Outcome.PASSED for n in range(project.cases)}


@pytest.mark.nightly
@pytest.mark.parametrize("model", ["openai:gpt-5", pytest.param("gemini-2.5-flash", marks=pytest.mark.slow)])
def test_a_run_is_judged_and_judged_again_for_nothing(tmp_path: Path, model: str) -> None:
    with judge() as server:
        project = Project(tmp_path, server, model=model)
        code, _, stderr = project.run(*project.eval())
        assert (code, outcomes(project)) == (1, expected(project)), stderr
        assert server.count == NEEDED * project.cases
        assert project.asked() == {f"c{n}": 1 for n in range(project.cases)}
        code, _, stderr = project.run("score", "latest", "--store", "s.sqlite3")
        assert (code, outcomes(project)) == (1, expected(project)), stderr
        code, _, stderr = project.run(*project.eval())  # another run, of the same answers
        assert code == 1, stderr
        assert server.count == NEEDED * project.cases
    ballot: Any = project.result().cases[0].metrics[METRIC].per_invocation[0].details["ballot"]  # type: ignore[index] # it has one
    assert [vote["cached"] for vote in ballot["votes"]] == [True] * NEEDED
    assert all(
        json.loads(answer)["verdict"] == "valid" for vote in ballot["votes"] for answer in vote["answers"]
    )


@pytest.mark.nightly
@pytest.mark.slow
def test_another_judge_is_asked_and_answers_of_the_first_stay(tmp_path: Path) -> None:
    with judge() as server:
        project = Project(tmp_path, server, cases=4)
        config = json.loads((tmp_path / "test_config.json").read_text())
        del config["criteria"][METRIC]["judge_model_options"]
        (tmp_path / "test_config.json").write_text(json.dumps(config))
        for judge_model, total in (("openai:gpt-5", 12), ("openai:gpt-4.1", 24), ("openai:gpt-5", 24)):
            code, _, stderr = project.run(*project.eval("--judge", judge_model))
            assert code == 1, stderr
            assert server.count == total
        code, _, stderr = project.run("score", "latest", "--store", "s.sqlite3", "--judge", "openai:gpt-4.1")
        assert (code, server.count) == (1, 24), stderr


@pytest.mark.nightly
@pytest.mark.slow
def test_only_answers_that_no_run_needs_any_more_are_forgotten(tmp_path: Path) -> None:
    with judge() as server:
        project = Project(tmp_path, server, cases=2)
        first = project.run(*project.eval())
        assert first[0] == 1, first
        runs = [project.result().run_id]
        project.run(*project.eval())
        project.run("prune", "--run", runs[0], "--yes", "--store", "s.sqlite3")
        project.run(*project.eval())
        assert server.count == 2 * NEEDED
        for _ in range(2):
            project.run("prune", "--run", project.result().run_id, "--yes", "--store", "s.sqlite3")
        code, _, stderr = project.run(*project.eval())
        assert (code, server.count) == (1, 4 * NEEDED), stderr


# --- killed -----------------------------------------------------------------------------------------------------------------


def killed_while_scoring(folder: Path, seed: int, *, cases: int = 12, blows: int = 2) -> tuple[int, int]:
    """Kill a run at random moments of its scoring, go on with it, and return how often the judge was asked, and needed."""
    chance = random.Random(seed)
    with judge(partial(valid, delay=0.02)) as server:
        project = Project(folder, server, cases=cases, options={"parallelism_limit": AT_ONCE})
        process = project.start(*project.eval("--concurrency", "4"))
        kills = 0
        for blow in range(blows):
            at = server.count + chance.randint(1, NEEDED * cases // (blow + 2))
            if not wait_for(process, partial(is_asked, server, at)):
                break
            kill(process)
            kills += 1
            process = project.start("resume", "--store", "s.sqlite3")
        _, stderr = process.communicate(timeout=PATIENCE)
        assert process.returncode == 1, (seed, stderr)
        assert outcomes(project) == expected(project), seed
        assert server.most_at_once <= AT_ONCE
        assert sum(project.asked().values()) <= cases + 4 * kills, seed  # no more than four were under way
        # what was under way, and what was answered and not yet on disk
        assert server.count <= NEEDED * cases + 3 * AT_ONCE * kills, seed
        return server.count, NEEDED * cases


def is_asked(server: ModelServer, often: int) -> bool:
    return server.count >= often


def test_killed_while_scoring_neither_agent_nor_judge_is_asked_twice(tmp_path: Path) -> None:
    asked, needed = killed_while_scoring(tmp_path, int(os.environ.get("CRASH_SEED", "1")))
    assert needed <= asked


@pytest.mark.nightly
@pytest.mark.timeout(0)
def test_a_hundred_runs_killed_while_a_model_judges(tmp_path: Path) -> None:
    runs = int(os.environ.get("CRASH_RUNS", "100"))
    total = needed = 0
    for seed in range(1, runs + 1):
        one, least = killed_while_scoring(tmp_path / str(seed), seed)
        total, needed = total + one, needed + least
        print(f"seed {seed}: asked {total}, needed {needed}", flush=True)
    assert total <= 1.5 * needed


@pytest.mark.nightly
@pytest.mark.slow
def test_answered_agent_is_not_called_again_for_any_result_of_the_judge(
    tmp_path: Path,
) -> None:
    with judge(lambda _: Breaks(how="hangs")) as server:
        project = Project(tmp_path, server, cases=3)
        process = project.start(*project.eval())
        assert wait_for(
            process, lambda: server.count >= 3 * NEEDED
        )  # all agents are done, and nothing is scored
        kill(process)
        assert project.asked() == {"c0": 1, "c1": 1, "c2": 1}
        server.script = valid
        code, _, stderr = project.run("resume", "--store", "s.sqlite3")
        assert (code, outcomes(project)) == (1, expected(project)), stderr
        assert project.asked() == {"c0": 1, "c1": 1, "c2": 1}


@pytest.mark.nightly
@pytest.mark.slow
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_stop_of_a_run_waits_for_no_judge(tmp_path: Path, number: int, code: int) -> None:
    with judge(lambda _: Breaks(how="hangs")) as server:
        project = Project(tmp_path, server, cases=3)
        process = project.start(*project.eval())
        assert wait_for(process, lambda: server.count >= NEEDED)
        os.killpg(process.pid, number)
        _, stderr = process.communicate(timeout=30)  # 10 s to finish, and then the end
        assert process.returncode == code
        assert "proctor resume" in stderr
        server.script = valid
        code, _, stderr = project.run("resume", "--store", "s.sqlite3")
        assert (code, outcomes(project)) == (1, expected(project)), stderr


# --- judges that fail -------------------------------------------------------------------------------------------------------


@pytest.mark.nightly
def test_a_judge_that_hangs_is_an_error_in_its_own_time(tmp_path: Path) -> None:
    with judge(lambda _: Breaks(how="hangs")) as server:
        options = {"judge_model_config": {"http_options": {"timeout": 300}}, "num_samples": 1}
        project = Project(tmp_path, server, cases=2, options=options)
        code, out, stderr = project.run(*project.eval())
        assert code == 3, stderr
        assert set(outcomes(project).values()) == {Outcome.ERROR}
        assert "did not answer within 0.3 s" in out


@pytest.mark.nightly
def test_a_judge_that_talks_nonsense_is_an_error_and_every_word_is_kept(tmp_path: Path) -> None:
    def nonsense(asked: ModelRequest) -> Completion:
        return Completion(data={"ballot": ballot_of(asked), "rationale": "well", "verdict": "perhaps"})

    with judge(nonsense) as server:
        project = Project(tmp_path, server, cases=1)
        code, _, stderr = project.run(*project.eval())
        assert (code, server.count) == (3, 3 * 5), stderr
        metric = project.result().cases[0].metrics[METRIC]
        assert metric.outcome is Outcome.ERROR
        assert metric.score is None
        ballot: Any = metric.per_invocation[0].details["ballot"]  # type: ignore[index] # it has one
        assert ballot["asked"] == 5
        answers = [answer for vote in ballot["votes"] for answer in vote["answers"]]
        assert len(answers) == 15
        assert all('"perhaps"' in answer for answer in answers)


def test_missing_keys_are_all_reported_and_nothing_runs(tmp_path: Path) -> None:
    with judge() as server:
        project = Project(tmp_path, server, cases=2)
        config = json.loads((tmp_path / "test_config.json").read_text())
        config["criteria"]["safety_v1"] = {
            "threshold": 1.0,
            "judge_model_options": {"judge_model": "claude-sonnet-4-5"},
        }
        config["criteria"]["response_match_scor"] = 0.8
        (tmp_path / "test_config.json").write_text(json.dumps(config))
        variables = dict.fromkeys(("OPENAI_API_KEY", "ANTHROPIC_API_KEY"), "")
        server.environment = lambda: variables  # type: ignore[method-assign] # without keys
        code, _, stderr = project.run(*project.eval())
        assert code == 2
        for each in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "response_match_scor"):
            assert each in stderr
        assert not project.asked()
        code, out, _ = project.run("check", "set.evalset.json")
        assert code == 2  # for the misspelled metric; keys are a warning
        assert "OPENAI_API_KEY" in out
        code, _, stderr = project.run(*project.eval("--no-judge"))
        assert code == 2
        assert "OPENAI_API_KEY" not in stderr
