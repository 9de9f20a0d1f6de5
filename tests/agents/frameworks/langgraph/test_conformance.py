"""The toy keeps the contract that every agent has with Proctor."""

from proctor.conformance import AgentConformance
from tests.agents.frameworks.toys.with_langgraph import root_agent


class TestToy(AgentConformance):
    agent = root_agent
    messages = (
        "What is the weather in Oslo and in Rome?",
        "Remember that my colour is blue.",
        "What is my colour?",
    )
    failing = "Now crash."
    test_streaming = None  # pieces of an answer are not handed over: only whole ones
