"""Tests of ottla/pipelines/running."""
