"""From bytes to rows that keep their contract, without Spark."""
