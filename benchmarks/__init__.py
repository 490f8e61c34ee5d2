"""Measures Holdfast against what it replaces, both sides in one run."""
