"""Clients that mean harm, or are broken: a broker survives them and serves the others on."""
