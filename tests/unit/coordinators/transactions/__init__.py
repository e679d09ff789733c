"""Tests of transactions and their coordinator."""
