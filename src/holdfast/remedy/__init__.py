"""Remedies: resume, replay, backfill, reset and their helpers, each a plan that can be read,
applied and undone."""
