"""Remedies: resume, replay, reset and their helpers, each a plan that can be read,
applied and undone."""
