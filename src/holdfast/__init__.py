"""Holdfast keeps Spark Structured Streaming pipelines safe across every restart."""

__version__ = "0.1.0"
