"""An exception of a provider's client is a fault of one kind, which decides whether the call is repeated."""

import pytest

from proctor.models.base import ModelFault
from proctor.models.provider_errors import model_error


class StatusError(Exception):
    """What the clients of providers raise for an answer with an error status: the status, the headers and the body are attributes."""

    def __init__(self, status: int, headers: dict[str, str] | None = None, body: object = None) -> None:
        super().__init__(f"status {status}")
        self.status_code, self.headers, self.body = status, headers or {}, body


@pytest.mark.parametrize(
    ("status", "fault"),
    [
        (302, ModelFault.BROKE_PROTOCOL),
        (400, ModelFault.REJECTED),
        (401, ModelFault.UNAUTHORIZED),
        (403, ModelFault.UNAUTHORIZED),
        (404, ModelFault.NOT_FOUND),
        (408, ModelFault.TIMED_OUT),
        (413, ModelFault.REJECTED),
        (422, ModelFault.REJECTED),
        (429, ModelFault.RATE_LIMITED),
        (500, ModelFault.UNAVAILABLE),
        (502, ModelFault.UNAVAILABLE),
        (503, ModelFault.UNAVAILABLE),
        (504, ModelFault.UNAVAILABLE),
        (529, ModelFault.UNAVAILABLE),
    ],
)
def test_a_status_is_a_kind_of_fault(status: int, fault: ModelFault) -> None:
    error = model_error(StatusError(status), "openai:gpt-5")
    assert (error.fault, error.status) == (fault, status)
    assert str(error).startswith(f"openai:gpt-5 answered {status}")


def test_the_time_to_wait_comes_from_the_headers() -> None:
    assert model_error(StatusError(429, {"retry-after": "7"}), "openai:gpt-5").retry_after == 7
    assert model_error(StatusError(429), "openai:gpt-5").retry_after is None


@pytest.mark.parametrize(
    ("error", "fault"),
    [
        (TimeoutError("no answer"), ModelFault.TIMED_OUT),
        (ConnectionError("refused"), ModelFault.UNAVAILABLE),
        (ValueError("not JSON"), ModelFault.BROKE_PROTOCOL),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else value.name,
)
def test_an_error_without_a_status_is_known_by_its_class(error: Exception, fault: ModelFault) -> None:
    assert model_error(error, "openai:gpt-5").fault is fault
