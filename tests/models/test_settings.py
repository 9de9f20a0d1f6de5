"""Settings of a call, by the names of GenerateContentConfig: sent to the provider, or reported as unsupported."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from proctor.errors import SetupError
from proctor.models.base import check_settings
from proctor.models.function import FunctionModel
from proctor.models.load import load_model
from proctor.models.settings import Dialect, map_settings
from tests.models.loopback import Completion, ModelServer
from tests.models.model_calls import YES, ask, options

DIALECTS: tuple[Dialect, ...] = ("google", "openai", "openai-responses", "anthropic", "bedrock")

EVERYTHING = {
    "temperature": 0.25,
    "top_p": 0.5,
    "top_k": 7.0,
    "max_output_tokens": 321,
    "stop_sequences": ["END"],
    "seed": 42,
    "presence_penalty": 0.125,
    "frequency_penalty": 0.375,
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "arrives", "warnings"),
    [
        (
            "google:gemini-2.5-flash",
            {
                "temperature": 0.25,
                "topP": 0.5,
                "topK": 7,
                "maxOutputTokens": 321,
                "stopSequences": ["END"],
                "seed": 42,
                "presencePenalty": 0.125,
                "frequencyPenalty": 0.375,
            },
            [],
        ),
        (
            "openai-chat:gpt-4.1",
            {
                "temperature": 0.25,
                "top_p": 0.5,
                "max_completion_tokens": 321,
                "stop": ["END"],
                "seed": 42,
                "presence_penalty": 0.125,
                "frequency_penalty": 0.375,
            },
            ["top_k"],
        ),
        (
            "openai-responses:gpt-4.1",
            {"temperature": 0.25, "top_p": 0.5, "max_output_tokens": 321, "store": False},
            ["top_k", "stop_sequences", "seed", "presence_penalty", "frequency_penalty"],
        ),
        (
            "openai-chat:gpt-5",
            {"max_completion_tokens": 321, "stop": ["END"], "seed": 42},
            ["top_k", "temperature", "top_p", "presence_penalty", "frequency_penalty"],
        ),
        (
            "anthropic:claude-sonnet-4-5",
            {"temperature": 0.25, "top_k": 7, "max_tokens": 321, "stop_sequences": ["END"]},
            ["seed", "presence_penalty", "frequency_penalty"],
        ),
    ],
)
def test_supported_settings_reach_a_provider_and_others_are_reported(
    serve: Callable[[Any], ModelServer], name: str, arrives: dict[str, Any], warnings: list[str]
) -> None:
    server = serve(Completion(data=YES))
    model = load_model(name)
    assert [
        note.partition(" is not sent ")[2].partition(":")[0] for note in check_settings(model, EVERYTHING)
    ] == warnings
    ask(model, options(settings=EVERYTHING))
    body = server.requests[0].body
    sent = body.get("generationConfig", body)
    assert {key: sent.get(key) for key in arrives} == arrives
    names = {"temperature", "topP", "top_p", "seed", "top_k", "topK", "presence_penalty", "frequency_penalty"}
    assert (sent.keys() & names) - arrives.keys() <= ({"top_p"} if "claude" in name else set())


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("name", EVERYTHING)
def test_no_setting_is_dropped_in_silence(dialect: Dialect, name: str) -> None:
    mapped = map_settings({name: EVERYTHING[name]}, dialect, "m")
    assert (len(mapped.values), len(mapped.notes)) in {(1, 0), (0, 1)}


@pytest.mark.parametrize(
    ("dialect", "config", "values"),
    [
        ("google", {"thinking_budget": 0}, {"google_thinking_config": {"thinking_budget": 0}}),
        ("google", {"thinkingBudget": 128}, {"google_thinking_config": {"thinking_budget": 128}}),
        ("openai", {"thinking_budget": 0}, {"thinking": False}),
        ("openai", {"thinking_budget": -1}, {"thinking": True}),
        ("openai", {"thinking_level": "LOW"}, {"thinking": "low"}),
        (
            "anthropic",
            {"thinking_budget": 1024},
            {"anthropic_thinking": {"type": "enabled", "budget_tokens": 1024}},
        ),
    ],
)
def test_how_much_a_model_may_think(dialect: Dialect, config: dict[str, Any], values: dict[str, Any]) -> None:
    assert map_settings({"thinking_config": config}, dialect, "m").values == values


def test_unsupported_thinking_budget_of_a_provider_is_reported() -> None:
    assert map_settings({"thinking_config": {"thinking_budget": 99}}, "openai", "m").notes == [
        "m is not sent thinking_budget: its provider supports levels (`thinking_level`), not budgets"
    ]


@pytest.mark.parametrize("spelling", ["max_output_tokens", "maxOutputTokens"])
def test_both_spellings(spelling: str) -> None:
    assert map_settings({spelling: 9}, "google", "m").values == {"max_tokens": 9}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"temprature": 0}, "there is no setting 'temprature'. Did you mean 'temperature'?"),
        ({"temperature": "hot"}, "'temperature' must be a number from 0 to 2, not 'hot'"),
        ({"temperature": float("nan")}, "'temperature' must be a number from 0 to 2, not nan"),
        ({"temperature": True}, "'temperature' must be a number from 0 to 2, not True"),
        ({"top_p": 1.5}, "'top_p' must be a number from 0 to 1, not 1.5"),
        ({"maxOutputTokens": 0}, "'maxOutputTokens' must be a whole number of at least 1, not 0"),
        ({"stop_sequences": "END"}, "'stop_sequences' must be an array of texts, not 'END'"),
        (
            {"thinking_config": {"thinking_level": "very"}},
            "(minimal, low, medium, high), not {'thinking_level': 'very'}",
        ),
        ({"thinking_config": 5}, "'thinking_config' must be an object"),
        ({"candidate_count": 3}, "each sample is a separate call (set `num_samples` instead)"),
        ({"system_instruction": "be kind"}, "the instructions of a judge are those of its metric"),
        ({"tools": []}, "'tools' cannot be set: a judge has no tools"),
    ],
    ids=lambda value: str(value) if isinstance(value, dict) else "",
)
@pytest.mark.parametrize("dialect", DIALECTS)
def test_what_cannot_be_is_refused(dialect: Dialect, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(SetupError) as caught:
        map_settings(settings, dialect, "m")
    assert message in str(caught.value)


def test_all_errors_are_reported_at_once() -> None:
    with pytest.raises(SetupError) as caught:
        map_settings({"temprature": 0, "top_p": 2, "tools": []}, "google", "gemini-2.5-flash")
    assert len(str(caught.value).splitlines()) == 3
    assert all(
        line.startswith("The settings of gemini-2.5-flash: ") for line in str(caught.value).splitlines()
    )


@pytest.mark.parametrize(
    ("settings", "notes"),
    [
        ({"http_options": {"timeout": 1000}}, 0),
        ({"http_options": {"timeout": 1000, "retry_options": {"attempts": 3}}}, 1),
        ({"response_mime_type": "application/json"}, 1),
        ({"candidate_count": 1, "automatic_function_calling": {"disable": True}}, 0),
        ({"temperature": None, "seed": None}, 0),
    ],
)
def test_setting_of_proctor_in_the_wrong_place_is_reported(settings: dict[str, Any], notes: int) -> None:
    mapped = map_settings(settings, "google", "m")
    assert (mapped.values, len(mapped.notes)) == ({}, notes)


def test_a_function_may_do_with_settings_what_it_likes() -> None:
    assert check_settings(FunctionModel(lambda messages: "yes"), {"anything": 1}) == []
