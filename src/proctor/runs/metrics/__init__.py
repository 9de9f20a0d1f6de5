"""The facts of the metrics without running them: what each measures, needs and takes.

Start with `facts`; `proctor metrics` and the page show them.
"""
