"""Conversations without an agent: the prompt of the simulated user, and its messages."""

from __future__ import annotations

import asyncio
from typing import Any

from proctor.schema.evidence.convert_events import invocation_of
from proctor.schema.evidence.event import Event
from proctor.schema.evidence.turn import Turn
from proctor.schema.format.case import EvalCase
from proctor.schema.format.config import EvalConfig
from proctor.schema.format.content import user_text
from proctor.schema.format.invocation import Invocation
from proctor.simulation.base import NextUserMessage, UserSimulator
from proctor.simulation.pool import RunUsers

PLAN = "Ask for the weather in Paris."


def scenario_case(**fields: Any) -> EvalCase:
    scenario = {"starting_prompt": "hello", "conversation_plan": PLAN, **fields}
    return EvalCase.model_validate({"eval_id": "s", "conversation_scenario": scenario})


def config_of(**simulator: Any) -> EvalConfig:
    return EvalConfig.model_validate({"criteria": {}, "user_simulator_config": simulator or None})


def player(user: Any, case: EvalCase | None = None, **simulator: Any) -> UserSimulator:
    return RunUsers(user).play(case or scenario_case(), config_of(**simulator))


def turn(ask: str, *events: Event, number: int = 0) -> Invocation:
    recorded = Turn(user_content=user_text(ask), events=list(events or [Event.said("ok")]))
    return invocation_of(recorded, invocation_id=f"e-{number}")


def next_of(user: UserSimulator, *so_far: Invocation) -> NextUserMessage:
    return asyncio.run(user.next_message(so_far))
