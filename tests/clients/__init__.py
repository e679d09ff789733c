"""Real clients, unchanged, write and read without groups; what one wrote every other reads."""
