"""Tests of ottla/admin."""
