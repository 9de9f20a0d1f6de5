"""What the server reports about itself."""

from fastapi.testclient import TestClient

from proctor.common.version import __version__


def test_shows_which_proctor_it_is(client: TestClient) -> None:
    assert client.get("/api/about").json()["version"] == __version__
