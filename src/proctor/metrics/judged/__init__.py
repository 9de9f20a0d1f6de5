"""Metrics that ask an LLM judge.

Start with `base`, which asks the questions, and `safety`, a metric. `checklist` has the forms of the answers, `passages` the texts
that a judge sees; `prompts/` holds one prompt per metric.
"""
