"""What an AGENT string means: a plug-in by name, a file or folder, a dotted module. Nothing is imported here."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from proctor.common.registry import AGENTS
from proctor.common.secrets import redact_text
from proctor.errors import AgentLoadError, did_you_mean

_NAME = re.compile(r"[^\W\d]\w*")
_DOTTED = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*")
_PREFIX = re.compile(r"([A-Za-z][\w+.-]+):(.*)", re.DOTALL)
_DRIVE = re.compile(r"[A-Za-z]:[\\/]")
_SHOWN = 200
_LONGEST_NAME = 200  # shorter than the limit of any file system
CONFIG_FILE = "root_agent.yaml"
"""An agent of google-adk that is written down, in place of agent.py."""
_USUAL_FILES = frozenset({"agent.py", "__init__.py", CONFIG_FILE})
_USUAL_ATTRIBUTES = frozenset({"", "root_agent", "agent.root_agent"})

SPELLINGS = (
    "a folder or a file (`path/to/hello_world`, `path/to/agent.py`), a dotted module (`package.agent`), "
    "`package.module:attribute`, or one that lives elsewhere (`http+sse:URL`, `adk+http:URL`, `a2a+http:URL`, "
    "`openai+http:URL`, `cmd:COMMAND`)"
)


@dataclass(frozen=True)
class Reference:
    """An AGENT string, taken apart. Either `plugin` is set, or `path` (it may not exist), or `module`.

    Its file is looked for once.
    """

    text: str
    plugin: str = ""
    rest: str = ""
    """The text after the plug-in's colon."""
    path: Path | None = None
    module: str = ""
    attribute: str = ""

    @cached_property
    def file(self) -> Path | None:
        """The file or package folder that it names, if it is there; of a command the first file among its words."""
        if self.plugin == "cmd":
            return _file_of(self.rest)
        if self.module:
            return find_module(self.module)
        return self.path.resolve() if self.path is not None and self.path.exists() else None

    @cached_property
    def folder(self) -> Path | None:
        """The folder that the agent lives in, if it is there."""
        file = self.file
        return file if file is None or file.is_dir() else file.parent

    @property
    def roots(self) -> tuple[Path, ...]:
        """The folders of its absolute imports; none if it is not Python code here."""
        if self.module:
            return (Path.cwd(),)
        folder = self.folder if self.path is not None else None
        if folder is None:
            return ()
        return (folder.parent,) if is_package(folder) else (folder.parent, folder)

    @cached_property
    def label(self) -> str:
        """What to print: the same for all spellings that lead to the same agent."""
        if self.plugin:
            return redact_text(f"{self.plugin}:{self.rest}") if self.rest else self.plugin
        name = self._name()
        return name if self.attribute in _USUAL_ATTRIBUTES else f"{name}:{self.attribute}"

    def _name(self) -> str:
        file = self.file
        if file is None:
            return self.module.removesuffix(".agent") or str(self.path)
        if file.is_dir() or file.name in _USUAL_FILES:
            return (file if file.is_dir() else file.parent).name or str(file)
        return f"{file.parent.name}.{file.stem}" if is_package(file.parent) else file.stem


def read_reference(text: str) -> Reference:
    """Take an AGENT string apart.

    Raises:
        AgentLoadError: it is empty, or has an unknown prefix.
    """
    text = text.strip()
    if not text:
        raise AgentLoadError(f"No agent given. An agent is {SPELLINGS}.")
    if (plugin := _plugin(text)) is not None:
        return plugin
    if "://" in text:
        raise _unreadable(text)
    target, attribute = _split(text)
    if is_path(target):
        return Reference(text, path=_path(target), attribute=attribute)
    if _DOTTED.fullmatch(target):
        return Reference(text, module=target, attribute=attribute)
    raise _unreadable(text)


def is_path(target: str) -> bool:
    """Return whether a text is an existing file or folder, or can only mean one."""
    return (
        target.endswith(".py")
        or target.startswith((".", "~"))
        or "/" in target
        or "\\" in target
        or _exists(target)
    )


def _exists(target: str) -> bool:
    try:
        return Path(target).exists()
    except (OSError, ValueError):  # longer than any path, or with NUL
        return False


def _path(target: str) -> Path:
    try:
        path = Path(target).expanduser()
        path.exists()
    except (OSError, RuntimeError, ValueError) as error:  # RuntimeError: unknown home folder
        cause = getattr(error, "strerror", None) or error
        raise AgentLoadError(f"The agent {shorten(target)!r} is not there: {cause}.") from None
    return path


def shorten(text: str) -> str:
    """A piece of an AGENT string that fits into a message."""
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def is_package(folder: Path) -> bool:
    """True for a folder with `__init__.py`."""
    return (folder / "__init__.py").is_file()


def find_module(dotted: str) -> Path | None:
    """Return the file of a module, or the folder of a package, from the working folder and `sys.path`.

    Nothing is imported; `None` also for modules outside folders (built in, in a zip file).
    """
    parts = dotted.split(".")
    if any(len(part) > _LONGEST_NAME for part in parts):
        return None
    for entry in (Path.cwd(), *(Path(entry or ".") for entry in sys.path)):
        folder = entry.joinpath(*parts)
        file = folder.with_name(f"{folder.name}.py")
        if is_package(folder) or (folder.is_dir() and not file.is_file()):
            return folder.resolve()
        if file.is_file():
            return file.resolve()
    return None


def _file_of(command: str) -> Path | None:
    """Return the file that a command runs: `python bot.py`, `./bot --fast`; never the interpreter."""
    program, *words = command.split() or [""]
    first = [] if Path(program).is_absolute() else [program]
    files = (Path(word.strip("'\"")).expanduser() for word in (*words, *first) if not word.startswith("-"))
    return next((file.resolve() for file in files if file.is_file()), None)


def _plugin(text: str) -> Reference | None:
    prefix, rest = match.groups() if (match := _PREFIX.fullmatch(text)) else (text, "")
    if rest.startswith("//"):
        prefix = prefix.lower()  # as URLs are read
    if prefix.endswith(".py") or "/" in prefix or "\\" in prefix:
        return None  # a path: no need to look through all that is installed
    return Reference(text, plugin=prefix, rest=rest) if prefix in AGENTS else None


def _split(text: str) -> tuple[str, str]:
    """Split `module:attribute`. The colon after a drive letter splits nothing."""
    target, colon, attribute = text.rpartition(":")
    if not colon or (_DRIVE.match(text) and len(target) == 1):
        return text, ""
    if _DOTTED.fullmatch(attribute) and target:
        return target, attribute
    if _DOTTED.fullmatch(target) or is_path(target):
        came = repr(attribute) if attribute else "nothing"
        raise AgentLoadError(
            f"The agent {redact_text(text)!r} has {came} after its colon; expected an attribute of the module, "
            f"such as {target}:root_agent.{_suggested_prefix(target)}"
        )
    return text, ""


def _suggested_prefix(name: str) -> str:
    return did_you_mean(name, AGENTS.names())


def _unreadable(text: str) -> AgentLoadError:
    text = redact_text(text)
    prefix, colon, _ = text.partition(":")
    if colon and _NAME.match(prefix):
        known = ", ".join(f"{name}:" for name in AGENTS.names())
        return AgentLoadError(
            f"The agent {text!r} has the unknown prefix {prefix!r}.{_suggested_prefix(prefix)} Known: {known}."
        )
    file = f" Did you mean {text}.py?" if _exists(f"{text}.py") else ""
    return AgentLoadError(f"{shorten(text)!r} is not an agent.{file} An agent is {SPELLINGS}.")
