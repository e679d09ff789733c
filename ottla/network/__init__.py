"""Connections: bytes of clients in, answers in order out, and our own requests to a broker."""
