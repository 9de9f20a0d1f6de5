"""What a run concludes from its evidence: scores, verdicts, outcomes, model usage, the manifest.

Start with `run_result`, which holds all the others.
"""
