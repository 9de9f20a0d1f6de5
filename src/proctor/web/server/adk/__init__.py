"""The ADK-compatible face of the server: what google-adk's web UI and REST clients ask, answered by Proctor."""
