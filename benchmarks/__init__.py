"""How fast it is: one module per subject, each with a `main()` that prints its table."""
