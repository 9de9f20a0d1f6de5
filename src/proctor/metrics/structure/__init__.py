"""Metrics of structure: JSON Schema for answers and arguments, declared tools, and texts of sub-agents.

Start with `response_schema` or `tool_schema`; `json_schema` does the checks, `schema_lint` finds misspelled keywords.
"""
