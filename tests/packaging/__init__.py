"""The wheel, built and installed as a user would."""
