"""Agents written with pydantic-ai, the OpenAI Agents SDK and LangGraph: one adapter per framework.

Start with `detect`, which selects the adapter of an object. Each framework is an optional dependency.
"""
