"""Artifacts: the files that agents of google-adk and their users store in sessions."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Query, Response

from proctor.agents.chat_host import NotPossibleError
from proctor.web.server.adk.adk_route import AdkRequest, AdkRoute
from proctor.web.server.adk.app_state import AdkDep, AdkState
from proctor.web.server.adk.wire import answer, require_found

router = APIRouter(route_class=AdkRoute, tags=["ADK: artifacts"])
_ALL = "/apps/{app_name}/users/{user_id}/sessions/{session_id}/artifacts"
_ONE = f"{_ALL}/{{artifact_name:path}}"


class SaveArtifact(AdkRequest):
    """A new version of an artifact."""

    filename: str
    artifact: dict[str, Any]
    custom_metadata: dict[str, Any] | None = None


@router.get(_ALL, response_model=None)
async def adk_list_artifacts(adk: AdkDep, app_name: str, user_id: str, session_id: str) -> Response:
    """List the names of a session's artifacts."""
    return answer(await _call_artifacts(adk, app_name, "names", [], user_id, session_id))


@router.post(_ALL, response_model=None)
async def adk_save_artifact(
    adk: AdkDep, app_name: str, user_id: str, session_id: str, request: SaveArtifact
) -> Response:
    """Store a new version of an artifact."""
    part, metadata = request.artifact, request.custom_metadata
    artifact = await _call_artifacts(
        adk, app_name, "save", None, user_id, session_id, request.filename, part, metadata
    )
    if artifact is None:
        raise NotPossibleError("this agent has no artifacts: only agents of google-adk support them")
    return answer(artifact)


@router.get(f"{_ONE}/versions/{{version_id}}/metadata", response_model=None)
async def adk_describe_artifact_version(
    adk: AdkDep, app_name: str, user_id: str, session_id: str, artifact_name: str, version_id: str
) -> Response:
    """Return the metadata of one version."""
    every = await _call_artifacts(adk, app_name, "artifact_metadata", [], user_id, session_id, artifact_name)
    version = _version(version_id)
    versions = [one for one in every if version is None or one.get("version") == version]
    return answer(require_found(versions[-1] if versions else None, "Artifact version not found"))


@router.get(f"{_ONE}/versions/metadata", response_model=None)
async def adk_describe_artifact(
    adk: AdkDep, app_name: str, user_id: str, session_id: str, artifact_name: str
) -> Response:
    """Return the metadata of all versions."""
    return answer(
        await _call_artifacts(adk, app_name, "artifact_metadata", [], user_id, session_id, artifact_name)
    )


@router.get(f"{_ONE}/versions/{{version_id}}", response_model=None)
async def adk_load_artifact_version(
    adk: AdkDep, app_name: str, user_id: str, session_id: str, artifact_name: str, version_id: str
) -> Response:
    """Return an artifact in one version, or in the `latest`."""
    version = _version(version_id)
    artifact = await _call_artifacts(adk, app_name, "load", None, user_id, session_id, artifact_name, version)
    return answer(require_found(artifact, "Artifact not found"))


@router.get(f"{_ONE}/versions", response_model=None)
async def adk_list_artifact_versions(
    adk: AdkDep, app_name: str, user_id: str, session_id: str, artifact_name: str
) -> Response:
    """List the versions of an artifact."""
    return answer(await _call_artifacts(adk, app_name, "versions", [], user_id, session_id, artifact_name))


@router.get(_ONE, response_model=None)
async def adk_load_artifact(
    adk: AdkDep,
    app_name: str,
    user_id: str,
    session_id: str,
    artifact_name: str,
    version: Annotated[int | None, Query(ge=0)] = None,
) -> Response:
    """Return an artifact, by default in its last version."""
    artifact = await _call_artifacts(adk, app_name, "load", None, user_id, session_id, artifact_name, version)
    return answer(require_found(artifact, "Artifact not found"))


@router.delete(_ONE)
async def adk_delete_artifact(
    adk: AdkDep, app_name: str, user_id: str, session_id: str, artifact_name: str
) -> None:
    """Delete an artifact with all its versions."""
    await _call_artifacts(adk, app_name, "delete", None, user_id, session_id, artifact_name)


async def _call_artifacts(adk: AdkState, app_name: str, method: str, otherwise: Any, *args: Any) -> Any:
    """Call a method of an app's artifacts; return `otherwise` if the agent has none."""

    async def call() -> Any:
        artifacts = (await adk.host(app_name)).artifacts
        return otherwise if artifacts is None else await getattr(artifacts, method)(*args)

    return await adk.on_loop(call())


def _version(text: str) -> int | None:
    if text == "latest":
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise HTTPException(422, "Invalid version ID")
    return int(text)
