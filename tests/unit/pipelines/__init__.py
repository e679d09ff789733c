"""Tests of ottla/pipelines."""
