"""The former name of `proctor`; `common.renamed_modules` finds the modules that used to be below it."""

from typing import Any

import proctor

__path__: list[str] = []


def __getattr__(name: str) -> Any:
    return getattr(proctor, name)
