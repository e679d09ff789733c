"""A whole cluster in one process: virtual time, and ports that fail on request."""
