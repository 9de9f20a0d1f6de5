"""As `google.adk.evaluation.simulation`: who plays the users of scenarios, and simulators of one's own."""
