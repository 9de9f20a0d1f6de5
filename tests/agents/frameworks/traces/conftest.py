"""The one provider of tracers that a process can have: google-adk finds it, pydantic-ai gets it as an argument."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import pytest
from opentelemetry import trace
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider


@pytest.fixture(scope="session")
def provider() -> Iterator[TracerProvider]:
    made = TracerProvider(resource=Resource.create({"service.name": "toy"}))
    trace.set_tracer_provider(made)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pydantic_ai import Agent
        from pydantic_ai.models.instrumented import InstrumentationSettings

        Agent.instrument_all(InstrumentationSettings(tracer_provider=made))
    yield made
    made.shutdown()
