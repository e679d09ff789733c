"""A whole broker on virtual time, and what its clients see."""
