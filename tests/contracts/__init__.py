"""One suite over every implementation of a port."""
