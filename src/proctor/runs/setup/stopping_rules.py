"""The options that end a run early, and the factory of the rule of each."""

from __future__ import annotations

from proctor.common.registry import load_object
from proctor.engine.planning.plan import Plan
from proctor.engine.planning.stopping_rule import StoppingRule
from proctor.runs.argument_types import EvaluateOptions
from proctor.stores.base import Store

RULES = {"against": "proctor.analysis.compare.until_decided:looks_of"}
"""Option -> function of the options, the plan and the store. It is loaded on use: `analysis` is a higher layer."""


def stopping_rule(options: EvaluateOptions, plan: Plan, store: Store | None) -> StoppingRule | None:
    """Return the stopping rule that the options request; `None`: every case gets all its trials.

    Raises:
        SetupProblems: the other run does not exist or has nothing in common, or too few trials are allowed.
        StoreError: the store of that run does not exist or cannot be read.
    """
    for option, factory in RULES.items():
        if options.get(option) is not None:
            rule: StoppingRule = load_object(factory)(options, plan, store)
            return rule
    return None
