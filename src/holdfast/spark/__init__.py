"""Runs jobs on Spark. The only room that imports pyspark; everything else works without Java."""
