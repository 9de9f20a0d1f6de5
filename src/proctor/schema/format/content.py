"""Message contents of users, models and tools. Fields and their order are those of `google.genai.types`.

All fields are optional; unknown keys are preserved, because newer versions of that library add fields.
Names of enumerations (language, outcome, modality ...) stay text, so that new members read.

Content models equal those of `google.genai.types`, in both directions: metrics compare an agent's calls (Proctor's models)
with calls in their own code (often google-genai's), and pydantic returns `False` for models of different classes, so that
such a metric would fail silently. `ContentModel` implements `ours == theirs`. For `theirs == ours`, google-genai's classes
are patched once to defer to ours: before Proctor reads its first content, or when `google.genai.types` is imported after that.
This module never imports it.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterable, Mapping
from enum import Enum
from math import isfinite
from types import ModuleType
from typing import Annotated, Any

from pydantic import (
    AliasChoices,
    AliasPath,
    BaseModel,
    BeforeValidator,
    Field,
    GetCoreSchemaHandler,
    model_validator,
)
from pydantic_core import core_schema, from_json

from proctor.schema.format.wire_model import Base64Bytes, WireModel, to_camel

GENAI_TYPES = "google.genai.types"
_OTHER_NAMES = {"UsageMetadata": "GenerateContentResponseUsageMetadata"}
"""Proctor's classes whose counterpart in google-genai has a different name."""


class ContentModel(WireModel):  # noqa: PLW1641 - as pydantic's models, it can change and has no hash
    """A model that equals the model of google-genai with the same name and the same content."""

    def __eq__(self, other: object) -> bool:
        if isinstance(other, BaseModel) and not isinstance(other, WireModel):
            return _are_counterparts(type(self), type(other)) and _content_of(self) == _content_of(other)
        return super().__eq__(other)


def genai_name(kind: type[ContentModel]) -> str:
    """Return the name of a model's counterpart in `google.genai.types`."""
    return _OTHER_NAMES.get(kind.__name__, kind.__name__)


def _are_counterparts(ours: type[ContentModel], theirs: type[BaseModel]) -> bool:
    names = {genai_name(kind) for kind in ours.__mro__ if issubclass(kind, ContentModel)}
    return any(kind.__module__ == GENAI_TYPES and kind.__name__ in names for kind in theirs.__mro__)


