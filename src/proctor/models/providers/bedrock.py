"""Models on Amazon Bedrock, by its Converse API."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from proctor.errors import SetupError
from proctor.models.names import (
    ModelName,
    first_set,
    is_provider_address,
    key_for,
    missing_key,
    require_package,
)
from proctor.models.providers.pydantic_ai import ProviderModel

_REGIONS = ("AWS_REGION", "AWS_DEFAULT_REGION")
_SIGNS_OF_CREDENTIALS = (
    "AWS_BEARER_TOKEN_BEDROCK",
    "AWS_ACCESS_KEY_ID",
    "AWS_PROFILE",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
)
_READ_TIMEOUT = 300  # seconds; the deadline of the call is shorter


def bedrock_model(name: ModelName) -> ProviderModel:
    """Return a model on Bedrock; its name is the id of a model or of an inference profile."""
    require_package(name, "boto3")
    region = first_set(*_REGIONS)
    is_amazons = is_provider_address(name, "amazonaws.com", "amazonaws.com.cn", "api.aws")
    if is_amazons:
        _check_access(name, region)

    def build() -> object:
        from pydantic_ai.models.bedrock import BedrockConverseModel
        from pydantic_ai.providers.bedrock import BedrockProvider

        client = _client(name, region) if is_amazons else _client_at_address(name, region)
        return BedrockConverseModel(name.model, provider=BedrockProvider(bedrock_client=client))

    return ProviderModel(name, dialect="bedrock", build=build, own_address=not is_amazons)


def _check_access(name: ModelName, region: str) -> None:
    if not region and not _file("AWS_CONFIG_FILE", "config").is_file():
        raise missing_key(name, _REGIONS[0])
    if (
        not first_set(*_SIGNS_OF_CREDENTIALS)
        and not _file("AWS_SHARED_CREDENTIALS_FILE", "credentials").is_file()
    ):
        _check_metadata(name)


def _client(name: ModelName, region: str) -> Any:
    import boto3

    session = boto3.Session(region_name=region or None, botocore_session=_session())
    return session.client("bedrock-runtime", config=_config_without_retries(), endpoint_url=name.url or None)


def _client_at_address(name: ModelName, region: str) -> Any:
    """Return a client for an address outside Amazon, with the key for addresses and without signatures."""
    import boto3
    from botocore.session import Session
    from botocore.tokens import FrozenAuthToken

    token = FrozenAuthToken(key_for(name))
    session = Session()
    session.get_credentials = lambda *_: None
    session.get_auth_token = lambda **_: token
    boto_session = boto3.Session(region_name=region or "us-east-1", botocore_session=session)
    return boto_session.client(
        "bedrock-runtime", config=_config_without_retries(signature_version="bearer"), endpoint_url=name.url
    )


def _config_without_retries(**more: object) -> Any:
    """Return the config of a client without retries."""
    from botocore.config import Config

    return Config(
        retries={"total_max_attempts": 1}, read_timeout=_READ_TIMEOUT, max_pool_connections=200, **more
    )


def _session() -> Any:
    """Return a session; with a token for Bedrock it does not look for other credentials or use the network."""
    from botocore.session import Session

    session = Session()
    if first_set("AWS_BEARER_TOKEN_BEDROCK"):
        session.get_credentials = lambda *_: None
    return session


def _file(variable: str, default: str) -> Path:
    return Path(os.environ.get(variable) or Path.home() / ".aws" / default)


def _check_metadata(name: ModelName) -> None:
    """Require that the user enables the credentials of an AWS machine's role, because they can only be checked over the network."""
    if first_set("AWS_EC2_METADATA_DISABLED").lower() != "false":
        raise SetupError(
            f"The model {name.text} cannot be asked: there are no credentials of AWS. Set AWS_BEARER_TOKEN_BEDROCK, or "
            f"AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE; on a machine whose role gives them, set "
            f"AWS_EC2_METADATA_DISABLED=false."
        )
