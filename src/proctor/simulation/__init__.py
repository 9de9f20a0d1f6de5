"""User simulators: who speaks for the user where a conversation is not recorded but played."""
