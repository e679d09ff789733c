"""Tests of ottla/handlers."""
