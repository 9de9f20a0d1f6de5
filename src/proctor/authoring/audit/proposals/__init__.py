"""Changes of configs and cases that catch the mutants that survive. Start with `propose`."""
