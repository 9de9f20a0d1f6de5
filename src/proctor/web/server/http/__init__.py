"""General HTTP support: error responses, server-sent events, and the built page."""
