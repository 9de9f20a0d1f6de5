"""The providers of models: PREFIX of a name -> "module:factory".

A factory gets the parsed name (`ModelName`) and returns the ChatModel. It checks the key and the extra of the model without
network access, and raises `SetupError` if one is missing.
"""

MODELS = {
    "anthropic": "proctor.models.providers.anthropic:anthropic_model",
    "azure": "proctor.models.providers.openai:azure_model",
    "bedrock": "proctor.models.providers.bedrock:bedrock_model",
    "deepseek": "proctor.models.providers.openai:compatible_model",
    "fireworks": "proctor.models.providers.openai:compatible_model",
    "google": "proctor.models.providers.google:google_model",
    "groq": "proctor.models.providers.openai:compatible_model",
    "mistral": "proctor.models.providers.openai:compatible_model",
    "ollama": "proctor.models.providers.openai:ollama_model",
    "openai": "proctor.models.providers.openai:openai_model",
    "openai-chat": "proctor.models.providers.openai:chat_model",
    "openai-responses": "proctor.models.providers.openai:responses_model",
    "openrouter": "proctor.models.providers.openai:compatible_model",
    "scripted": "proctor.models.scripted:scripted_model",
    "together": "proctor.models.providers.openai:compatible_model",
    "vertex": "proctor.models.providers.google:vertex_model",
    "xai": "proctor.models.providers.openai:compatible_model",
}
