"""The former name of `proctor`; `common.renamed_modules` finds the modules that used to be below it."""

from importlib import import_module
from typing import Any

import proctor

__path__: list[str] = []

_MODULE_OF = {
    "AgentLike": "proctor.runs.arguments",
    "Blessing": "proctor.authoring.bless",
    "ConfigLike": "proctor.runs.arguments",
    "EvalSetLike": "proctor.runs.arguments",
    "EvaluateOptions": "proctor.runs.arguments",
    "Prepared": "proctor.runs.setup.prepare",
    "check_files": "proctor.authoring.check_files",
    "prepare": "proctor.runs.setup.prepare",
}
"""Names that it had beyond those of `proctor`."""


def __getattr__(name: str) -> Any:
    return getattr(import_module(_MODULE_OF[name]) if name in _MODULE_OF else proctor, name)
