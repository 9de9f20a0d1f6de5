"""Answers that are none: none of them is a pass, none is a 0, each is asked for again, and all are kept as they came."""

from __future__ import annotations

import json
from typing import Any

import pytest

from proctor.judges.answer_schema import check_schema
from proctor.judges.base import UnusableAnswerError
from proctor.judges.votes import ballot_details, undecided_failure
from proctor.models.base import Finish, ModelOptions, Reply, Usage
from proctor.models.scripted import ScriptedModel
from proctor.schema.evidence.trial import FailureKind
from tests.judges.judge_requests import YES, ask

TEXTS: dict[str, str] = {
    "prose": "The answer is helpful, so: yes.",
    "a bare word": "yes",
    "a bare word in JSON": '"yes"',
    "a number": "1.0",
    "a list": "[true]",
    "null": "null",
    "true": "true",
    "half an object": '{"ballot": "BALLOT", "verdict": "ye',
    "a trailing comma": '{"ballot": "BALLOT", "rationale": "r", "verdict": "yes",}',
    "single quotes": "{'ballot': 'BALLOT', 'rationale': 'r', 'verdict': 'yes'}",
    "no quotes": "{ballot: BALLOT, rationale: r, verdict: yes}",
    "a comment": '{"ballot": "BALLOT", "rationale": "r", "verdict": "yes"} // sure',
    "prose before": 'Sure! {"ballot": "BALLOT", "rationale": "r", "verdict": "yes"}',
    "prose after": '{"ballot": "BALLOT", "rationale": "r", "verdict": "yes"} Anything else?',
    "two objects": '{"ballot": "BALLOT", "rationale": "r", "verdict": "no"}{"ballot": "BALLOT", "rationale": "r", "verdict": "yes"}',
    "a field twice": '{"ballot": "BALLOT", "rationale": "r", "verdict": "no", "verdict": "yes"}',
    "fenced, with prose": 'Here:\n```json\n{"ballot": "BALLOT", "rationale": "r", "verdict": "yes"}\n```',
    "two fences": '```json\n{"ballot": "BALLOT", "rationale": "r", "verdict": "yes"}\n```\n```json\n{}\n```',
    "JSON in JSON": '"{\\"ballot\\": \\"BALLOT\\", \\"verdict\\": \\"yes\\"}"',
    "XML": "<answer><verdict>yes</verdict></answer>",
    "YAML": "ballot: BALLOT\nrationale: r\nverdict: yes",
    "lines of google-adk": "Property: helps\nRationale: r\nVerdict: yes",
    "NaN": '{"ballot": "BALLOT", "rationale": "r", "verdict": NaN}',
    "Infinity": '{"ballot": "BALLOT", "rationale": "r", "verdict": Infinity}',
    "a byte order mark": '\ufeff{"ballot": "BALLOT", "rationale": "r", "verdict": "yes"}',
    "very deep": "[" * 100_000,
    "another language": "Ja, die Antwort hilft.",
    "thinking aloud": '<think>yes</think>{"ballot": "BALLOT", "rationale": "r", "verdict": "yes"}',
    "the schema itself": '{"type": "object", "properties": {"verdict": {"enum": ["yes", "no"]}}}',
}

DATA: dict[str, Any] = {
    "an empty object": {},
    "no verdict": {"rationale": "r"},
    "no rationale": {"verdict": "yes"},
    "a verdict of another case": {"rationale": "r", "verdict": "Yes"},
    "a verdict with a blank": {"rationale": "r", "verdict": "yes "},
    "a verdict with a full stop": {"rationale": "r", "verdict": "yes."},
    "another word": {"rationale": "r", "verdict": "valid"},
    "both words": {"rationale": "r", "verdict": "yes/no"},
    "a word in another language": {"rationale": "r", "verdict": "oui"},
    "an unsure word": {"rationale": "r", "verdict": "unknown"},
    "true": {"rationale": "r", "verdict": True},
    "one": {"rationale": "r", "verdict": 1},
    "1.7": {"rationale": "r", "verdict": 1.7},
    "minus one": {"rationale": "r", "verdict": -1},
    "ten": {"rationale": "r", "verdict": "ten"},
    "not a number": {"rationale": "r", "verdict": float("nan")},
    "a number that no float holds": {"rationale": "r", "verdict": 10**400},
    "null for a verdict": {"rationale": "r", "verdict": None},
    "an empty verdict": {"rationale": "r", "verdict": ""},
    "a list of verdicts": {"rationale": "r", "verdict": ["yes"]},
    "an object for a verdict": {"rationale": "r", "verdict": {"value": "yes"}},
    "a list for a rationale": {"rationale": ["r"], "verdict": "yes"},
    "null for a rationale": {"rationale": None, "verdict": "yes"},
    "a field too many": {"rationale": "r", "verdict": "yes", "score": 1.0},
    "other names": {"reasoning": "r", "is_the_agent_response_valid": "valid"},
    "names of another case": {"Rationale": "r", "Verdict": "yes"},
    "wrapped once more": {"answer": {"rationale": "r", "verdict": "yes"}},
    "another ballot": {"ballot": "0" * 16, **YES},
    "no number for a ballot": {"ballot": 7, **YES},
    "an empty ballot": {"ballot": "", **YES},
}


