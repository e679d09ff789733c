"""Where pipelines read from."""

"""Tests of ottla/pipelines/sources."""
