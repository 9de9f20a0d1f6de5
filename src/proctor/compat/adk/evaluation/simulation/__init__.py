"""As `google.adk.evaluation.simulation`: the configurations; how users are played is Proctor's own."""
