"""Tries a plan on copies: a workspace, verified copies in it, and what the report says."""
