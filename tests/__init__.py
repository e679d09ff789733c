"""Ottla's tests; each folder is one kind."""
