"""Tests of ottla/metadata."""
