"""The web server: Proctor's API for the page, and an API compatible with ADK's. It needs the extra `web`.

Start with `app`, which assembles the routes; `launch` starts the server.
"""
