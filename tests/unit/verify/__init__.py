"""Deadlines and waiting: the wheel by itself, and all of it on virtual time."""
