"""Transactions: what each transactional id is in the middle of, and the markers that end it."""
