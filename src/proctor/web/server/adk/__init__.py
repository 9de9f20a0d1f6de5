"""The ADK-compatible API of the server, for google-adk's web UI and REST clients.

Start with `routes`; `app_state` holds the apps and their agents, `session_host` the sessions of agents of other frameworks.
"""
