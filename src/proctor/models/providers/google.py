"""Gemini: by an API key, or through Vertex AI with the credentials of Google Cloud."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path

from proctor.errors import SetupError
from proctor.models.names import ModelName, first_set, is_provider_address, key_for, require_package
from proctor.models.providers.pydantic_ai import ProviderModel, client

_KEYS = ("GOOGLE_API_KEY", "GEMINI_API_KEY")
_CLOUD = "google_cloud:GoogleCloudProvider"
_PROJECT, _LOCATION = "GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION"
_RESOURCE = re.compile(
    r"(?:projects/(?P<project>[^/]+)/locations/(?P<location>[^/]+)/)?publishers/google/models/(?P<model>[^/]+)"
)


def google_model(name: ModelName) -> ProviderModel:
    """Return a Gemini model; the choice of the API follows google-genai.

    GOOGLE_GENAI_USE_VERTEXAI selects Vertex; otherwise GOOGLE_API_KEY or GEMINI_API_KEY select the Gemini API; otherwise
    GOOGLE_CLOUD_PROJECT and GOOGLE_CLOUD_LOCATION select Vertex.
    """
    if first_set("GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_GENAI_USE_ENTERPRISE").lower() in {"1", "true"}:
        return vertex_model(name)
    if not name.url and not first_set(*_KEYS) and first_set(_PROJECT) and first_set(_LOCATION):
        return vertex_model(name)
    require_package(name, "google.genai")
    if not name.url and not first_set(*_KEYS):
        raise SetupError(
            f"The model {name.text} cannot be asked: set the environment variable {_KEYS[0]} (or {_KEYS[1]}), or "
            f"{_PROJECT} and {_LOCATION} for Vertex AI{_half()}."
        )
    key = key_for(name, *_KEYS)
    address = name.url or first_set("GOOGLE_GEMINI_BASE_URL") or None
    build = client("google:GoogleModel", "google:GoogleProvider", name.model, api_key=key, base_url=address)
    return ProviderModel(name, dialect="google", build=build, own_address=bool(name.url))


def vertex_model(name: ModelName) -> ProviderModel:
    """Return a Gemini model on Vertex AI; its name may be a whole resource (`projects/…/publishers/google/models/…`)."""
    require_package(name, "google.genai")
    match = _RESOURCE.fullmatch(name.model)
    project = (match and match["project"]) or first_set(_PROJECT)
    location = (match and match["location"]) or first_set(_LOCATION)
    model = match["model"] if match else name.model
    if model.startswith(("claude", "projects/")):
        raise SetupError(f"The model {name.text}: of Vertex AI, only Gemini's models are in this version.")
    is_own = not is_provider_address(name, "googleapis.com")
    if is_own:  # another server with this protocol, which gets none of Google's keys and tokens
        build = client("google:GoogleModel", _CLOUD, model, base_url=name.url, api_key=key_for(name))
    else:
        address = name.url or first_set("GOOGLE_VERTEX_BASE_URL") or None
        access = _access(name, project, location)
        build = client("google:GoogleModel", _CLOUD, model, base_url=address, **access)
    return ProviderModel(replace(name, model=model), dialect="google", build=build, own_address=is_own)


def _access(name: ModelName, project: str, location: str) -> dict[str, str]:
    """Return the project and its location, or a key where they are not both given."""
    access = {"project": project, "location": location}
    if not (project and location):
        access = {"api_key": first_set(*_KEYS)}
        if not access["api_key"]:
            raise SetupError(
                f"The model {name.text} cannot be asked on Vertex AI: set the environment variables {_PROJECT} and "
                f"{_LOCATION}{_half()}."
            )
    _check_credentials(name)
    return access


def _half() -> str:
    """Return a hint if only one of project and location is set."""
    there = [variable for variable in (_PROJECT, _LOCATION) if first_set(variable)]
    return f" (only {there[0]} is)" if len(there) == 1 else ""


def _check_credentials(name: ModelName) -> None:
    file = os.environ.get("GOOGLE_APPLICATION_CREDENTIALS", "")
    if file and not Path(file).is_file():
        raise SetupError(
            f"The model {name.text} cannot be asked: GOOGLE_APPLICATION_CREDENTIALS names {file}, which is not a file."
        )
