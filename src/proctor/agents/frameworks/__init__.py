"""Agents written with pydantic-ai, the OpenAI Agents SDK and LangGraph: one adapter per framework.

Start with `detect`, which decides which adapter an object needs. Each framework is an optional dependency.
"""
