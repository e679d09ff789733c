"""Proof that a sink which says exactly once means it: runs that die, and what they leave behind."""
