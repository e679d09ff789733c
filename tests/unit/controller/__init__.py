"""Tests of ottla/controller."""
