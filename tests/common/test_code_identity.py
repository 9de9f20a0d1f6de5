"""The identity of code: it changes with all imported code of the project, and is complete or marked as incomplete."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module, invalidate_caches
from pathlib import Path
from typing import Any

import pytest

from proctor.common.code_identity import CodeIdentity, identify

Files = Mapping[str, str]


@pytest.fixture
def identity_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., CodeIdentity]]:
    """Write a project, import its module `rules` as a new process would, and identify what is named there."""
    before = set(sys.modules)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def forget() -> None:
        for name in set(sys.modules) - before:
            del sys.modules[name]
        invalidate_caches()

    def identity(files: Files, name: str = "judge") -> CodeIdentity:
        forget()
        for path, text in files.items():
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_text(text)
        found: Any = import_module("rules")
        for part in name.split("."):
            found = getattr(found, part)
        return identify(found)

    yield identity
    forget()


HELPER = "def answer():\n    return 'valid'\n"
JUDGE = "def judge(messages):\n    return answer()\n"

IMPORTS: dict[str, Files] = {
    "from an import of a name": {"rules.py": f"from helper import answer\n{JUDGE}"},
    "from a star import": {"rules.py": f"from helper import *\n{JUDGE}"},
    "from an import of the module": {"rules.py": "import helper\ndef judge(m):\n    return helper.answer()\n"},
    "inside the function": {"rules.py": "def judge(m):\n    from helper import answer\n    return answer()\n"},
    "by name, inside the function": {
        "rules.py": "import importlib\ndef judge(m):\n    return importlib.import_module('helper').answer()\n"
    },
    "by another module": {"rules.py": f"from between import answer\n{JUDGE}", "between.py": "from helper import answer\n"},
    "where an import may fail": {
        "rules.py": f"try:\n    from helper import answer\nexcept ImportError:\n    answer = None\n{JUDGE}"
    },
    "in blocks of all kinds": {
        "rules.py": "def judge(m):\n    try:\n        raise KeyError\n    except KeyError:\n        pass\n    finally:\n"
        "        for _ in ():\n            pass\n        else:\n            match m:\n                case _:\n"
        "                    from helper import answer\n    return answer()\n"
    },
    "in a handler": {
        "rules.py": "def judge(m):\n    try:\n        raise KeyError\n    except KeyError:\n        import helper\n"
        "    return helper.answer()\n"
    },
    "beside a proxy that stands for nothing": {
        "rules.py": "class Proxy:\n    @property\n    def __class__(self):\n        raise RuntimeError\nproxy = Proxy()\n"
        f"from helper import answer\n{JUDGE}"
    },
    "for a closure": {
        "rules.py": "import helper\ndef make(f):\n    return lambda m: f()\njudge = make(helper.answer)\n"
    },
    "for a partial": {
        "rules.py": "from functools import partial\nfrom helper import answer\n"
        "def ask(f, m):\n    return f()\njudge = partial(ask, answer)\n"
    },
    "for a lambda": {"rules.py": "import helper\njudge = lambda m: helper.answer()\n"},
    "for an object that is called": {
        "rules.py": "import helper\nclass Judge:\n    def __call__(self, m):\n        return helper.answer()\njudge = Judge()\n"
    },
    "for a bound method": {
        "rules.py": "import helper\nclass Judge:\n    def ask(self, m):\n        return helper.answer()\njudge = Judge().ask\n"
    },
    "for a function that is the helper's": {"rules.py": "from helper import answer as judge\n"},
    "for a decorated function": {
        "rules.py": "import functools, helper\n@functools.lru_cache\ndef judge(m):\n    return helper.answer()\n"
    },
    "for a subclass": {
        "rules.py": "from base import Base\nclass Judge(Base):\n    pass\njudge = Judge()\n",
        "base.py": "import helper\nclass Base:\n    def __call__(self, m):\n        return helper.answer()\n",
    },
    "through an object that a module holds": {
        "rules.py": "import pkg.registry\ndef judge(m):\n    return pkg.registry.ask()\n",
        "pkg/__init__.py": "",
        "pkg/registry.py": "import sys\nsys.path\nfrom helper import answer as ask\n",
    },
}  # fmt: skip


@pytest.mark.parametrize("files", IMPORTS.values(), ids=IMPORTS)
def test_a_changed_module_that_is_imported_changes_the_identity(
    files: Files, identity_in: Callable[..., CodeIdentity]
) -> None:
    first = identity_in({**files, "helper.py": HELPER})
    again = identity_in({**files, "helper.py": HELPER})
    changed = identity_in({**files, "helper.py": HELPER.replace("valid", "invalid")})
    assert first == again
    assert first.is_complete
    assert first.modules != changed.modules


def test_relative_imports_and_modules_of_a_package_count(identity_in: Callable[..., CodeIdentity]) -> None:
    files = {
        "rules.py": "from pkg.judging import judge\n",
        "pkg/__init__.py": "",
        "pkg/judging.py": "def judge(m):\n    from . import helper\n    from .deep import more\n    return helper, more\n",
        "pkg/helper.py": HELPER,
        "pkg/deep/__init__.py": "from ..other import x as more\n",
        "pkg/other.py": "x = 1\n",
    }
    first = identity_in(files)
    assert first.is_complete
    changes = {
        name: identity_in({**files, name: text + "\n# changed\n"}).modules for name, text in files.items()
    }
    changes.pop("rules.py")  # it only passes the function on
    assert first.modules not in changes.values()
    assert len(set(changes.values())) == len(changes)


def test_modules_that_are_not_imported_do_not_count(identity_in: Callable[..., CodeIdentity]) -> None:
    files = {"rules.py": f"from helper import answer\n{JUDGE}", "helper.py": HELPER, "other.py": "x = 1\n"}
    assert identity_in(files) == identity_in({**files, "other.py": "x = 2\n"})


def test_the_folder_of_the_project_does_not_count(
    identity_in: Callable[..., CodeIdentity], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {"rules.py": f"from helper import answer\n{JUDGE}", "helper.py": HELPER}
    first = identity_in(files)
    elsewhere = {f"elsewhere/{name}": text for name, text in files.items()}
    (tmp_path / "rules.py").unlink()
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.syspath_prepend(str(tmp_path / "elsewhere"))
    assert identity_in(elsewhere) == first


UNKNOWN: dict[str, str] = {
    "an import by a computed name": "import importlib\ndef judge(m):\n    return importlib.import_module(m)\n",
    "a renamed import function": "from importlib import import_module as load\ndef judge(m):\n    return load('helper')\n",
    "an import function as a value": "import importlib\nload = importlib.import_module\ndef judge(m):\n    return load(m)\n",
    "a file that is run": "import runpy\ndef judge(m):\n    return runpy.run_path('helper.py')\n",
    "computed code": "def judge(m):\n    return eval('1')\n",
    "a function of computed code": "exec('def judge(m):\\n    return 1\\n')\n",
    "a function of a text": "names = {'__name__': 'typed'}\nexec('def judge(m): pass', names)\njudge = names['judge']\n",
    "a late import that cannot be found": "def judge(m):\n    import not_there_yet\n    return not_there_yet\n",
    "a helper of computed code": "from other import ask\ndef judge(m):\n    return ask()\n",
    "values too deep to be compared": "from functools import partial\ndef ask(x, m): pass\ndeep = ['bottom']\n"
    "for _ in range(200): deep = [deep]\njudge = partial(ask, deep)\n",
}  # fmt: skip


@pytest.mark.parametrize("rules", UNKNOWN.values(), ids=UNKNOWN)
def test_code_that_is_not_wholly_known_is_not_complete(
    rules: str, identity_in: Callable[..., CodeIdentity]
) -> None:
    other = "import importlib\nask = importlib.import_module('x' + 'y') if False else None\ndef ask(): pass\n"
    assert not identity_in({"rules.py": rules, "other.py": other}).is_complete


def test_a_file_that_was_changed_after_its_import_is_not_complete(
    identity_in: Callable[..., CodeIdentity], tmp_path: Path
) -> None:
    files = {"rules.py": f"from helper import answer\n{JUDGE}", "helper.py": HELPER}
    assert identity_in(files).is_complete
    (tmp_path / "helper.py").write_text(HELPER.replace("valid", "invalid"))
    assert not identify(sys.modules["rules"].judge).is_complete  # what runs is what was imported


def test_a_compiled_module_counts_by_its_bytes(
    identity_in: Callable[..., CodeIdentity], tmp_path: Path
) -> None:
    from importlib.machinery import EXTENSION_SUFFIXES

    name = f"fast{EXTENSION_SUFFIXES[0]}"
    rules = "def judge(m):\n    import fast\n    return fast\n"  # late, so that nothing loads it here
    (tmp_path / name).write_bytes(b"one")
    first = identity_in({"rules.py": rules})
    (tmp_path / name).write_bytes(b"two")
    assert first.is_complete
    assert identity_in({"rules.py": rules}).modules != first.modules


VALUES: dict[str, str] = {
    "a closure": "def make(x):\n    return lambda m: x\njudge = make({})\n",
    "nested data": "from functools import partial\ndef ask(x, m): pass\njudge = partial(ask, [[[[[[[{}]]]]]]])\n",
    "a class made in a function": "def make(x):\n    class Judge:\n        def __call__(self, m):\n            return x\n"
    "    return Judge()\njudge = make({})\n",
    "an attribute of a class": "class Judge:\n    def __call__(self, m): pass\nJudge.x = {}\njudge = Judge()\n",
    "an attribute of a function": "def judge(m): pass\njudge.x = {}\n",
    "objects in objects": "class Box:\n    def __init__(self, x): self.x = x\n    def __call__(self, m): pass\n"
    "judge = Box({})\nfor _ in range(9): judge = Box(judge)\n",
    "a dict that is called": "class Judge(dict):\n    def __call__(self, m): pass\njudge = Judge(x={})\n",
    "an array of bytes": "from functools import partial\ndef ask(x, m): pass\njudge = partial(ask, bytearray({}.encode()))\n",
}  # fmt: skip


@pytest.mark.parametrize("rules", VALUES.values(), ids=VALUES)
def test_different_values_in_code_are_distinguished(
    rules: str, identity_in: Callable[..., CodeIdentity], monkeypatch: pytest.MonkeyPatch
) -> None:
    value = "__import__('os').environ['VALUE']"
    found = []
    for text in ("strict", "strict", "lax"):
        monkeypatch.setenv("VALUE", text)
        found.append(identity_in({"rules.py": rules.replace("{}", value)}).held)
    assert found[0] == found[1] != found[2]


def test_lambdas_of_one_line_are_distinguished(identity_in: Callable[..., CodeIdentity]) -> None:
    files = {"rules.py": "one, other = (lambda _: 'valid'), (lambda _: 'invalid')\n"}
    one, other = (identity_in(files, name) for name in ("one", "other"))
    assert one.is_complete
    assert one.held != other.held


def test_a_dataclass_is_complete(identity_in: Callable[..., CodeIdentity]) -> None:
    rules = "from dataclasses import dataclass\n@dataclass\nclass Judge:\n    x: int\n    def __call__(self, m): pass\n"
    one, other = (identity_in({"rules.py": f"{rules}judge = Judge({x})\n"}) for x in (1, 2))
    assert one.is_complete
    assert one.held != other.held
