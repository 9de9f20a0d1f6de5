"""Metrics that users write as functions: registration, accepted signatures, results, and functions written for google-adk.

Start with `function_metric`, which has the decorator `metric`; `scoring_function` defines what a function takes and returns.
"""

from proctor.metrics.custom.function_metric import metric as metric
