"""The HTTP client that remote agents share: addresses, limits, retries, server-sent events, errors.

Start with `client`.
"""
