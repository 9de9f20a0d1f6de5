"""The providers that there are: PREFIX of a name -> "module:factory".

A factory gets the name, taken apart (`ModelName`), and returns the ChatModel. It makes sure that the model can be asked
(key, extra) without any network, and raises `SetupError` where it cannot.
"""

MODELS = {
    "anthropic": "proctor.models.anthropic:anthropic_model",
    "azure": "proctor.models.openai:azure_model",
    "bedrock": "proctor.models.bedrock:bedrock_model",
    "deepseek": "proctor.models.openai:compatible_model",
    "fireworks": "proctor.models.openai:compatible_model",
    "google": "proctor.models.google:google_model",
    "groq": "proctor.models.openai:compatible_model",
    "mistral": "proctor.models.openai:compatible_model",
    "ollama": "proctor.models.openai:ollama_model",
    "openai": "proctor.models.openai:openai_model",
    "openai-chat": "proctor.models.openai:chat_model",
    "openai-responses": "proctor.models.openai:responses_model",
    "openrouter": "proctor.models.openai:compatible_model",
    "scripted": "proctor.models.script_file:scripted_model",
    "together": "proctor.models.openai:compatible_model",
    "vertex": "proctor.models.google:vertex_model",
    "xai": "proctor.models.openai:compatible_model",
}
