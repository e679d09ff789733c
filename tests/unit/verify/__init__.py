"""Histories made up by hand and by a small model: good ones, and each fault in them."""