def _content_of(value: Any) -> Any:
    """Return a model's content: its non-null fields in one spelling, with enum members as their values."""
    if isinstance(value, BaseModel):
        fields = [*value.__dict__.items(), *(value.model_extra or {}).items()]
        return {to_camel(name): _content_of(item) for name, item in fields if item is not None}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, dict):
        return {key: _content_of(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_content_of(item) for item in value]
    return value


def _all_kinds(kind: type[ContentModel]) -> Iterable[type[ContentModel]]:
    for each in kind.__subclasses__():
        yield each
        yield from _all_kinds(each)


def _defer_to_ours(types: ModuleType) -> None:
    """Let google-genai's models return `NotImplemented` for Proctor's, so that Python asks Proctor's model."""
    for name in {genai_name(kind) for kind in _all_kinds(ContentModel)}:
        theirs = getattr(types, name, None)
        if isinstance(theirs, type) and not hasattr(theirs.__eq__, "defers_to"):
            theirs.__eq__ = _deferring(theirs.__eq__)  # type: ignore[method-assign]  # see the module's docstring


def _deferring(equals: Any) -> Any:
    def __eq__(self: Any, other: object) -> Any:  # noqa: N807 - it becomes the method
        return NotImplemented if isinstance(other, ContentModel) else equals(self, other)

    __eq__.defers_to = ContentModel  # type: ignore[attr-defined]  # functions take attributes
    return __eq__


class _AfterImport:
    """A finder that patches the classes of `google.genai.types` after its import."""

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> Any:
        """Find that module through the other finders; ignore other modules."""
        if fullname != GENAI_TYPES:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(fullname)
        if spec is None or spec.loader is None:
            return spec
        execute = spec.loader.exec_module

        def execute_and_change(module: ModuleType) -> None:
            execute(module)
            _defer_to_ours(module)

        spec.loader.exec_module = execute_and_change  # type: ignore[method-assign]  # of this one loader
        return spec


def defer_equality() -> None:
    """Patch google-genai's classes now if they are loaded, or else on import."""
    if (types := sys.modules.get(GENAI_TYPES)) is not None:
        _defer_to_ours(types)
    else:
        sys.meta_path.insert(0, _AfterImport())


class _OneMessage:
    """Reports one message for an error in any branch of a union, instead of one per branch."""

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> core_schema.CoreSchema:
        return core_schema.custom_error_schema(
            handler(source),
            "arguments",
            custom_error_message="expected an object of arguments, or its JSON text",
        )


def _from_json_text(value: Any) -> Any:
    """Parse the object in a JSON text, with the limits on numbers and texts of any file."""
    data = from_json(value, allow_inf_nan=False) if isinstance(value, str | bytes) else None
    if not _is_sound(data):
        raise ValueError("infinite, or NUL")
    return data


def _is_sound(value: Any) -> bool:
    if isinstance(value, dict):
        return all(_is_sound(key) and _is_sound(item) for key, item in value.items())
    if isinstance(value, list):
        return all(map(_is_sound, value))
    return "\0" not in value if isinstance(value, str) else not isinstance(value, float) or isfinite(value)


Arguments = Annotated[
    dict[str, Any] | Annotated[dict[str, Any], BeforeValidator(_from_json_text)],
    Field(union_mode="left_to_right"),
    _OneMessage(),
]
"""Arguments of a call by name."""


class Blob(ContentModel):
    """Bytes within a message, with their MIME type."""

    data: Base64Bytes | None = None
    display_name: str | None = None
    mime_type: str | None = None


class FileData(ContentModel):
    """A file named by its URI."""

    display_name: str | None = None
    file_uri: str | None = None
    mime_type: str | None = None


class ExecutableCode(ContentModel):
    """Code that the model wants to execute."""

    code: str | None = None
    language: str | None = None
    id: str | None = None


class CodeExecutionResult(ContentModel):
    """The result of executing the model's code."""

    outcome: str | None = None
    output: str | None = None
    id: str | None = None


class VideoMetadata(ContentModel):
    """The selected clip of a video; offsets such as `"1.5s"`."""

    end_offset: str | None = None
    fps: float | None = None
    start_offset: str | None = None


class PartialArg(ContentModel):
    """A fragment of a call's argument during streaming."""

    bool_value: bool | None = None
    json_path: str | None = None
    null_value: str | None = None
    number_value: float | None = None
    string_value: str | None = None
    will_continue: bool | None = None


class FunctionCall(ContentModel):
    """One call of a tool.

    Read too: `tool_name` and `tool_input` or `arguments` (an object or its JSON text), and `function: {name, arguments}`
    (or `args`) as OpenAI writes calls; written as `name` and `args`. What else `function` has stays there, as an unknown key.
    """

    id: str | None = None
    args: Arguments | None = Field(
        default=None,
        validation_alias=AliasChoices(
            "args",
            "tool_input",
            "toolInput",
            "arguments",
            AliasPath("function", "arguments"),
            AliasPath("function", "args"),
        ),
        serialization_alias="args",
    )
    name: str | None = Field(
        default=None,
        validation_alias=AliasChoices("name", "tool_name", "toolName", AliasPath("function", "name")),
        serialization_alias="name",
    )
    partial_args: list[PartialArg] | None = None
    will_continue: bool | None = None

    @model_validator(mode="before")
    @classmethod
    def _keep_unread(cls, value: Any) -> Any:
        """Keep in `function` only what no field reads: an alias would drop the rest silently."""
        function = value.get("function") if type(value) is dict else None
        return _without_read(value, function) if isinstance(function, dict) else value


_ARGUMENTS = ("arguments", "args")
_NAMES_READ_FIRST = ("name", "tool_name", "toolName")
_ARGUMENTS_READ_FIRST = ("args", "tool_input", "toolInput", "arguments")


def _without_read(call: dict[str, Any], function: dict[str, Any]) -> dict[str, Any]:
    """Return a call whose `function` has only keys that no field reads."""
    rest, fields = dict(function), {}
    for first, keys, field in (
        (_NAMES_READ_FIRST, ("name",), "name"),
        (_ARGUMENTS_READ_FIRST, _ARGUMENTS, "args"),
    ):
        inner = next((key for key in keys if key in rest), None)
        outer = next((key for key in first if key in call), None)
        if inner is not None and (outer is None or call[outer] == rest[inner]):
            fields[outer or field] = rest.pop(inner)
    if not rest:
        return call
    return {**call, **fields, "function": rest}


class FunctionResponseBlob(ContentModel):
    """Bytes within a tool's response."""

    mime_type: str | None = None
    data: Base64Bytes | None = None
    display_name: str | None = None


class FunctionResponseFileData(ContentModel):
    """A file in a tool's response."""

    file_uri: str | None = None
    mime_type: str | None = None
    display_name: str | None = None


class FunctionResponsePart(ContentModel):
    """Media in a tool's response."""

    inline_data: FunctionResponseBlob | None = None
    file_data: FunctionResponseFileData | None = None
    media_processing: Any = None


class FunctionResponse(ContentModel):
    """A tool's response; `id` is that of its call."""

    will_continue: bool | None = None
    scheduling: str | None = None
    parts: list[FunctionResponsePart] | None = None
    id: str | None = None
    name: str | None = None
    response: dict[str, Any] | None = None


class Part(ContentModel):
    """One piece of a message: a text, a tool call, a tool's response, media, code."""

    media_resolution: Any = None
    code_execution_result: CodeExecutionResult | None = None
    executable_code: ExecutableCode | None = None
    file_data: FileData | None = None
    function_call: FunctionCall | None = None
    function_response: FunctionResponse | None = None
    inline_data: Blob | None = None
    text: str | None = None
    thought: bool | None = None
    thought_signature: Base64Bytes | None = None
    video_metadata: VideoMetadata | None = None
    tool_call: Any = None
    tool_response: Any = None
    part_metadata: dict[str, Any] | None = None
    audio_transcription: Any = None
    media_processing: Any = None
    speech_metadata: Any = None


class Content(ContentModel):
    """One message: parts in order, and its role (`user`, `model`, sometimes `tool`; not validated)."""

    parts: list[Part] | None = None
    role: str | None = None

    def joined_text(self, *, thoughts: bool = True) -> str:
        """The non-empty texts of the parts, joined with newlines; `""` when there are none.

        Thought parts count as text by default, as in ADK; `thoughts=False` leaves them out.
        """
        return "\n".join(
            part.text for part in self.parts or () if part.text and (thoughts or not part.thought)
        )


class ModalityTokenCount(ContentModel):
    """Tokens of one modality (`TEXT`, `IMAGE` ...)."""

    modality: str | None = None
    token_count: int | None = None


_TOKEN_PARTS = (
    "prompt_token_count",
    "tool_use_prompt_token_count",
    "candidates_token_count",
    "thoughts_token_count",
)
"""The counts of a call whose sum is its total."""


def total_tokens(usage: Mapping[str, Any]) -> int | None:
    """Return the total in a call's usage by field; if it was not reported, the sum of the parts that were."""
    total: int | None = usage.get("total_token_count")
    parts = [count for name in _TOKEN_PARTS if (count := usage.get(name)) is not None]
    return sum(parts) if parts and not total else total


class UsageMetadata(ContentModel):
    """Tokens that one model call used, as the model reported them; null is "not reported"."""

    cache_tokens_details: list[ModalityTokenCount] | None = None
    cached_content_token_count: int | None = None
    candidates_token_count: int | None = None
    candidates_tokens_details: list[ModalityTokenCount] | None = None
    prompt_token_count: int | None = None
    prompt_tokens_details: list[ModalityTokenCount] | None = None
    thoughts_token_count: int | None = None
    tool_use_prompt_token_count: int | None = None
    tool_use_prompt_tokens_details: list[ModalityTokenCount] | None = None
    total_token_count: int | None = None
    traffic_type: str | None = None

    @property
    def tokens(self) -> int | None:
        """The total; if it was not reported, the sum of the parts that were."""
        return total_tokens(self.__dict__)


GenerateContentResponseUsageMetadata = UsageMetadata


class ThinkingConfig(ContentModel):
    """The limits on a model's thinking."""

    include_thoughts: bool | None = None
    thinking_budget: int | None = None


class GenerateContentConfig(ContentModel):
    """Settings of a model call, for judges and simulated users. All other settings of the library are preserved."""

    temperature: float | None = None
    top_p: float | None = None
    top_k: float | None = None
    max_output_tokens: int | None = None
    seed: int | None = None
    thinking_config: ThinkingConfig | None = None


def text_of(content: Content | None, *, thoughts: bool = True) -> str:
    """Return the text of `content` (see `Content.joined_text`); `""` for None."""
    return content.joined_text(thoughts=thoughts) if content is not None else ""


def text_content(text: str, role: str | None = None) -> Content:
    """Return a message with one text part."""
    return Content(parts=[Part(text=text)], role=role)


def user_text(text: str) -> Content:
    """Return a user message."""
    return text_content(text, "user")


ContentModel.before_first_object = [defer_equality]
