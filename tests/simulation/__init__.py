"""Deterministic simulation: real code, and one scheduler that decides who goes on."""
