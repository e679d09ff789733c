"""Tests of ottla/network."""
