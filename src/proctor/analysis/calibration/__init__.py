"""How well an LLM judge agrees with labels that people gave.

Start with `calibrate`.
"""
