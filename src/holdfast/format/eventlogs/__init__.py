"""Spark's event logs: which streaming queries an application ran, and their plans."""
