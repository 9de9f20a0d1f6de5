"""Read OpenTelemetry traces as evidence: `read_files` reads spans from files, `conversations` makes turns of them.

`semantic_conventions` knows the attribute names, `messages` a model's input and output, `turns` the start of each turn.
"""
