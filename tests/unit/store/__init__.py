"""Tests of ottla/store."""
