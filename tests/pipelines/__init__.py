"""Pipelines on a local Spark, one session for all."""
