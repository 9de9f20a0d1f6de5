"""Simulated users compared with recordings of google-adk: equal replies of the model, equal conversations."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from proctor.engine.trial.conversation import ConversationRecorder, Play, TrialLimits
from proctor.engine.trial.deadlines import TrialSlot
from proctor.models.base import Finish, Reply
from proctor.models.scripted import ScriptedModel
from proctor.schema.evidence.trial import Trial
from proctor.schema.format.case import EvalCase
from proctor.schema.format.config import EvalConfig
from proctor.schema.format.content import text_of
from proctor.simulation.pool import RunUsers
from tests.compat.golden.recorded import ScriptedApp, golden

REFUSED_BEFORE = {11}
"""Instructions without a place for the persona: google-adk fails the inference at the second turn, Proctor refuses them
before the first agent call."""
EMPTY_REFUSED_BEFORE = {3}
"""No turns allowed: the same empty conversation where it is played; a run is refused, because it could decide nothing."""


def reply_of(output: dict[str, Any]) -> Reply:
    """What our models make of what google-adk's did: thoughts left out, chunks joined."""
    if "error_code" in output:
        return Reply(finish=Finish.CONTENT_FILTER)
    parts = [part for chunk in output.get("chunks", [[{"text": output.get("text", "")}]]) for part in chunk]
    return Reply(text="".join(part["text"] for part in parts if not part.get("thought")))


def played(vector: dict[str, Any], script: Any) -> tuple[Trial | None, int]:
    """The conversation (`None`: refused before it began), and how many of the outputs were not asked for."""
    case = EvalCase.model_validate({"eval_id": "s", "conversation_scenario": vector["scenario"]})
    config = EvalConfig.model_validate({"criteria": {}, "user_simulator_config": vector["config"]})
    outputs = vector["user_model_outputs"]
    model = ScriptedModel([*map(reply_of, outputs), "</finished>", "</finished>"])
    users = RunUsers(model)
    if any("persona" in str(problem) for problem in users.problems(case, config)):
        return None, len(outputs) - len(model.asked)
    recorder = ConversationRecorder(ScriptedApp(script), TrialLimits(timeout=None, trial_timeout=None))
    trial = asyncio.run(recorder.record(case, "set", 0, TrialSlot(), play=Play(users.play, case, config)))
    return trial, max(0, len(outputs) - len(model.asked))


@pytest.mark.parametrize("number", range(12))
def test_conversations_are_those_that_were_recorded(shared: Path, number: int) -> None:
    recorded = golden(shared, "simulated_users.json", 12)
    vector = recorded["vectors"][number]
    expected = vector["result"]["ok"]
    trial, left = played(vector, recorded["script"])
    assert left == expected["outputs_left"]
    if trial is None:
        assert number in REFUSED_BEFORE
        assert expected["status"] == "FAILURE"
        return
    failed = trial.failure is not None
    assert failed is (expected["status"] == "FAILURE")
    assert failed is expected["error"]
    if failed:
        assert trial.failure is not None
        assert trial.failure.where == "simulator"
    else:
        assert [
            [text_of(one.user_content), text_of(one.final_response)] for one in trial.invocations
        ] == expected["turns"]


def test_a_limit_of_no_turns_is_refused_before_a_run(shared: Path) -> None:
    vectors = golden(shared, "simulated_users.json", 12)["vectors"]
    users, refused = RunUsers(ScriptedModel("x")), set()
    for number, vector in enumerate(vectors):
        case = EvalCase.model_validate({"eval_id": "s", "conversation_scenario": vector["scenario"]})
        config = EvalConfig.model_validate({"criteria": {}, "user_simulator_config": vector["config"]})
        if users.problems(case, config):
            refused.add(number)
    assert refused == REFUSED_BEFORE | EMPTY_REFUSED_BEFORE
