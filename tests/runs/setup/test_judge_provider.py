"""The choice of the judge of a run, its record, and the refusal to resume with another judge silently."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import proctor
from proctor.errors import SetupProblems
from proctor.models import load
from proctor.models.scripted import ScriptedModel
from proctor.runs.setup.judge_and_user import JudgesOnDemand
from proctor.runs.setup.settings import Settings
from proctor.runs.storage.open import open_store
from proctor.schema.format.criterion import JudgeModelOptions
from proctor.schema.results.manifest import MetricManifest

MATCH = "final_response_match_v2"
VALID = {"rationale": "it does", "verdict": "valid"}
TURN = {"user_content": {"parts": [{"text": "q"}]}, "final_response": {"parts": [{"text": "a"}]}}
SET = {"eval_set_id": "set", "eval_cases": [{"eval_id": name, "conversation": [TURN]} for name in "ab"]}
CRITERIA = {"criteria": {MATCH: {"threshold": 1.0, "judge_model_options": {"num_samples": 1}}}}


async def agent(text: str) -> str:
    return f"answer to {text}"


@pytest.fixture(autouse=True)
def models(monkeypatch: pytest.MonkeyPatch) -> dict[str, ScriptedModel]:
    """Every name is a model that finds everything valid."""
    made: dict[str, ScriptedModel] = {}

    def load_model(name: str, **_: Any) -> ScriptedModel:
        return made.setdefault(name, ScriptedModel(VALID, name=name))

    monkeypatch.setattr(load, "load_model", load_model)
    monkeypatch.delenv("PROCTOR_JUDGE_MODEL", raising=False)
    return made


ORDER: dict[str, tuple[str, str, str, str, bool, str]] = {
    # by hand, environment, setting, criterion, an object is given -> who is asked
    "an object before all": ("", "gpt-5", "o3", "gpt-4o", True, "scripted"),
    "the criterion before an option": ("gpt-5-mini", "gpt-5", "o3", "gpt-4o", False, "gpt-4o"),
    "by hand before the environment": ("gpt-5-mini", "gpt-5", "o3", "", False, "gpt-5-mini"),
    "the environment before the setting": ("", "gpt-5", "o3", "", False, "gpt-5"),
    "the setting before google-adk's default": ("", "", "o3", "", False, "o3"),
    "google-adk's default": ("", "", "", "", False, "gemini-2.5-flash"),
    "an empty variable is none": ("", " ", "o3", "", False, "o3"),
}


@pytest.mark.parametrize(
    ("hand", "variable", "setting", "stated", "is_object", "asked"), ORDER.values(), ids=ORDER
)
def test_who_is_asked(
    hand: str,
    variable: str,
    setting: str,
    stated: str,
    is_object: bool,
    asked: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from proctor.runs.setup.settings import engine_options

    if variable:
        monkeypatch.setenv("PROCTOR_JUDGE_MODEL", variable)
    given = ScriptedModel(VALID) if is_object else hand or None
    chosen = engine_options({"judge": given}, Settings(options={"judge": setting} if setting else {})).get(
        "judge"
    )
    options = JudgeModelOptions.model_validate({"judge_model": stated} if stated else {})
    assert JudgesOnDemand(chosen).judge(MATCH, options, stated=bool(stated)).model == asked


def metric_of(store: str, scoring: int = 0) -> MetricManifest:
    kept = open_store(store)
    try:
        return kept.scorings(kept.find("latest"))[scoring].sets[0].metrics[0]
    finally:
        kept.close()


def test_record_of_a_run_names_judge_and_prompts(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path / 's.db'}"
    proctor.evaluate_sync(agent, SET, config=CRITERIA, judge="gpt-5", store=store)
    metric = metric_of(store)
    assert (metric.name, metric.judge) == (MATCH, "gpt-5")
    assert set(metric.prompts) == {MATCH, "instructions"}
    assert all(len(digest) == 12 for digest in metric.prompts.values())


def test_a_run_is_judged_again_by_its_own_judge_unless_another_is_named(
    tmp_path: Path, models: dict[str, ScriptedModel], monkeypatch: pytest.MonkeyPatch
) -> None:
    store = f"sqlite:///{tmp_path / 's.db'}"
    run = proctor.evaluate_sync(agent, SET, config=CRITERIA, judge="gpt-5", store=store)
    monkeypatch.setenv("PROCTOR_JUDGE_MODEL", "o3")
    proctor.rescore_sync(run, store=store)
    assert metric_of(store, -1).judge == "gpt-5"
    assert {name: len(model.asked) for name, model in models.items()} == {"gpt-5": 1}  # both agree
    proctor.rescore_sync(run, store=store, judge="gpt-4o")
    assert metric_of(store, -1).judge == "gpt-4o"
    assert len(models["gpt-4o"].asked) == 1


def unfinished(tmp_path: Path) -> str:
    """A run of two cases of which one was not reached."""
    store = f"sqlite:///{tmp_path / 's.db'}"
    file = tmp_path / "set.evalset.json"
    file.write_text(json.dumps(SET))
    invalid = {**VALID, "verdict": "invalid"}
    judge = ScriptedModel(invalid, name="first")
    proctor.evaluate_sync(
        agent, str(file), config=CRITERIA, judge=judge, store=store, max_failures=1, concurrency=1
    )
    return store


def test_resume_with_another_judge_is_refused(tmp_path: Path) -> None:
    store = unfinished(tmp_path)
    with pytest.raises(SetupProblems, match="has changed: its judge was first and is second"):
        proctor.resume_sync(store=store, agent=agent, judge=ScriptedModel(VALID, name="second"))
    result = proctor.resume_sync(
        store=store, agent=agent, judge=ScriptedModel(VALID, name="second"), force=True
    )
    assert any("its judge was first and is second" in warning for warning in result.warnings)


def test_nor_by_another_prompt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = unfinished(tmp_path)
    monkeypatch.setattr("proctor.runs.setup.manifest.prompts_of", lambda _: {})
    monkeypatch.setattr("proctor.runs.setup.manifest.prompts_of", lambda _: {"other": "0" * 12})
    with pytest.raises(SetupProblems, match="has changed: its prompt is another one"):
        proctor.resume_sync(store=store, agent=agent, judge=ScriptedModel(VALID, name="first"))


def test_it_is_by_the_same_and_pays_nothing_twice(tmp_path: Path) -> None:
    store = unfinished(tmp_path)
    again = ScriptedModel({**VALID, "verdict": "invalid"}, name="first")
    result = proctor.resume_sync(store=store, agent=agent, judge=again)
    assert [one.metrics[MATCH].score for one in result.cases] == [0.0, 0.0]
    assert not again.asked  # the second answer is the first one, word for word


WRONG: dict[str, tuple[Any, str]] = {
    "a number": (7, "judge: A model is a name"),
    "a class": (ScriptedModel, "judge: A model is a name"),
    "a name without meaning": ("my judge", "judge: No model is called 'my judge'"),
    "a misspelled provider": ("opnai:gpt-5", "Did you mean 'openai:gpt-5'"),
}


@pytest.mark.parametrize("do", [proctor.evaluate_sync], ids=["evaluate"])
@pytest.mark.parametrize(("judge", "message"), WRONG.values(), ids=WRONG)
def test_a_judge_that_is_none_is_refused_before_anything_runs(
    do: Callable[..., Any], judge: Any, message: str
) -> None:
    asked = []

    async def counting(text: str) -> str:
        asked.append(text)
        return text

    with pytest.raises(SetupProblems, match=message) as caught:
        do(counting, SET, config=CRITERIA, judge=judge)
    assert len(caught.value.problems) == 1  # reported once
    assert not asked
