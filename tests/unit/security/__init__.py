"""Tests of ottla/security."""
