"""The life of a run: evaluate, infer, score, re-score, resume, estimate, query and export.

Start with `evaluate`. `setup` finds every configuration error first; the engine then does the work.
"""
