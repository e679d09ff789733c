"""Tests of ottla/replication."""
