"""Tests of ottla/broker."""
