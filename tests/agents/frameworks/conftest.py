"""The tests of one framework, in the folder of its name, are collected where it is installed (see environments.py)."""

from tests.agents.frameworks.environments import is_installed

# Folder, and the module without which nothing in it can be imported. Elsewhere they are run by test_environments.py.
NEEDS = {
    "a2a": "a2a",
    "adk_eval": "litellm",
    "langgraph": "langgraph",
    "openai_agents": "agents",
    "pydantic_ai": "pydantic_ai",
    "traces": "opentelemetry.exporter.otlp.proto.http",
}

collect_ignore = [folder for folder, module in NEEDS.items() if not is_installed(module)]
