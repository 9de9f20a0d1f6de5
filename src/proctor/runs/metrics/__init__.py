"""Facts about the metrics, without running them: what each measures, needs and accepts.

Start with `facts`; `proctor metrics` and the page show them.
"""
