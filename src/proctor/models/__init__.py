"""Chat models: what judges and played users ask, never what is under test."""
