"""What reports state, before it has a form: summaries, reasons, costs, source locations.

Every report uses these sentences, so that all of them agree. Start with `text_blocks`, the model of text, then `run_blocks`, the report of a run.
"""
