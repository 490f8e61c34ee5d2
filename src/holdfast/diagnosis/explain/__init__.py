"""Finds what is known about an error of Spark, by its words."""
