"""A city guide, scored by rubrics and for made-up facts."""
