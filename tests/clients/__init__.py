"""Real clients, unchanged: what one of them wrote every other reads; groups, transactions."""
