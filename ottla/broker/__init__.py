"""A broker put together from its parts, started and stopped in the right order."""
