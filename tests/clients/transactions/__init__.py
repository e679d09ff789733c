"""Transactions of every client: what they write, read and pass on, and how it is judged."""
