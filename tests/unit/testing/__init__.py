"""Tests of ottla/testing."""
