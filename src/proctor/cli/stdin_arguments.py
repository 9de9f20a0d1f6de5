"""A command line that no list of processes shows: whoever starts `proctor` may hand it over by standard input.

An address may have a password in it, and the arguments of a process can be read by everybody on its machine. Nor are there
bounds to what is handed over so.
"""

from __future__ import annotations

import os
import sys

VARIABLE = "PROCTOR_WORDS"
"""`stdin`: the words behind `proctor` are a JSON list of texts there, whatever the arguments say."""


def take_words() -> None:
    """Take the words, and leave neither variable nor input to what the agent starts."""
    if os.environ.pop(VARIABLE, "") != "stdin":
        return
    import json

    with open(0, "rb", closefd=False) as given:
        sys.argv[1:] = json.load(given)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
