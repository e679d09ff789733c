"""Every sink on Spark, with what it writes to."""
