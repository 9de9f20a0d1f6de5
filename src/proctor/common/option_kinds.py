"""The kinds of values that options take: what is valid in Python, in a settings file and as text.

Each kind is used by the command line, the settings, the pytest plug-in and the Python functions. `OptionKind` is the contract.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeGuard

EXPECTED_SIZE = "a size of at least 64MB, such as 512MB or 2GB"

_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*(K|M|G|T)?(?:i?B)?", re.IGNORECASE)
_FACTORS = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}
_LEAST = 64 * 2**20

LARGEST = 2**63 - 1
"""The largest whole number that a store and other programs read back."""

_WORDS = {
    "true": True,
    "1": True,
    "yes": True,
    "on": True,
    "false": False,
    "0": False,
    "no": False,
    "off": False,
}


class OptionKind:
    """Values of one kind: any text. A subclass overrides what it checks."""

    @property
    def expected(self) -> str:
        """What a settings file may contain, for an error message."""
        return ""

    def accepts(self, value: object) -> bool:
        """Return whether a settings file may contain `value`."""
        return isinstance(value, str) and bool(value.strip())

    def problem(self, name: str, value: object) -> str:
        """Return the error message for a value that Python code gives; empty if it is valid, or is checked where it is used."""
        return ""

    def parse(self, text: str) -> object:
        """Return the value that `text` denotes, unchecked."""
        return text

    def command_words(self, flag: str, value: object) -> list[str]:
        """Return the words of a command that give `value`; none for `None`."""
        return [] if value is None else [f"{flag}={value}"]

    def read(self, text: str) -> object:
        """Read a value that is written as text.

        Raises:
            ValueError: the text is not valid; the message states what was expected.
        """
        value = self.parse(text)
        if not self.accepts(value):
            raise ValueError(f"expected {self.expected or 'a text that is not empty'}, got {text!r}")
        return value


@dataclass(frozen=True, eq=False)
class Text(OptionKind):
    """A text that means what `expected` names."""

    expected: str = ""


class Flag(OptionKind):
    """On or off."""

    expected = "true or false"

    def accepts(self, value: object) -> bool:
        """Return whether a settings file may contain `value`."""
        return isinstance(value, bool)

    def problem(self, name: str, value: object) -> str:
        """Return the error message for `value`; empty if it is valid."""
        return "" if isinstance(value, bool) else f"{name} must be True or False, got {value!r}"

    def parse(self, text: str) -> object:
        """Return the value that `text` denotes, unchecked."""
        return _WORDS.get(text.strip().lower())

    def command_words(self, flag: str, value: object) -> list[str]:
        """Return the flag if it is on."""
        return [flag] if value else []


@dataclass(frozen=True, eq=False)
class WholeNumber(OptionKind):
    """A whole number from `least` to `most`."""

    least: int = 1
    most: int = LARGEST

    @property
    def expected(self) -> str:
        """What a settings file may contain, for an error message."""
        return f"a whole number of at least {self.least}"

    def accepts(self, value: object) -> bool:
        """Return whether a settings file may contain `value`."""
        return isinstance(value, int) and not isinstance(value, bool) and value >= self.least

    def problem(self, name: str, value: object) -> str:
        """Return the error message for `value`; empty if it is valid."""
        range_problem = number_problem(value, self.least, self.most)
        return f"{name} must be {range_problem}" if range_problem else ""

    def parse(self, text: str) -> object:
        """Return the value that `text` denotes, unchecked."""
        return int(text) if text.strip().isdecimal() else None


@dataclass(frozen=True, eq=False)
class Amount(OptionKind):
    """A number above 0 of a unit, such as seconds."""

    unit: str = "seconds"

    @property
    def expected(self) -> str:
        """What a settings file may contain, for an error message."""
        return f"a number of {self.unit} above 0"

    def accepts(self, value: object) -> bool:
        """Return whether a settings file may contain `value`."""
        return is_number(value) and 0 < value < float("inf")

    def problem(self, name: str, value: object) -> str:
        """Return the error message for `value`; empty if it is valid."""
        if is_number(value) and 0 < value <= LARGEST:
            return ""
        limit = "at most 2**63 - 1" if is_number(value) and value > 0 else "above 0"
        return f"{name} must be a number of {self.unit} {limit}, got {short_repr(value)}"

    def parse(self, text: str) -> object:
        """Return the value that `text` denotes, unchecked."""
        return _number(text)


class Share(OptionKind):
    """A share of something, above 0 and up to 1."""

    expected = "a share above 0 and up to 1, such as 0.8"

    def accepts(self, value: object) -> bool:
        """Return whether a settings file may contain `value`."""
        return is_number(value) and 0 < value <= 1

    def parse(self, text: str) -> object:
        """Return the value that `text` denotes, unchecked."""
        return _number(text)


class Fraction(OptionKind):
    """A number above 0 and below 1."""

    def problem(self, name: str, value: object) -> str:
        """Return the error message for `value`; empty if it is valid."""
        if is_number(value) and 0 < value < 1:
            return ""
        return f"{name} must be above 0 and below 1, got {value!r}"


class Names(Text):
    """One or more names. As text they are separated by commas."""

    def accepts(self, value: object) -> bool:
        """Return whether a settings file may contain `value`."""
        is_name = super().accepts
        return is_name(value) or (isinstance(value, list) and bool(value) and all(map(is_name, value)))

    def command_words(self, flag: str, value: object) -> list[str]:
        """Return one word with all names."""
        return super().command_words(flag, ",".join(value) if isinstance(value, list) else value)

    def read(self, text: str) -> list[str]:
        """Read `text`; raises ValueError if it is not valid."""
        names = [name.strip() for name in text.split(",") if name.strip()]
        if not names:
            raise ValueError(f"expected one or more names, separated by commas, got {text!r}")
        return names


class RepeatedText(OptionKind):
    """Texts, one for each time the option is given."""

    def command_words(self, flag: str, value: object) -> list[str]:
        """Return the flag once for each text."""
        return (
            [f"{flag}={text}" for text in value]
            if isinstance(value, list)
            else super().command_words(flag, value)
        )


@dataclass(frozen=True, eq=False)
class Choice(OptionKind):
    """One of a few words."""

    words: tuple[str, ...]

    @property
    def expected(self) -> str:
        """What a settings file may contain, for an error message."""
        return " or ".join(f'"{word}"' for word in self.words)

    def accepts(self, value: object) -> bool:
        """Return whether a settings file may contain `value`."""
        return value in self.words

    def read(self, text: str) -> object:
        """Read `text`; raises ValueError if it is not one of the words."""
        if text not in self.words:
            raise ValueError(f"expected {' or '.join(self.words)}, got {text!r}")
        return text

    def problem(self, name: str, value: object) -> str:
        """Return the error message for `value`; empty if it is valid."""
        if value in self.words:
            return ""
        if len(self.words) == 1:
            return f"{name} knows only {self.words[0]!r}, got {value!r}"
        return f"{name} must be {' or '.join(map(repr, self.words))}, got {value!r}"


class MemorySize(OptionKind):
    """An amount of memory, such as `2GB`."""

    expected = EXPECTED_SIZE

    def accepts(self, value: object) -> bool:
        """Return whether a settings file may contain `value`."""
        return read_size(value) is not None


class FunctionName(OptionKind):
    """A function: an object in Python, elsewhere `module:function`."""

    expected = '"module:function"'

    def accepts(self, value: object) -> bool:
        """Return whether a settings file may contain `value`."""
        return isinstance(value, str) and re.fullmatch(r"[^:\s]+:[A-Za-z_][\w.]*", value) is not None


class WorkerPlace(OptionKind):
    """The place of workers: processes of this machine, or a cluster of Ray."""

    expected = "processes, ray:local, ray:auto or ray://HOST:PORT"

    def accepts(self, value: object) -> bool:
        """Return whether a settings file may contain `value`."""
        return not self.problem("", value)

    def problem(self, name: str, value: object) -> str:
        """Return the error message for `value`; empty if it is valid."""
        is_address = isinstance(value, str) and value.startswith("ray://")
        is_known = is_address or value in ("processes", "ray:local", "ray:auto")
        return "" if is_known else f"{name}: expected {self.expected}, got {value!r}"


@dataclass(frozen=True, eq=False)
class Checked(OptionKind):
    """A value that a function checks. The function takes the name and the value and returns the error message, or an empty text."""

    check: Callable[[str, object], str]
    expected: str = ""

    def problem(self, name: str, value: object) -> str:
        """Return the error message for `value`; empty if it is valid."""
        return self.check(name, value)


@dataclass(frozen=True, eq=False)
class PythonObject(OptionKind):
    """An object that only Python code can give. It must have some methods."""

    methods: tuple[str, ...] = ()

    def problem(self, name: str, value: object) -> str:
        """Return the error message for `value`; empty if it is valid."""
        missing = [f"`{method}`" for method in self.methods if not callable(getattr(value, method, None))]
        return f"{name}: {type(value).__name__} has no {', '.join(missing)}" if missing else ""


def number_problem(value: object, least: int, most: int) -> str:
    """Return what a whole number must be and what it is; empty if it is in its range."""
    if not isinstance(value, int) or isinstance(value, bool):
        return f"a whole number, got {value!r}"
    if value < least:
        return f"at least {least}, got {short_repr(value)}"
    if value > most:
        return f"at most {'2**63 - 1' if most == LARGEST else f'{most:,}'}, got {short_repr(value)}"
    return ""


def short_repr(value: object) -> str:
    """Return a value for a message; Python refuses to write whole numbers of thousands of digits."""
    return "a larger one" if isinstance(value, int) and abs(value) > 10**100 else repr(value)


def is_number(value: object) -> TypeGuard[float]:
    """Return whether `value` is a number, and not a bool."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0


def read_size(size: object) -> int | None:
    """Return a size in bytes, from a whole number or a text with a unit (1 KB is 1,024 bytes); `None` if it is not valid.

    A size below 64 MB is not valid: Python does not start with less.
    """
    if isinstance(size, bool) or not isinstance(size, int | str):
        return None
    match = _SIZE.fullmatch(str(size).strip())
    if match is None:
        return None
    count = float(match[1]) * _FACTORS[(match[2] or "").lower()]
    return int(count) if _LEAST <= count < 2**62 else None


def size_text(size: int) -> str:
    """Return a number of bytes as text: `2 GB`."""
    for unit, factor in (("TB", 2**40), ("GB", 2**30), ("MB", 2**20)):
        if size >= factor:
            return f"{size / factor:.3g} {unit}"
    return f"{size:,} bytes"
