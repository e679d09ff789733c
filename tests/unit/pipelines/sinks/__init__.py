"""Tests of what sinks decide, without Spark and without a broker."""
