"""OpenTelemetry traces as evidence: `reading` takes spans from files, `conversations` makes turns of them.

`conventions` knows how the attributes are spelled, `messages` what a model was told and said, `turns` where a turn begins.
"""
