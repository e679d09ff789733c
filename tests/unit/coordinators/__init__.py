"""Tests of ottla/coordinators."""
