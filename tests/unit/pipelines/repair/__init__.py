"""Tests of ottla/pipelines/repair."""
