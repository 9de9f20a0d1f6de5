"""google-adk's own module names: replace the import prefix `google.adk` by `proctor.compat.adk`.

`evaluation/`, `agents/`, `errors/` mirror the modules of google-adk that its users import for evaluations; the modules
right here are what they are made of. See docs/migrating-from-adk.md.
"""
