"""The identity of a judge whose answers are cached: a model that was given as an object is its code and what it holds.

Everything that may make it answer differently makes it another judge: a line of its module or of a module of the project
that it imports, a number or a text that it holds. A judge that counts its calls is another one each time, and is asked
again: better than an answer that it would not give any more. A model that knows better has an attribute `identity`, a
text or the values that tell it from others.
"""

from __future__ import annotations

from proctor.common.code_identity import identify
from proctor.models.base import ChatModel

__all__ = ["code_of", "identity_of"]


def identity_of(model: ChatModel) -> str | None:
    """Return what tells a model that was given as an object from others; `None` where its code is not wholly known.

    Answers of a model whose identity is not known cannot be cached: it may be another one that looks the same.
    """
    identity = identify(getattr(model, "identity", model))
    return f"{identity.held} {identity.modules}" if identity.is_complete else None


def code_of(model: ChatModel) -> str | None:
    """Return what tells the code of a model that was given as an object or a function from other code; `None` if not known.

    The values that it holds are left out: a judge that counts its calls is the same judge in the next run.
    """
    code = getattr(model, "function", None) or type(model)
    identity = identify(code)
    line = getattr(getattr(code, "__code__", None), "co_firstlineno", "")
    name = f"{getattr(code, '__module__', '')}.{getattr(code, '__qualname__', type(code).__qualname__)}"
    return f"{name} {line} {identity.modules}" if identity.is_complete else None
