"""Reports as files: JSON, JSONL, JUnit, Markdown, CSV, GitHub annotations, ADK's results.

One module per format; `builtin` in the parent package lists them.
"""
