"""The wire format, and nothing else: bytes to messages and record batches, and back."""
