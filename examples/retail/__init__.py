"""A shop's service desk with a database behind its tools, talked to by a played customer."""
