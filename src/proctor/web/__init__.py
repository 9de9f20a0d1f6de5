"""The web interface: `pages` contains the data that the page shows, `server` the HTTP server.

The page itself is a TypeScript application in `ui/` of the repository. Start with `server/app.py` and `pages/runs/load_run.py`.
"""
