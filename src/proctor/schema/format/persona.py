"""Personas of simulated users. Three are built in; a file refers to them by id."""

from collections.abc import Callable
from typing import Any

from pydantic import ConfigDict

from proctor.schema.format.wire_model import WRITTEN_IN_SNAKE_CASE, WireModel


class UserBehavior(WireModel):
    """One behavior: the instructions for the simulated user, and the rubrics by which a judge detects violations."""

    model_config = ConfigDict(alias_generator=WRITTEN_IN_SNAKE_CASE, populate_by_name=True)

    name: str
    description: str
    behavior_instructions: list[str]
    violation_rubrics: list[str]

    def get_behavior_instructions_str(self) -> str:
        """Return the instructions as a list for a prompt, one per line."""
        return _as_list(self.behavior_instructions)

    def get_violation_rubrics_str(self) -> str:
        """Return the rubrics as a list for a prompt, one per line."""
        return _as_list(self.violation_rubrics)


def _as_list(texts: list[str]) -> str:
    return "\n".join(f"  * {text}" for text in texts)


class UserPersona(WireModel):
    """The persona of a simulated user. Texts may contain Jinja placeholders such as `{{ stop_signal }}`."""

    model_config = ConfigDict(alias_generator=WRITTEN_IN_SNAKE_CASE, populate_by_name=True)

    id: str
    description: str
    behaviors: list[UserBehavior]


