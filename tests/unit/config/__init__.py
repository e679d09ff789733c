"""Tests of ottla/config."""
