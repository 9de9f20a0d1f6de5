"""`scripted:FILE`: a model for demos and tests that says what stands in a JSON file, without a key or a network.

The file is a list of `{"when": [TEXT, …], "say": ANSWER}`: the first entry all of whose texts stand in what the model is
told gives its answer, as data (an object) or as text. Data, never code: nothing in the file is run.
"""

from __future__ import annotations

import json
import re
from hashlib import sha256
from pathlib import Path
from typing import Any

from proctor.errors import SetupError
from proctor.models.names import ModelName
from proctor.models.scripted import ScriptedModel

__all__ = ["scripted_model"]


def scripted_model(name: ModelName) -> ScriptedModel:
    """Return the model of a script; its name tells which content it has, so that another script is another model.

    Raises:
        SetupError: there is no such file, or it is no script.
    """
    path = Path(name.model)
    try:
        text = path.read_text(encoding="utf-8")
        entries = json.loads(text)
    except OSError as error:
        raise SetupError(f"The script of the model {name.text!r} cannot be read: {error}.") from error
    except ValueError as error:
        raise SetupError(
            f"{path}: the script of a model is a JSON list, and this is no JSON: {error}."
        ) from error
    if not isinstance(entries, list) or not entries:
        raise SetupError(f'{path}: expected a list of {{"when": [TEXT, …], "say": ANSWER}}.')
    matching: dict[str | re.Pattern[str], Any] = {}
    for number, each in enumerate(entries):
        matching.setdefault(_pattern(path, number, each), each["say"])
    content = sha256(text.encode()).hexdigest()[:8]
    return ScriptedModel(
        matching=matching, name=f"scripted:{path.name}#{content}", cost=0.0
    )  # a file costs nothing


def _pattern(path: Path, number: int, entry: Any) -> re.Pattern[str]:
    """What stands for an entry: all of its texts, in any order."""
    when = entry.get("when") if isinstance(entry, dict) else None
    texts = [when] if isinstance(when, str) else when
    if not isinstance(texts, list) or not texts or not all(isinstance(each, str) and each for each in texts):
        raise SetupError(
            f"{path}: [{number}].when: expected a text, or a list of texts that must all be there."
        )
    if not isinstance(entry.get("say"), dict | str):
        raise SetupError(f"{path}: [{number}].say: expected the answer: an object, or a text.")
    return re.compile(r"\A" + "".join(f"(?=.*?{re.escape(each)})" for each in texts), re.DOTALL)