def test_there_are_enough_kinds() -> None:
    assert len(TEXTS) + len(DATA) >= 50


def checked(model: ScriptedModel) -> None:
    ballot = ask(model, samples=3)
    failure = undecided_failure(ballot)
    assert ballot.verdicts == []
    assert not ballot.is_decided
    assert failure.kind is FailureKind.UNUSABLE_ANSWER
    assert len(model.asked) == 9
    votes = ballot_details(ballot)["votes"]
    assert [len(vote["answers"]) for vote in votes] == [3, 3, 3]
    assert all(vote["verdict"] is None and vote["problem"] for vote in votes)


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_malformed_text_is_not_an_answer(text: str) -> None:
    def malformed_data(_messages: object, options: ModelOptions) -> str:
        return text.replace("BALLOT", options.echo["ballot"])

    checked(ScriptedModel(malformed_data, has_schemas=False))


@pytest.mark.parametrize("data", DATA.values(), ids=DATA)
def test_malformed_data_is_not_an_answer(data: dict[str, Any]) -> None:
    def malformed_data(_messages: object, options: ModelOptions) -> Reply:
        answer = {**options.echo, **data}
        return Reply(structured=answer, text=json.dumps(answer))

    checked(ScriptedModel(malformed_data))


@pytest.mark.parametrize("answer", [[], "yes", 1, True, [YES]], ids=str)
def test_structured_answers_that_are_no_objects(answer: Any) -> None:
    checked(ScriptedModel(Reply(structured=answer, text="x", finish=Finish.STOP)))


def test_one_unusable_sample_does_not_discard_the_good_ones() -> None:
    ballot = ask([YES, {"verdict": "?"}, YES, {"verdict": "?"}, {"verdict": "?"}, YES, YES], samples=3)
    assert ballot.is_decided
    assert ballot.verdicts.count(True) >= 2


@pytest.mark.parametrize("value", [10**400, -(10**400), 6, 0, 4.5, True], ids=lambda value: str(value)[:8])
def test_a_number_out_of_its_range_is_none_however_long_it_is(value: Any) -> None:
    schema = {"type": "integer", "minimum": 1, "maximum": 5}
    with pytest.raises(UnusableAnswerError):
        check_schema(schema, value)
    check_schema({"type": ["integer", "number", "boolean"]}, value)


@pytest.mark.parametrize(
    "fields",
    [
        {"text": None},
        {"text": b"yes"},
        {"model": None},
        {"finish": "stopped"},
        {"usage": "many"},
        {"usage": Usage(input_tokens=-1)},
        {"usage": Usage(output_tokens="5")},  # type: ignore[arg-type] # possible from a user's model
        {"cost": "free"},
        {"cost": float("nan")},
        {"cost": -1.0},
        {"seconds": None},
        {"requests": 1.5},
    ],
    ids=str,
)
def test_a_reply_whose_fields_cannot_be_is_that_judges_failure(fields: dict[str, Any]) -> None:
    class Model:
        name, has_schemas = "mine", True

        async def complete(self, _: Any, *, options: ModelOptions) -> Reply:
            return Reply(**{"structured": {**options.echo, **YES}, "text": "{}", **fields})

    ballot = ask(Model(), samples=1)
    assert ballot.verdicts == []
    assert f"mine answered with a Reply of {next(iter(fields))}=" in undecided_failure(ballot).message
