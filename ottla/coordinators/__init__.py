"""Who coordinates groups and transactions, over a partition of an internal topic."""
