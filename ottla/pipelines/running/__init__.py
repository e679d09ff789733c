"""A pipeline while it runs: its session, its batches, its progress, its end."""
