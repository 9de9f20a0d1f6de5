"""From evidence to scores, and from scores to verdicts.

Start with `score_trial`; `verdict` alone decides what a score means.
"""
