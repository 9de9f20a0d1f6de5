"""The content types of the format, with the names of `google.genai.types`; google-genai need not be installed."""

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
