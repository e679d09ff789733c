"""Tests of ottla/coordinators/groups."""
