"""Models on Amazon Bedrock, by its Converse API."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from proctor.errors import SetupError
from proctor.models.access import first_set, missing_key, needs
from proctor.models.names import ModelName
from proctor.models.provider_model import ProviderModel

__all__ = ["bedrock_model"]

_REGIONS = ("AWS_REGION", "AWS_DEFAULT_REGION")
_SIGNS_OF_CREDENTIALS = (
    "AWS_BEARER_TOKEN_BEDROCK",
    "AWS_ACCESS_KEY_ID",
    "AWS_PROFILE",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
)
_READ_TIMEOUT = 300  # seconds: a call's own deadline ends it before


def bedrock_model(name: ModelName) -> ProviderModel:
    """Return a model on Bedrock; its name may be a model's id, or an inference profile's."""
    needs(name, "boto3")
    region = first_set(*_REGIONS)
    if not region and not _file("AWS_CONFIG_FILE", "config").is_file():
        raise missing_key(name, _REGIONS[0])
    if (
        not first_set(*_SIGNS_OF_CREDENTIALS)
        and not _file("AWS_SHARED_CREDENTIALS_FILE", "credentials").is_file()
    ):
        _check_metadata(name)

    def build() -> Any:
        from pydantic_ai.models.bedrock import BedrockConverseModel
        from pydantic_ai.providers.bedrock import BedrockProvider

        return BedrockConverseModel(
            name.model, provider=BedrockProvider(bedrock_client=_client(name, region))
        )

    return ProviderModel(name, dialect="bedrock", build=build)


def _client(name: ModelName, region: str) -> Any:
    import boto3
    from botocore.config import Config

    once = Config(retries={"total_max_attempts": 1}, read_timeout=_READ_TIMEOUT, max_pool_connections=200)
    session = boto3.Session(region_name=region or None, botocore_session=_session())
    return session.client("bedrock-runtime", config=once, endpoint_url=name.url or None)


def _session() -> Any:
    """Return a session; where there is a token for Bedrock it looks for no other credentials, nor asks the network."""
    from botocore.session import Session

    session = Session()
    if first_set("AWS_BEARER_TOKEN_BEDROCK"):
        session.get_credentials = lambda *_: None
    return session


def _file(variable: str, default: str) -> Path:
    return Path(os.environ.get(variable) or Path.home() / ".aws" / default)


def _check_metadata(name: ModelName) -> None:
    """A machine on AWS may have credentials of its own, which only the network can tell: then it has to be said."""
    if first_set("AWS_EC2_METADATA_DISABLED").lower() != "false":
        raise SetupError(
            f"The model {name.text} cannot be asked: there are no credentials of AWS. Set AWS_BEARER_TOKEN_BEDROCK, or "
            f"AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE; on a machine whose role gives them, set "
            f"AWS_EC2_METADATA_DISABLED=false."
        )
