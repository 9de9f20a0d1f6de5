"""The web server: our own API for the page, and an ADK-compatible one. Needs the extra `web`."""
