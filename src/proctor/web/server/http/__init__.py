"""HTTP without a subject: errors, entity tags, server-sent events, static files."""
