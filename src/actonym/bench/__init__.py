"""Measure what is kept and what leaks, and report it with the floors beside it."""
