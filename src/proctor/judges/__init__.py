"""Judges: asking a language model for a verdict, so that the verdict can be trusted."""
