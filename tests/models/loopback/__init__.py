"""A server on this machine that speaks the protocols of model providers, scripted by the test that starts it.

It is not a mock: a client opens a connection and speaks HTTP. One server speaks all protocols at once: OpenAI's chat
completions and responses, Gemini's generateContent (also as Vertex has it), Anthropic's messages
and Bedrock's Converse::

    with serve_models(Completion(data={"verdict": "yes"})) as server:
        model = load_model(server.name("gpt-5"), environment=server.environment())
        ...
    assert server.count == 1
    assert server.requests[0].text.startswith("You judge")

`answers` is one answer for every request, a list of them (one for each request, in the order of arrival), or a function
from `ModelRequest` to an answer. An answer is `Completion`, `Status` or `Breaks`.
"""

from tests.models.loopback.answers import Answer, Breaks, Completion, ModelRequest, Status
from tests.models.loopback.server import ModelServer, serve_models

__all__ = ["Answer", "Breaks", "Completion", "ModelRequest", "ModelServer", "Status", "serve_models"]
