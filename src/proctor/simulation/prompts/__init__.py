"""The prompts of simulated users (`plain`, and `persona` with a persona) and of generated scenarios."""
