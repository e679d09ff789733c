"""Random members against the rules of groups."""
