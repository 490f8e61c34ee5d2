"""Collects what is known about a checkpoint into one document or bundle."""
