"""Time, and waiting for it."""
