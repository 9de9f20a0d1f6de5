"""As `google.adk.cli`: what scripts around evaluations import of it."""
