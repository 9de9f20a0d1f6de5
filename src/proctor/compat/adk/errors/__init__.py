"""As `google.adk.errors`."""
