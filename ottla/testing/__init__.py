"""A broker for tests: the pytest plugin and the context manager behind it."""
