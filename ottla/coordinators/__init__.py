"""Who coordinates groups, and later transactions, over a partition of an internal topic."""
