"""Grounding metadata of a model's answer (search results and the like): recorded, never scored. Unknown keys are preserved."""

from typing import Any

from proctor.schema.format.wire_model import Base64Bytes, WireModel


class GroundingChunkWeb(WireModel):
    """A web page."""

    domain: str | None = None
    title: str | None = None
    uri: str | None = None


class GroundingChunk(WireModel):
    """One source."""

    image: Any = None
    maps: Any = None
    retrieved_context: Any = None
    web: GroundingChunkWeb | None = None


class Segment(WireModel):
    """A segment of the answer; byte offsets within a part."""

    start_index: int | None = None
    end_index: int | None = None
    part_index: int | None = None
    text: str | None = None


class GroundingSupport(WireModel):
    """The sources that support a segment of the answer."""

    confidence_scores: list[float] | None = None
    grounding_chunk_indices: list[int] | None = None
    segment: Segment | None = None
    rendered_parts: list[int] | None = None


class RetrievalMetadata(WireModel):
    """Metadata of the retrieval decision."""

    google_search_dynamic_retrieval_score: float | None = None


class SearchEntryPoint(WireModel):
    """The search widget that a page with the answer must display."""

    rendered_content: str | None = None
    sdk_blob: Base64Bytes | None = None


class GroundingMetadata(WireModel):
    """The sources of an answer."""

    image_search_queries: list[str] | None = None
    grounding_chunks: list[GroundingChunk] | None = None
    grounding_supports: list[GroundingSupport] | None = None
    retrieval_metadata: RetrievalMetadata | None = None
    search_entry_point: SearchEntryPoint | None = None
    web_search_queries: list[str] | None = None
    google_maps_widget_context_token: str | None = None
    retrieval_queries: list[str] | None = None
    source_flagging_uris: Any = None
