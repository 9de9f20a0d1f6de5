"""google-adk's own module names: replace the import prefix `google.adk` by `proctor.compat.adk`.

`evaluation/`, `agents/`, `errors/` mirror the modules of google-adk that its users import for evaluations; its other
modules are its own, where it is installed. The modules right here are what the mirror is made of. See
docs/how-to/migrate/google-adk.md.
"""

from proctor.compat.adk.forwarded_modules import forward

forward()
