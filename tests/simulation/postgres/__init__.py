"""Runs the PostgreSQL sink's real code over a real server, one statement at a time."""
