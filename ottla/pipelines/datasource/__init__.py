"""A source and sink of topics for Spark that needs no jar: `format("ottla")`."""