class UnknownPersonaError(ValueError):
    """The error for an unknown persona id."""

    def __init__(self, persona_id: str) -> None:
        import difflib  # valid files never need it

        near = difflib.get_close_matches(persona_id.upper(), _BUILT_IN, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        super().__init__(f"there is no persona {persona_id!r} (personas: {', '.join(persona_ids())}){hint}")
        self.persona_id = persona_id


def persona_ids() -> list[str]:
    """Return the ids of all personas that a file may refer to."""
    return list(_BUILT_IN)


def find_persona(persona_id: str) -> UserPersona:
    """Return the persona with this id. Raises UnknownPersonaError, which suggests a similar id."""
    if persona_id not in _BUILT_IN:
        raise UnknownPersonaError(persona_id)
    return _BUILT_IN[persona_id]()


def register_persona(persona: UserPersona) -> None:
    """Make `persona` available to files by its id; replaces a persona with the same id."""
    _BUILT_IN[persona.id] = lambda: persona


_ADVANCE_ALL_DETAILS: dict[str, Any] = {
    "name": "Opens with the details",
    "description": "Knows the goal in detail and states what the next step needs without being asked.",
    "behavior_instructions": [
        "When you raise a new part of the plan, give every detail that the plan states for it in one message.",
        "Name values exactly as the plan has them: dates, amounts, names, identifiers.",
    ],
    "violation_rubrics": [
        "The user raises a part of the plan but keeps back details that the plan states for it.",
        "The user gives a value that differs from the plan.",
    ],
}
_ADVANCE_GOAL_ONLY: dict[str, Any] = {
    "name": "Says only the goal",
    "description": "Knows what should come out, not what it takes, and names the goal alone.",
    "behavior_instructions": [
        "When you raise a new part of the plan, state only what you want to achieve.",
        "Keep the details to yourself until the agent asks for them.",
    ],
    "violation_rubrics": ["The user volunteers details of the plan that the agent has not asked for."],
}
_ANSWER_ASKED_ONLY: dict[str, Any] = {
    "name": "Answers what is asked",
    "description": "Replies to the question at hand and to nothing else.",
    "behavior_instructions": [
        "Answer exactly what the agent asked, from the plan.",
        "Where the plan does not say, tell the agent that you have no preference or do not know.",
    ],
    "violation_rubrics": [
        "The reply holds information that was not asked for.",
        "The reply makes up something that the plan does not state.",
    ],
}
_ANSWER_EVERYTHING: dict[str, Any] = {
    "name": "Answers and adds",
    "description": "Replies to the question and adds whatever else comes to mind around it.",
    "behavior_instructions": [
        "Answer what the agent asked, from the plan.",
        "Add what else the plan says about the same matter, even when nobody asked.",
    ],
    "violation_rubrics": ["The user leaves a question of the agent unanswered although the plan answers it."],
}
_CORRECT: dict[str, Any] = {
    "name": "Corrects mistakes",
    "description": "Notices when the agent got something wrong and says so.",
    "behavior_instructions": [
        "When the agent misunderstands you or contradicts the plan, say what is wrong and what is right.",
        "Do so at once, before anything else.",
    ],
    "violation_rubrics": ["The agent contradicts the plan and the user lets it pass."],
}
_DO_NOT_CORRECT: dict[str, Any] = {
    "name": "Lets mistakes pass",
    "description": "Takes what the agent says at its word.",
    "behavior_instructions": [
        "When the agent gets something wrong, do not point it out; go on with the plan."
    ],
    "violation_rubrics": ["The user corrects the agent."],
}
_TROUBLESHOOT_ONCE: dict[str, Any] = {
    "name": "Tries once more",
    "description": "Helps the agent over a problem one time, then gives up.",
    "behavior_instructions": [
        "When the agent reports a problem, suggest one way round it that the plan allows.",
        "When that fails too, end the conversation with {{ stop_signal }}.",
    ],
    "violation_rubrics": [
        "The user gives up at the first problem without suggesting anything.",
        "The user keeps trying after a second failure.",
    ],
}
_DO_NOT_TROUBLESHOOT: dict[str, Any] = {
    "name": "Gives up at a problem",
    "description": "Expects the agent to manage alone.",
    "behavior_instructions": [
        "When the agent reports that it cannot do something, end the conversation with {{ stop_signal }}."
    ],
    "violation_rubrics": ["The user suggests how the agent could solve its problem."],
}
_END: dict[str, Any] = {
    "name": "Ends in time",
    "description": "Stops when there is nothing left to say.",
    "behavior_instructions": [
        "When all of the plan is done, or cannot be done, answer with {{ stop_signal }} and nothing else.",
    ],
    "violation_rubrics": [
        "The conversation goes on although the plan is done.",
        "The user ends the conversation before the plan is done and without a reason.",
    ],
}
_PROFESSIONAL: dict[str, Any] = {
    "name": "Professional tone",
    "description": "Writes short, matter-of-fact messages in the terms of the field.",
    "behavior_instructions": ["Be brief and precise; use the terms of the field; leave out small talk."],
    "violation_rubrics": ["The message is chatty, emotional or vague."],
}
_CONVERSATIONAL: dict[str, Any] = {
    "name": "Everyday tone",
    "description": "Writes as people talk.",
    "behavior_instructions": ["Write in everyday words, as to a friendly clerk; avoid jargon."],
    "violation_rubrics": ["The message is written in jargon or like a form."],
}


_END_WITHOUT_TROUBLESHOOTING: dict[str, Any] = {
    "name": "Ends in time, or at a problem",
    "description": "Stops when there is nothing left to say, and expects the agent to manage alone.",
    "behavior_instructions": [*_END["behavior_instructions"], *_DO_NOT_TROUBLESHOOT["behavior_instructions"]],
    "violation_rubrics": [*_END["violation_rubrics"], *_DO_NOT_TROUBLESHOOT["violation_rubrics"]],
}

BEHAVIORS = {
    "ADVANCE_DETAIL_ORIENTED": _ADVANCE_ALL_DETAILS,
    "ADVANCE_GOAL_ORIENTED": _ADVANCE_GOAL_ONLY,
    "ANSWER_RELEVANT_ONLY": _ANSWER_ASKED_ONLY,
    "ANSWER_ALL": _ANSWER_EVERYTHING,
    "CORRECT_AGENT": _CORRECT,
    "DO_NOT_CORRECT_AGENT": _DO_NOT_CORRECT,
    "TROUBLESHOOT_ONCE": _TROUBLESHOOT_ONCE,
    "END_LIMITED_TROUBLESHOOTING": _END,
    "END_NO_TROUBLESHOOTING": _END_WITHOUT_TROUBLESHOOTING,
    "TONE_PROFESSIONAL": _PROFESSIONAL,
    "TONE_CONVERSATIONAL": _CONVERSATIONAL,
}
"""The fields of the built-in personas' behaviors, by google-adk's names."""


def _persona(persona_id: str, description: str, behaviors: list[dict[str, Any]]) -> UserPersona:
    return UserPersona.model_validate({"id": persona_id, "description": description, "behaviors": behaviors})


_BUILT_IN: dict[str, Callable[[], UserPersona]] = {
    "EXPERT": lambda: _persona(
        "EXPERT",
        "Someone who knows the field, knows in detail what they want, and expects the same of the agent.",
        [_ADVANCE_ALL_DETAILS, _ANSWER_ASKED_ONLY, _CORRECT, _TROUBLESHOOT_ONCE, _END, _PROFESSIONAL],
    ),
    "NOVICE": lambda: _persona(
        "NOVICE",
        "Someone new to the field who knows what should come out, trusts the agent, and talks freely.",
        [
            _ADVANCE_GOAL_ONLY,
            _ANSWER_EVERYTHING,
            _DO_NOT_CORRECT,
            _DO_NOT_TROUBLESHOOT,
            _END,
            _CONVERSATIONAL,
        ],
    ),
    "EVALUATOR": lambda: _persona(
        "EVALUATOR",
        "Someone who tries out what the agent can do alone: states the task in detail, then only answers.",
        [
            _ADVANCE_ALL_DETAILS,
            _ANSWER_ASKED_ONLY,
            _DO_NOT_CORRECT,
            _DO_NOT_TROUBLESHOOT,
            _END,
            _CONVERSATIONAL,
        ],
    ),
}
