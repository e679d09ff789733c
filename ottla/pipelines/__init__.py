"""Pipelines on Spark, from topics, files and tables into the same, watched and repairable."""
