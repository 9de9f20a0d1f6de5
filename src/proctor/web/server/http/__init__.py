"""General HTTP support: error responses, middleware, server-sent events, static files."""
