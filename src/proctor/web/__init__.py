"""The web page: `pages` holds the data that it shows, `server` serves it.

The page itself is written in TypeScript, in `ui/` of the repository.
"""
