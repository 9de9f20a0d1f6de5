"""Reports: a run as text, a table, JSON."""
