"""Whole programs, as a shell or a client meets them."""
