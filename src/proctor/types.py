"""Stands in for `google.genai.types`: the content types of the format, without google-genai installed."""

from proctor.schema.format.content import (
    Blob,
    CodeExecutionResult,
    Content,
    ExecutableCode,
    FileData,
    FunctionCall,
    FunctionResponse,
    FunctionResponsePart,
    GenerateContentConfig,
    GenerateContentResponseUsageMetadata,
    Part,
    PartialArg,
    ThinkingConfig,
    VideoMetadata,
)

__all__ = [
    "Blob",
    "CodeExecutionResult",
    "Content",
    "ExecutableCode",
    "FileData",
    "FunctionCall",
    "FunctionResponse",
    "FunctionResponsePart",
    "GenerateContentConfig",
    "GenerateContentResponseUsageMetadata",
    "Part",
    "PartialArg",
    "ThinkingConfig",
    "VideoMetadata",
]
