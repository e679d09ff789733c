"""What is asked: one file for each family of APIs, each with a tuple CASES."""
