"""JSON text with positions: decoding, scanning and streaming, and problems with file, line and column.

Start with `problems`, the one type of message about a file.
"""
