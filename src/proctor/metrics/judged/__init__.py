"""Metrics that ask an LLM judge.

Start with `base`, which asks the questions, and `final_response_match`, a metric. `prompts/` holds one prompt per metric.
"""
