"""Bytes recorded from real clients and brokers: decoded, encoded and compared."""
